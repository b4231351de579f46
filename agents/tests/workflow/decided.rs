//! Questions that somebody has decided, of agents that are stopped before they go on with the answer.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use engine::run::{InterruptResult, RunReport, RunStatus};
use interrupt_router::model::{ModelCall, Purpose};
use interrupt_router::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use interrupt_router::{Outcome, StopMode, StopScope};
use serde_json::json;
use tokio::sync::Notify;

use crate::controlled::{Act, Scopes, controlled, reason};
use crate::models::{Part, Playing, Reply, Watched};
use crate::stage::{Stage, assert_completed};

const AGENT: &str = "orchestrator/planning";

fn asking() -> Stage {
    Stage::new()
        .interrupts("PLANNING_ORCHESTRATOR", 1, "HUMAN_REVIEW")
        .said("the smaller plan")
}

/// A run whose question is answered, and which is stopped at once while the model goes on with the answer.
async fn stopped_with_an_answer() -> (Stage, RunReport) {
    let scopes = Arc::new(Scopes::default());
    let act: Act = Box::new(|scopes, call| {
        if call.caller.purpose == Purpose::Resolution {
            scopes.run.stop(reason(StopMode::Immediate));
        }
    });
    let stage = controlled(asking(), &scopes, act);
    let report = stage.run().execute(&scopes.run).await;
    (stage, report)
}

/// What became of the first interrupt. An agent that comes in another one's place may ask the same.
fn outcome(report: &RunReport) -> &InterruptResult {
    &report.interrupts[0].outcome
}

#[track_caller]
fn assert_decided(report: &RunReport, why: &str) {
    match outcome(report) {
        InterruptResult::Decided { reason } => assert!(reason.contains(why), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_answered_question_is_not_open_where_a_stop_comes_before_its_agent_goes_on() {
    let (_stage, report) = stopped_with_an_answer().await;
    assert!(
        matches!(report.status, RunStatus::Paused { .. }),
        "{:?}",
        report.status
    );
    assert_decided(&report, "stopped");
}

/// Stops the run instead of an answer.
struct Stopping(StopScope);

#[async_trait]
impl Reviewer for Stopping {
    async fn answer(&self, _: &Question, _: &StopScope) -> Result<Outcome<Answer>, ReviewError> {
        let reason = reason(StopMode::Immediate);
        self.0.stop(reason.clone());
        Ok(Outcome::Interrupted {
            reason,
            partial: (),
        })
    }

    async fn resume(&self, _: &Pause, _: &StopScope) -> Result<Outcome<Resume>, ReviewError> {
        Err(ReviewError::NobodyThere)
    }
}

#[tokio::test]
async fn a_question_that_nobody_has_answered_stays_open_where_its_run_is_stopped() {
    let scope = StopScope::new();
    let mut stage = asking();
    stage.reviewer = Some(Arc::new(Stopping(scope.clone())));
    let report = stage.run().execute(&scope).await;
    assert!(
        matches!(report.status, RunStatus::Paused { .. }),
        "{:?}",
        report.status
    );
    assert_eq!(*outcome(&report), InterruptResult::Open);
}

#[tokio::test]
async fn no_call_is_begun_for_an_agent_that_is_left_out_and_its_answer_is_not_said_to_be_refused() {
    let (before, _report) = stopped_with_an_answer().await;
    let scopes = Arc::new(Scopes::default());
    scopes.cut(AGENT);
    let mut again = Stage::new();
    again.run = before.run;
    again.store = Arc::clone(&before.store);
    again.script.clone_from(&before.script);
    let model = Playing::new(Watched, again.rehearsal());
    let calls = Arc::clone(&model.calls);
    let mut again = again.played_by(model);
    again.control = Some(Arc::clone(&scopes) as Arc<_>);
    let report = again.execute().await;
    let calls = calls.lock().unwrap();
    let filled = calls
        .iter()
        .filter(|it| it.caller.purpose == Purpose::Resolution);
    let of_agent = filled.filter(|it| it.caller.node.as_str() == AGENT);
    assert_eq!(of_agent.count(), 0, "nobody needs it");
    assert_decided(&report, "cut off");
    assert_eq!(scopes.confirmed(), [AGENT]);
}

#[tokio::test]
async fn an_answer_that_is_left_out_with_its_agent_has_a_result_in_the_journal_that_says_so() {
    let (before, _report) = stopped_with_an_answer().await;
    let scopes = Arc::new(Scopes::default());
    scopes.cut(AGENT);
    // The agent that comes in its place asks the same, and is answered.
    let mut again = Stage::new().said("the smaller plan");
    again.run = before.run;
    again.store = Arc::clone(&before.store);
    again.script.clone_from(&before.script);
    again.control = Some(Arc::clone(&scopes) as Arc<_>);
    let report = again.execute().await;
    assert_completed(&report);
    let row = again.store.interrupt(report.interrupts[0].interrupt).await;
    let decision = row.unwrap().unwrap().decision.unwrap();
    let dispatch = again.store.effect(decision.effect).await.unwrap().unwrap();
    let said = dispatch
        .result
        .expect("nobody carries it out any more")
        .content;
    assert!(said.contains("cut off"), "{said}");
}

/// Two workers that go on with their answers at the same time: the first one is cut off meanwhile, and the whole run is
/// stopped before the second one has gone on.
struct SideBySide {
    scopes: Arc<Scopes>,
    second_goes_on: Notify,
}

const FIRST: &str = "orchestrator/discovery/dispatch/worker-1";
const SECOND: &str = "orchestrator/discovery/dispatch/worker-2";

#[async_trait]
impl Part for SideBySide {
    async fn play(&self, call: &mut ModelCall, _: &StopScope) -> Option<Reply> {
        if call.caller.purpose == Purpose::Resolution {
            match call.caller.node.as_str() {
                FIRST => {
                    self.second_goes_on.notified().await;
                    self.scopes.cut(FIRST);
                }
                SECOND => {
                    self.second_goes_on.notify_one();
                    while self.scopes.confirmed().is_empty() {
                        tokio::task::yield_now().await;
                    }
                    self.scopes.run.stop(reason(StopMode::Immediate));
                }
                _ => {}
            }
        }
        None
    }
}

#[tokio::test]
async fn only_what_agents_that_are_cut_off_had_asked_is_reported_as_left_out_with_them() {
    let asks = |worker: &str| {
        json!({
            "agent": "DISCOVERY_AGENT", "turn": 1, "node": worker,
            "interrupt": { "type": "HUMAN_REVIEW", "reason": "which part?" },
        })
    };
    let mut stage = Stage::new()
        .scripted(asks("worker-1"))
        .scripted(asks("worker-2"))
        .said("this one")
        .said("that one");
    let scopes = Arc::new(Scopes::default());
    let part = SideBySide {
        scopes: Arc::clone(&scopes),
        second_goes_on: Notify::new(),
    };
    let model = Playing::new(part, stage.rehearsal());
    stage.control = Some(Arc::clone(&scopes) as Arc<_>);
    let stage = stage.played_by(model);
    let executed = tokio::time::timeout(Duration::from_secs(60), stage.run().execute(&scopes.run));
    let report = executed.await.unwrap();
    let why = |node: &str| {
        let asked = report.interrupts.iter().find(|it| it.node.as_str() == node);
        match &asked.unwrap().outcome {
            InterruptResult::Decided { reason } => reason.clone(),
            other => panic!("{node}: {other:?}"),
        }
    };
    assert!(why(FIRST).contains("cut off"), "{}", why(FIRST));
    assert!(why(SECOND).contains("run was stopped"), "{}", why(SECOND));
}

#[tokio::test]
async fn an_answered_question_is_gone_on_with_once_nothing_stops_its_agent() {
    let (before, _report) = stopped_with_an_answer().await;
    let mut again = Stage::new();
    again.run = before.run;
    again.store = Arc::clone(&before.store);
    again.script.clone_from(&before.script);
    let report = again.execute().await;
    assert_completed(&report);
    let is_routed = matches!(outcome(&report), InterruptResult::Routed { .. });
    assert!(is_routed, "{:?}", report.interrupts);
}
