//! irq
fn main() {}
