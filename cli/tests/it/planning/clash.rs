//! A person's interrupt meets a question of the plan's agent: both are recorded, the person goes first.

use std::process::Stdio;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::desk::{Desk, kinds};
use crate::program::{end, script};
use crate::running::Running;

const CONFLICT: i32 = 4;

/// The executor's first step asks a person.
fn asking() -> Value {
    json!([{
        "agent": "EXECUTOR", "turn": 2,
        "interrupt": {
            "type": "HUMAN_REVIEW", "reason": "which oven?",
            "choices": [{"label": "Left", "value": "left", "description": "the hot one"}],
            "confirmationItems": [], "contextForDecision": "there are two",
        },
    }])
}

/// A run whose executor waits for an answer that nobody types.
fn waiting(desk: &Desk) -> (Running, String) {
    let path = script(desk.folder.path(), &asking());
    let mut command = desk.run();
    command.arg("--script").arg(path).stdin(Stdio::piped());
    let mut running = Running::start(&mut command);
    running.wait_for("which oven?");
    let run = desk.only_run()["id"].as_str().unwrap().to_owned();
    (running, run)
}

fn of_type<'a>(open: &'a [Value], interrupt_type: &str) -> &'a Value {
    open.iter()
        .find(|interrupt| interrupt["type"] == interrupt_type)
        .unwrap()
}

#[test]
fn an_escape_holds_the_open_question_and_an_unchanged_resume_shows_it_again() {
    let desk = Desk::new();
    let (running, run) = waiting(&desk);
    let mut interrupt = desk.irq(&["interrupt", &run, "--wait=awaiting_review"]);
    end(interrupt.args(["--reason", "me first"])).exits_with(0);
    let (code, seen) = running.end();
    assert_ne!(code, Some(0), "{seen}");
    let open = desk.open();
    assert_eq!(open.len(), 2, "nothing is dropped: {open:#?}");
    let (escape, question) = (of_type(&open, "PAUSE"), of_type(&open, "HUMAN_REVIEW"));
    assert_eq!(open[0]["id"], escape["id"], "the person's goes first");
    assert_eq!(question["held_by"], escape["id"]);
    let id = question["id"].as_str().unwrap();
    let answer = [
        "review",
        id,
        "--decision",
        "respond",
        "--message",
        "the left one",
    ];
    end(&mut desk.irq(&answer))
        .exits_with(CONFLICT)
        .says("is held");
    // Resumed unchanged, the question is shown again, and its answer reaches the step that asked.
    let mut resume = desk.irq(&["resume", &run, "-v"]);
    let mut resumed = Running::start(resume.stdin(Stdio::piped()));
    resumed.wait_for("which oven?");
    end(&mut desk.irq(&answer)).exits_with(0);
    let (code, seen) = resumed.end();
    assert_eq!(code, Some(0), "{seen}");
    let told = kinds(&desk.told(&run));
    let expected = [
        "human_input",
        "clash",
        "user_escape",
        "resumed",
        "question_shown_again",
        "answered",
    ];
    let told: Vec<_> = told
        .iter()
        .filter(|kind| expected.contains(&kind.as_str()))
        .collect();
    assert_eq!(told, expected, "each once, in this order");
    assert_eq!(desk.plan(&run)["state"], "completed");
}

#[test]
fn an_escape_during_the_call_that_asks_goes_before_its_question_too() {
    let desk = Desk::new();
    let path = script(desk.folder.path(), &asking());
    let mut command = desk.run();
    command.args(["--pace", "60", "--script"]).arg(path);
    let mut running = Running::start(&mut command);
    running.wait_for("root/executor");
    running.send(Signal::INT);
    let (code, seen) = running.end();
    assert_eq!(code, Some(130), "{seen}");
    let run = desk.only_run()["id"].as_str().unwrap().to_owned();
    let told = kinds(&desk.told(&run));
    assert_eq!(
        told[told.len() - 3..],
        ["human_input", "clash", "user_escape"]
    );
    assert_eq!(desk.open().len(), 2, "{:#?}", desk.open());
}

#[test]
fn a_changed_plan_withdraws_the_question_whose_step_is_gone() {
    let desk = Desk::new();
    let (running, run) = waiting(&desk);
    let interrupt = ["interrupt", &run, "--wait=awaiting_review"];
    end(&mut desk.irq(&interrupt)).exits_with(0);
    running.end();
    let preview = desk.json(&["plan", &run, "--preview", r#"["sweep the floor"]"#]);
    assert_eq!(
        preview["proposal"]["question"], "withdrawn",
        "it is said before"
    );
    let digest = preview["proposal"]["digest"].as_str().unwrap();
    desk.json(&["plan", &run, "--apply", digest]);
    end(&mut desk.irq(&["resume", &run])).exits_with(0);
    assert!(desk.open().is_empty());
    assert!(kinds(&desk.told(&run)).contains(&"question_withdrawn".to_owned()));
}

#[test]
fn a_review_answers_the_agent_and_changes_no_plan() {
    let desk = Desk::new();
    let path = script(desk.folder.path(), &asking());
    let mut command = desk.run();
    let asked = end(command.arg("--script").arg(path).arg("--no-input")).exits_with(5);
    let run = desk.only_run()["id"].as_str().unwrap().to_owned();
    let before = desk.plan(&run);
    let id = asked.output.trim();
    let modify = [
        "review",
        id,
        "--decision",
        "modify_plan",
        "--message",
        "another plan",
    ];
    let refused = end(&mut desk.irq(&modify));
    refused.exits_with(2).says("does not take `modify_plan`");
    let answer = [
        "review",
        id,
        "--decision",
        "respond",
        "--message",
        "the left one",
    ];
    end(&mut desk.irq(&answer)).exits_with(0);
    end(&mut desk.irq(&["resume", &run])).exits_with(0);
    let after = desk.plan(&run);
    assert_eq!(after["version"], before["version"]);
    assert_eq!(after["state"], "completed");
}
