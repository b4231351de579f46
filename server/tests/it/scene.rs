//! Runs, agents and questions, put into a store as a workflow would.

use interrupts::life::{Actor, Admission, ExpiryOutcome, Interrupt, Role, RunState, Scope};
use interrupts::store::{
    CheckpointDraft, Delivery, NewRun, NodeActivity, NodeRow, RaisedQuestion, Run, Store,
};
use interrupts::{ActorName, Digest, IdempotencyKey, KindName, OwnerName, RouteName};
use jiff::{SignedDuration, Timestamp};
use routing_core::{InterruptId, InterruptType, NodeId, RunId, StopMode, StopSource};
use serde_json::json;

/// The node of the scene that asks.
pub(crate) const DISCOVERY: &str = "orchestrator/discovery";

/// A run that somebody owns, with two agents.
pub(crate) async fn running(store: &dyn Store, alias: Option<&str>) -> Run {
    let new = NewRun {
        id: RunId::generate(),
        alias: alias.map(str::to_owned),
        content: json!({"goal": "find the modules"}).to_string(),
    };
    let run = store.create_run(new).await.unwrap();
    let run = store.own_run(run.id, delivery()).await.unwrap();
    let run = store
        .change_run(run.id, run.epoch, RunState::Running, None)
        .await
        .unwrap();
    let nodes = vec![
        node(run.id, "orchestrator", "ORCHESTRATOR"),
        node(run.id, DISCOVERY, "DISCOVERY_ORCHESTRATOR"),
    ];
    store.put_nodes(run.id, run.epoch, nodes).await.unwrap();
    run
}

pub(crate) fn delivery() -> Delivery {
    Delivery {
        owner: OwnerName::new("worker").unwrap(),
        lease: SignedDuration::from_hours(1),
        lost: None,
    }
}

pub(crate) fn node(run: RunId, id: &str, kind: &str) -> NodeRow {
    NodeRow {
        run,
        node: NodeId::new(id).unwrap(),
        kind: KindName::new(kind).unwrap(),
        activity: NodeActivity::Running,
        takes_messages: true,
        turn: 1,
        step: 1,
        since: Timestamp::UNIX_EPOCH,
    }
}

/// The request of an agent, with whatever text.
pub(crate) fn asked(reason: &str) -> serde_json::Value {
    json!({
        "type": "HUMAN_REVIEW",
        "reason": reason,
        "choices": [
            {"label": "Expand scope", "value": "expand", "description": "all modules"},
            {"label": "Keep narrow", "value": "narrow", "description": "core modules"},
        ],
        "confirmationItems": [
            {"id": "cost", "prompt": "It may cost more", "defaultValue": false},
        ],
        "contextForDecision": "Fifteen modules were found, three were named.",
        "phase": "discovery",
    })
}

pub(crate) fn question(run: &Run, reason: &str) -> Admission {
    Admission {
        id: InterruptId::generate(),
        run: run.id,
        node: NodeId::new(DISCOVERY).unwrap(),
        kind: KindName::new("DISCOVERY_ORCHESTRATOR").unwrap(),
        origin: RouteName::new("DISCOVERY_ORCHESTRATOR").unwrap(),
        routes: agents_routes(),
        interrupt_type: InterruptType::HumanReview,
        source: StopSource::Programmatic,
        requested_by: Actor {
            name: ActorName::new("agent").unwrap(),
            role: Role::Requester,
        },
        mode: StopMode::Graceful,
        scope: Scope::Agent,
        reason: reason.to_owned(),
        content: asked(reason).to_string(),
        key: IdempotencyKey::new(RunId::generate().to_string()).unwrap(),
        allowed: Vec::new(),
        patience: None,
        on_expiry: ExpiryOutcome::Reject,
        most_attempts: 8,
        reroute: None,
    }
}

fn agents_routes() -> Vec<RouteName> {
    [
        "ORCHESTRATOR",
        "DISCOVERY_ORCHESTRATOR",
        "TICKET_ORCHESTRATOR",
    ]
    .into_iter()
    .map(|name| RouteName::new(name).unwrap())
    .collect()
}

/// A question that waits for a person.
pub(crate) async fn open_question(store: &dyn Store, run: &Run) -> Interrupt {
    awaiting(
        store,
        question(run, "Need clarification on discovery scope"),
    )
    .await
}

pub(crate) async fn awaiting(store: &dyn Store, admission: Admission) -> Interrupt {
    let raised = RaisedQuestion {
        admission,
        delivery: delivery(),
    };
    let raised = store.raise(raised).await.unwrap().into_interrupt();
    let shown = Digest::of(raised.content.as_bytes());
    store
        .require_review(raised.id, raised.epoch, shown)
        .await
        .unwrap()
}

/// A checkpoint of a run.
pub(crate) async fn checkpoint(store: &dyn Store, run: &Run) -> u64 {
    let draft = CheckpointDraft {
        run: run.id,
        epoch: run.epoch,
        parent: None,
        form: 1,
        content: json!({"reason": "paused"}).to_string(),
        intents: Vec::new(),
        pending: Vec::new(),
    };
    store.save(draft).await.unwrap().id.number
}
