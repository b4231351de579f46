//! What each type of interrupt does to a run.

use std::sync::Arc;

use engine::run::{InterruptResult, RunEvent, RunStatus};
use interrupt_router::Verdict;
use interrupt_router::handler::FilledBy;
use interrupt_router::model::Purpose;
use interrupt_router::review::{Answer, QuestionKind, Resume};
use serde_json::json;

use crate::models::{Playing, Watched};
use crate::stage::{Stage, assert_completed, target};

fn times(stage: &Stage, node: &str) -> usize {
    stage.log.steps().iter().filter(|it| *it == node).count()
}

#[tokio::test]
async fn human_review_goes_back_to_its_origin_with_the_answer() {
    let stage = Stage::new()
        .interrupts("DISCOVERY_ORCHESTRATOR", 1, "HUMAN_REVIEW")
        .said("split it by folder");
    let report = stage.execute().await;
    assert_completed(&report);
    assert_eq!(target(&report, 0), "DISCOVERY_ORCHESTRATOR");
    assert_eq!(times(&stage, "orchestrator/discovery"), 2);
    assert_eq!(times(&stage, "orchestrator"), 1);
    let told = stage.log.messages();
    assert!(
        told.iter()
            .any(|(node, text)| node == "orchestrator/discovery"
                && text.contains("split it by folder")),
        "{told:?}"
    );
}

#[tokio::test]
async fn a_person_sends_the_run_elsewhere() {
    let stage = Stage::new()
        .interrupts("DISCOVERY_ORCHESTRATOR", 1, "HUMAN_REVIEW")
        .answered(Answer {
            reroute_to: Some("TICKET_ORCHESTRATOR".to_owned()),
            ..Answer::default()
        });
    let report = stage.execute().await;
    assert_completed(&report);
    assert_eq!(target(&report, 0), "TICKET_ORCHESTRATOR");
    let steps = stage.log.steps();
    assert_eq!(steps[2], "orchestrator/tickets");
    assert!(!steps.iter().any(|node| node.contains("planning")));
}

#[tokio::test]
async fn after_a_no_no_request_is_filled_in_and_the_agent_that_asked_has_another_turn() {
    for (verdict, told) in [
        (Verdict::Reject, "[rejected: do not do what you asked for]"),
        (Verdict::Ignore, "[ignored: go on without an answer]"),
        (
            Verdict::Cancel,
            "[cancelled: give this up, without side effects]",
        ),
    ] {
        let stage = Stage::new()
            .interrupts("DISCOVERY_ORCHESTRATOR", 1, "HUMAN_REVIEW")
            .answered(Answer::declined(verdict, Some("too dear".to_owned())));
        let model = Playing::new(Watched, stage.rehearsal());
        let calls = Arc::clone(&model.calls);
        let stage = stage.played_by(model);
        let report = stage.execute().await;
        assert_completed(&report);
        let InterruptResult::Declined { answer, .. } = &report.interrupts[0].outcome else {
            panic!("{:?}", report.interrupts)
        };
        assert_eq!(answer.text.as_deref(), Some("too dear"));
        let calls = calls.lock().unwrap();
        let fills = calls
            .iter()
            .filter(|call| call.caller.purpose == Purpose::Resolution);
        assert_eq!(fills.count(), 0, "{verdict:?}");
        let second = calls
            .iter()
            .find(|call| {
                call.caller.agent_type == "DISCOVERY_ORCHESTRATOR" && call.caller.turn == 2
            })
            .expect("the agent has another turn");
        let last = &second.messages.last().unwrap().text;
        assert!(last.contains(told) && last.contains("too dear"), "{last}");
    }
}

#[tokio::test]
async fn an_edited_request_resolves_without_a_model() {
    let stage = Stage::new()
        .interrupts("DISCOVERY_ORCHESTRATOR", 1, "HUMAN_REVIEW")
        .answered(Answer {
            edited_request: Some(json!({ "goal": "only the pages", "feedback": "skip the rest" })),
            ..Answer::default()
        });
    let model = Playing::new(Watched, stage.rehearsal());
    let calls = Arc::clone(&model.calls);
    let stage = stage.played_by(model);
    let report = stage.execute().await;
    assert_completed(&report);
    let InterruptResult::Routed { filled_by, .. } = &report.interrupts[0].outcome else {
        panic!("{:?}", report.interrupts)
    };
    assert_eq!(*filled_by, FilledBy::Person);
    let calls = calls.lock().unwrap();
    assert!(
        !calls
            .iter()
            .any(|call| call.caller.purpose == Purpose::Resolution)
    );
    let second = calls
        .iter()
        .find(|call| call.caller.agent_type == "DISCOVERY_ORCHESTRATOR" && call.caller.turn == 2)
        .unwrap();
    assert!(
        second
            .messages
            .last()
            .unwrap()
            .text
            .contains("only the pages")
    );
}

#[tokio::test]
async fn a_reviewing_model_that_is_sure_answers_and_asks_nobody() {
    let sure =
        json!({ "selectedChoices": [], "text": "go on", "confirmations": [], "confidence": 95 });
    let stage = Stage::new()
        .interrupts("PLANNING_ORCHESTRATOR", 1, "AGENT_REVIEW")
        .scripted(json!({ "agent": "PLANNING_ORCHESTRATOR", "turn": 1, "purpose": "review", "answer": sure }));
    let report = stage.execute().await;
    assert_completed(&report);
    assert_eq!(target(&report, 0), "PLANNING_ORCHESTRATOR");
    assert!(stage.person.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn pause_waits_and_goes_on_with_what_it_had() {
    let stage = Stage::new().interrupts("PLANNING_ORCHESTRATOR", 1, "PAUSE");
    stage
        .person
        .resumes
        .lock()
        .unwrap()
        .push_back(Resume::default());
    let report = stage.execute().await;
    assert_completed(&report);
    let InterruptResult::Routed { filled_by, .. } = &report.interrupts[0].outcome else {
        panic!("{:?}", report.interrupts)
    };
    assert_eq!(*filled_by, FilledBy::Unchanged);
    assert!(stage.person.asked.lock().unwrap().is_empty());
    assert_eq!(times(&stage, "orchestrator/planning"), 2);
}

#[tokio::test]
async fn a_pause_that_nobody_resumes_leaves_the_run_waiting() {
    let stage = Stage::new().interrupts("PLANNING_ORCHESTRATOR", 1, "PAUSE");
    let report = stage.execute().await;
    let RunStatus::Waiting {
        questions,
        interrupts,
    } = &report.status
    else {
        panic!("{:?}", report.status)
    };
    assert!(questions.is_empty());
    assert_eq!(interrupts, &[report.interrupts[0].interrupt]);
    assert_eq!(report.interrupts[0].outcome, InterruptResult::Open);
}

#[tokio::test]
async fn a_paused_dispatch_does_not_start_its_workers_again() {
    let stage = Stage::new().interrupts("DISCOVERY_DISPATCH", 1, "PAUSE");
    stage
        .person
        .resumes
        .lock()
        .unwrap()
        .push_back(Resume::default());
    assert_completed(&stage.execute().await);
    assert_eq!(times(&stage, "orchestrator/discovery/dispatch"), 2);
    assert_eq!(times(&stage, "orchestrator/discovery/dispatch/worker-1"), 1);
    assert_eq!(times(&stage, "orchestrator/discovery/dispatch/worker-4"), 0);
}

#[tokio::test]
async fn stop_ends_the_run_as_cancelled() {
    let stage = Stage::new().interrupts("PLANNING_ORCHESTRATOR", 1, "STOP");
    let report = stage.execute().await;
    let expected = RunStatus::Cancelled {
        reason: "PLANNING_ORCHESTRATOR is unsure".to_owned(),
        from_outside: false,
    };
    assert_eq!(report.status, expected);
    assert_eq!(report.interrupts[0].outcome, InterruptResult::Stopped);
    assert_eq!(stage.log.steps().last().unwrap(), "orchestrator/planning");
}

#[tokio::test]
async fn a_pruned_worker_is_missing_and_the_rest_goes_on() {
    let stage = Stage::new().scripted(json!({
        "agent": "DISCOVERY_AGENT", "turn": 1, "node": "worker-1",
        "interrupt": { "type": "PRUNE", "reason": "nothing here" },
    }));
    let model = Playing::new(Watched, stage.rehearsal());
    let calls = Arc::clone(&model.calls);
    let stage = stage.played_by(model);
    let report = stage.execute().await;
    assert_completed(&report);
    assert_eq!(report.interrupts[0].outcome, InterruptResult::Pruned);
    let calls = calls.lock().unwrap();
    let dispatch = calls
        .iter()
        .find(|call| call.caller.agent_type == "DISCOVERY_DISPATCH")
        .unwrap();
    let results = &dispatch.messages.last().unwrap().text;
    assert!(
        results.contains("\"noResult\": \"cut off: nothing here\""),
        "{results}"
    );
    assert!(results.contains("\"result\": {"), "{results}");
    assert_eq!(times(&stage, "orchestrator/discovery/dispatch/worker-1"), 1);
}

#[tokio::test]
async fn a_pruned_phase_goes_back_to_the_orchestrator_with_a_note() {
    let stage = Stage::new().scripted(json!({
        "agent": "DISCOVERY_ORCHESTRATOR", "turn": 1, "node": "orchestrator/discovery",
        "interrupt": { "type": "PRUNE", "reason": "the folder is known" },
    }));
    let report = stage.execute().await;
    assert_completed(&report);
    assert_eq!(
        stage.log.steps()[..3],
        ["orchestrator", "orchestrator/discovery", "orchestrator"]
    );
    let told = stage.log.messages();
    let note = &told
        .iter()
        .find(|(node, _)| node == "orchestrator")
        .unwrap()
        .1;
    assert!(note.contains("the folder is known"), "{note}");
}

#[tokio::test]
async fn a_pruned_orchestrator_cancels_the_run() {
    let stage = Stage::new().interrupts("ORCHESTRATOR", 1, "PRUNE");
    let report = stage.execute().await;
    let expected = RunStatus::Cancelled {
        reason: "ORCHESTRATOR is unsure".to_owned(),
        from_outside: false,
    };
    assert_eq!(report.status, expected);
}

#[tokio::test]
async fn branch_forks_the_run_and_both_go_on() {
    let stage = Stage::new().interrupts("DISCOVERY_ORCHESTRATOR", 1, "BRANCH");
    let report = stage.execute().await;
    assert_completed(&report);
    let InterruptResult::Branched { run } = report.interrupts[0].outcome else {
        panic!("{:?}", report.interrupts)
    };
    assert_eq!(times(&stage, "orchestrator/discovery"), 2);
    let mut branch = stage;
    branch.run = run;
    let other = branch.execute().await;
    assert_completed(&other);
    assert_eq!(other.interrupts, report.interrupts, "it was decided before");
    assert_eq!(other.steps, report.steps);
}

#[tokio::test]
async fn a_question_that_nobody_answers_leaves_the_run_waiting() {
    let stage = Stage::new().interrupts("TICKET_ORCHESTRATOR", 1, "HUMAN_REVIEW");
    let report = stage.execute().await;
    let RunStatus::Waiting {
        questions,
        interrupts,
    } = &report.status
    else {
        panic!("{:?}", report.status)
    };
    assert_eq!(questions.len(), 1);
    assert_eq!(questions[0].target, "TICKET_ORCHESTRATOR");
    assert_eq!(interrupts, &[questions[0].interrupt]);
    assert!(matches!(
        stage.log.events().last(),
        Some(RunEvent::Waiting { .. })
    ));
}

#[tokio::test]
async fn after_two_interrupts_in_a_row_a_node_is_told_which_field_to_fill() {
    let stage = Stage::new()
        .interrupts("DISCOVERY_ORCHESTRATOR", 1, "HUMAN_REVIEW")
        .interrupts("DISCOVERY_ORCHESTRATOR", 2, "HUMAN_REVIEW")
        .said("first answer")
        .said("second answer");
    assert_completed(&stage.execute().await);
    let told = stage.log.messages();
    let notes: Vec<_> = told
        .iter()
        .filter(|(_, text)| text.contains("in a row"))
        .collect();
    assert_eq!(notes.len(), 1, "{told:?}");
    assert_eq!(notes[0].0, "orchestrator/discovery");
    assert!(notes[0].1.contains("Fill `agentRequests` instead"));
    assert_eq!(times(&stage, "orchestrator/discovery"), 3);
}

#[tokio::test]
async fn an_agent_whose_model_never_answers_well_has_a_person_asked() {
    let stage = Stage::new()
        .scripted(json!({ "agent": "TICKET_ORCHESTRATOR", "turn": 1, "answer": "no JSON at all" }))
        .said("take the first ticket");
    let report = stage.execute().await;
    assert_completed(&report);
    assert_eq!(target(&report, 0), "TICKET_ORCHESTRATOR");
    assert!(
        report.interrupts[0]
            .reason
            .contains("no answer that can be used")
    );
    let asked = stage.person.asked.lock().unwrap();
    assert_eq!(asked[0].kind, QuestionKind::HumanReview);
}
