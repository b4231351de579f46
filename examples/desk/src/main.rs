//! The desk as a program: all that `irq` does, with the desk as one more workflow.

use std::process::ExitCode;
use std::sync::Arc;

use desk::{CornerShop, Desk};

fn main() -> ExitCode {
    let shop = Arc::new(CornerShop);
    irq::program().workflow(Desk { shop }).main()
}
