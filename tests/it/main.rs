//! The integration tests of the whole.

mod architecture;
