//! `--json`: one CloudEvent a line, and nothing else.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read};

use cloudevents::{AttributesReader, Event};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::{Ended, end, example_script, interrupt, run_in, script, spawn, workspace};

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
    assert_eq!(types.first(), Some(&"run.started"));
    assert_eq!(types.last(), Some(&"run.completed"));
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
            subject.starts_with("agents/orchestrator/planning")
        })
        .cloned()
        .collect();
    let types = types(&of_planning);
    let order = [
        "interrupt.request_event",
        "agent.message_added",
        "interrupt.requested",
        "interrupt.acknowledged",
        "interrupt.opened",
        "decision.recorded",
        "interrupt.resolved",
        "run.rerouted",
    ];
    let places: Vec<usize> = order.iter().map(|name| place(&types, name)).collect();
    assert!(places.is_sorted(), "{types:?}");
    let published = &of_planning[places[0]]["data"];
    assert_eq!(published["rerouteToAgentType"], "TICKET_ORCHESTRATOR");
    assert_eq!(published["sourceAgentType"], "PLANNING_ORCHESTRATOR");
    let rerouted = &of_planning[places[7]];
    assert_eq!(rerouted["data"]["to"], "TICKET_ORCHESTRATOR");
    assert_eq!(rerouted["data"]["event_id"], published["eventId"]);
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
    let last = events.last().unwrap();
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
    assert_eq!(types(&first).first(), Some(&"run.started"));
    assert_eq!(types(&second).first(), Some(&"run.resumed"));
    assert_eq!(second[0]["data"]["goal"], "Describe the bakery");
    let time =
        |event: &Value| -> jiff::Timestamp { event["time"].as_str().unwrap().parse().unwrap() };
    assert!(time(first.last().unwrap()) < time(&second[0]));
    assert_eq!(types(&second).last(), Some(&"run.completed"));
    // Without gaps in what each process tells, and in order over all of them.
    for events in [&first, &second] {
        let kept = events.iter().filter(|event| event["transient"] != true);
        for (index, event) in kept.enumerate() {
            assert_eq!(event["sequence"], format!("{:016}", index + 1));
            assert_eq!(event["epoch"], events[0]["epoch"]);
        }
    }
    assert!(first[0]["epoch"].as_u64() < second[0]["epoch"].as_u64());
    let forked = place
        .end(&["fork", &run, "--no-input", "--json"])
        .exits_with(0)
        .events();
    assert_eq!(types(&forked).first(), Some(&"run.started"));
    assert_ne!(forked[0]["source"], second[0]["source"]);
}
