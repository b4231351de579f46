//! What a standing rule refuses.

use interrupts::rules::RuleRefusal;
use interrupts::store::RuleError;

use super::{Code, NotDone, Refusal, no_interrupt};

/// There is no such rule.
pub fn no_rule(given: &str) -> Refusal {
    Refusal::new(
        Code::RuleNotFound,
        format!("there is no rule `{given}`"),
        "`irq rules list --all` lists them",
    )
}

/// Why a rule was not made or changed.
pub fn rule_not_made(error: RuleError) -> NotDone {
    match error {
        RuleError::Store(error) => NotDone::Store(error),
        RuleError::Refused(refusal) => not_remembered(&refusal).into(),
        RuleError::UnknownInterrupt { interrupt } => no_interrupt(&interrupt.to_string()).into(),
        RuleError::Unknown { rule } => no_rule(&rule.to_string()).into(),
        RuleError::Taken { .. } => Refusal::new(
            Code::IdempotencyConflict,
            error.to_string(),
            "use a new `Idempotency-Key` for a new rule",
        )
        .into(),
        other => NotDone::Failed(other.into()),
    }
}

/// A decision that cannot be remembered.
pub(super) fn not_remembered(refusal: &RuleRefusal) -> Refusal {
    let (code, hint) = match refusal {
        RuleRefusal::ShownDiffers => (
            Code::ShownDiffers,
            "read it again, and decide about what it asks now",
        ),
        RuleRefusal::Role { .. } => (
            Code::Forbidden,
            "choose the scope `agent` or `run`, or let a supervisor make or revoke the rule",
        ),
        _ => (
            Code::NotRememberable,
            "decide without remembering; nothing was changed",
        ),
    };
    Refusal::new(code, format!("it cannot be remembered: {refusal}"), hint)
}
