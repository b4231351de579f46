//! What has to be raised before a run goes on that has hit a limit.

use std::time::Duration;

use engine::run::RunUse;
use interrupts::life::{Family, Interrupt};
use interrupts::manager::{StopCause, StopNote};
use interrupts::money::Money;
use interrupts::store::Store;
use jiff::SignedDuration;
use routing_core::RunId;
use serde_json::Value;

use crate::layout::duration;

/// A time is told in tenths of a second: rounded up, so that no more than is told is enough.
const ROUNDED: Duration = Duration::from_millis(99);

/// Which limit was hit, as far as the run has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    Steps,
    Money,
    Time,
    /// That of the process which executes runs there.
    Machine,
}

impl Limit {
    /// The limit that a pause is about; `None` where it is about none.
    pub(super) fn of(note: &StopNote) -> Option<Self> {
        let has_hit_steps = || known(note, "limit_hit").and_then(Value::as_bool) == Some(true);
        match note.cause {
            StopCause::Budget if has_hit_steps() => Some(Self::Steps),
            StopCause::Budget => Some(Self::Money),
            StopCause::Timeout => Some(Self::Time),
            StopCause::Resource => Some(Self::Machine),
            StopCause::Shutdown
            | StopCause::SystemError
            | StopCause::UserEscape
            | StopCause::Permission
            | StopCause::Policy
            | StopCause::Hook
            | StopCause::Code => None,
        }
    }

    /// The option that raises it; `None` where each process has it anew.
    pub(super) const fn option(self) -> Option<&'static str> {
        match self {
            Self::Steps => Some("--max-steps NUMBER"),
            Self::Money => Some("--budget-usd AMOUNT"),
            Self::Time => Some("--timeout TIME"),
            Self::Machine => None,
        }
    }
}

/// What has to be raised before a run goes on, each with what it has to be more than; empty where nothing has.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn raised(store: &dyn Store, run: RunId, open: &[Interrupt]) -> Vec<String> {
    let pauses = open
        .iter()
        .filter(|interrupt| interrupt.family() == Family::Stop);
    let mut raised = Vec::new();
    for note in pauses.flat_map(StopNote::standing) {
        let Some((limit, option)) = Limit::of(&note).and_then(|it| Some((it, it.option()?))) else {
            continue;
        };
        let least = match limit {
            Limit::Money => money(&note),
            Limit::Time => time(&note, store, run).await,
            // How many were taken is told with what went wrong.
            Limit::Steps | Limit::Machine => None,
        };
        let least = least.map(|least| format!(", above {least}"));
        raised.push(format!("{option}{}", least.unwrap_or_default()));
    }
    raised
}

/// What the next call may cost is to be left.
fn money(note: &StopNote) -> Option<String> {
    let amount = |name| {
        known(note, name)
            .and_then(Value::as_str)
            .and_then(|text| text.parse::<Money>().ok())
    };
    let needed = amount("needed").unwrap_or(Money::ZERO);
    let spent = amount("spent").map(|spent| spent.plus(needed));
    spent.max(amount("limit")).map(|least| least.to_string())
}

/// The steps under way have taken their time after the limit was reached.
async fn time(note: &StopNote, store: &dyn Store, run: RunId) -> Option<String> {
    let limit = known(note, "limit_ms").and_then(Value::as_u64);
    let limit = limit.map(Duration::from_millis);
    let worked = RunUse::of(store, run).await.ok().map(|used| used.worked);
    let least = worked.max(limit)?.saturating_add(ROUNDED);
    SignedDuration::try_from(least).ok().map(duration)
}

fn known<'n>(note: &'n StopNote, name: &str) -> Option<&'n Value> {
    note.metadata.as_ref().and_then(|known| known.get(name))
}
