//! What people and programs ask of runs: stops and reroute events; and how far a run has come.
//!
//! Each rule of what can be asked stands here once, for REST, the socket, the page, and the program beside the store.

mod asked;
mod checkpoint;
mod event;
mod progress;
mod stop;

pub use asked::{NotAsked, StopRequester, Target};
pub use checkpoint::{check_checkpoint, ends_at};
pub use event::event_admission;
pub use progress::{LastInterrupt, PlannedNode, RunProgress};
pub use stop::StopOrder;
