//! The desk as a program: all that `irq` does, for the desk.

use std::process::ExitCode;
use std::sync::Arc;

use desk::{CornerShop, Desk};

fn main() -> ExitCode {
    let shop = Arc::new(CornerShop);
    irq::program()
        .workflow(Desk { shop })
        .version(env!("CARGO_PKG_VERSION"))
        .about("Answers customers' tickets")
        .main()
}
