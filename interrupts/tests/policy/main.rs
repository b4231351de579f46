//! Policies: which rule decides what, what is refused, and what is never approved.

mod automatic;
mod batches;
mod explaining;
mod properties;
mod reading;
mod scene;
mod terms;
