//! A discrete-event model of more machines than we have: many workers, servers and open interrupts around one store in
//! PostgreSQL.
//!
//! The same seed gives the same figures. The times of leases, renewals and looks, the sizes of batches and the tables
//! of states are the product's own; costs are in [`measured`], other assumptions in [`ModelSettings`].
//! `docs/simulation.md` has the results.
//!
//! Owns the model. Knows nothing of networks, clocks or files.

pub mod calibration;
pub mod measured;
mod model;
mod order;
mod processor;
mod random;
mod store;
mod timeline;

pub use model::{Fault, Figures, Model, ModelSettings, Remedy, Samples, Source};
pub use order::{LAST_IN_LINE, Lots, hands_over};
pub use processor::Processor;
pub use random::Random;
pub use store::{FinishedOperation, Plan, Store, StoreEvent, StoreOperation};
pub use timeline::Timeline;
