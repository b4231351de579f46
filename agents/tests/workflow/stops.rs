//! Runs that are stopped from outside, and runs that fail.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use engine::run::{RunEvent, RunReport, RunStatus};
use interrupt_router::model::{ModelCall, ModelError};
use interrupt_router::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use interrupt_router::{Outcome, StopMode, StopReason, StopScope, StopSource};
use interrupts::store::NodeActivity;
use jiff::Timestamp;

use crate::models::{Part, Playing, Reply};
use crate::stage::{Stage, assert_completed};

fn reason(mode: StopMode) -> StopReason {
    StopReason {
        source: StopSource::User,
        mode,
        message: "enough".to_owned(),
        timestamp: Timestamp::UNIX_EPOCH,
    }
}

#[track_caller]
fn assert_stopped(report: &RunReport) {
    let expected = RunStatus::Paused {
        reason: "enough".to_owned(),
    };
    assert_eq!(report.status, expected);
}

fn finished_steps(stage: &Stage) -> usize {
    let finished = |event: &&RunEvent| matches!(event, RunEvent::StepFinished { .. });
    stage.log.events().iter().filter(finished).count()
}

/// Asks for a stop while an agent's model works, and then answers, waits for the stop, or hangs.
struct Stopping {
    during: &'static str,
    scope: StopScope,
    mode: StopMode,
    hangs: bool,
}

#[async_trait]
impl Part for Stopping {
    async fn play(&self, call: &mut ModelCall, _scope: &StopScope) -> Option<Reply> {
        if call.caller.agent_type != self.during {
            return None;
        }
        self.scope.stop(reason(self.mode));
        if self.hangs {
            pending::<()>().await;
        }
        None
    }
}

async fn stopped(during: &'static str, mode: StopMode, hangs: bool) -> (Stage, RunReport) {
    let stage = Stage::new();
    let scope = StopScope::new();
    let part = Stopping {
        during,
        scope: scope.clone(),
        mode,
        hangs,
    };
    let model = Playing::new(part, stage.rehearsal());
    let stage = stage.played_by(model);
    let run = stage.run();
    let report = tokio::time::timeout(Duration::from_secs(60), run.execute(&scope)).await;
    (stage, report.unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_graceful_stop_finishes_the_current_step() {
    let (stage, report) = stopped("PLANNING_ORCHESTRATOR", StopMode::Graceful, false).await;
    assert_stopped(&report);
    assert_eq!(stage.log.steps().last().unwrap(), "orchestrator/planning");
    assert_eq!(finished_steps(&stage), stage.log.steps().len());
}

#[tokio::test(start_paused = true)]
async fn a_graceful_stop_finishes_the_steps_of_all_workers() {
    let (stage, report) = stopped("PLANNING_AGENT", StopMode::Graceful, false).await;
    assert_stopped(&report);
    assert_eq!(finished_steps(&stage), stage.log.steps().len());
    assert!(
        !stage
            .log
            .steps()
            .contains(&"orchestrator/planning/dispatch".to_owned())
    );
}

#[tokio::test(start_paused = true)]
async fn an_immediate_stop_ends_the_call() {
    let (stage, report) = stopped("PLANNING_ORCHESTRATOR", StopMode::Immediate, false).await;
    assert_stopped(&report);
    assert_eq!(finished_steps(&stage), stage.log.steps().len() - 1);
}

#[tokio::test(start_paused = true)]
async fn an_immediate_stop_ends_a_call_whose_model_does_not_look() {
    let (stage, report) = stopped("PLANNING_ORCHESTRATOR", StopMode::Immediate, true).await;
    assert_stopped(&report);
    let events = stage.log.events();
    let told = events
        .iter()
        .filter(|event| matches!(event, RunEvent::Stopping { .. }))
        .count();
    assert_eq!(told, 1);
    let paused = events.iter().any(|event| {
        matches!(event, RunEvent::AgentStatusChanged { node, status: NodeActivity::Paused, .. }
            if node.as_str() == "orchestrator")
    });
    assert!(paused);
}

#[tokio::test]
async fn a_stop_before_the_start_does_nothing_at_all() {
    let stage = Stage::new();
    let scope = StopScope::new();
    scope.stop(reason(StopMode::Graceful));
    let report = stage.run().execute(&scope).await;
    assert_stopped(&report);
    assert_eq!(report.steps, 0);
}

/// Somebody who is asked, stops the run instead of answering, and never answers.
struct Away(StopScope);

#[async_trait]
impl Reviewer for Away {
    async fn answer(&self, _: &Question, _: &StopScope) -> Result<Outcome<Answer>, ReviewError> {
        self.0.stop(reason(StopMode::Graceful));
        pending().await
    }

    async fn resume(&self, _: &Pause, _: &StopScope) -> Result<Outcome<Resume>, ReviewError> {
        pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_waiting_for_a_person() {
    let mut stage = Stage::new().interrupts("DISCOVERY_ORCHESTRATOR", 1, "HUMAN_REVIEW");
    let scope = StopScope::new();
    stage.reviewer = Some(Arc::new(Away(scope.clone())));
    let run = stage.run();
    let report = tokio::time::timeout(Duration::from_secs(60), run.execute(&scope)).await;
    assert_stopped(&report.unwrap());
}

/// A model that fails, or a program that panics, during one agent's turn.
struct Failing {
    during: &'static str,
    panics: bool,
}

#[async_trait]
impl Part for Failing {
    async fn play(&self, call: &mut ModelCall, _scope: &StopScope) -> Option<Reply> {
        if call.caller.agent_type != self.during {
            return None;
        }
        assert!(!self.panics, "the model has lost its mind");
        Some(Err(ModelError::Unauthorized {
            status: 401,
            detail: "bad key".to_owned(),
        }))
    }
}

async fn failed(during: &'static str, panics: bool) -> (String, Option<String>) {
    let stage = Stage::new();
    let model = Playing::new(Failing { during, panics }, stage.rehearsal());
    let report = stage.played_by(model).execute().await;
    match report.status {
        RunStatus::Failed {
            error,
            hint,
            limit_hit: false,
            resumable,
        } => {
            assert_eq!(
                resumable, !panics,
                "what a model refuses can be tried again"
            );
            (error, hint)
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_refused_key_fails_the_run_with_all_causes_and_a_hint() {
    for during in ["PLANNING_ORCHESTRATOR", "PLANNING_AGENT"] {
        let (error, hint) = failed(during, false).await;
        assert!(error.contains("orchestrator/planning"), "{error}");
        assert!(error.contains("refused the credentials (401)"), "{error}");
        assert!(hint.unwrap().contains("key"));
    }
}

#[tokio::test]
async fn a_panic_fails_the_run_and_not_its_caller() {
    for during in ["PLANNING_ORCHESTRATOR", "PLANNING_AGENT"] {
        let (error, _hint) = failed(during, true).await;
        assert!(error.contains("lost its mind"), "{error}");
    }
}

#[tokio::test]
async fn a_stop_after_the_last_step_leaves_the_run_completed() {
    let (_stage, report) = stopped("ORCHESTRATOR_COLLECTOR", StopMode::Graceful, false).await;
    assert_completed(&report);
}
