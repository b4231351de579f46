//! What `irq` can do, one file for each command.

mod chat;
mod routes;
mod run;
mod schema;

use std::io::{self, Write};

pub(crate) use chat::chat;
pub(crate) use routes::routes;
pub(crate) use run::run;
pub(crate) use schema::schema;

/// Writes a result to standard output.
fn print(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.flush()
}
