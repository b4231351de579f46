//! The limits to raise before a run goes on that has hit them.

use std::time::Duration;

use engine::run::RunUse;
use interrupt_router::RunId;
use interrupts::life::{Family, Interrupt};
use interrupts::manager::{StopCause, StopNote};
use interrupts::money::Money;
use interrupts::store::Store;
use jiff::SignedDuration;
use serde_json::Value;

use crate::layout::duration;

/// Times are shown in tenths of a second: rounded up, so that just more than the shown time is enough.
const ROUNDED: Duration = Duration::from_millis(99);

/// Which limit was hit, if the run has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    Steps,
    Money,
    Time,
    /// The limit of the process that executes runs there.
    Machine,
}

impl Limit {
    /// The limit that a pause is about; `None` if there is none.
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

    /// The option that raises it; `None` if each process starts it anew.
    pub(super) const fn option(self) -> Option<&'static str> {
        match self {
            Self::Steps => Some("--max-steps NUMBER"),
            Self::Money => Some("--budget-usd AMOUNT"),
            Self::Time => Some("--timeout TIME"),
            Self::Machine => None,
        }
    }
}

/// What to raise before a run goes on, each with the value that it must exceed; empty if nothing.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn raised(store: &dyn Store, run: RunId, open: &[Interrupt]) -> Vec<String> {
    let pauses = open
        .iter()
        .filter(|interrupt| interrupt.family() == Family::Stop);
    let mut raised = Vec::new();
    for note in pauses.flat_map(StopNote::in_force) {
        let Some((limit, option)) = Limit::of(&note).and_then(|it| Some((it, it.option()?))) else {
            continue;
        };
        let least = match limit {
            Limit::Money => money(&note),
            Limit::Time => time(&note, store, run).await,
            // The number of steps taken is printed with the error.
            Limit::Steps | Limit::Machine => None,
        };
        let least = least.map(|least| format!(", above {least}"));
        raised.push(format!("{option}{}", least.unwrap_or_default()));
    }
    raised
}

/// The cost of the next call must be left.
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

/// Steps that were under way took more time after the limit was reached.
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
