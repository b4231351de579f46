//! `--json`: one CloudEvent a line, and nothing else.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read};

use cloudevents::{AttributesReader, Event};
use serde_json::{Value, json};

use crate::program::{end, example_script, interrupt, run_in, script, spawn, workspace};

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
fn a_run_is_a_stream_of_cloud_events_without_gaps() {
    let folder = workspace();
    let ended = end(run_in(folder.path())
        .args(["--json", "--no-input", "--script"])
        .arg(example_script("tour-answered.json")))
    .exits_with(0);
    let events = ended.events();
    let mut ids = HashSet::new();
    for (index, value) in events.iter().enumerate() {
        let event: Event = serde_json::from_value(value.clone()).unwrap();
        assert!(
            ids.insert(event.id().to_owned()),
            "doubled id {}",
            event.id()
        );
        assert_eq!(value["sequence"], format!("{:016}", index + 1));
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
