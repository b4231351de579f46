//! Policies hold for the questions of a plan's agents as for all others.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::desk::Desk;
use crate::program::{Ended, end, lines, script, spawn};
use crate::server;

const EXECUTORS_GO_LEFT: &str = "[[rule]]\nname = \"left is always right\"\ntype = \"HUMAN_REVIEW\"\nagent = \"EXECUTOR\"\n\
     answer = \"respond\"\nanswer_choices = [\"left\"]\n";

fn policy(desk: &Desk, text: &str) -> PathBuf {
    let path = desk.store.path().join("policy.toml");
    std::fs::write(&path, text).unwrap();
    path
}

/// A run whose executor asks, under a policy.
fn asking(desk: &Desk, text: &str) -> Command {
    let steps = json!([{
        "agent": "EXECUTOR", "turn": 2,
        "interrupt": {
            "type": "HUMAN_REVIEW", "reason": "which oven?",
            "choices": [{"label": "Left", "value": "left", "description": "hot"}],
            "confirmationItems": [], "contextForDecision": "there are two",
        },
    }]);
    let mut command = desk.run();
    command
        .arg("--script")
        .arg(script(desk.store.path(), &steps))
        .arg("--policy")
        .arg(policy(desk, text));
    command
}

/// Runs it with somebody at its standard input who says nothing.
fn with_a_silent_person(mut command: Command) -> Ended {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let silent = child.stdin.take();
    let ended = child.wait_with_output().unwrap().into();
    drop(silent);
    ended
}

/// The only question of the store.
fn question(desk: &Desk) -> Value {
    let history = end(&mut desk.irq(&["history", "--json"])).exits_with(0);
    let rows = lines(&history.output);
    let mut ids: Vec<&str> = rows
        .iter()
        .filter_map(|row| row["interrupt"].as_str())
        .collect();
    ids.dedup();
    assert_eq!(ids.len(), 1, "{rows:#?}");
    desk.json(&["review", ids[0]])
}

#[test]
fn a_question_of_a_plan_that_a_rule_answers_is_put_to_nobody() {
    let desk = Desk::new();
    with_a_silent_person(asking(&desk, EXECUTORS_GO_LEFT)).exits_with(0);
    let asked = question(&desk);
    assert_eq!(asked["state"], "resolved", "{asked:#}");
    assert_eq!(asked["decision"]["by"], "policy", "{asked:#}");

    let alone = Desk::new();
    let ended = end(asking(&alone, EXECUTORS_GO_LEFT).arg("--no-input")).exits_with(0);
    assert!(!ended.error_output.contains("error:"), "{ended:#?}");
    assert_eq!(question(&alone)["decision"]["by"], "policy");
}

#[test]
fn a_rule_about_another_agent_leaves_a_plans_question_to_people() {
    let desk = Desk::new();
    let planners = EXECUTORS_GO_LEFT.replace("EXECUTOR", "PLANNER");
    end(asking(&desk, &planners).arg("--no-input")).exits_with(5);
    assert_eq!(question(&desk)["state"], "awaiting_review");
}

#[test]
fn a_question_of_a_plan_expires_while_it_is_asked_and_its_agent_is_told() {
    let desk = Desk::new();
    let limit = "[default]\nreview_limit = \"1s\"\non_expiry = \"reject\"\n";
    with_a_silent_person(asking(&desk, limit)).exits_with(0);
    let asked = question(&desk);
    assert_eq!(asked["state"], "expired", "{asked:#}");
    let run = asked["run_id"].as_str().unwrap();
    let saved = end(&mut desk.irq(&["checkpoints", run, "--json"])).exits_with(0);
    let told = "no answer came in time";
    assert!(saved.output.contains(told), "{saved:#?}");
}

#[test]
fn what_a_plan_asks_after_a_failure_has_no_time_limit_and_can_be_answered_by_a_rule() {
    let failing = |desk: &Desk, text: &str| {
        let mut command = desk.run();
        command
            .args(["--model", "openai:m", "--no-input", "--base-url"])
            .arg(format!("http://{}/v1", server::nobody()))
            .arg("--policy")
            .arg(policy(desk, text));
        spawn(&mut command)
    };
    let (desk, given_up) = (Desk::new(), Desk::new());
    let waiting = failing(&desk, "[default]\nreview_limit = \"1s\"\n");
    let rule =
        "[[rule]]\nname = \"no time for that\"\nagent = \"PLAN_EXECUTE\"\nanswer = \"cancel\"\n";
    let decided = failing(&given_up, rule);
    let ended = |child: Child| Ended::from(child.wait_with_output().unwrap());
    ended(waiting).exits_with(5);
    let asked = question(&desk);
    assert_eq!(asked["source"], "system", "{asked:#}");
    assert!(asked["expires_at"].is_null(), "{asked:#}");

    ended(decided).exits_with(6);
    assert_eq!(question(&given_up)["decision"]["by"], "policy");
    assert_eq!(given_up.only_run()["state"], "cancelled");
}
