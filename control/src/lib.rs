//! What people and programs ask of runs: stops, events, answers; and how far a run has come.
//!
//! Each rule of what can be asked stands here once, whether it is asked over REST, a socket, the page, or beside the store.

mod asked;
mod checkpoint;
mod event;
mod progress;
mod review;
mod stop;

pub use asked::{Asker, NotAsked, Target};
pub use checkpoint::{check_checkpoint, ends_at};
pub use event::event_admission;
pub use progress::{LastInterrupt, PlannedNode, RunProgress};
pub use review::CLAIM;
pub use stop::StopOrder;
