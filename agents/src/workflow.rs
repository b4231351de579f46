//! The workflow: who does what, and where each goes next.
//!
//! The planner alone dispatches. Each action makes the full record of its request, gives the turn to
//! the node, and returns what the node's model answered: the next routing.

pub(crate) mod agents_run;
mod conversation;
mod cut_off;
pub(crate) mod dispatch;
pub(crate) mod failure;
pub(crate) mod flow;
mod following;
mod interrupts;
pub(crate) mod kinds;
mod launcher;
pub(crate) mod node;
pub(crate) mod plan;
mod question;
mod receive;
mod results;
mod resume;
mod station;
mod step;
