//! Nodes that others call, and the one way back to the caller.

use std::sync::Arc;

use interrupt_router::review::Answer;
use serde_json::{Value, json};

use crate::models::{Playing, Watched};
use crate::stage::{Stage, assert_completed};

fn times(stage: &Stage, node: &str) -> usize {
    stage.log.steps().iter().filter(|it| *it == node).count()
}

fn review_for(return_to: &str) -> Value {
    json!({ "reviewRequest": { "content": "the findings", "criteria": "complete", "returnTo": return_to } })
}

#[tokio::test]
async fn a_review_comes_back_to_the_collector_that_called_whatever_the_request_says() {
    let stage = Stage::new().scripted(json!({
        "agent": "PLANNING_COLLECTOR", "turn": 1, "answer": review_for("TICKET_COLLECTOR"),
    }));
    let model = Playing::new(Watched, stage.rehearsal());
    let calls = Arc::clone(&model.calls);
    let stage = stage.played_by(model);
    assert_completed(&stage.execute().await);
    assert_eq!(times(&stage, "orchestrator/planning/collector/review"), 1);
    assert_eq!(times(&stage, "orchestrator/planning/collector"), 2);
    let calls = calls.lock().unwrap();
    let review = calls
        .iter()
        .find(|call| call.caller.agent_type == "REVIEW_AGENT")
        .unwrap();
    let schema = review.schema_text();
    assert!(schema.contains("planningCollectorRequest"), "{schema}");
    for other in ["ticketCollectorRequest", "discoveryCollectorRequest"] {
        assert!(!schema.contains(other), "{schema}");
    }
    let told = stage.log.messages();
    assert!(
        told.iter()
            .any(|(node, text)| node == "orchestrator/planning/collector"
                && text.contains("\"assessment\""))
    );
}

#[tokio::test]
async fn a_review_may_hand_the_work_straight_back() {
    let back =
        json!({ "planningCollectorRequest": { "goal": "as before", "planningResults": "fine" } });
    let stage = Stage::new()
        .scripted(json!({ "agent": "PLANNING_COLLECTOR", "turn": 1, "answer": review_for("PLANNING_COLLECTOR") }))
        .scripted(json!({ "agent": "REVIEW_AGENT", "turn": 1, "answer": back }));
    assert_completed(&stage.execute().await);
    assert_eq!(times(&stage, "orchestrator/planning/collector"), 2);
}

#[tokio::test]
async fn a_merge_comes_back_to_its_collector() {
    let merge = json!({ "mergerRequest": {
        "mergeContext": "two tickets", "mergeSummary": "both", "conflictFiles": "engine/core.rs",
        "returnTo": "TICKET_COLLECTOR",
    } });
    let stage =
        Stage::new().scripted(json!({ "agent": "TICKET_COLLECTOR", "turn": 1, "answer": merge }));
    assert_completed(&stage.execute().await);
    assert_eq!(times(&stage, "orchestrator/tickets/collector/merger"), 1);
    assert_eq!(times(&stage, "orchestrator/tickets/collector"), 2);
}

#[tokio::test]
async fn a_review_that_a_person_sent_an_orchestrator_to_goes_to_the_collector_it_names() {
    let stage = Stage::new()
        .interrupts("PLANNING_ORCHESTRATOR", 1, "HUMAN_REVIEW")
        .answered(Answer {
            reroute_to: Some("REVIEW_AGENT".to_owned()),
            edited_request: Some(json!({
                "content": "the plan so far", "criteria": "small", "returnTo": "PLANNING_COLLECTOR",
            })),
            ..Answer::default()
        });
    assert_completed(&stage.execute().await);
    let steps = stage.log.steps();
    let review = steps
        .iter()
        .position(|node| node.ends_with("/review"))
        .unwrap();
    assert_eq!(steps[review + 1], "orchestrator/planning/collector");
}

#[tokio::test]
async fn a_pruned_review_is_told_to_its_caller_which_goes_on_without_it() {
    let stage = Stage::new()
        .scripted(json!({ "agent": "PLANNING_COLLECTOR", "turn": 1, "answer": review_for("PLANNING_COLLECTOR") }))
        .interrupts("REVIEW_AGENT", 1, "PRUNE");
    assert_completed(&stage.execute().await);
    assert_eq!(times(&stage, "orchestrator/planning/collector"), 2);
}
