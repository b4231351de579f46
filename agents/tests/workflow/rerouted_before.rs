//! Supervisors' events that no answer has used up, and whose runs are forked before one has.

use std::sync::{Arc, OnceLock};

use agents::run::inherited;
use agents::{AgentKind, RouteType};
use async_trait::async_trait;
use engine::run::{RunReport, RunStatus};
use interrupts::ActorName;
use interrupts::life::{Actor, Choosing, Interrupt, Judge, Role, State, Verdict};
use interrupts::store::{Filter, NewRun, Store};
use jiff::Timestamp;
use routing_core::bus::EventBus;
use routing_core::event::InterruptRequestEvent;
use routing_core::model::ModelCall;
use routing_core::reroute::RerouteState;
use routing_core::{DecisionId, EventId, InterruptType, NodeId, RunId, StopMode, StopScope};

use crate::controlled::reason;
use crate::lives::{ALL, NoReviewer, Steady, supervisor};
use crate::models::{Part, Playing, Reply};
use crate::stage::{Stage, assert_completed, target};

const ELSEWHERE: &str = "TICKET_ORCHESTRATOR";

/// The next life of a run in the store of a stage.
fn again(before: &Stage, run: RunId, is_answered: bool) -> Stage {
    let mut stage = Stage::new();
    stage.run = run;
    stage.store = Arc::clone(&before.store);
    stage.reviewer = Some(if is_answered {
        Arc::new(Steady)
    } else {
        Arc::new(NoReviewer)
    });
    stage
}

async fn asked(store: &dyn Store, run: RunId) -> Vec<Interrupt> {
    let filter = Filter {
        run: Some(run),
        ..Filter::default()
    };
    let rows = store.interrupts(&filter, ALL).await.unwrap();
    rows.into_iter().map(|(_, row)| row).collect()
}

/// A fork of a run where it stands.
async fn forked(store: &dyn Store, run: RunId) -> RunId {
    let run = store.run(run).await.unwrap().unwrap();
    let at = run.goes_on_from().unwrap();
    let known = inherited(store, &run, at).await.unwrap();
    let new = NewRun {
        root: None,
        id: RunId::generate(),
        alias: None,
        content: "{}".to_owned(),
    };
    let forked = store.fork_run_with(at, new, known).await;
    forked.unwrap().id
}

/// The run has gone where its own event led, and used it once.
async fn assert_used(store: &dyn Store, run: RunId, report: &RunReport) -> EventId {
    assert_completed(report);
    assert_eq!(report.interrupts.len(), 1, "{:#?}", report.interrupts);
    assert_eq!(target(report, 0), ELSEWHERE);
    let rows = asked(store, run).await;
    assert_eq!(rows.len(), 1, "{rows:#?}");
    assert_eq!(rows[0].state, State::Rerouted);
    let event = rows[0].bound.as_ref().unwrap().event.clone();
    let row = store.reroute(&event).await.unwrap().unwrap();
    assert_eq!(row.run, run);
    let decision = rows[0].decision.as_ref().unwrap().id;
    let interrupt = rows[0].id;
    assert_eq!(
        row.state,
        RerouteState::Consumed {
            interrupt,
            decision
        }
    );
    store.verify_audit().await.unwrap();
    event
}

/// A run that waits with a question that has taken a supervisor's event.
async fn bound() -> Stage {
    let mut stage = Stage::new().scripted(supervisor("PLANNING_ORCHESTRATOR", ELSEWHERE));
    stage.reviewer = Some(Arc::new(NoReviewer));
    let report = stage.execute().await;
    assert!(
        matches!(report.status, RunStatus::Waiting { .. }),
        "{:?}",
        report.status
    );
    stage
}

/// The run and its forks, also one of a fork that has not begun, each with an event of its own.
async fn each_uses_its_own(stage: &Stage, is_answered: bool) {
    let store = &*stage.store;
    let unbegun = forked(store, stage.run).await;
    let of_fork = forked(store, unbegun).await;
    let mut events = Vec::new();
    for run in [of_fork, unbegun, stage.run] {
        let report = again(stage, run, is_answered).execute().await;
        events.push(assert_used(store, run, &report).await);
    }
    events.dedup();
    assert_eq!(events.len(), 3, "{events:?}");
}

#[tokio::test]
async fn the_event_that_a_question_has_taken_leads_a_fork_elsewhere_too() {
    let stage = bound().await;
    // The fork's question has taken its own one, before anybody answers.
    let fork = forked(&*stage.store, stage.run).await;
    let report = again(&stage, fork, false).execute().await;
    assert!(matches!(report.status, RunStatus::Waiting { .. }));
    let rows = asked(&*stage.store, fork).await;
    assert_eq!(rows.len(), 1, "{rows:#?}");
    let own = rows[0].bound.as_ref().unwrap();
    assert_eq!(own.target.as_str(), ELSEWHERE);
    // Also where it is forked again.
    let again_forked = forked(&*stage.store, fork).await;
    for run in [again_forked, fork] {
        let report = again(&stage, run, true).execute().await;
        assert_used(&*stage.store, run, &report).await;
    }
    each_uses_its_own(&stage, true).await;
}

#[tokio::test]
async fn the_event_of_a_question_that_was_answered_leads_a_fork_elsewhere_too() {
    let stage = bound().await;
    let open = asked(&*stage.store, stage.run).await.remove(0);
    let judge = Judge::Person {
        actor: Actor {
            name: ActorName::new("someone").unwrap(),
            role: Role::Reviewer,
        },
        version: open.version,
        shown: open.review.as_ref().unwrap().shown,
    };
    let choosing = Choosing {
        id: DecisionId::generate(),
        verdict: Verdict::Approve,
        target: None,
        content: None,
    };
    stage.store.decide(open.id, judge, choosing).await.unwrap();
    each_uses_its_own(&stage, false).await;
}

/// A supervisor who speaks while the planning agent's model works, and a stop right then.
struct SpeaksAndStops {
    bus: Arc<OnceLock<Arc<dyn EventBus<AgentKind>>>>,
    scope: StopScope,
}

#[async_trait]
impl Part for SpeaksAndStops {
    async fn play(&self, call: &mut ModelCall, _: &StopScope) -> Option<Reply> {
        if call.caller.agent_type == "PLANNING_ORCHESTRATOR" && call.caller.turn == 1 {
            let event = InterruptRequestEvent {
                event_id: EventId::try_from("over-budget".to_owned()).unwrap(),
                timestamp: Timestamp::UNIX_EPOCH,
                node_id: NodeId::new("orchestrator/planning").unwrap(),
                source_agent_type: AgentKind::PlanningOrchestrator,
                reroute_to_agent_type: Some(RouteType::TicketOrchestrator),
                interrupt_type: InterruptType::HumanReview,
                reason: "over budget".to_owned(),
                choices: Vec::new(),
                confirmation_items: Vec::new(),
                context_for_decision: String::new(),
                answer_form: None,
            };
            self.bus.get().unwrap().publish(event).await.unwrap();
            self.scope.stop(reason(StopMode::Immediate));
        }
        None
    }
}

#[tokio::test]
async fn an_event_that_still_waits_is_told_to_the_agent_of_a_fork_too() {
    let stage = Stage::new();
    let (bus, scope) = (Arc::new(OnceLock::new()), StopScope::new());
    let part = SpeaksAndStops {
        bus: Arc::clone(&bus),
        scope: scope.clone(),
    };
    let model = Playing::new(part, stage.rehearsal());
    let stage = stage.played_by(model);
    let run = stage.run();
    assert!(bus.set(run.bus()).is_ok());
    let report = run.execute(&scope).await;
    assert!(
        matches!(report.status, RunStatus::Paused { .. }),
        "{:?}",
        report.status
    );
    each_uses_its_own(&stage, true).await;
    // What was used up goes with no fork.
    let row = stage.store.run(stage.run).await.unwrap().unwrap();
    let at = row.goes_on_from().unwrap();
    let known = inherited(&*stage.store, &row, at).await.unwrap();
    assert_eq!(known, []);
}
