//! Prints how much of the answer to an interrupt is left when it is narrowed to one route, for each
//! route and dialect: in bytes, and in tokens of the `o200k_base` tokeniser.

mod report;

use std::error::Error;

use interrupt_router::schema::Dialect;
use report::Report;

fn main() -> Result<(), Box<dyn Error>> {
    let tokeniser = tiktoken_rs::o200k_base()?;
    for dialect in Dialect::ALL {
        println!("{}", Report::measure(dialect, &tokeniser)?);
    }
    Ok(())
}
