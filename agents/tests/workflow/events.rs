//! Supervisors' events: published while the run goes on, stored, bound, used once, or told what became of them.

use std::sync::{Arc, Mutex, OnceLock};

use agents::{AgentKind, RouteType};
use async_trait::async_trait;
use engine::run::{InterruptResult, RunEvent};
use interrupt_router::bus::{EventBus, PublishRefusal};
use interrupt_router::event::{INTERRUPT_REQUEST_MARK, InterruptRequestEvent};
use interrupt_router::model::ModelCall;
use interrupt_router::reroute::RerouteState;
use interrupt_router::{EventId, InterruptType, NodeId, StopScope};
use jiff::Timestamp;
use serde_json::{Value, json};
use store::{MemoryStore, StoreSettings};

use crate::models::{Part, Playing, Reply};
use crate::stage::{Stage, assert_completed, target};

pub(crate) fn supervisor(agent: &str, to: Option<&str>, reason: &str) -> Value {
    let mut event = json!({ "interruptType": "HUMAN_REVIEW", "reason": reason });
    if let Some(to) = to {
        event["rerouteToAgentType"] = json!(to);
    }
    json!({ "supervisor": { "when": { "agent": agent, "turn": 1 }, "event": event } })
}

fn event(node: &str, source: AgentKind, to: Option<RouteType>) -> InterruptRequestEvent<AgentKind> {
    InterruptRequestEvent {
        event_id: EventId::generate(),
        timestamp: Timestamp::UNIX_EPOCH,
        node_id: NodeId::new(node).unwrap(),
        source_agent_type: source,
        reroute_to_agent_type: to,
        interrupt_type: InterruptType::HumanReview,
        reason: "over budget".to_owned(),
        choices: Vec::new(),
        confirmation_items: Vec::new(),
        context_for_decision: String::new(),
        answer_form: None,
    }
}

/// The names of what happened to a reroute, in order.
fn moments(stage: &Stage) -> Vec<&'static str> {
    let events = stage.log.events();
    let moments = events.iter().filter_map(|event| match event {
        RunEvent::EventPublished { .. } => Some("published"),
        RunEvent::MessageAdded { text, .. } if text.starts_with(INTERRUPT_REQUEST_MARK) => {
            Some("told")
        }
        RunEvent::InterruptRaised { .. } => Some("raised"),
        RunEvent::InterruptBound { .. } => Some("bound"),
        RunEvent::InterruptResolved {
            reroute: Some(_), ..
        } => Some("used"),
        RunEvent::InterruptResolved { reroute: None, .. } => Some("resolved without"),
        _ => None,
    });
    moments.collect()
}

#[tokio::test]
async fn an_event_is_stored_then_told_then_bound_and_used_once() {
    let mut step = supervisor(
        "PLANNING_ORCHESTRATOR",
        Some("TICKET_ORCHESTRATOR"),
        "over budget",
    );
    step["supervisor"]["event"]["choices"] =
        json!([{ "label": "Skip", "value": "skip", "description": "no plan" }]);
    let stage = Stage::new().scripted(step).said("skip planning");
    let run = stage.run();
    let reroutes = run.reroutes();
    let report = run.execute(&StopScope::new()).await;
    assert_completed(&report);
    assert_eq!(
        moments(&stage),
        ["published", "told", "raised", "bound", "used"]
    );
    assert_eq!(target(&report, 0), "TICKET_ORCHESTRATOR");
    let steps = stage.log.steps();
    let planning = steps
        .iter()
        .position(|it| it == "orchestrator/planning")
        .unwrap();
    assert_eq!(steps[planning + 1], "orchestrator/tickets");
    let InterruptResult::Routed {
        reroute: Some(used),
        ..
    } = &report.interrupts[0].outcome
    else {
        panic!("{:?}", report.interrupts)
    };
    let fate = reroutes.state_of(used).await.unwrap().unwrap();
    let event = reroutes.stored_interrupts.event(used).await.unwrap();
    // Another process has only the store, where the request of the agent has taken the place of the event.
    let elsewhere = stage.run().reroutes();
    let elsewhere = elsewhere.stored_interrupts.event(used).await.unwrap();
    assert_eq!(elsewhere, event);
    assert_eq!(elsewhere.unwrap().choices.len(), 1);
    assert!(
        matches!(fate.state, RerouteState::Consumed { interrupt, .. } if interrupt == report.interrupts[0].interrupt),
        "{:?}",
        fate.state
    );
}

#[tokio::test]
async fn an_event_without_a_target_comes_back_to_its_node() {
    let stage = Stage::new()
        .scripted(supervisor("PLANNING_ORCHESTRATOR", None, "say what you do"))
        .said("fine");
    let report = stage.execute().await;
    assert_completed(&report);
    assert_eq!(target(&report, 0), "PLANNING_ORCHESTRATOR");
    assert!(report.interrupts[0].reason.contains("say what you do"));
}

#[tokio::test]
async fn a_newer_event_replaces_the_older_one_which_is_told() {
    let stage = Stage::new()
        .scripted(supervisor(
            "PLANNING_ORCHESTRATOR",
            Some("ORCHESTRATOR"),
            "first",
        ))
        .scripted(supervisor(
            "PLANNING_ORCHESTRATOR",
            Some("TICKET_ORCHESTRATOR"),
            "second",
        ))
        .said("go");
    let report = stage.execute().await;
    assert_completed(&report);
    assert_eq!(target(&report, 0), "TICKET_ORCHESTRATOR");
    let ended = stage.log.ended_events();
    assert_eq!(ended.len(), 1);
    assert!(ended[0].starts_with("superseded by"), "{ended:?}");
}

/// Publishes events while agents' models work, and keeps what the bus said.
struct Supervisor {
    bus: Arc<OnceLock<Arc<EventBus<AgentKind>>>>,
    /// The agent type during whose first turn it speaks, and what it publishes then.
    during: &'static str,
    events: Vec<InterruptRequestEvent<AgentKind>>,
    said: Arc<Mutex<Vec<Result<(), PublishRefusal>>>>,
}

#[async_trait]
impl Part for Supervisor {
    async fn play(&self, call: &mut ModelCall, _scope: &StopScope) -> Option<Reply> {
        let caller = &call.caller;
        let first = caller.agent_type == self.during
            && caller.turn == 1
            && !self.said.lock().unwrap().iter().any(|_| true);
        if first {
            for event in &self.events {
                let said = self.bus.get().unwrap().publish(event.clone()).await;
                self.said.lock().unwrap().push(said);
            }
        }
        None
    }
}

type Said = Arc<Mutex<Vec<Result<(), PublishRefusal>>>>;

/// A stage whose supervisor publishes these events while an agent's model works.
async fn published(
    during: &'static str,
    events: Vec<InterruptRequestEvent<AgentKind>>,
) -> (Stage, Said, engine::run::RunReport) {
    let stage = Stage::new().said("go on");
    let (bus, said) = (Arc::new(OnceLock::new()), Said::default());
    let model = Playing::new(
        Supervisor {
            bus: Arc::clone(&bus),
            during,
            events,
            said: Arc::clone(&said),
        },
        stage.rehearsal(),
    );
    let stage = stage.played_by(model);
    let run = stage.run();
    assert!(bus.set(run.bus()).is_ok());
    let report = run.execute(&StopScope::new()).await;
    (stage, said, report)
}

#[tokio::test]
async fn an_event_that_comes_while_the_model_works_is_read_before_the_node_hands_over() {
    let wanted = event(
        "orchestrator/planning",
        AgentKind::PlanningOrchestrator,
        Some(RouteType::TicketOrchestrator),
    );
    let (stage, said, report) = published("PLANNING_ORCHESTRATOR", vec![wanted]).await;
    assert_completed(&report);
    assert_eq!(*said.lock().unwrap(), [Ok(())]);
    assert_eq!(target(&report, 0), "TICKET_ORCHESTRATOR");
    let steps = stage.log.steps();
    assert!(
        !steps.iter().any(|node| node.contains("planning/dispatch")),
        "{steps:?}"
    );
}

#[tokio::test]
async fn events_for_nodes_that_have_no_turn_to_come_are_refused() {
    let worker = "orchestrator/discovery/dispatch/worker-1";
    let events = vec![
        event("orchestrator", AgentKind::Orchestrator, None),
        event(worker, AgentKind::DiscoveryAgent, None),
        event("orchestrator/nowhere", AgentKind::Orchestrator, None),
        event("orchestrator/planning", AgentKind::TicketOrchestrator, None),
    ];
    let (stage, said, report) = published("PLANNING_ORCHESTRATOR", events).await;
    assert_completed(&report);
    let said: Vec<String> = said
        .lock()
        .unwrap()
        .iter()
        .map(|said| said.clone().unwrap_err().to_string())
        .collect();
    assert!(
        said[0].contains("waiting for the nodes below it"),
        "{said:?}"
    );
    assert!(said[1].contains("completed"), "{said:?}");
    assert!(said[2].contains("there is no node"), "{said:?}");
    assert!(said[3].contains("is a PLANNING_ORCHESTRATOR"), "{said:?}");
    assert!(report.interrupts.is_empty());
    let refused = stage
        .log
        .events()
        .iter()
        .filter(|event| matches!(event, RunEvent::EventRefused { .. }))
        .count();
    assert_eq!(refused, 4);
}

#[tokio::test]
async fn nothing_is_accepted_after_the_runs_end() {
    let stage = Stage::new();
    let run = stage.run();
    let (bus, nodes) = (run.bus(), run.nodes());
    assert_completed(&run.execute(&StopScope::new()).await);
    assert!(nodes.all().iter().all(|node| !node.takes_messages));
    let late = event("orchestrator", AgentKind::Orchestrator, None);
    let refusal = bus.publish(late).await.unwrap_err();
    assert!(matches!(refusal, PublishRefusal::NotRunning { .. }));
}

/// A model that never sees what supervisors ask.
pub(crate) struct Deaf;

#[async_trait]
impl Part for Deaf {
    async fn play(&self, call: &mut ModelCall, _scope: &StopScope) -> Option<Reply> {
        call.messages
            .retain(|message| !message.text.starts_with(INTERRUPT_REQUEST_MARK));
        None
    }
}

#[tokio::test]
async fn an_event_that_is_ignored_is_told_again_and_then_given_up() {
    let stage = Stage::new().scripted(supervisor("PLANNING_ORCHESTRATOR", None, "stop"));
    let model = Playing::new(Deaf, stage.rehearsal());
    let stage = stage.played_by(model);
    let report = stage.execute().await;
    assert_completed(&report);
    assert!(report.interrupts.is_empty());
    assert_eq!(moments(&stage), ["published", "told", "told", "told"]);
    assert_eq!(stage.log.ended_events(), ["cancelled: its node ignored it"]);
}

/// Each look at it is twenty minutes after the one before.
#[derive(Default)]
struct HastyClock(std::sync::atomic::AtomicI64);

impl interrupts::Clock for HastyClock {
    fn now(&self) -> Timestamp {
        let looks = self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        Timestamp::from_second(looks * 1_200).unwrap()
    }
}

#[tokio::test]
async fn a_clock_that_is_set_meanwhile_counts_as_no_work() {
    let mut stage = Stage::new();
    stage.clock = Arc::new(HastyClock::default());
    let report = stage.execute().await;
    assert_completed(&report);
    assert!(report.elapsed.as_secs() < 60, "{}", report.elapsed);
}

#[tokio::test]
async fn an_event_that_waits_too_long_expires_and_is_told() {
    let mut stage = Stage::new().scripted(supervisor("PLANNING_ORCHESTRATOR", None, "stop"));
    // The store judges by its own clock.
    stage.store = Arc::new(MemoryStore::new(StoreSettings {
        clock: Some(Arc::new(HastyClock::default())),
        ..StoreSettings::default()
    }));
    let model = Playing::new(Deaf, stage.rehearsal());
    let stage = stage.played_by(model);
    let report = stage.execute().await;
    assert_completed(&report);
    assert_eq!(stage.log.ended_events(), ["expired"]);
}
