//! Tests of a workflow of yours, in process: a script plays its model and its people, and its process dies at each place.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use engine::{Workflow, testing::Trial};
//! # async fn proof<W: Workflow<Output = String>>(
//! #     store: Arc<dyn interrupts::store::Store>, input: W::Input, make: impl FnMut() -> W,
//! # ) -> Result<(), Box<dyn std::error::Error>> {
//! let script = r#"{"version": 1, "steps": [
//!     {"person": {"interrupt": {"agent": "CASHIER", "nth": 1}, "answer": {"verdict": "approve"}}}
//! ]}"#;
//! let tried = Trial::<W>::new(store, script, input)?.at_every_place(make).await?;
//! for run in &tried {
//!     assert_eq!(run.output, tried[0].output, "{:?}", run.death);
//!     assert_eq!(run.interrupts.len(), 1, "{:?}: asked once", run.death);
//!     assert!(run.repeated.is_empty(), "{:?}", run.death);
//!     // And what your doubles have counted, in `run.workflow`.
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A death is a process that does nothing any more: what it had begun is not finished, what it waited for is not heard.
//! It is played by a store that answers no more, so nothing is killed, and a test of hundreds of deaths takes seconds.

mod death;
mod model;
mod people;
mod trial;

pub use death::{Death, Mortal};
pub use trial::{Trial, TrialError, Tried};
