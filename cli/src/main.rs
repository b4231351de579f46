//! `irq`: runs multi-agent workflows whose interrupts can only go where they are allowed to.

use std::process::ExitCode;

/// A resumed run makes and drops millions of small texts: the system's allocator gives their memory back and asks for
/// it again all the time, which takes a quarter of the time
/// (`cargo bench -p interrupt-router-agents --bench resuming`).
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    irq::program().main()
}
