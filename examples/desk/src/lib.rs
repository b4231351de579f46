//! A customers' desk: six agents of one's own on the engine, whose runs survive whatever becomes of the process.

mod desk;
mod shop;

pub use desk::*;
pub use shop::{CornerShop, Shop, ShopError};

/// The guide that leads here, and the chapter on chatting: their smaller examples are documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/embedding.md")]
#[doc = include_str!("../../../docs/chat.md")]
pub struct Guide;
