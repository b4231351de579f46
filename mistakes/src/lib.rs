//! Code that must not compile: `tests/ui/fail` has it.
