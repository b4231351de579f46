//! What the derive macros refuse, and with which words; each case is named after its mistake.

#[test]
fn mistakes_do_not_compile_and_say_why() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/fail/*.rs");
}
