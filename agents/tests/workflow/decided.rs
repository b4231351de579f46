//! Questions that somebody has decided, of agents that are stopped before they go on with the answer.

use std::sync::Arc;

use agents::run::{InterruptResult, RunReport, RunStatus};
use async_trait::async_trait;
use routing_core::model::Purpose;
use routing_core::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use routing_core::{Outcome, StopMode, StopScope};

use crate::controlled::{Act, Scopes, controlled, reason};
use crate::models::{Playing, Watched};
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
