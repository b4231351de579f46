//! A customers' desk: six agents of one's own on the engine, whose runs survive whatever becomes of the process.

mod desk;
mod shop;

pub use desk::*;
pub use shop::{Shop, ShopError};
