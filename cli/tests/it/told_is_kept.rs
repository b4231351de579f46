//! What a run tells with `--json` is in its store: whoever is told may act on it, whatever becomes of the process.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};

use serde_json::{Value, json};

use crate::place::Place;
use crate::program::{interrupt, script, spawn};
use crate::served::Served;

/// How often a run is killed, each time after another event.
fn deaths() -> usize {
    std::env::var("TOLD_DEATHS").map_or(10, |times| times.parse().unwrap())
}

/// So many events of a run, from its first, as a server over the same store tells them.
fn fed(place: &Place, run: &str, count: usize) -> Vec<Value> {
    let served = Served::over(&place.store());
    let mut watching = spawn(&mut served.irq(&["watch", "--run", run, "--json", "--after", "0"]));
    let output = BufReader::new(watching.stdout.take().unwrap());
    let fed = output.lines().take(count);
    let fed = fed.map(|line| serde_json::from_str(&line.unwrap()).unwrap());
    let fed = fed.collect();
    watching.kill().unwrap();
    watching.wait().unwrap();
    fed
}

fn name(event: &Value) -> &str {
    let name = event["type"].as_str().unwrap();
    let name = name.strip_prefix("dev.irq.").unwrap();
    name.strip_suffix(".v1").unwrap()
}

/// The events of a run of its own, which is killed right after so many that do not pass; all of them, where it ends first.
fn killed_after(count: usize) -> (Place, Vec<Value>) {
    let place = Place::new();
    let steps = json!([
        interrupt("HUMAN_REVIEW"),
        {"person": {"interrupt": {"agent": "ORCHESTRATOR", "nth": 1}, "answer": {"selectedChoices": ["left"]}}},
    ]);
    let script = script(place.folder.path(), &steps);
    let mut child = spawn(place.run(&["--json", "--script"]).arg(script));
    let mut told = Vec::new();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    while told.len() < count
        && let Some(line) = output.next()
    {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if event["transient"] != true {
            told.push(event);
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    (place, told)
}

#[test]
fn whenever_a_run_is_killed_its_store_has_all_that_was_told() {
    let (_place, all) = killed_after(usize::MAX);
    let names: Vec<&str> = all.iter().map(name).collect();
    for kind in [
        "llm.call_finished",
        "interrupt.resolved",
        "checkpoint.saved",
    ] {
        assert!(names.contains(&kind), "{kind} is never told: {names:?}");
    }
    // Right after an answer and a decision, and at other moments.
    let of_interest = ["llm.call_finished", "interrupt.resolved"];
    let of_interest = (0..all.len()).filter(|index| of_interest.contains(&names[*index]));
    let others = (0..all.len()).step_by(7);
    let moments: Vec<usize> = of_interest.zip(others).flat_map(|(a, b)| [a, b]).collect();
    for moment in moments.into_iter().cycle().take(deaths()) {
        let (place, told) = killed_after(moment + 1);
        let run = place.only_run();
        assert_eq!(told, fed(&place, &run, told.len()));
    }
}

#[test]
fn what_passes_has_no_place_among_what_is_kept() {
    let place = Place::new();
    let arguments = ["--json", "--workflow", "plan-execute"];
    let events = place.end_of_run(&arguments).exits_with(0).events();
    let (passing, kept): (Vec<&Value>, Vec<&Value>) =
        events.iter().partition(|event| event["transient"] == true);
    assert!(passing.iter().any(|event| name(event) == "run.plan_told"));
    assert!(passing.iter().all(|event| event.get("sequence").is_none()));
    let sequences: Vec<&str> = kept
        .iter()
        .map(|event| event["sequence"].as_str().unwrap())
        .collect();
    assert!(sequences.is_sorted_by(|a, b| a < b), "{sequences:?}");
    let ids: BTreeSet<&str> = events
        .iter()
        .map(|event| event["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), events.len(), "each has an id of its own");
}
