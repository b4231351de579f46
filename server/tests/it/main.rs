//! The server from outside: over a listening socket, with the clients that people and programs use.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod agents_page;
mod attacks;
mod bound_agents;
mod busy;
mod claims;
mod cloud_events;
mod coming_in;
mod crowds;
mod decisions;
mod described;
mod feed;
mod filters;
mod foreign;
mod history_page;
mod house;
mod late;
mod listed;
mod long_lists;
mod meaning;
mod media_types;
mod messages;
mod orders;
mod page;
mod page_lists;
mod page_refusals;
mod page_sessions;
mod plan_changes;
mod plans;
mod publishing;
mod quoted;
mod read;
mod repeated;
mod requests;
mod rights;
mod rules;
mod rules_told;
mod run_page;
mod runs;
mod said;
mod scene;
mod secured;
mod shown;
mod socket;
