//! What the tests of policies share.

use interrupt_router::{InterruptId, InterruptType, NodeId, RunId, StopMode, StopSource};
use interrupts::life::{
    Actor, Admission, ExpiryOutcome, Interrupt, Limits, Recurrence, Role, RunState, Scope,
};
use interrupts::policy::{Policy, Vocabulary};
use interrupts::{ActorName, IdempotencyKey, KindName, RouteName};
use jiff::Timestamp;

pub(crate) const KIND: &str = "TICKET_ORCHESTRATOR";

pub(crate) fn vocabulary() -> Vocabulary {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Vocabulary {
        agents: names(&[KIND, "ORCHESTRATOR", "DISCOVERY_AGENT"]),
        routes: names(&[KIND, "ORCHESTRATOR", "ELSEWHERE"]),
    }
}

pub(crate) fn policy(text: &str) -> Policy {
    Policy::from_toml(text, &vocabulary()).unwrap()
}

pub(crate) fn route(name: &str) -> RouteName {
    RouteName::new(name).unwrap()
}

/// A request of a ticket orchestrator that may go to itself or to the orchestrator, with one choice and one
/// thing to confirm.
pub(crate) fn admission(interrupt_type: InterruptType, source: StopSource) -> Admission {
    let id = InterruptId::generate();
    Admission {
        id,
        run: RunId::generate(),
        node: NodeId::try_from("main/tickets".to_owned()).unwrap(),
        kind: KindName::new(KIND).unwrap(),
        origin: route(KIND),
        routes: vec![route(KIND), route("ORCHESTRATOR")],
        interrupt_type,
        source,
        requested_by: Actor {
            name: ActorName::new("someone").unwrap(),
            role: Role::Requester,
        },
        mode: StopMode::Graceful,
        scope: Scope::Agent,
        reason: "why not".to_owned(),
        content: r#"{"choices":[{"label":"A","value":"a","description":""}],"confirmationItems":[{"id":"sure","prompt":"Sure?"}]}"#.to_owned(),
        key: IdempotencyKey::new(id.to_string()).unwrap(),
        allowed: Vec::new(),
        patience: None,
        on_expiry: ExpiryOutcome::Cancel,
        most_attempts: 8,
        recurrence: Recurrence::Verbatim,
        reroute: None,
    }
}

pub(crate) fn admitted(admission: &Admission) -> Interrupt {
    let digest = admission.digest();
    let step = admission.admit(
        digest,
        RunState::Running,
        &Limits::default(),
        Timestamp::UNIX_EPOCH,
    );
    step.unwrap().interrupt
}

pub(crate) fn interrupt(interrupt_type: InterruptType, source: StopSource) -> Interrupt {
    admitted(&admission(interrupt_type, source))
}
