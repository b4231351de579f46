//! `irq schema` and `irq routes`.

use std::io::{BufRead, BufReader, Read};

use serde_json::Value;

use crate::program::{end, irq, spawn};

fn schema(arguments: &[&str]) -> Value {
    let ended = end(irq().arg("schema").args(arguments)).exits_with(0);
    serde_json::from_str(&ended.output).unwrap()
}

fn properties(schema: &Value) -> Vec<&str> {
    let properties = schema["properties"].as_object().unwrap();
    properties.keys().map(String::as_str).collect()
}

#[test]
fn the_default_is_the_whole_interrupt_routing() {
    assert_eq!(properties(&schema(&[])).len(), 14);
}

#[test]
fn an_origin_leaves_one_route_and_a_reroute_wins_over_it() {
    let origin = schema(&["--origin", "DISCOVERY_AGENT"]);
    assert_eq!(properties(&origin), ["discoveryAgentRequests"]);
    let reroute = schema(&[
        "--origin",
        "discovery-agent",
        "--reroute-to",
        "ticket-orchestrator",
    ]);
    assert_eq!(properties(&reroute), ["ticketOrchestratorRequest"]);
}

#[test]
fn each_dialect_is_printed_in_its_own_form() {
    let strict = schema(&["--origin", "ORCHESTRATOR", "--dialect", "openai"]);
    assert_eq!(strict["additionalProperties"], false);
    for dialect in ["json-schema", "anthropic", "gemini"] {
        let schema = schema(&["--origin", "ORCHESTRATOR", "--dialect", dialect]);
        assert_eq!(properties(&schema), ["orchestratorRequest"], "{dialect}");
    }
}

#[test]
fn a_caller_leaves_one_way_back() {
    let whole = schema(&["ReviewRouting"]);
    let narrowed = schema(&["ReviewRouting", "--caller", "PLANNING_COLLECTOR"]);
    assert!(properties(&narrowed).len() < properties(&whole).len());
}

#[test]
fn every_listed_record_can_be_printed() {
    let list = end(irq().args(["schema", "--list"])).exits_with(0).output;
    assert!(list.lines().count() >= 18, "{list}");
    for name in list.lines() {
        assert!(!properties(&schema(&[name])).is_empty(), "{name}");
    }
}

#[test]
fn a_misspelt_record_or_agent_type_is_explained() {
    let ended = end(irq().args(["schema", "InteruptRouting"])).exits_with(2);
    let ended = ended.says("unknown record `InteruptRouting`");
    assert!(
        ended
            .error_output
            .contains("did you mean InterruptRouting?"),
        "{ended:#?}"
    );
    let ended = end(irq().args(["schema", "--origin", "DISCOVRY_AGENT"])).exits_with(2);
    assert!(
        ended.error_output.contains("did you mean DISCOVERY_AGENT?"),
        "{ended:#?}"
    );
}

#[test]
fn a_situation_that_means_nothing_to_a_record_is_refused() {
    let arguments = ["schema", "OrchestratorRouting", "--origin", "ORCHESTRATOR"];
    end(irq().args(arguments))
        .exits_with(2)
        .says("does not answer interrupts");
}

#[test]
fn the_routes_are_a_table_a_graph_and_json() {
    let table = end(irq().arg("routes")).exits_with(0).output;
    for text in [
        "DISCOVERY_DISPATCH",
        "discoveryAgentRequests",
        "DISCOVERY_AGENT",
        "flowchart",
    ] {
        assert!(table.contains(text), "{text} in {table}");
    }
    let graph = end(irq().args(["routes", "--mermaid"]))
        .exits_with(0)
        .output;
    assert!(graph.starts_with("flowchart"), "{graph}");
    let json = end(irq().args(["routes", "--json"])).exits_with(0).output;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["routes"].as_array().unwrap().len(), 14);
    let origins: usize = json["routes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|route| route["origins"].as_array().unwrap().len())
        .sum();
    assert_eq!(origins, 17);
}

#[test]
fn a_reader_that_has_read_enough_ends_it_quietly() {
    let mut child = spawn(irq().arg("schema"));
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    drop(output);
    let mut error_output = String::new();
    let mut errors = child.stderr.take().unwrap();
    errors.read_to_string(&mut error_output).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(error_output, "");
}

#[test]
fn programs_get_a_schema_on_one_line() {
    let pretty = end(irq().arg("schema")).exits_with(0).output;
    let line = end(irq().args(["schema", "--json"])).exits_with(0).output;
    assert_eq!(line.lines().count(), 1);
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(value(&pretty), value(&line));
    let names = end(irq().args(["schema", "--list", "--json"])).exits_with(0);
    assert!(
        names.output.starts_with("\"InterruptRouting\"\n"),
        "{names:#?}"
    );
}
