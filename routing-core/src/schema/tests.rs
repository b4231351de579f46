//! The shapes that types take in each dialect.

mod limit;
mod pruning;
pub(crate) mod sample;
mod shapes;
mod table;
mod tool;
