//! Messages that an agent has not read yet: listed, taken back, and read by the turn they were sent for.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::place::Place;
use crate::program::{end, interrupt, lines, script, spawn, until};

const CONFLICT: i32 = 4;
const NOT_FOUND: i32 = 3;

/// A run whose first agent has asked a question that nobody was there to answer, and the agent.
fn asked(place: &Place) -> (String, String) {
    let script = script(place.folder.path(), &json!([interrupt("HUMAN_REVIEW")]));
    let mut run = place.run(&["--script"]);
    end(run.arg(script)).exits_with(5);
    let run = place.only_run();
    let agent = format!("{run}/orchestrator");
    (run, agent)
}

/// What the turns of a run have read.
fn letters(place: &Place, run: &str) -> String {
    place
        .journal(run)
        .iter()
        .filter(|moment| moment["what"] == "effect_begun")
        .map(Value::to_string)
        .collect()
}

#[test]
fn what_is_taken_back_is_read_by_nobody_and_what_is_read_cannot_be_taken_back() {
    let place = Place::new();
    let (run, agent) = asked(&place);
    for text in ["mind the yeast", "forget the salt"] {
        place.end(&["send", &agent, text]).exits_with(0);
    }
    let waiting = place.end(&["send", &agent, "--waiting", "--json"]);
    let waiting = lines(&waiting.exits_with(0).output);
    let texts: Vec<_> = waiting.iter().map(|it| it["text"].as_str()).collect();
    assert_eq!(texts, [Some("mind the yeast"), Some("forget the salt")]);
    let numbers: Vec<String> = waiting.iter().map(|it| it["message"].to_string()).collect();

    let taken = place.end(&["send", &agent, "--take-back", &numbers[1]]);
    let taken = taken.exits_with(0).output;
    assert!(taken.contains("is taken back"), "{taken}");
    let left = place.end(&["send", &agent, "--waiting"]).exits_with(0);
    assert!(left.output.contains("mind the yeast"), "{left:#?}");
    assert!(!left.output.contains("forget the salt"), "{left:#?}");
    place
        .end(&["send", &agent, "--take-back", "99"])
        .exits_with(NOT_FOUND)
        .says("--waiting");

    let id = lines(&place.end(&["review", "--json"]).exits_with(0).output)[0]["id"].clone();
    let id = id.as_str().unwrap();
    place
        .end(&["review", id, "--decision", "approve", "--message", "yes"])
        .exits_with(0);
    place.end(&["resume", &run, "--no-input"]).exits_with(0);
    let read = letters(&place, &run);
    assert_eq!(read.matches("mind the yeast").count(), 1, "{read}");
    assert!(!read.contains("forget the salt"), "{read}");
    place
        .end(&["send", &agent, "--take-back", &numbers[0]])
        .exits_with(CONFLICT)
        .says("was read at");
    let none = place.end(&["send", &agent, "--waiting"]).exits_with(0);
    assert!(none.output.contains("Nothing waits"), "{none:#?}");
    let history = place
        .end(&["history", "--run", &run, "--json"])
        .exits_with(0);
    assert!(history.output.contains("withdrawn"), "{history:#?}");
}

/// A run in which two workers have asked what nobody was there to answer, and the first of them.
fn workers_asked(place: &Place) -> (String, String) {
    let asks = |worker: &str| {
        json!({
            "agent": "DISCOVERY_AGENT", "turn": 1, "node": worker,
            "interrupt": {
                "type": "HUMAN_REVIEW", "reason": "which way?",
                "choices": [{"label": "Left", "value": "left", "description": "the short way"}],
            },
        })
    };
    let steps = json!([asks("worker-2"), asks("worker-3")]);
    let script = script(place.folder.path(), &steps);
    end(place.run(&["--script"]).arg(script)).exits_with(5);
    let run = place.only_run();
    let agent = format!("{run}/orchestrator/discovery/dispatch/worker-2");
    (run, agent)
}

#[test]
fn nothing_is_sent_behind_a_stop_that_ends_its_reader_and_what_was_sent_before_waits_no_more() {
    for stop in ["STOP", "PRUNE"] {
        let place = Place::new();
        let (run, agent) = workers_asked(&place);
        place
            .end(&["send", &agent, "before the stop"])
            .exits_with(0);
        let made = place.end(&["interrupt", &agent, "--type", stop, "--json"]);
        let made = lines(&made.exits_with(0).output);
        let id = made[0]["id"].as_str().unwrap();
        place
            .end(&["send", &agent, "after the stop"])
            .exits_with(CONFLICT)
            .says(id);
        let open = place.end(&["review", "--json"]).exits_with(0).output;
        let other = lines(&open)
            .into_iter()
            .find(|it| it["agent_id"].as_str().unwrap().contains("worker-3"))
            .unwrap();
        let answer = ["--decision", "respond", "--message", "the left one"];
        let review = [&["review", other["id"].as_str().unwrap()][..], &answer].concat();
        place.end(&review).exits_with(0);
        place.end(&["resume", &run, "--no-input"]).exits_with(0);
        let waiting = place.end(&["send", &agent, "--waiting", "--json"]);
        assert_eq!(waiting.exits_with(0).output, "", "{stop}");
        let told = place.end(&["send", &agent, "--waiting"]).exits_with(0);
        assert!(
            told.output.contains("it ended before it read one message"),
            "{told:#?}"
        );
        let read = letters(&place, &run);
        assert!(!read.contains("the stop"), "{read}");
    }
}

/// A run whose first agent asks while its process goes on, answered from elsewhere; what its turns have read after
/// what is done in between.
fn answered_elsewhere(between: impl FnOnce(&Place, &str)) -> String {
    let place = Place::new();
    let script = script(place.folder.path(), &json!([interrupt("HUMAN_REVIEW")]));
    let mut run = place.irq(&["run", "Describe the bakery", "--workspace"]);
    run.arg(place.folder.path()).arg("--script").arg(script);
    // Nobody types anything, and nobody goes away.
    let mut child = spawn(run.stdin(Stdio::piped()));
    let _held_open = child.stdin.take();
    let open = || lines(&place.end(&["review", "--json"]).output);
    until("a question", || {
        place.store().exists() && !open().is_empty()
    });
    let run = place.only_run();
    between(&place, &format!("{run}/orchestrator"));
    let id = open()[0]["id"].as_str().unwrap().to_owned();
    let decided = place.end(&["review", &id, "--decision", "approve", "--message", "yes"]);
    decided.exits_with(0);
    assert!(child.wait().unwrap().success());
    letters(&place, &run)
}

/// Long enough for a process to have what was sent to its agents.
const DELIVERED: Duration = Duration::from_millis(500);

#[test]
fn what_is_taken_back_from_a_run_that_goes_on_is_not_read_though_it_was_delivered() {
    let read = answered_elsewhere(|place, agent| {
        for text in ["mind the yeast", "forget the salt"] {
            place.end(&["send", agent, text]).exits_with(0);
        }
        std::thread::sleep(DELIVERED);
        place
            .end(&["send", agent, "--take-back", "2"])
            .exits_with(0);
    });
    assert_eq!(read.matches("mind the yeast").count(), 1, "{read}");
    assert!(!read.contains("forget the salt"), "{read}");
}

#[test]
fn a_message_that_is_taken_back_while_its_agent_answers_costs_no_other_turn() {
    let place = Place::new();
    let mut child = spawn(&mut place.run(&["--pace", "10"]));
    place.wait_for_call();
    let agent = format!("{}/orchestrator", place.only_run());
    place
        .end(&["send", &agent, "forget the salt"])
        .exits_with(0);
    std::thread::sleep(DELIVERED);
    place
        .end(&["send", &agent, "--take-back", "1"])
        .exits_with(0);
    place.wait_for_steps(2);
    child.kill().unwrap();
    child.wait().unwrap();
    let agents = &place.runs()[0]["agents"];
    assert_eq!(agents[0]["turn"], 1, "{agents:#}");
    assert_eq!(agents[1]["turn"], 1, "the next one works: {agents:#}");
}

#[test]
fn each_agent_is_told_with_the_tokens_that_it_has_used() {
    let place = Place::new();
    end(&mut place.run(&[])).exits_with(0);
    let runs = place.runs();
    let agents = runs[0]["agents"].as_array().unwrap();
    let tokens = |agent: &Value| agent["tokens"].as_u64().unwrap();
    assert!(agents.iter().all(|agent| tokens(agent) > 0), "{agents:#?}");
    let seen = place.end(&["ps", "--all", "-v"]).exits_with(0);
    let told = format!("{} tokens", tokens(&agents[0]));
    assert!(seen.output.contains(&told), "{seen:#?}");
}
