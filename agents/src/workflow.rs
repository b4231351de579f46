//! The workflow: who does what, and where each goes next.
//!
//! The planner alone dispatches. Each action makes the full record of its request, gives the turn to
//! the node, and returns what the node's model answered: the next routing.

mod conversation;
mod cut_off;
pub(crate) mod dispatch;
pub(crate) mod engine;
pub(crate) mod failure;
pub(crate) mod flow;
mod following;
mod interrupts;
pub(crate) mod kinds;
pub(crate) mod node;
pub(crate) mod plan;
mod question;
mod receive;
mod results;
mod resume;
pub(crate) mod settling;
mod station;
mod step;
