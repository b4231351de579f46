//! The workflow: who does what, and where each goes next.
//!
//! The planner alone dispatches. Each action makes the full record of its request, gives the turn to
//! the node, and returns what the node's model answered: the next routing.

mod after_interrupt;
pub(crate) mod agents_run;
mod conversation;
pub(crate) mod dispatch;
pub(crate) mod failure;
pub(crate) mod flow;
mod interrupts;
pub(crate) mod kinds;
mod launcher;
pub(crate) mod node;
mod node_requests;
pub(crate) mod plan;
mod pruning;
mod question;
mod receive;
mod results;
mod resume;
mod step;
