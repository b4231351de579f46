//! Workers: side by side, each interrupted alone.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use engine::run::{InterruptResult, RunEvent, RunObserver, RunOccurrence};
use interrupt_router::model::ModelCall;
use interrupt_router::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use interrupt_router::{Outcome, StopScope};
use interrupts::store::NodeActivity;
use serde_json::json;
use tokio::sync::{Barrier, Semaphore};

use crate::models::{Part, Playing, Reply, Watched};
use crate::stage::{Stage, assert_completed, target};

const DISPATCH: &str = "orchestrator/discovery/dispatch";

fn times(stage: &Stage, node: &str) -> usize {
    stage.log.steps().iter().filter(|it| *it == node).count()
}

/// The work of three workers, as an answer of the discovery orchestrator.
fn three() -> serde_json::Value {
    let work = |focus: &str| json!({ "goal": format!("read {focus}"), "subdomainFocus": focus });
    json!({ "agent": "DISCOVERY_ORCHESTRATOR", "turn": 1, "answer": { "agentRequests": {
        "requests": [work("engine"), work("pages"), work("(top level)")],
        "goal": "read all", "delegationRationale": "by folder",
    } } })
}

/// Answers once so many workers have finished.
struct AfterTheSiblings {
    siblings: u32,
    finished: Semaphore,
}

#[async_trait]
impl Reviewer for AfterTheSiblings {
    async fn answer(&self, _: &Question, _: &StopScope) -> Result<Outcome<Answer>, ReviewError> {
        let _all = self.finished.acquire_many(self.siblings).await.unwrap();
        Ok(Outcome::Completed(Answer {
            text: Some("now you".to_owned()),
            ..Answer::default()
        }))
    }

    async fn resume(&self, _: &Pause, _: &StopScope) -> Result<Outcome<Resume>, ReviewError> {
        Err(ReviewError::NobodyThere)
    }
}

impl RunObserver for AfterTheSiblings {
    fn observe(&self, occurrence: &RunOccurrence) {
        if let RunEvent::AgentFinished {
            kind: "DISCOVERY_AGENT",
            ..
        } = occurrence.event
        {
            self.finished.add_permits(1);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_workers_interrupt_stops_that_worker_alone() {
    let mut stage = Stage::new().scripted(three()).scripted(json!({
        "agent": "DISCOVERY_AGENT", "turn": 1, "node": "worker-2",
        "interrupt": { "type": "HUMAN_REVIEW", "reason": "which page?" },
    }));
    let siblings = Arc::new(AfterTheSiblings {
        siblings: 2,
        finished: Semaphore::new(0),
    });
    stage.reviewer = Some(Arc::clone(&siblings) as Arc<_>);
    stage.observers.push(siblings);
    // If the question stopped the siblings, the answer would never come.
    let report = tokio::time::timeout(Duration::from_secs(60), stage.execute())
        .await
        .unwrap();
    assert_completed(&report);
    assert_eq!(report.interrupts.len(), 1);
    assert_eq!(target(&report, 0), "DISCOVERY_DISPATCH");
    for (worker, steps) in [
        ("worker-1", 1),
        ("worker-2", 2),
        ("worker-3", 1),
        ("worker-4", 0),
    ] {
        assert_eq!(
            times(&stage, &format!("{DISPATCH}/{worker}")),
            steps,
            "{worker}"
        );
    }
    assert_eq!(times(&stage, DISPATCH), 1);
}

#[tokio::test]
async fn a_worker_that_is_sent_elsewhere_takes_the_run_along_when_its_siblings_are_done() {
    let stage = Stage::new()
        .scripted(three())
        .scripted(json!({
            "agent": "DISCOVERY_AGENT", "turn": 1, "node": "worker-1",
            "interrupt": { "type": "HUMAN_REVIEW", "reason": "all is known" },
        }))
        .answered(Answer {
            reroute_to: Some("PLANNING_ORCHESTRATOR".to_owned()),
            ..Answer::default()
        });
    let report = stage.execute().await;
    assert_completed(&report);
    assert_eq!(target(&report, 0), "PLANNING_ORCHESTRATOR");
    assert_eq!(
        times(&stage, DISPATCH),
        0,
        "its dispatch node takes no turn"
    );
    let steps = stage.log.steps();
    assert!(steps[..5].contains(&format!("{DISPATCH}/worker-3")));
    assert_eq!(steps[5], "orchestrator/planning");
}

#[tokio::test]
async fn where_two_workers_are_sent_elsewhere_the_run_goes_to_both() {
    let away = |worker: &str| {
        json!({ "agent": "DISCOVERY_AGENT", "turn": 1, "node": worker,
            "interrupt": { "type": "HUMAN_REVIEW", "reason": "elsewhere" } })
    };
    let to = |target: &str| Answer {
        reroute_to: Some(target.to_owned()),
        ..Answer::default()
    };
    let stage = Stage::new()
        .scripted(three())
        .scripted(away("worker-1"))
        .scripted(away("worker-3"))
        .answered(to("ORCHESTRATOR_COLLECTOR"))
        .answered(to("TICKET_ORCHESTRATOR"));
    let report = stage.execute().await;
    assert_completed(&report);
    assert_eq!(times(&stage, "orchestrator/tickets"), 1);
    let ends = stage
        .log
        .steps()
        .iter()
        .filter(|node| node.starts_with("orchestrator/collector"))
        .count();
    assert_eq!(ends, 2, "one for each way");
}

#[tokio::test]
async fn a_workers_missing_context_comes_back_to_it_alone() {
    let asks = json!({ "contextManagerRequest": {
        "reason": "no docs", "missingContextDescription": "who calls count()?",
        "type": "INTROSPECT_AGENT_CONTEXT", "suggestedSources": [],
    } });
    let stage = Stage::new().scripted(three()).scripted(
        json!({ "agent": "DISCOVERY_AGENT", "turn": 1, "node": "worker-2", "answer": asks }),
    );
    let model = Playing::new(Watched, stage.rehearsal());
    let calls = Arc::clone(&model.calls);
    let stage = stage.played_by(model);
    assert_completed(&stage.execute().await);
    assert_eq!(times(&stage, &format!("{DISPATCH}/worker-2/context")), 1);
    assert_eq!(times(&stage, &format!("{DISPATCH}/worker-2")), 2);
    assert_eq!(times(&stage, &format!("{DISPATCH}/worker-1")), 1);
    let calls = calls.lock().unwrap();
    let context = calls
        .iter()
        .find(|call| call.caller.agent_type == "CONTEXT_MANAGER")
        .unwrap();
    let schema = context.schema_text();
    assert!(schema.contains("discoveryAgentRequests"), "{schema}");
    assert!(!schema.contains("planningCollectorRequest"), "{schema}");
}

/// Lets no discovery worker's model answer before so many of them are asked.
struct Together(Barrier);

#[async_trait]
impl Part for Together {
    async fn play(&self, call: &mut ModelCall, _scope: &StopScope) -> Option<Reply> {
        if call.caller.agent_type == "DISCOVERY_AGENT" {
            self.0.wait().await;
        }
        None
    }
}

#[tokio::test(start_paused = true)]
async fn workers_work_side_by_side_as_many_as_allowed() {
    let mut stage = Stage::new().scripted(three());
    stage.limits.parallel_workers = 3.try_into().unwrap();
    let stage = {
        let model = Playing::new(Together(Barrier::new(3)), stage.rehearsal());
        stage.played_by(model)
    };
    let report = tokio::time::timeout(Duration::from_secs(60), stage.execute()).await;
    assert_completed(&report.unwrap());

    // With two at a time the third never comes, and the two wait for it for ever.
    let mut stage = Stage::new().scripted(three());
    stage.limits.parallel_workers = 2.try_into().unwrap();
    let stage = {
        let model = Playing::new(Together(Barrier::new(3)), stage.rehearsal());
        stage.played_by(model)
    };
    let report = tokio::time::timeout(Duration::from_secs(60), stage.execute()).await;
    assert!(report.is_err());
}

#[tokio::test]
async fn a_question_that_nobody_answers_lets_the_siblings_finish_their_step() {
    let stage = Stage::new().scripted(three()).scripted(json!({
        "agent": "DISCOVERY_AGENT", "turn": 1, "node": "worker-1",
        "interrupt": { "type": "HUMAN_REVIEW", "reason": "which page?" },
    }));
    let report = stage.execute().await;
    assert_eq!(report.interrupts[0].outcome, InterruptResult::Open);
    let finished: Vec<_> = stage
        .log
        .events()
        .into_iter()
        .filter_map(|event| match event {
            RunEvent::AgentFinished { node, status, .. } => Some((node.to_string(), status)),
            _ => None,
        })
        .collect();
    for worker in ["worker-2", "worker-3"] {
        let expected = (format!("{DISPATCH}/{worker}"), NodeActivity::Completed);
        assert!(finished.contains(&expected), "{finished:?}");
    }
    assert_eq!(times(&stage, DISPATCH), 0);
}

#[tokio::test]
async fn a_workers_stop_cancels_the_run_once_its_siblings_have_finished_their_step() {
    let stage = Stage::new().scripted(three()).scripted(json!({
        "agent": "DISCOVERY_AGENT", "turn": 1, "node": "worker-1",
        "interrupt": { "type": "STOP", "reason": "this is the wrong folder" },
    }));
    let report = stage.execute().await;
    let expected = engine::run::RunStatus::Cancelled {
        reason: "this is the wrong folder".to_owned(),
        from_outside: false,
    };
    assert_eq!(report.status, expected);
    let unfinished = stage
        .log
        .events()
        .iter()
        .fold(0, |open, event| match event {
            RunEvent::StepStarted { .. } => open + 1,
            RunEvent::StepFinished { .. } => open - 1,
            _ => open,
        });
    assert_eq!(unfinished, 0);
    assert_eq!(times(&stage, DISPATCH), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn on_many_threads_every_worker_gets_its_own_answer() {
    for seed in 0..25 {
        let mut stage = Stage::new()
            .interrupts("DISCOVERY_AGENT", 1, "HUMAN_REVIEW")
            .interrupts("PLANNING_AGENT", 1, "PRUNE")
            .interrupts("TICKET_AGENT", 1, "AGENT_REVIEW");
        for answer in 0..6 {
            stage = stage.said(&format!("answer {answer}"));
        }
        stage.seed = seed;
        let report = stage.execute().await;
        assert_completed(&report);
        assert_eq!(report.interrupts.len(), 9);
        for worker in ["worker-1", "worker-2", "worker-3"] {
            assert_eq!(times(&stage, &format!("{DISPATCH}/{worker}")), 2);
            let planning = format!("orchestrator/planning/dispatch/{worker}");
            assert_eq!(times(&stage, &planning), 1);
        }
        let told = stage.log.messages();
        for answer in 0..6 {
            let answer = format!("\"answer {answer}\"");
            let heard = told.iter().filter(|(_, text)| text.contains(&answer));
            assert_eq!(heard.count(), 1, "{answer}");
        }
    }
}

/// What the second worker's model is told in its second turn, after an interrupt of this type.
async fn second_turn(interrupt_type: &str, stage: Stage) -> String {
    let stage = stage.scripted(three()).scripted(json!({
        "agent": "DISCOVERY_AGENT", "turn": 1, "node": "worker-2",
        "interrupt": { "type": interrupt_type, "reason": "a moment" },
    }));
    let model = Playing::new(Watched, stage.rehearsal());
    let calls = Arc::clone(&model.calls);
    let stage = stage.played_by(model);
    assert_completed(&stage.execute().await);
    let calls = calls.lock().unwrap();
    let call = calls
        .iter()
        .find(|call| call.caller.node.as_str().ends_with("worker-2") && call.caller.turn == 2)
        .unwrap();
    let texts = call.messages.iter().map(|message| &*message.text);
    texts.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_paused_worker_goes_on_with_its_own_work() {
    let stage = Stage::new();
    stage
        .person
        .resumes
        .lock()
        .unwrap()
        .push_back(Resume::default());
    let told = second_turn("PAUSE", stage).await;
    assert!(told.contains("read pages"), "{told}");
    assert!(!told.contains("Your work now"), "{told}");
    assert!(!told.contains("read engine"), "{told}");
}

#[tokio::test]
async fn a_person_gives_a_worker_other_work() {
    let stage = Stage::new().answered(Answer {
        edited_request: Some(json!({
            "requests": [{ "goal": "read the style sheets", "subdomainFocus": "pages" }],
            "goal": "read all", "delegationRationale": "a person said so",
        })),
        ..Answer::default()
    });
    let told = second_turn("HUMAN_REVIEW", stage).await;
    assert!(told.contains("Your work now"), "{told}");
    assert!(told.contains("read the style sheets"), "{told}");
}
