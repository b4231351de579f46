//! What `irq` can do, one file for each command.

mod chat;
mod checkpoints;
mod config;
mod history;
mod interrupt;
mod manual;
mod policy;
mod ps;
mod purge;
mod replay;
mod reroute;
mod review;
mod routes;
mod run;
mod schema;
mod send;
mod stats;
mod withdraw;

use std::io::{self, Write};

pub(crate) use chat::chat;
pub(crate) use checkpoints::checkpoints;
pub(crate) use config::config;
pub(crate) use history::history;
pub(crate) use interrupt::interrupt;
pub(crate) use manual::{completions, man};
pub(crate) use policy::policy;
pub(crate) use ps::ps;
pub(crate) use purge::purge;
pub(crate) use replay::replay;
pub(crate) use reroute::reroute;
pub(crate) use review::review;
pub(crate) use routes::routes;
pub(crate) use run::run;
pub(crate) use schema::schema;
pub(crate) use send::send;
pub(crate) use stats::stats;
pub(crate) use withdraw::{redrive, withdraw};

/// Writes a result to standard output.
fn print(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.flush()
}
