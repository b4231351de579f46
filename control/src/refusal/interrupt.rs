//! What an interrupt refuses.

use std::borrow::Cow;

use interrupt_router::InterruptId;
use interrupts::life::{
    Decider, Decision, Interrupt, NOBODY_ASKS, Refusal as LifeRefusal, State, Verdict,
};
use interrupts::store::ChangeError;
use jiff::Timestamp;
use serde_json::json;

use super::rule::not_remembered;
use super::{Code, NotDone, Refusal};

/// There is no such interrupt.
pub fn no_interrupt(given: &str) -> Refusal {
    Refusal::new(
        Code::InterruptNotFound,
        format!("there is no interrupt `{given}`"),
        "`irq review` lists what waits for a person; is it one of another store or server?",
    )
}

/// Why an interrupt was not changed; `interrupt` is the one that the caller knows.
pub fn not_changed(interrupt: Option<InterruptId>, error: ChangeError, now: Timestamp) -> NotDone {
    match error {
        ChangeError::Unknown { interrupt } => no_interrupt(&interrupt.to_string()).into(),
        ChangeError::Store(error) => NotDone::Store(error),
        ChangeError::Refused(refusal) => of_life(interrupt, &refusal, now).into(),
        ChangeError::NotRemembered(refusal) => not_remembered(&refusal).into(),
        other => NotDone::Failed(other.into()),
    }
}

/// Why an interrupt cannot be decided now; `None` while it waits for a person.
pub fn not_open(interrupt: &Interrupt, now: Timestamp) -> Option<Refusal> {
    let (id, state) = (interrupt.id, interrupt.state);
    let waits_for = match state {
        State::AwaitingReview => return None,
        State::Resolved | State::Rerouted | State::Expired | State::Cancelled => {
            return Some(ended(Some(id), state, interrupt.decision.as_ref(), now));
        }
        State::Requested | State::Delivered => "its agent has not taken it up yet",
        State::Acknowledged => "no person is needed so far",
        State::DeadLettered => "it could not be delivered; `irq redrive` tries again",
    };
    let hint = format!("`irq history --interrupt {id}` shows what became of it so far");
    Some(Refusal::new(
        Code::NotInState,
        format!("{id} is {state}: {waits_for}"),
        hint,
    ))
}

fn ended(
    id: Option<InterruptId>,
    state: State,
    decision: Option<&Decision>,
    now: Timestamp,
) -> Refusal {
    let hint = look(id);
    if state == State::Expired {
        let text = "its deadline passed before a decision; its stated outcome stands";
        return Refusal::new(Code::Expired, text, hint);
    }
    let Some(decision) = decision else {
        let text = format!("it is {state}: {NOBODY_ASKS}");
        return Refusal::new(Code::AlreadyResolved, text, hint);
    };
    let (who, verdict) = (decider(&decision.by), decision.verdict.name());
    let ago = now.duration_since(decision.at).as_secs().max(0);
    let to = direction(decision);
    let text = format!("{who} decided `{verdict}`{to}, {ago} s ago");
    Refusal::new(Code::AlreadyResolved, text, hint)
        .with("resolved_by", &*who)
        .with("resolved_at", decision.at.to_string())
        .with("decision", verdict)
        .with("decision_id", decision.id.to_string())
        .with("target", decision.target.as_str())
        .with("current_version", decision.version)
}

/// Who decided, in a word.
pub fn decider(by: &Decider) -> Cow<'_, str> {
    match by {
        Decider::Person { name } => name.as_str().into(),
        Decider::Policy => "a policy".into(),
        Decider::Rule { name, .. } => format!("a standing rule of {name}").into(),
        Decider::Deadline => "the deadline".into(),
    }
}

/// Where a decision leads, after a comma; a no leads nowhere.
pub fn direction(decision: &Decision) -> String {
    if decision.verdict.declines() {
        String::new()
    } else {
        format!(", to {}", decision.target)
    }
}

fn look(interrupt: Option<InterruptId>) -> String {
    interrupt.map_or_else(
        || "nothing was changed; read it again to see where it stands".to_owned(),
        |id| format!("nothing was changed; `irq review {id}` shows it"),
    )
}

/// What the life of an interrupt does not allow.
pub(super) fn of_life(
    interrupt: Option<InterruptId>,
    refusal: &LifeRefusal,
    now: Timestamp,
) -> Refusal {
    let said = refusal.to_string();
    let is = |code| Refusal::new(code, said.clone(), look(interrupt));
    match refusal {
        LifeRefusal::Ended {
            state, decision, ..
        } => ended(interrupt, *state, decision.as_deref(), now),
        LifeRefusal::StaleVersion { given, current } => Refusal::new(
            Code::StaleVersion,
            format!("it has changed since: it has version {current}, not {given}"),
            look(interrupt),
        )
        .with("current_version", *current),
        LifeRefusal::ShownDiffers => is(Code::ShownDiffers),
        LifeRefusal::DeadlinePassed { .. } => is(Code::Expired),
        LifeRefusal::VerdictNotAllowed { verdict, allowed } => verdict_refused(*verdict, allowed),
        LifeRefusal::TargetNotAllowed { .. } | LifeRefusal::TargetMismatch => is(Code::RouteNotAllowed),
        LifeRefusal::Claimed { by, until } => is(Code::Claimed)
            .with("claimed_by", by.as_str())
            .with("until", until.to_string()),
        LifeRefusal::Held { by } => Refusal::new(
            Code::Held,
            said,
            format!(
                "`irq review {by}` decides that one first; before its agent has stopped, `irq resume` does"
            ),
        )
        .with("held_by", by.to_string()),
        LifeRefusal::NotCancelable { .. } => is(Code::NotCancelable),
        LifeRefusal::AskedByOthers { askings } => Refusal::new(
            Code::NotInState,
            format!("none of the requests for it is yours: {said}"),
            format!(
                "`irq withdraw {}`, or `DELETE /v1/interrupts/{{asking}}`, withdraws one of them",
                askings
                    .first()
                    .map_or("ID.N".to_owned(), ToString::to_string)
            ),
        )
        .with("askings", json!(askings)),
        LifeRefusal::NoSuchAsking { .. } => is(Code::InterruptNotFound),
        LifeRefusal::TooManyAskings { .. } => Refusal::new(
            Code::NotInState,
            said,
            "withdraw one of them first; the stop is unchanged",
        ),
        LifeRefusal::ReasonTooLong { .. } => Refusal::new(
            Code::Shape,
            said,
            "say it in fewer words; nothing was recorded",
        ),
        LifeRefusal::Role { .. } => Refusal::new(
            Code::Forbidden,
            said,
            "ask a person with another role",
        ),
        _ => is(Code::NotInState),
    }
}

/// A decision is about another version than the present one.
pub(crate) fn version_changed(interrupt: &Interrupt, given: u64) -> Refusal {
    let current = interrupt.version;
    let stale = LifeRefusal::StaleVersion { given, current };
    of_life(Some(interrupt.id), &stale, Timestamp::UNIX_EPOCH)
}

/// A verdict that an interrupt does not take.
pub fn verdict_refused(verdict: Verdict, allowed: &[Verdict]) -> Refusal {
    let text = format!("it does not take `{}`", verdict.name());
    let names: Vec<&str> = allowed.iter().copied().map(Verdict::name).collect();
    // A stop has no answer that could go elsewhere.
    let refusal = if verdict == Verdict::Reroute && allowed.contains(&Verdict::Resume) {
        Refusal::new(
            Code::DecisionNotAllowed,
            format!("{text}: it is a stop, and its agent goes on where it was"),
            "`irq reroute AGENT --to AGENT_TYPE`, which is `POST /v1/interrupt-requests`, publishes a reroute for its agent; then go on with `irq resume`",
        )
    } else {
        let hint = format!("it takes: {}", names.join(", "));
        Refusal::new(Code::DecisionNotAllowed, text, hint)
    };
    refusal.with("allowed_decisions", names)
}

#[cfg(test)]
mod tests {
    use interrupt_router::InterruptId;
    use interrupts::ActorName;
    use interrupts::life::{Refusal as LifeRefusal, Role, State, Verdict};
    use interrupts::store::{ChangeError, StoreError};
    use jiff::Timestamp;

    use super::super::{Code, NotDone, Refusal};
    use super::not_changed;

    fn refused(error: impl Into<ChangeError>, interrupt: Option<InterruptId>) -> Refusal {
        match not_changed(interrupt, error.into(), Timestamp::UNIX_EPOCH) {
            NotDone::Refused(refusal) => refusal,
            NotDone::Store(error) => panic!("{error}"),
            NotDone::Failed(error) => panic!("{error}"),
        }
    }

    #[test]
    fn each_refusal_has_its_code_and_a_way_out() {
        let by = InterruptId::generate();
        let bob = || ActorName::new("bob").unwrap();
        for (refusal, code) in [
            (
                LifeRefusal::StaleVersion {
                    given: 1,
                    current: 2,
                },
                Code::StaleVersion,
            ),
            (LifeRefusal::ShownDiffers, Code::ShownDiffers),
            (
                LifeRefusal::DeadlinePassed {
                    deadline: Timestamp::UNIX_EPOCH,
                },
                Code::Expired,
            ),
            (
                LifeRefusal::VerdictNotAllowed {
                    verdict: Verdict::Edit,
                    allowed: vec![Verdict::Approve],
                },
                Code::DecisionNotAllowed,
            ),
            (LifeRefusal::TargetMismatch, Code::RouteNotAllowed),
            (
                LifeRefusal::Claimed {
                    by: bob(),
                    until: Timestamp::UNIX_EPOCH,
                },
                Code::Claimed,
            ),
            (LifeRefusal::Held { by }, Code::Held),
            (
                LifeRefusal::Role {
                    role: Role::Requester,
                    event: "decide",
                },
                Code::Forbidden,
            ),
            (
                LifeRefusal::AskedByOthers {
                    askings: Vec::new(),
                },
                Code::NotInState,
            ),
            (LifeRefusal::TooManyAskings { most: 3 }, Code::NotInState),
            (
                LifeRefusal::ReasonTooLong { given: 2, most: 1 },
                Code::Shape,
            ),
            (LifeRefusal::StillAsked, Code::NotInState),
        ] {
            let told = refused(refusal.clone(), Some(by));
            assert_eq!(told.code(), code, "{refusal:?}");
            assert!(!told.hint().is_empty(), "{refusal:?}");
        }
        let unknown = ChangeError::Unknown { interrupt: by };
        assert_eq!(refused(unknown, None).code(), Code::InterruptNotFound);
    }

    #[test]
    fn a_hint_names_the_interrupt_where_it_is_known() {
        let id = InterruptId::generate();
        let command = format!("`irq review {id}`");
        assert!(
            refused(LifeRefusal::ShownDiffers, Some(id))
                .hint()
                .contains(&command)
        );
        assert!(
            refused(LifeRefusal::ShownDiffers, None)
                .hint()
                .contains("read it again")
        );
    }

    #[test]
    fn one_that_nobody_decided_has_no_decider() {
        let ended = |state| LifeRefusal::Ended {
            state,
            event: "decide",
            decision: None,
        };
        let expired = refused(ended(State::Expired), None);
        assert_eq!(expired.code(), Code::Expired);
        let cancelled = refused(ended(State::Cancelled), None);
        assert_eq!(cancelled.code(), Code::AlreadyResolved);
        assert!(cancelled.members().is_empty());
    }

    #[test]
    fn what_the_store_cannot_do_is_no_refusal() {
        let told = not_changed(None, StoreError::Full.into(), Timestamp::UNIX_EPOCH);
        assert!(matches!(told, NotDone::Store(StoreError::Full)), "{told:?}");
    }
}
