//! The shapes that types take in each dialect.

mod limit;
pub(crate) mod sample;
mod shapes;
mod table;
