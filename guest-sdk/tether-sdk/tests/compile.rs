//! What authors get wrong, and what the compiler tells them.

#[test]
fn mistakes_are_explained() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/compile/pass/*.rs");
    cases.compile_fail("tests/compile/fail/*.rs");
}
