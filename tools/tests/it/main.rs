//! The tools from outside: what they do, what is left of them, and what is said of them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod census;
mod contained;
mod controller;

mod call_log;
mod files;
mod files_changed;
mod keeper_death;
mod matrix;
mod mcp;
mod nasty;
mod nasty_child;
mod paths;
mod permissions;
mod points;
mod programs;
mod scene;
mod scripted;
mod telemetry;
