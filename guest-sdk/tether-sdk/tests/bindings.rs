//! The bindings are checked in, and must not be left behind by the contract.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

#[test]
fn the_bindings_are_those_of_the_contract() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = fs::read_dir(here.join("../../wit")).expect("wit/ is part of this repository");
    let mut files: Vec<_> = folder.map(|entry| entry.expect("wit/ can be listed").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "wit"));
    files.sort();

    let mut digest = Sha256::new();
    for file in files {
        digest.update(fs::read(file).expect("a file that was listed can be read"));
    }
    let digest = digest.finalize().iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes any text");
        text
    });
    let bindings = fs::read_to_string(here.join("src/bindings.rs")).expect("the bindings are checked in");
    assert!(
        bindings.contains(&format!("// wit/*.wit: {digest}\n")),
        "wit/ has changed since: run guest-sdk/tether-sdk/generate-bindings"
    );
}
