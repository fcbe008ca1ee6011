//! What is documented is what there is.

use std::path::Path;

use tether_core::problem::Code;

#[test]
fn every_error_code_is_explained() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors.md");
    let text = std::fs::read_to_string(path).unwrap();
    for code in Code::ALL {
        assert!(text.contains(&format!("| `{code}` |")), "docs/errors.md explains {code}");
    }
}
