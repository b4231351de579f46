//! `--json`: one CloudEvent a line, and nothing else.

use std::collections::{BTreeSet, HashSet};
use std::io::{BufRead, BufReader, Read};

use cloudevents::{AttributesReader, Event};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::{
    Ended, end, example_script, interrupt, last_of_run, run_in, script, spawn, workspace,
};
use crate::served::Served;

/// The types, without prefix and version.
fn types(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|event| {
            let name = event["type"].as_str().unwrap();
            name.strip_prefix("dev.irq.")
                .and_then(|name| name.strip_suffix(".v1"))
                .unwrap()
        })
        .collect()
}

fn place(types: &[&str], name: &str) -> usize {
    types
        .iter()
        .position(|other| *other == name)
        .unwrap_or_else(|| panic!("no {name} in {types:?}"))
}

#[test]
fn a_run_is_a_stream_of_cloud_events() {
    let folder = workspace();
    let ended = end(run_in(folder.path())
        .args(["--json", "--no-input", "--script"])
        .arg(example_script("tour-answered.json")))
    .exits_with(0);
    let events = ended.events();
    let mut ids = HashSet::new();
    for value in &events {
        let event: Event = serde_json::from_value(value.clone()).unwrap();
        assert!(
            ids.insert(event.id().to_owned()),
            "doubled id {}",
            event.id()
        );
        assert_eq!(value["source"], events[0]["source"]);
        assert!(event.time().is_some(), "{value}");
    }
    let times: Vec<&str> = events
        .iter()
        .map(|event| event["time"].as_str().unwrap())
        .collect();
    let mut sorted = times.clone();
    sorted.sort_by_key(|time| time.parse::<jiff::Timestamp>().unwrap());
    assert_eq!(times.first(), sorted.first());
    let types = types(&events);
    assert_eq!(types.first(), Some(&"run.created"));
    assert_eq!(events[0]["data"]["goal"], "Describe the bakery");
    assert_eq!(types.last(), Some(&"run.completed"));
    let summary = events.last().unwrap()["data"]["summary"].as_str();
    assert!(summary.is_some_and(|it| !it.is_empty()), "{events:#?}");
}

/// The lines of events that are kept; transient ones exist in this process alone.
fn kept(output: &str) -> Vec<&str> {
    let passes = |line: &&str| !line.contains(r#""transient":true"#);
    output.lines().filter(passes).collect()
}

#[test]
fn a_server_tells_a_run_in_the_same_bytes() {
    let place = Place::new();
    let script = example_script("tour-answered.json");
    let told = end(place.run(&["--json", "--script"]).arg(&script));
    let told = told.exits_with(0).output;
    let served = Served::over(&place.store());
    let fed = |run: &str| {
        let watched = served.end(&["watch", "--run", run, "--json", "--after", "0"]);
        watched.exits_with(0).output
    };
    let run = place.only_run();
    assert_eq!(kept(&told), fed(&run).lines().collect::<Vec<_>>());
    let there = served.end(&["run", "Describe the bakery", "--json", "--no-input"]);
    let there = there.exits_with(0);
    let here = place.end_of_run(&["--json"]).exits_with(0);
    let events = there.events();
    let run = events[0]["data"]["run_id"].as_str().unwrap();
    assert_eq!(there.output, fed(run));
    // And the run is the same story wherever it is executed: the same events, about the same, with the same members.
    let shapes = |output: &str| -> BTreeSet<(String, Vec<String>)> {
        let events = kept(output)
            .into_iter()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        events
            .map(|event| {
                let members = event["data"].as_object().unwrap().keys().cloned();
                let name = event["type"].as_str().unwrap().to_owned();
                (name, members.collect())
            })
            .collect()
    };
    assert_eq!(shapes(&here.output), shapes(&there.output));
}

#[test]
fn the_life_of_an_interrupt_is_told_in_its_order() {
    let folder = workspace();
    let ended = end(run_in(folder.path())
        .args(["--json", "--no-input", "--script"])
        .arg(example_script("tour-answered.json")))
    .exits_with(0);
    let events = ended.events();
    let of_planning: Vec<Value> = events
        .iter()
        .filter(|event| {
            let subject = event["subject"].as_str().unwrap_or_default();
            subject.contains("/orchestrator/planning")
        })
        .cloned()
        .collect();
    let types = types(&of_planning);
    let order = [
        "interrupt.requested",
        "reroute.pending",
        "interrupt.acknowledged",
        "interrupt.opened",
        "interrupt.rerouted",
    ];
    let places: Vec<usize> = order.iter().map(|name| place(&types, name)).collect();
    assert!(places.is_sorted(), "{types:?}");
    let published = &of_planning[places[1]]["data"];
    assert_eq!(published["target"], "TICKET_ORCHESTRATOR");
    let rerouted = &of_planning[places[4]];
    assert_eq!(rerouted["data"]["agent_type"], "PLANNING_ORCHESTRATOR");
    assert_eq!(rerouted["data"]["target"], "TICKET_ORCHESTRATOR");
    assert_eq!(rerouted["data"]["event_id"], published["event_id"]);
    assert!(rerouted["data"]["answer"].is_object(), "{rerouted:#}");
    let interrupt = rerouted["data"]["interrupt_id"].as_str().unwrap();
    let subject = rerouted["subject"].as_str().unwrap();
    assert!(
        subject.ends_with(&format!("/interrupts/{interrupt}")),
        "{subject}"
    );
}

#[test]
fn a_question_without_anybody_is_the_last_event() {
    let folder = workspace();
    let script = script(folder.path(), &json!([interrupt("HUMAN_REVIEW")]));
    let ended = end(run_in(folder.path())
        .args(["--json", "--no-input", "--script"])
        .arg(script))
    .exits_with(5);
    let events = ended.events();
    let last = last_of_run(&events);
    assert_eq!(last["type"], "dev.irq.run.waiting.v1");
    let open = last["data"]["open_interrupts"].as_array().unwrap();
    assert_eq!(open.len(), 1);
    assert!(open[0].as_str().unwrap().starts_with("int_"));
}

#[test]
fn model_calls_are_paired() {
    let folder = workspace();
    let ended = end(run_in(folder.path()).args(["--json", "--no-input"])).exits_with(0);
    let events = ended.events();
    let types = types(&events);
    let count = |name: &str| types.iter().filter(|other| **other == name).count();
    assert!(count("llm.call_started") > 5, "{types:?}");
    assert_eq!(count("llm.call_started"), count("llm.call_finished"));
}

#[test]
fn a_run_whose_events_nobody_reads_ends_by_itself() {
    let folder = workspace();
    let mut child = spawn(run_in(folder.path()).args(["--json", "--pace", "20"]));
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    drop(output);
    let mut error_output = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut error_output)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(
        error_output.contains("the output could not be written to its end"),
        "{error_output}"
    );
}

#[test]
fn whoever_goes_on_with_a_run_tells_no_event_under_an_id_that_was_told() {
    let place = Place::new();
    let child = spawn(&mut place.run(&["--json", "--pace", "100"]));
    place.wait_for_steps(1);
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let first: Ended = child.wait_with_output().unwrap().into();
    let first = first.exits_with(130).events();
    let run = place.only_run();
    let second = place
        .end(&["resume", &run, "--no-input", "--json"])
        .exits_with(0)
        .events();
    let mut ids = HashSet::new();
    for value in first.iter().chain(&second) {
        let event: Event = serde_json::from_value(value.clone()).unwrap();
        let id = (event.source().clone(), event.id().to_owned());
        assert!(ids.insert(id), "told twice: {value:#}");
    }
    assert_eq!(types(&first).first(), Some(&"run.created"));
    assert_eq!(last_of_run(&first)["type"], "dev.irq.run.paused.v1");
    assert!(types(&second).contains(&"run.running"), "{second:#?}");
    let time =
        |event: &Value| -> jiff::Timestamp { event["time"].as_str().unwrap().parse().unwrap() };
    assert!(time(first.last().unwrap()) < time(&second[0]));
    assert_eq!(types(&second).last(), Some(&"run.completed"));
    // In one order over all processes.
    let kept = first.iter().chain(&second);
    let sequences: Vec<&str> = kept
        .filter_map(|event| event["sequence"].as_str())
        .collect();
    assert!(sequences.is_sorted_by(|a, b| a < b), "{sequences:?}");
    let forked = place
        .end(&["fork", &run, "--no-input", "--json"])
        .exits_with(0)
        .events();
    assert_eq!(types(&forked).first(), Some(&"run.created"));
    assert_ne!(forked[0]["source"], second[0]["source"]);
}
