//! Agents that use tools: the rounds, the record, the people who are asked, the agents that agents launch.

mod bench;
mod durable;
mod files;
mod launching;
mod permissions;
mod points;
mod rounds;
mod servers;
