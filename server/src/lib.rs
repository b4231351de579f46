//! Interrupts over the network: REST, a live feed, and a page for people.
//!
//! [`serve`] takes a listening socket and a store. Its responses come from the store; what it accepts is in the store
//! before it responds. Other processes share the same store, so the server has no state of its own but caches, and may
//! be killed at any moment.
//!
//! Owns everything that speaks HTTP: who may come in, how large and how often, the wire forms, problem documents. Knows
//! nothing of how a run is executed: see [`RunLauncher`].
//!
//! Two names may surprise: `run.running` is the event of every start of work, the first and each later one; a stop that
//! has taken effect is `interrupt.acknowledged` in the feed, and `applied` to the socket that asked for it. Left out
//! are webhooks (the feed has no gap), `sort` (a list has the order of its cursor), and `reroute_to` of a pause, which
//! has no answer: `POST /v1/interrupt-requests` names a target.

mod access;
mod acting;
mod app;
mod body;
mod bus;
mod changes;
mod clearing;
mod config;
mod connections;
mod events;
mod feed;
mod launcher;
mod metrics;
mod page;
mod parameters;
mod probes;
mod problem;
mod routes;
mod serve;
mod tls;
mod visible;
mod wire;

pub use config::{Remote, ServerConfig, ServerLimits};
pub use events::RunEvents;
pub use launcher::{
    Holder, LaunchError, LaunchOrder, LaunchRefusal, NoLauncher, PlanOrder, PlanOrderError,
    RunLauncher,
};
pub use metrics::StoreTimes;
pub use probes::{Probed, WorkerFigures, serve_probes};
pub use routes::{asyncapi, openapi};
pub use serve::{Drained, ServeError, check_reach, serve};
pub use tls::{TlsError, TlsIdentity};
