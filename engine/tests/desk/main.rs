//! An orchestrator of one's own on the engine: the customers' desk of the examples, killed, stopped, sent elsewhere and
//! answered.

#[path = "../../../examples/desk/src/desk.rs"]
mod desk;
#[path = "../../../examples/desk/src/shop.rs"]
mod shop;

mod answering;
mod counter;
mod dying;
mod keeping;
mod sending;
mod stopping;
