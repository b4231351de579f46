//! From what the store and the machine refuse to the problem for the caller.

use std::borrow::Cow;
use std::time::Duration;

use axum::http::{HeaderValue, header};
use interrupts::life::{Decider, Decision, Interrupt, NOBODY_ASKS, Refusal, State};
use interrupts::rules::RuleRefusal;
use interrupts::store::{ChangeError, RuleError, StoreError, VerifyError};
use jiff::Timestamp;
use routing_core::InterruptId;
use serde_json::{Value, json};

use super::{Kind, Problem};
use crate::launcher::{LaunchError, LaunchRefusal};

/// How long the store may take to answer a health check.
const STORE_ANSWERS_WITHIN: Duration = Duration::from_secs(2);

/// The store's answer to a health check, within a time limit. The store waits long for a server that is unavailable.
///
/// # Cancel safety
///
/// That of the answer.
pub(crate) async fn in_time<T>(answer: impl Future<Output = T>) -> Result<T, Problem> {
    let answered = tokio::time::timeout(STORE_ANSWERS_WITHIN, answer).await;
    answered.map_err(|_elapsed| {
        Problem::new(
            Kind::Unavailable,
            "the store does not answer",
            "see whether its server is reached: irq doctor",
        )
    })
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        of_store(&error)
    }
}

/// The problem for a failing store. The details are in the log, not in the response.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the rest of these errors, which may become more, is told in the same way"
)]
pub(crate) fn of_store(error: &StoreError) -> Problem {
    if let StoreError::DamagedCheckpoint { .. } = error {
        tracing::warn!(%error, "a run cannot go on");
        let hint = "nothing was changed; go on from another checkpoint";
        return Problem::new(Kind::NotInState, error.to_string(), hint);
    }
    if let StoreError::InvalidValue { .. } = error {
        let hint = "change that value: no store keeps it, and nothing was accepted";
        return Problem::new(Kind::Shape, error.to_string(), hint);
    }
    tracing::error!(%error, "the store failed");
    if let StoreError::Gone { .. } = error {
        let detail = "the file of the store was deleted, replaced or cut off while it was in use";
        let hint = "nothing was accepted, and nothing will be: stop the server, put the file back, and start it again";
        return Problem::new(Kind::StoreGone, detail, hint);
    }
    if let StoreError::Newer { .. } = error {
        let detail = "a newer version of the program has changed the schema of the store";
        let hint = "nothing was accepted, and nothing will be: start the newer program in place of this one";
        return Problem::new(Kind::Unavailable, detail, hint);
    }
    if let StoreError::DamagedRow { .. } = error {
        let hint = "other rows can be read; `irq history --verify` names all that is damaged";
        return Problem::new(Kind::Unavailable, error.to_string(), hint);
    }
    let detail = match error {
        StoreError::Full => "the disk of the store is full",
        StoreError::ReadOnly => "the store is read-only",
        StoreError::Locked => "another process holds the store",
        StoreError::Closed => "the store is closed",
        StoreError::Corrupt { .. } => "the store is damaged",
        _ => "the store cannot be used now",
    };
    let hint = "nothing was accepted; `irq doctor` says what is wrong";
    Problem::new(Kind::Unavailable, detail, hint)
        .header(header::RETRY_AFTER, HeaderValue::from_static("2"))
}

/// The problem for a broken audit.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the rest of these errors, which may become more, is told in the same way"
)]
pub(crate) fn of_verify(error: &VerifyError) -> Problem {
    match error {
        VerifyError::Store(error) => of_store(error),
        broken => Problem::new(
            Kind::NotInState,
            broken.to_string(),
            "compare with a copy of the store; `irq history --verify` reads it again",
        ),
    }
}

/// The problem for a run that cannot be executed.
pub(crate) fn of_launch(error: &LaunchError) -> Problem {
    match error {
        LaunchError::Unsupported => Problem::new(
            Kind::NoLauncher,
            error.to_string(),
            "start it with `irq run`, go on with it with `irq resume`",
        ),
        LaunchError::Order { field, reason } => {
            Problem::new(Kind::Shape, error.to_string(), "correct the field").with(
                "errors",
                json!([{"pointer": format!("/{}", field.replace('.', "/")), "message": reason}]),
            )
        }
        LaunchError::Taken { run } => Problem::new(
            Kind::NameTaken,
            error.to_string(),
            format!("read /v1/runs/{run}, or choose another name"),
        ),
        LaunchError::Refused {
            refusal,
            reason,
            hint,
        } => {
            let kind = match refusal {
                LaunchRefusal::Unknown => Kind::NotFound,
                LaunchRefusal::State => Kind::NotInState,
                LaunchRefusal::Order => Kind::Shape,
            };
            let hint = hint.as_deref();
            Problem::new(
                kind,
                reason.clone(),
                hint.unwrap_or("read the run to see where it stands"),
            )
        }
        LaunchError::Store(error) => of_store(error),
        LaunchError::Unavailable { detail } => {
            tracing::error!(%detail, "a run could not be executed");
            Problem::new(
                Kind::Unavailable,
                "the run cannot be executed now",
                "try again; `irq doctor` says what is wrong",
            )
        }
    }
}

/// The problem for a refused change of an interrupt.
pub(crate) fn of_change(error: &ChangeError, now: Timestamp) -> Problem {
    match error {
        ChangeError::Unknown { interrupt } => no_interrupt(&interrupt.to_string()),
        ChangeError::Store(error) => of_store(error),
        ChangeError::Refused(refusal) => of_refusal(refusal, now),
        ChangeError::NotRemembered(refusal) => not_remembered(refusal),
        _ => Problem::new(Kind::NotInState, error.to_string(), "read it again"),
    }
}

/// The problem for a decision that cannot be remembered.
fn not_remembered(refusal: &RuleRefusal) -> Problem {
    let said = refusal.to_string();
    if matches!(refusal, RuleRefusal::ShownDiffers) {
        let hint = "read it again, and decide about what it asks now";
        return Problem::new(Kind::ShownDiffers, said, hint);
    }
    if matches!(refusal, RuleRefusal::Role { .. }) {
        let hint = "choose the scope `agent` or `run`, or let a supervisor make or revoke the rule";
        return Problem::new(Kind::Forbidden, said, hint);
    }
    let hint = "decide without `remember`; nothing was changed";
    Problem::new(Kind::NotRememberable, said, hint)
}

/// The problem for a rule that was not made or changed.
pub(crate) fn of_rule(error: &RuleError) -> Problem {
    match error {
        RuleError::Store(error) => of_store(error),
        RuleError::Refused(refusal) => not_remembered(refusal),
        RuleError::UnknownInterrupt { interrupt } => no_interrupt(&interrupt.to_string()),
        RuleError::Unknown { rule } => no_rule(&rule.to_string()),
        RuleError::Taken { .. } | _ => Problem::new(
            Kind::IdempotencyConflict,
            error.to_string(),
            "use a new `Idempotency-Key` for a new rule",
        ),
    }
}

/// The problem for an unknown rule.
pub(crate) fn no_rule(given: &str) -> Problem {
    Problem::new(
        Kind::RuleNotFound,
        format!("there is no rule `{given}`"),
        "`GET /v1/rules` lists the rules",
    )
}

/// The problem for an unknown interrupt.
pub(crate) fn no_interrupt(given: &str) -> Problem {
    Problem::new(
        Kind::InterruptNotFound,
        format!("there is no interrupt `{given}`"),
        "`irq review` lists those that are open",
    )
}

/// The problem for a decision on an interrupt that has ended, or has not got so far; `None` while it waits for a
/// person.
pub(crate) fn not_decided(interrupt: &Interrupt, now: Timestamp) -> Option<Problem> {
    match interrupt.state {
        State::AwaitingReview => None,
        State::Resolved | State::Rerouted | State::Expired | State::Cancelled => Some(ended(
            interrupt.state,
            interrupt.decision.as_ref(),
            Some(interrupt.id),
            now,
        )),
        State::Requested | State::Delivered | State::Acknowledged | State::DeadLettered => {
            Some(Problem::new(
                Kind::NotInState,
                format!(
                    "{} is {}, and is not open for review yet",
                    interrupt.id, interrupt.state
                ),
                "wait until it is `awaiting_review`; `GET /v1/events` tells when",
            ))
        }
    }
}

fn ended(
    state: State,
    decision: Option<&Decision>,
    id: Option<InterruptId>,
    now: Timestamp,
) -> Problem {
    if state == State::Expired {
        return Problem::new(
            Kind::Expired,
            "its deadline passed before a decision",
            "its stated outcome stands; nothing was changed",
        );
    }
    let Some(decision) = decision else {
        return Problem::new(
            Kind::AlreadyResolved,
            NOBODY_ASKS,
            "there is nothing left to decide",
        );
    };
    let (who, verdict) = (decider(&decision.by), decision.verdict.name());
    let ago = now.duration_since(decision.at).as_secs().max(0);
    let hint = match id {
        Some(id) => format!("irq review {id} shows the decision; nothing was changed."),
        None => "read it to see the decision; nothing was changed.".to_owned(),
    };
    let detail = format!("{who} decided `{verdict}` {ago} s ago.");
    let problem = Problem::new(Kind::AlreadyResolved, detail, hint)
        .with("resolved_by", &*who)
        .with("resolved_at", decision.at.to_string())
        .with("decision", verdict)
        .with("decision_id", decision.id.to_string())
        .with("target", decision.target.as_str());
    match HeaderValue::try_from(format!("\"{}\"", decision.version)) {
        Ok(version) => problem.header(header::ETAG, version),
        Err(_) => problem,
    }
}

/// Who decided, in a word.
pub(crate) fn decider(by: &Decider) -> Cow<'_, str> {
    match by {
        Decider::Person { name } => name.as_str().into(),
        Decider::Policy => "a policy".into(),
        Decider::Rule { name, .. } => format!("a standing rule of {name}").into(),
        Decider::Deadline => "the deadline".into(),
    }
}

#[expect(clippy::too_many_lines, reason = "one arm for each refusal")]
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the rest of these errors, which may become more, is told in the same way"
)]
pub(crate) fn of_refusal(refusal: &Refusal, now: Timestamp) -> Problem {
    let said = refusal.to_string();
    match refusal {
        Refusal::Ended {
            state, decision, ..
        } => ended(*state, decision.as_deref(), None, now),
        Refusal::StaleVersion { current, .. } => Problem::new(
            Kind::StaleVersion,
            said,
            "read it again, look at what changed, and decide anew",
        )
        .with("current_version", *current),
        Refusal::ShownDiffers => Problem::new(
            Kind::ShownDiffers,
            said,
            "read it again, and decide about what it asks now",
        ),
        Refusal::DeadlinePassed { .. } => Problem::new(
            Kind::Expired,
            said,
            "its stated outcome stands; nothing was changed",
        ),
        Refusal::VerdictNotAllowed { allowed, .. } => {
            let allowed: Vec<Value> = allowed
                .iter()
                .map(|&verdict| Value::from(verdict.name()))
                .collect();
            Problem::new(Kind::DecisionNotAllowed, said, "choose one that is allowed")
                .with("allowed_decisions", allowed)
        }
        Refusal::TargetNotAllowed { .. } | Refusal::TargetMismatch => Problem::new(
            Kind::RouteNotAllowed,
            said,
            "name one of its `routes`, with the decision `reroute` and no other",
        ),
        Refusal::Claimed { by, until } => {
            Problem::new(Kind::Claimed, said, "wait, or ask the person who claimed it")
                .with("claimed_by", by.as_str())
                .with("until", until.to_string())
        }
        Refusal::Held { by } => Problem::new(
            Kind::Held,
            said,
            format!(
                "decide {by} first, or resume the run where that has not taken hold; then it is shown again"
            ),
        )
        .with("held_by", by.to_string()),
        Refusal::NotCancelable { .. } => Problem::new(
            Kind::NotCancelable,
            said,
            "wait until it is carried out",
        ),
        Refusal::AskedByOthers { askings } => Problem::new(
            Kind::NotInState,
            said,
            "none of its requests is yours; `DELETE /v1/interrupts/{asking}` withdraws one of them",
        )
        .with("askings", json!(askings)),
        Refusal::NoSuchAsking { asking } => no_interrupt(&asking.to_string()),
        Refusal::TooManyAskings { .. } => Problem::new(
            Kind::NotInState,
            said,
            "withdraw one of them first; the stop is unchanged",
        ),
        Refusal::ReasonTooLong { .. } => Problem::new(
            Kind::Shape,
            said,
            "say it in fewer words; nothing was recorded",
        ),
        Refusal::Role { .. } => Problem::new(
            Kind::Forbidden,
            "your role may not do that",
            "ask a person with another role",
        ),
        _ => Problem::new(
            Kind::NotInState,
            said,
            "read it again to see where it stands",
        ),
    }
}
