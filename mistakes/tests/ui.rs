//! What the derive macros refuse, and with which words; each case is named after its mistake.

#[test]
fn mistakes_do_not_compile_and_say_why() {
    // With a case that passes among them, each would be built on its own: minutes.
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/fail/*.rs");
}
