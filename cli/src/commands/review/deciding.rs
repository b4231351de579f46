//! Deciding an interrupt as it was shown.

use std::time::Duration;

use control::{DecisionParts, NewDecision, RememberOrder, direction, not_open};
use engine::run::given_up_because;
use interrupts::life::Interrupt;
use interrupts::store::Run;
use jiff::Timestamp;
use tokio::time::Instant;

use crate::advice::continuing;
use crate::backend::{Backend, goes_on_there};
use crate::exit::Failure;
use crate::plan::checked;
use crate::run_owner::has_process;
use crate::state_words::state_words;

/// How often to check whether a server has taken the run up.
const LOOK: Duration = Duration::from_millis(50);
/// How long that may take.
const TAKEN_UP: Duration = Duration::from_secs(1);

/// Decides. `shown` is the interrupt as the person saw it: if it has changed since, nothing is decided.
///
/// # Errors
///
/// [`Exit::Conflict`] with the decision that won, or with what has changed.
///
/// # Cancel safety
///
/// If dropped, it may or may not be decided: look to see.
pub(in crate::commands) async fn decide(
    backend: &dyn Backend,
    shown: &Interrupt,
    chosen: DecisionParts,
    if_version: Option<u64>,
    remember: Option<RememberOrder>,
) -> anyhow::Result<Interrupt> {
    let deciding = deciding(backend, shown, chosen, if_version, remember).await?;
    Ok(backend.decide(shown.id, deciding).await?)
}

/// A decision about an interrupt as it was shown.
///
/// # Errors
///
/// [`Exit::Conflict`] if it is not open.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn deciding(
    backend: &dyn Backend,
    shown: &Interrupt,
    chosen: DecisionParts,
    if_version: Option<u64>,
    remember: Option<RememberOrder>,
) -> anyhow::Result<NewDecision> {
    let version = if_version.unwrap_or(shown.version);
    if let Some(refusal) = not_open(shown, Timestamp::now()) {
        return Err(Failure::from(refusal).into());
    }
    let bound = checked(backend, shown, &chosen).await?;
    Ok(NewDecision {
        version: Some(version),
        shown: shown.review.as_ref().map(|review| review.shown),
        parts: bound.map_or(chosen, |(_preview, bound)| bound),
        remember,
    })
}

/// Whether a process continues a run, now that something of it was decided.
pub(in crate::commands) struct Aftermath {
    run: Option<Run>,
    /// Whether the server that was asked has taken it up meanwhile.
    was_taken_up: bool,
}

impl Aftermath {
    /// Looks at the run of the decided interrupt. If a server was asked, waits until it has had the time to take the run up,
    /// whichever process owned it before.
    ///
    /// # Errors
    ///
    /// If the backend cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub(in crate::commands) async fn of(
        at: &dyn Backend,
        decided: &Interrupt,
    ) -> Result<Self, Failure> {
        let began = Instant::now();
        let mut first = None;
        loop {
            let run = at.run(decided.run).await?;
            let Some(row) = &run else {
                let was_taken_up = false;
                return Ok(Self { run, was_taken_up });
            };
            let was_taken_up = row.epoch > *first.get_or_insert(row.epoch);
            let is_known = was_taken_up
                || at.page().is_none()
                || row.state.is_final()
                || has_process(row)
                || goes_on_there(at, row, decided);
            if is_known || began.elapsed() >= TAKEN_UP {
                return Ok(Self { run, was_taken_up });
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// What was decided, and who continues the run.
pub(in crate::commands) fn decided_text(
    at: &dyn Backend,
    decided: &Interrupt,
    after: &Aftermath,
) -> String {
    let Some(decision) = &decided.decision else {
        return format!("{} is {}.\n", decided.id, state_words(decided.state));
    };
    let mut text = format!(
        "{}: {}{}.\n",
        decided.id,
        decision.verdict.name(),
        direction(decision)
    );
    let Some(run) = after.run.as_ref().filter(|run| !has_process(run)) else {
        return text;
    };
    let gives_up = given_up_because(decided).is_some();
    if run.state.is_final() {
        if gives_up {
            text.push_str(&format!("{} is {}.\n", run.id, run.state));
        }
    } else if after.was_taken_up || goes_on_there(at, run, decided) {
        text.push_str("The server goes on with it.\n");
    } else {
        let what = if gives_up { "It ends" } else { "Go on" };
        text.push_str(&format!(
            "No process runs it now. {what} with: {}\n",
            continuing(run)
        ));
    }
    text
}
