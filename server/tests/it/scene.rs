//! Runs, agents and questions, put into a store as a workflow would.

use engine::run::RunLimits;
use interrupt_router::{InterruptId, InterruptType, NodeId, RunId, StopMode, StopSource};
use interrupts::life::{
    Actor, Admission, Evidence, ExpiryOutcome, Interrupt, Recurrence, Role, RunState, Scope,
};
use interrupts::store::{
    CheckpointDraft, Deciders, Delivery, NewRun, NodeActivity, NodeRow, RaisedQuestion, Run, Store,
};
use interrupts::{ActorName, Digest, IdempotencyKey, KindName, OwnerName, RouteName};
use jiff::{SignedDuration, Timestamp};
use planning::{PlanEvent, PlanExecute, RetryPolicy, StepOutcome};
use serde_json::json;

/// The node of the scene that asks.
pub(crate) const DISCOVERY: &str = "orchestrator/discovery";

/// A run that somebody owns, with two agents.
pub(crate) async fn running(store: &dyn Store, alias: Option<&str>) -> Run {
    let new = NewRun {
        root: None,
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
        tokens: 0,
        since: Timestamp::UNIX_EPOCH,
        waits: None,
    }
}

/// The request of an agent with choices and a confirmation, with whatever text.
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

/// A question that a yes or a no answers.
pub(crate) fn question(run: &Run, reason: &str) -> Admission {
    let mut content = asked(reason);
    content["choices"] = json!([]);
    content["confirmationItems"] = json!([]);
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
        content: content.to_string(),
        key: IdempotencyKey::new(RunId::generate().to_string()).unwrap(),
        allowed: Vec::new(),
        patience: None,
        on_expiry: ExpiryOutcome::Reject,
        most_attempts: 8,
        recurrence: Recurrence::Verbatim,
        reroute: None,
    }
}

/// A question with choices and a confirmation.
pub(crate) fn offering(run: &Run, reason: &str) -> Admission {
    Admission {
        content: asked(reason).to_string(),
        ..question(run, reason)
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

/// One with choices that waits for a person.
pub(crate) async fn open_choice(store: &dyn Store, run: &Run) -> Interrupt {
    let asked = offering(run, "Need clarification on discovery scope");
    awaiting(store, asked).await
}

pub(crate) async fn awaiting(store: &dyn Store, admission: Admission) -> Interrupt {
    let raised = RaisedQuestion {
        admission,
        delivery: delivery(),
        deciders: Deciders::default(),
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

/// A pause of a run, from the request to where it has taken hold, with a checkpoint in between.
pub(crate) async fn pause_with_checkpoint(store: &dyn Store, run: &Run) {
    let admission = Admission {
        interrupt_type: InterruptType::Pause,
        source: StopSource::User,
        scope: Scope::Run,
        ..question(run, "let me look")
    };
    let id = admission.id;
    store.admit(admission).await.unwrap();
    let delivered = store.deliver(id, delivery()).await.unwrap();
    checkpoint(store, run).await;
    // A second one is not one that the stop waited for.
    checkpoint(store, run).await;
    store
        .acknowledge(id, delivered.epoch, Evidence::Boundary)
        .await
        .unwrap();
}

/// A run of a plan that stands still for a person: one step is done, two are left.
pub(crate) async fn held_plan(store: &dyn Store) -> (Run, Interrupt) {
    let new = NewRun {
        root: None,
        id: RunId::generate(),
        alias: None,
        content: json!({
            "version": 2, "workflow": "plan-execute", "goal": "bake bread", "workspace": ".",
            "model": "rehearsal", "limits": RunLimits::default(),
        })
        .to_string(),
    };
    let run = store.create_run(new).await.unwrap();
    let run = store.own_run(run.id, delivery()).await.unwrap();
    let run = store
        .change_run(run.id, run.epoch, RunState::Running, None)
        .await
        .unwrap();
    let draft = CheckpointDraft {
        run: run.id,
        epoch: run.epoch,
        parent: None,
        form: PlanExecute::FORM,
        content: json!({
            "reason": "held", "steps": 2, "interrupts": [], "facts": [], "state": stood_still(),
        })
        .to_string(),
        intents: Vec::new(),
        pending: Vec::new(),
    };
    store.save(draft).await.unwrap();
    let pause = pause(store, &run).await;
    (run, pause)
}

/// A plan of which one step is done when a person interrupts.
fn stood_still() -> PlanExecute {
    let mut state = PlanExecute::new("bake bread", RetryPolicy::default());
    let tasks = ["knead", "bake <b>hot</b>", "sell"]
        .map(str::to_owned)
        .to_vec();
    state = happens(&state, &PlanEvent::Start);
    state = happens(&state, &PlanEvent::Planned { tasks });
    let interrupt = PlanEvent::Interrupt {
        reason: Some("let me look".to_owned()),
    };
    state = happens(&state, &interrupt);
    let step = state.plan().next().unwrap().id;
    let done = PlanEvent::StepDone {
        step,
        result: "smooth dough".to_owned(),
        outcome: StepOutcome::Proceed,
    };
    state = happens(&state, &done);
    // A change that can be taken back.
    for tasks in [
        vec!["bake <b>hot</b>", "sell", "eat"],
        vec!["bake <b>hot</b>", "sell"],
    ] {
        let tasks = tasks.into_iter().map(str::to_owned).collect();
        state = happens(&state, &PlanEvent::Edit { tasks });
    }
    state
}

fn happens(state: &PlanExecute, event: &PlanEvent) -> PlanExecute {
    state.after(event, Timestamp::UNIX_EPOCH).unwrap().state
}

/// A pause of the whole run that has taken hold.
async fn pause(store: &dyn Store, run: &Run) -> Interrupt {
    let route = RouteName::new("PLAN_EXECUTE").unwrap();
    let admission = Admission {
        node: NodeId::root(),
        kind: KindName::new("PLAN_EXECUTE").unwrap(),
        origin: route.clone(),
        routes: vec![route],
        interrupt_type: InterruptType::Pause,
        source: StopSource::User,
        scope: Scope::Run,
        content: json!({"cause": "user_escape"}).to_string(),
        ..question(run, "let me look")
    };
    let id = admission.id;
    store.admit(admission).await.unwrap();
    let delivered = store.deliver(id, delivery()).await.unwrap();
    let held = store
        .acknowledge(id, delivered.epoch, Evidence::Boundary)
        .await
        .unwrap();
    let shown = Digest::of(held.content.as_bytes());
    let waiting = store.require_review(id, held.epoch, shown).await.unwrap();
    store
        .change_run(run.id, run.epoch, RunState::Paused, None)
        .await
        .unwrap();
    waiting
}
