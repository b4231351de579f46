//! What `irq` can do, one file for each command.

mod chat;
mod checkpoints;
mod config;
mod doctor;
mod history;
mod hook;
mod interrupt;
mod manual;
#[cfg(feature = "mcp")]
mod mcp;
mod mcp_login;
mod plan;
mod policy;
mod ps;
mod purge;
mod replay;
mod reroute;
mod resume;
mod review;
mod routes;
mod rules;
mod run;
mod schema;
mod send;
mod serve;
mod stats;
mod store;
mod token;
mod watch_lines;
mod withdraw;

use std::io::{self, Write};

pub(crate) use chat::chat;
pub(crate) use checkpoints::checkpoints;
pub(crate) use config::config;
pub(crate) use doctor::doctor;
pub(crate) use history::history;
pub(crate) use hook::hook;
pub(crate) use interrupt::interrupt;
pub(crate) use manual::{completions, man};
#[cfg(feature = "mcp")]
pub(crate) use mcp::mcp;
pub(crate) use mcp_login::mcp_login;
pub(crate) use plan::plan;
pub(crate) use policy::policy;
pub(crate) use ps::ps;
pub(crate) use purge::purge;
pub(crate) use replay::replay;
pub(crate) use reroute::reroute;
pub(crate) use resume::{fork, resume};
pub(crate) use review::review;
pub(crate) use routes::routes;
pub(crate) use rules::rules;
pub(crate) use run::run;
pub(crate) use schema::schema;
pub(crate) use send::send;
pub(crate) use serve::{is_launched, serve, waits_for_server, worker};
pub(crate) use stats::stats;
pub(crate) use store::store;
pub(crate) use token::token;
pub(crate) use watch_lines::watch_lines;
pub(crate) use withdraw::{redrive, withdraw};

/// Writes a result to standard output.
fn print(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.flush()
}
