//! Interrupts in every state, and the events that happen to them.

use interrupt_router::{
    DecisionId, EventId, InterruptId, InterruptType, NodeId, RunId, StopMode, StopSource,
};
use interrupts::life::{
    Actor, Admission, BoundReroute, Choosing, Event, Evidence, ExpiryOutcome, Interrupt, Judge,
    Limits, Recurrence, ReviewChange, Role, RunState, Scope, State, Step, Verdict, WithdrawCause,
};
use interrupts::{ActorName, Digest, IdempotencyKey, KindName, OwnerName, RouteName};
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

/// The content that reviewers are shown.
pub(crate) const SHOWN: &[u8] = b"what is shown";

/// The time at so many seconds.
pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

pub(crate) fn route(name: &str) -> RouteName {
    RouteName::new(name).unwrap()
}

pub(crate) fn owner(name: &str) -> OwnerName {
    OwnerName::new(name).unwrap()
}

pub(crate) fn actor(role: Role) -> Actor {
    named("ada", role)
}

pub(crate) fn named(name: &str, role: Role) -> Actor {
    Actor {
        name: ActorName::new(name).unwrap(),
        role,
    }
}

pub(crate) fn shown() -> Digest {
    Digest::of(SHOWN)
}

pub(crate) fn interrupt_id(number: u128) -> InterruptId {
    InterruptId::from_uuid(Uuid::from_u128(number))
}

pub(crate) fn decision_id(number: u128) -> DecisionId {
    DecisionId::from_uuid(Uuid::from_u128(number))
}

pub(crate) fn reroute(event: &str, target: &str) -> BoundReroute {
    BoundReroute {
        event: EventId::try_from(event.to_owned()).unwrap(),
        target: route(target),
    }
}

/// A request that may go to three routes, expires after 100 seconds, and may be delivered three times.
pub(crate) fn admission(interrupt_type: InterruptType) -> Admission {
    Admission {
        id: interrupt_id(1),
        run: RunId::from_uuid(Uuid::from_u128(9)),
        node: NodeId::root(),
        kind: KindName::new("WORKER").unwrap(),
        origin: route("ORIGIN"),
        routes: vec![route("ORIGIN"), route("OTHER"), route("THIRD")],
        interrupt_type,
        source: StopSource::User,
        requested_by: named("publisher", Role::Requester),
        mode: StopMode::Graceful,
        scope: Scope::Agent,
        reason: "why".to_owned(),
        content: "{}".to_owned(),
        key: IdempotencyKey::new("key-1").unwrap(),
        allowed: Vec::new(),
        patience: Some(SignedDuration::from_secs(100)),
        on_expiry: ExpiryOutcome::Reject,
        most_attempts: 3,
        recurrence: Recurrence::Verbatim,
        reroute: None,
    }
}

pub(crate) fn admitted(admission: &Admission) -> Step {
    admission
        .admit(
            admission.digest(),
            RunState::Running,
            &Limits::default(),
            at(0),
        )
        .unwrap()
}

pub(crate) fn take(owner_name: &str, until: i64) -> Event {
    Event::Take {
        owner: owner(owner_name),
        until: at(until),
        lost: None,
    }
}

pub(crate) fn request(epoch: u64, pending: Option<BoundReroute>) -> Event {
    Event::Acknowledge {
        epoch,
        evidence: Evidence::Request {
            content: r#"{"asked":true}"#.to_owned(),
            form: None,
        },
        pending,
    }
}

pub(crate) fn review(actor: Actor, version: u64, change: ReviewChange) -> Event {
    Event::Review {
        actor,
        version,
        change,
    }
}

pub(crate) fn choosing(number: u128, target: Option<&str>) -> Choosing {
    Choosing {
        id: decision_id(number),
        verdict: if target.is_some() {
            Verdict::Reroute
        } else {
            Verdict::Respond
        },
        target: target.map(route),
        content: None,
    }
}

pub(crate) fn person(interrupt: &Interrupt, choosing: Choosing) -> Event {
    Event::Decide {
        judge: Judge::Person {
            actor: actor(Role::Reviewer),
            version: interrupt.version,
            shown: shown(),
        },
        choosing,
    }
}

pub(crate) fn policy(interrupt: &Interrupt, choosing: Choosing) -> Event {
    Event::Decide {
        judge: Judge::Policy {
            epoch: interrupt.epoch,
        },
        choosing,
    }
}

pub(crate) fn withdraw(role: Role) -> Event {
    Event::Withdraw {
        actor: actor(role),
        cause: WithdrawCause::Withdrawn,
    }
}

pub(crate) fn failed(epoch: Option<u64>) -> Event {
    Event::DeliveryFailed {
        epoch,
        error: "no answer".to_owned(),
    }
}

pub(crate) fn deadline() -> Event {
    Event::Deadline {
        id: decision_id(99),
    }
}

pub(crate) fn redrive(role: Role) -> Event {
    Event::Redrive { actor: actor(role) }
}

pub(crate) fn after(interrupt: &Interrupt, event: &Event, seconds: i64) -> Interrupt {
    interrupt.after(event, at(seconds)).unwrap().interrupt
}

/// A question in a state, as it is at second 1; leases hold until second 10, a reroute to OTHER is bound.
pub(crate) fn question(state: State) -> Interrupt {
    let mut asked = admission(InterruptType::HumanReview);
    // One delivery is allowed, so that the first failure is the last.
    asked.most_attempts = match state {
        State::DeadLettered => 1,
        _ => 3,
    };
    let requested = admitted(&asked).interrupt;
    let delivered = |interrupt: &Interrupt| after(interrupt, &take("worker", 10), 1);
    let acknowledged = |interrupt: &Interrupt| {
        let pending = Some(reroute("event", "OTHER"));
        after(&delivered(interrupt), &request(1, pending), 1)
    };
    let awaiting = |interrupt: &Interrupt| {
        let needs = Event::RequireReview {
            epoch: 1,
            shown: shown(),
        };
        after(&acknowledged(interrupt), &needs, 1)
    };
    match state {
        State::Requested => requested,
        State::Delivered => delivered(&requested),
        State::Acknowledged => acknowledged(&requested),
        State::AwaitingReview => awaiting(&requested),
        State::Resolved => {
            let open = awaiting(&requested);
            after(&open, &person(&open, choosing(5, Some("ORIGIN"))), 1)
        }
        State::Rerouted => {
            let open = awaiting(&requested);
            after(&open, &person(&open, choosing(5, None)), 1)
        }
        State::Expired => after(&acknowledged(&requested), &deadline(), 100),
        State::Cancelled => after(&acknowledged(&requested), &withdraw(Role::Operator), 1),
        State::DeadLettered => after(&requested, &failed(None), 1),
    }
}

/// Every event, with what fits the interrupt.
pub(crate) fn every_event(interrupt: &Interrupt) -> Vec<Event> {
    let mut events = deliveries(interrupt.epoch);
    events.extend(reviews(interrupt.version));
    for choice in [
        choosing(7, None),
        choosing(8, Some("ORIGIN")),
        choosing(9, Some("THIRD")),
    ] {
        events.push(person(interrupt, choice.clone()));
        events.push(policy(interrupt, choice));
    }
    events
}

/// What workers, operators and the clock do.
fn deliveries(epoch: u64) -> Vec<Event> {
    let acknowledgements = [
        Evidence::Boundary,
        Evidence::Cancelled,
        Evidence::Request {
            content: "{}".to_owned(),
            form: None,
        },
    ];
    let mut events = vec![
        take("second", 1_000),
        Event::Take {
            owner: owner("second"),
            until: at(1_000),
            lost: Some(owner("worker")),
        },
        Event::Renew {
            epoch,
            until: at(1_000),
        },
        Event::RequireReview {
            epoch,
            shown: shown(),
        },
        deadline(),
        withdraw(Role::Operator),
        failed(Some(epoch)),
        failed(None),
        redrive(Role::Operator),
        Event::RaiseMode {
            actor: actor(Role::Operator),
            mode: StopMode::Immediate,
        },
        Event::AskAgain {
            actor: actor(Role::Operator),
            catalogue: shown(),
            routes: Vec::new(),
        },
    ];
    events.extend(acknowledgements.map(|evidence| Event::Acknowledge {
        epoch,
        evidence,
        pending: None,
    }));
    events
}

/// What reviewers do before they decide.
fn reviews(version: u64) -> Vec<Event> {
    let holder = interrupt_id(77);
    let by_operator = [
        ReviewChange::Claim { until: at(1_000) },
        ReviewChange::Release,
        ReviewChange::Assign {
            to: ActorName::new("bob").unwrap(),
        },
        ReviewChange::Vote {
            verdict: Verdict::Approve,
        },
    ];
    let by_system = [
        ReviewChange::Hold { by: holder },
        ReviewChange::Unhold { by: holder },
    ];
    let operator = by_operator.map(|change| review(actor(Role::Operator), version, change));
    let system = by_system.map(|change| review(actor(Role::System), version, change));
    operator.into_iter().chain(system).collect()
}
