//! The rounds of a step: asked, given, asked again.

use std::sync::Arc;

use engine::run::RunEvent;
use interrupt_router::model::Role;
use serde_json::json;
use tools::CallEnd;

use super::bench::*;
use crate::stage::assert_completed;

#[tokio::test]
async fn a_model_is_given_what_its_tools_returned_and_answers_then() {
    let done = Arc::new(Done::default());
    let asking = Asking::of(vec![
        vec![takes("work", "a", 0), takes("work", "b", 0)],
        vec![takes("work", "c", 0)],
    ]);
    let (stage, calls) = stage(asking, &done, careful(), Arc::new(Decider::default()));
    assert_completed(&stage.execute().await);
    assert_eq!(
        results(&calls, WORKER),
        ["all of a", "all of b", "all of c"]
    );
    let calls = calls.lock().unwrap();
    let of_worker =
        |call: &&interrupt_router::model::ModelCall| call.caller.node.as_str() == WORKER;
    let last = calls.iter().rfind(of_worker).unwrap();
    let roles: Vec<Role> = last.messages.iter().map(|message| message.role).collect();
    let end = &roles[roles.len() - 5..];
    assert_eq!(
        end,
        [
            Role::Assistant,
            Role::Tool,
            Role::Tool,
            Role::Assistant,
            Role::Tool
        ]
    );
    let ids: Vec<_> = last
        .messages
        .iter()
        .filter_map(|it| it.result_of.clone())
        .collect();
    assert_eq!(ids, ["a", "b", "c"]);
}

#[tokio::test]
async fn each_call_is_told_from_its_start_to_its_end() {
    let done = Arc::new(Done::default());
    let asking = Asking::of(vec![vec![takes("work", "a", 0)]]);
    let (stage, _calls) = stage(asking, &done, careful(), Arc::new(Decider::default()));
    assert_completed(&stage.execute().await);
    let events = stage.log.events();
    let about_tools: Vec<String> = events
        .iter()
        .filter_map(|event| match event {
            RunEvent::ToolStarted {
                node,
                call,
                tool,
                arguments,
            } => Some(format!("{node} {call} {tool} {arguments}")),
            RunEvent::ToolEnded { message, .. } => {
                assert!(matches!(message.end, CallEnd::Finished { .. }));
                Some(format!("{} {}", message.call, message.text()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        about_tools,
        [
            format!("{WORKER} a work {}", json!({"name": "a", "ms": 0})),
            "a all of a".to_owned(),
        ]
    );
}

#[tokio::test]
async fn an_agent_is_offered_what_its_type_may_use_and_nothing_else_runs() {
    let done = Arc::new(Done::default());
    let asking = Asking::of(vec![vec![takes("work", "a", 0), takes("once", "b", 0)]]);
    let permissions = json!({"otherwise": "allow", "agents": {"TICKET_AGENT": ["work"]}});
    let (stage, calls) = stage(asking, &done, permissions, Arc::new(Decider::default()));
    assert_completed(&stage.execute().await);
    let results = results(&calls, WORKER);
    assert_eq!(results[0], "all of a");
    assert!(
        results[1].contains("there is no tool `once`; there are: work"),
        "{results:?}"
    );
    assert_eq!(done.count("b started"), 0);
    // `play` takes the offers away from what it looks at, so they are counted by what the log says of the leads.
    assert!(stage.log.steps().len() > 5);
}

#[tokio::test]
async fn words_before_a_request_are_no_answer_that_is_given_up() {
    let done = Arc::new(Done::default());
    let asking = Asking {
        words: "Let me look at it first.",
        ..Asking::of(vec![vec![takes("work", "a", 0)]])
    };
    let (stage, _calls) = stage(asking, &done, careful(), Arc::new(Decider::default()));
    assert_completed(&stage.execute().await);
    let events = stage.log.events();
    let corrected = events
        .iter()
        .any(|event| matches!(event, RunEvent::AnswerCorrected { .. }));
    assert!(!corrected);
    assert_eq!(done.count("a finished"), 1);
}

#[tokio::test]
async fn an_agent_that_never_stops_asking_is_told_to_answer() {
    let done = Arc::new(Done::default());
    let rounds = (0..50).map(|round| vec![takes("work", &format!("w{round}"), 0)]);
    let asking = Asking::of(rounds.collect());
    let mut permissions = careful();
    permissions["rounds"] = json!(3);
    let (stage, calls) = stage(asking, &done, permissions, Arc::new(Decider::default()));
    assert_completed(&stage.execute().await);
    assert_eq!(done.count("w2 finished"), 1);
    assert_eq!(done.count("w3 started"), 0);
    let calls = calls.lock().unwrap();
    let last = calls
        .iter()
        .rfind(|call| call.caller.node.as_str() == WORKER)
        .unwrap();
    // What was exchanged is there in words, for a call without tools.
    assert_eq!(rounds_of(last), 0);
    let said: Vec<&str> = last.messages.iter().map(|it| &*it.text).collect();
    assert!(
        said.iter().any(|text| text.contains("all of w2")),
        "{said:?}"
    );
    assert!(said.last().unwrap().contains("Answer now"), "{said:?}");
}

#[tokio::test]
async fn what_was_exchanged_is_remembered_in_the_agents_next_turn() {
    let done = Arc::new(Done::default());
    let asking = Asking::of(vec![vec![takes("work", "a", 0)]]);
    let reviewer = Decider::saying(interrupt_router::review::Answer {
        text: Some("go on".to_owned()),
        ..Default::default()
    });
    let (stage, _) = stage(asking, &done, careful(), reviewer);
    let stage = stage.interrupts("TICKET_AGENT", 1, "HUMAN_REVIEW");
    let (stage, calls) = resumed(stage, Asking::of(vec![vec![takes("work", "a", 0)]]));
    assert_completed(&stage.execute().await);
    let calls = calls.lock().unwrap();
    let second = calls
        .iter()
        .find(|call| call.caller.node.as_str() == WORKER && call.caller.turn == 2)
        .unwrap();
    let texts: Vec<&str> = second.messages.iter().map(|it| &*it.text).collect();
    assert!(texts.contains(&"all of a"), "{texts:?}");
    assert_eq!(done.count("a started"), 1);
}
