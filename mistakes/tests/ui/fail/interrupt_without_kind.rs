//! A sealed interrupt request that does not say whose interrupts it holds.
use interrupt_router::{InterruptDetails, InterruptRequest};

#[derive(Debug, Clone, InterruptRequest)]
enum Interrupt {
    Orchestrator(InterruptDetails),
}

fn main() {}
