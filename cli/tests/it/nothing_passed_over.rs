//! What a command line says is done or refused, and never passed over.

use serde_json::json;

use crate::place::Place;
use crate::program::{end_with_input, lines, script};

const NOT_FOUND: i32 = 3;
const CONFLICT: i32 = 4;
const USAGE: i32 = 2;

/// Two runs that wait for an answer, with the questions of both.
fn two_that_wait(place: &Place) -> [(String, String); 2] {
    let question = json!([{"agent": "PLANNING_ORCHESTRATOR", "turn": 1, "interrupt": {
        "type": "HUMAN_REVIEW", "reason": "which way?", "choices": [],
        "confirmationItems": [], "contextForDecision": "two ways"}}]);
    let script = script(place.folder.path(), &question);
    for _run in 0..2 {
        let arguments = ["--script", script.to_str().unwrap()];
        place.end_of_run(&arguments).exits_with(5);
    }
    let open = lines(&place.end(&["review", "--json"]).exits_with(0).output);
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let [first, second] = [0, 1].map(|at| (text(&open[at]["run_id"]), text(&open[at]["id"])));
    [first, second]
}

#[test]
fn a_review_of_one_runs_question_is_not_taken_for_that_of_another_run() {
    let place = Place::new();
    let [(run, question), (other, _)] = two_that_wait(&place);
    let review = ["review", &question, "--run", &other];
    place.end(&review).exits_with(NOT_FOUND).says(&run);
    let decide = [&review[..], &["--decision", "approve", "--message", "yes"]].concat();
    place.end(&decide).exits_with(NOT_FOUND).says(&run);
    place
        .end(&["review", &question, "--run", &run])
        .exits_with(0);
    let alone = ["review", &question, "--all-or-nothing"];
    place.end(&alone).exits_with(USAGE).says("--all-or-nothing");
    let open = lines(&place.end(&["review", "--json"]).exits_with(0).output);
    assert_eq!(open.len(), 2, "nothing was decided");
}

#[test]
fn a_batch_without_a_line_says_that_nothing_was_decided() {
    let place = Place::new();
    let [(run, _), _] = two_that_wait(&place);
    for more in [&[][..], &["--json"], &["--all-or-nothing"]] {
        let batch = [&["review", "--batch", "-"][..], more].concat();
        let ended = end_with_input(&mut place.irq(&batch), b"\n").exits_with(0);
        assert!(ended.error_output.contains("no line"), "{ended:#?}");
        assert_eq!(ended.output, "");
    }
    let narrowed = ["review", "--batch", "-", "--run", &run];
    end_with_input(&mut place.irq(&narrowed), b"\n").exits_with(USAGE);
}

#[test]
fn an_agent_that_a_run_has_not_is_not_replayed_as_one_that_did_nothing() {
    let place = Place::new();
    place.end_of_run(&[]).exits_with(0);
    let run = place.only_run();
    let replay = |agent: &str| place.end(&["replay", &run, "--agent", agent, "--json"]);
    replay("orchestrater")
        .exits_with(NOT_FOUND)
        .says("has no agent `orchestrater`")
        .says("did you mean");
    let full = format!("{run}/orchestrator/discovery");
    for agent in ["orchestrator/discovery", &full] {
        assert!(!replay(agent).exits_with(0).output.is_empty());
    }
}

#[test]
fn a_message_that_says_nothing_is_refused_and_nothing_goes_on() {
    let place = Place::new();
    let [(run, _), _] = two_that_wait(&place);
    for command in ["resume", "fork"] {
        let said = [command, &run, "--message", " ", "--no-input"];
        let refused = place.end(&said).exits_with(USAGE);
        refused.says("the message is empty").says("leave --message");
    }
    assert_eq!(place.runs().len(), 2, "nothing was forked off");
}

#[test]
fn a_plan_that_is_over_is_previewed_no_more_and_the_way_on_is_named() {
    let place = Place::new();
    let workflow = ["--workflow", "plan-execute"];
    place.end_of_run(&workflow).exits_with(0);
    let run = place.only_run();
    let preview = place.end(&["plan", &run, "--preview", r#"["one"]"#]);
    let fork = format!("irq fork {run}");
    preview.exits_with(CONFLICT).says("completed").says(&fork);
}
