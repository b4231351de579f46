//! A pause that a policy ends after some time, and people who are there before it does.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStderr, Command};
use std::time::Duration;

use serde_json::{Value, json};

use crate::place::Place;
use crate::program::{Ended, interrupt, last_of_run, lines, script, spawn};
use crate::server::nobody;

/// What is said once it is waited for the end of a pause.
const WAITS: &str = "It goes on by itself at ";

/// How long the policy leaves to people.
const LEFT: Duration = Duration::from_secs(4);

/// A run that its agent has paused, in a process that waits until the policy ends the pause.
struct Waiting {
    place: Place,
    run: String,
    child: Child,
    errors: BufReader<ChildStderr>,
    seen: String,
}

impl Waiting {
    fn begin(arguments: &[&str]) -> Self {
        let place = Place::new();
        let script = script(place.folder.path(), &json!([interrupt("PAUSE")]));
        let mut command = place.run(arguments);
        command.arg("--script").arg(script);
        Self::of(place, command)
    }

    /// A run that is paused because its model cannot be reached.
    fn in_trouble() -> Self {
        let place = Place::new();
        let url = format!("http://{}/v1", nobody());
        let command = place.run(&["--model", "openai:m", "--base-url", &url]);
        Self::of(place, command)
    }

    fn of(place: Place, mut command: Command) -> Self {
        let policy = place.folder.path().join("policy.toml");
        let left = LEFT.as_secs();
        let text = format!("[[rule]]\ntype = \"PAUSE\"\nresume = \"{left}s\"\n");
        std::fs::write(&policy, text).unwrap();
        let mut child = spawn(command.arg("--policy").arg(policy));
        let errors = BufReader::new(child.stderr.take().unwrap());
        let run = String::new();
        let seen = String::new();
        let mut waiting = Self {
            place,
            run,
            child,
            errors,
            seen,
        };
        waiting.wait_for(WAITS);
        waiting.run = waiting.place.only_run();
        waiting
    }

    fn wait_for(&mut self, text: &str) {
        while !self.seen.contains(text) {
            let read = self.errors.read_line(&mut self.seen).unwrap();
            assert!(read > 0, "no `{text}` in {}", self.seen);
        }
    }

    /// What the process has said once it has ended.
    fn end(mut self) -> (Place, String, Ended) {
        self.errors.read_to_string(&mut self.seen).unwrap();
        let mut ended: Ended = self.child.wait_with_output().unwrap().into();
        ended.error_output = self.seen;
        (self.place, self.run, ended)
    }
}

/// The run, as `irq ps` lists it.
fn row(place: &Place, run: &str) -> Value {
    let runs = place.runs();
    let mut found = runs.iter().filter(|row| row["id"] == run);
    found.next().unwrap().clone()
}

#[test]
fn a_pause_that_a_person_asks_for_meanwhile_stands_until_a_person_ends_it() {
    let waiting = Waiting::begin(&[]);
    let paused = waiting
        .place
        .end(&["interrupt", &waiting.run, "--reason", "mine", "--wait"])
        .exits_with(0);
    let (place, run, ended) = waiting.end();
    let ended = ended.exits_with(5);
    let stops = place.end(&["review", "--json"]).exits_with(0);
    let stops = lines(&stops.output);
    let mine = stops.iter().find(|stop| stop["reason"] == "mine");
    assert!(mine.is_some(), "{paused:#?} {ended:#?} {stops:#?}");
    assert_eq!(row(&place, &run)["state"], "paused", "{ended:#?}");
    let told = &ended.error_output[ended.error_output.find(WAITS).unwrap()..];
    assert!(told.contains("mine"), "it is said who holds it: {told}");
    place.end(&["resume", &run, "--no-input"]).exits_with(0);
    assert_eq!(row(&place, &run)["state"], "completed");
}

#[test]
fn a_pause_of_the_system_is_a_persons_too_once_a_person_asks_for_it() {
    let waiting = Waiting::in_trouble();
    let pause = ["interrupt", &waiting.run, "--reason", "mine", "--wait"];
    let paused = waiting.place.end(&pause).exits_with(0);
    assert!(paused.output.contains("asked for before"), "{paused:#?}");
    let (place, run, ended) = waiting.end();
    ended.exits_with(5);
    assert_eq!(row(&place, &run)["state"], "paused");
    let stops = place.end(&["review", "--json"]).exits_with(0);
    let stops = lines(&stops.output);
    assert_eq!(stops.len(), 1, "{stops:#?}");
    assert_eq!(stops[0]["source"], "user", "{stops:#?}");
    assert_eq!(stops[0]["askings"][1]["reason"], "mine", "{stops:#?}");
}

#[test]
fn what_a_branch_leaves_meanwhile_goes_on_where_a_person_says_so() {
    let waiting = Waiting::begin(&[]);
    let branch = ["interrupt", &waiting.run, "--type", "BRANCH", "--wait"];
    waiting.place.end(&branch).exits_with(0);
    let (place, run, ended) = waiting.end();
    let ended = ended.exits_with(5);
    assert_eq!(row(&place, &run)["state"], "paused", "{ended:#?}");
    let runs = place.runs();
    let branch = runs.iter().find(|row| row["id"] != run.as_str()).unwrap();
    assert_eq!(branch["state"], "created", "{runs:#?}");
    place.end(&["resume", &run, "--no-input"]).exits_with(0);
    assert_eq!(row(&place, &run)["state"], "completed");
}

#[test]
fn a_run_that_is_stopped_meanwhile_has_been_cancelled() {
    let waiting = Waiting::begin(&[]);
    let stop = ["interrupt", &waiting.run, "--type", "STOP", "--wait"];
    waiting.place.end(&stop).exits_with(0);
    let (place, run, ended) = waiting.end();
    let ended = ended.exits_with(6);
    assert!(!ended.error_output.contains("error:"), "{ended:#?}");
    assert!(
        ended.error_output.contains(&format!("■ cancelled {run}")),
        "{ended:#?}"
    );
    let told = &ended.error_output[ended.error_output.find(WAITS).unwrap()..];
    assert!(!told.contains("open"), "nothing of it is: {told}");
    assert_eq!(row(&place, &run)["state"], "cancelled");
}

#[test]
fn the_last_event_of_a_run_that_is_stopped_meanwhile_says_so() {
    let waiting = Waiting::begin(&["--json"]);
    let stop = ["interrupt", &waiting.run, "--type", "STOP", "--wait"];
    waiting.place.end(&stop).exits_with(0);
    let (_place, _run, ended) = waiting.end();
    let ended = ended.exits_with(6);
    let events = ended.events();
    let last = last_of_run(&events);
    assert_eq!(last["type"], "dev.irq.run.cancelled.v1", "{last:#}");
    let ids: Vec<&Value> = events.iter().map(|event| &event["id"]).collect();
    for (place, id) in ids.iter().enumerate() {
        assert!(!ids[..place].contains(id), "{id} is told twice");
    }
}

#[test]
fn what_another_process_goes_on_with_meanwhile_is_left_to_it() {
    let waiting = Waiting::begin(&[]);
    let resumed = ["resume", &waiting.run, "--no-input", "--pace", "1"];
    let mut other = spawn(&mut waiting.place.irq(&resumed));
    let (place, run, ended) = waiting.end();
    let ended = ended.exits_with(4);
    assert!(
        ended.error_output.contains("another process goes on with"),
        "{ended:#?}"
    );
    assert_eq!(row(&place, &run)["state"], "running");
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn that_nobody_answers_is_no_error_where_nobody_has_to() {
    let (_place, _run, ended) = Waiting::begin(&[]).end();
    let ended = ended.exits_with(0);
    assert!(!ended.error_output.contains("error:"), "{ended:#?}");
}

#[test]
fn a_run_whose_pause_a_person_ends_meanwhile_goes_on_at_once() {
    for (ends, is_said) in [
        (&["--decision", "resume"][..], false),
        (
            &["--decision", "respond", "--message", "Mind the oven"],
            true,
        ),
    ] {
        let waiting = Waiting::begin(&[]);
        let open = waiting.place.end(&["review", "--json"]).exits_with(0);
        let pause = lines(&open.output).remove(0)["id"].clone();
        let review = [&["review", pause.as_str().unwrap()][..], ends].concat();
        waiting.place.end(&review).exits_with(0);
        let (place, run, ended) = waiting.end();
        let ended = ended.exits_with(0);
        assert_eq!(row(&place, &run)["state"], "completed", "{ended:#?}");
        assert_eq!(
            ended.output.contains("Mind the oven"),
            is_said,
            "{ended:#?}"
        );
    }
}

#[test]
fn a_run_whose_pause_is_withdrawn_meanwhile_goes_on_at_once() {
    let waiting = Waiting::in_trouble();
    let open = waiting.place.end(&["review", "--json"]).exits_with(0);
    let pause = lines(&open.output).remove(0)["id"].clone();
    let withdraw = ["withdraw", pause.as_str().unwrap()];
    waiting.place.end(&withdraw).exits_with(0);
    let mut waiting = waiting;
    // It has failed again by then, and is waited for once more.
    waiting.seen.clear();
    waiting.wait_for(WAITS);
    waiting.child.kill().unwrap();
    waiting.child.wait().unwrap();
}
