//! An independent auditor of a store: what was lost, doubled, invented or sent elsewhere?
//!
//! It reads what publishers wrote down themselves, what the targets of effects have seen, and the store through
//! its reading ports; never the program's own opinion of how things went. The properties are those of the
//! contract of the life of an interrupt, by their numbers there.

mod calls;
mod decisions;
mod finding;
mod history;

mod journal;
mod lives;
mod publishing;
mod runs;

use interrupts::store::{Store, StoreError};

pub use calls::{TargetCall, number_of, numbered};
pub use finding::Finding;
pub use history::{History, Moment};
pub use publishing::{Attempt, Outcome};

/// What the auditor looks at.
pub struct Evidence<'a> {
    /// The store.
    pub store: &'a dyn Store,
    /// What publishers tried, from their own logs.
    pub attempts: &'a [Attempt],
    /// The calls that the targets of effects have seen, in their order.
    pub calls: &'a [TargetCall],
}

/// What the auditor found.
#[derive(Debug, Default)]
pub struct Report {
    /// What is wrong; nothing where all is well.
    pub findings: Vec<Finding>,
    /// How many interrupts were looked at.
    pub interrupts: usize,
    /// How many of them were decided.
    pub decisions: usize,
    /// How many reroutes were consumed.
    pub consumed: usize,
    /// How many effects have a result.
    pub results: usize,
    /// How many calls the targets have seen whose answers were lost with the caller.
    pub lost_answers: usize,
}

/// Looks at everything.
///
/// # Errors
///
/// [`StoreError`] where the store cannot be read.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub async fn audit(evidence: &Evidence<'_>) -> Result<Report, StoreError> {
    let mut report = Report::default();
    let history = History::read(evidence.store, &mut report).await?;
    lives::check(evidence.store, &history, &mut report).await?;
    publishing::check(evidence.store, evidence.attempts, &mut report).await?;
    let journals = journal::read(evidence.store).await?;
    runs::check(evidence.store, &journals, &mut report).await?;
    decisions::check(evidence.store, &journals, &mut report).await?;
    calls::check(evidence.calls, &journals, &mut report);
    Ok(report)
}
