//! Events are read back with the reference library of CloudEvents.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use cloudevents::{AttributesReader, Event};
use engine::run::{NamedEvent, RunEvent, RunOccurrence};
use jiff::Timestamp;
use routing_core::handler::{DecidedBy, FilledBy};
use routing_core::{InterruptDetails, InterruptId, InterruptType, NodeId, RunId};
use serde_json::{Value, json};

use super::{CloudEvents, Tally};
use crate::report::Report;

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_all(run: RunId, events: Vec<RunEvent>) -> (Vec<Event>, String) {
    let written = Written::default();
    let mut report = CloudEvents::over(
        Box::new(written.clone()),
        Box::new(io::sink()),
        3,
        Tally::default(),
    );
    for (index, event) in events.into_iter().enumerate() {
        report
            .occurrence(&RunOccurrence {
                replayed: false,
                run,
                sequence: index as u64 + 1,
                at: Timestamp::from_second(1_700_000_000).unwrap(),
                event,
            })
            .unwrap();
    }
    let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    let events = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    (events, text)
}

fn data(event: &Event) -> Value {
    serde_json::to_value(event).unwrap()["data"].clone()
}

fn node() -> NodeId {
    NodeId::new("orchestrator/discovery").unwrap()
}

fn raised(interrupt: InterruptId) -> RunEvent {
    RunEvent::InterruptRaised {
        interrupt,
        node: node(),
        kind: "DISCOVERY_AGENT",
        details: InterruptDetails {
            r#type: InterruptType::HumanReview,
            reason: "which?".to_owned(),
            choices: Vec::new(),
            confirmation_items: Vec::new(),
            context_for_decision: String::new(),
        },
        payload: json!({"reason": "which?"}),
    }
}

fn resolved(interrupt: InterruptId, target: &str) -> RunEvent {
    RunEvent::InterruptResolved {
        interrupt,
        origin: "DISCOVERY_AGENT".to_owned(),
        target: target.to_owned(),
        decided_by: DecidedBy::Person,
        filled_by: FilledBy::Unchanged,
        reroute: None,
    }
}

#[test]
fn events_are_cloud_events_in_an_order_without_gaps() {
    let run = RunId::generate();
    let interrupt = InterruptId::generate();
    let started = RunEvent::Started {
        goal: "look".to_owned(),
        model: "rehearsal".to_owned(),
        workspace: ".".to_owned(),
    };
    let chunk = RunEvent::AnswerChunk {
        node: node(),
        text: "{".to_owned(),
    };
    let (events, _text) = write_all(run, vec![started, chunk, raised(interrupt)]);
    let types: Vec<&str> = events.iter().map(|event| event.ty()).collect();
    assert_eq!(
        types,
        ["dev.irq.run.started.v1", "dev.irq.interrupt.requested.v1"]
    );
    let source = format!("/irq/local/runs/{run}");
    assert!(events.iter().all(|event| event.source() == &source));
    let subject = format!("agents/orchestrator/discovery/interrupts/{interrupt}");
    assert_eq!(events[1].subject(), Some(subject.as_str()));
    let sequences: Vec<String> = events
        .iter()
        .map(|event| event.extension("sequence").unwrap().to_string())
        .collect();
    assert_eq!(sequences, ["0000000000000001", "0000000000000002"]);
}

#[test]
fn an_answer_that_goes_elsewhere_is_a_reroute_and_one_that_goes_back_is_none() {
    let interrupt = InterruptId::generate();
    let back = resolved(interrupt, "DISCOVERY_DISPATCH");
    let (events, _text) = write_all(RunId::generate(), vec![raised(interrupt), back]);
    assert_eq!(events.len(), 2);
    let elsewhere = resolved(interrupt, "TICKET_ORCHESTRATOR");
    let (events, _text) = write_all(RunId::generate(), vec![raised(interrupt), elsewhere]);
    assert_eq!(events[2].ty(), "dev.irq.run.rerouted.v1");
    let rerouted = data(&events[2]);
    assert_eq!(rerouted["from"], "DISCOVERY_DISPATCH");
    assert_eq!(rerouted["to"], "TICKET_ORCHESTRATOR");
}

#[test]
fn a_supervisors_event_is_carried_as_it_is() {
    let json = json!({
        "eventId": "evt-1",
        "timestamp": "2026-01-01T00:00:00Z",
        "nodeId": "orchestrator/discovery",
        "sourceAgentType": "DISCOVERY_AGENT",
        "rerouteToAgentType": "TICKET_ORCHESTRATOR",
        "interruptType": "HUMAN_REVIEW",
        "reason": "over budget",
        "choices": [],
        "confirmationItems": [],
        "contextForDecision": "",
    });
    let event = NamedEvent::from_json(json.to_string().as_bytes()).unwrap();
    let published = RunEvent::EventPublished { event };
    let (events, _text) = write_all(RunId::generate(), vec![published]);
    assert_eq!(events[0].ty(), "dev.irq.interrupt.request_event.v1");
    assert_eq!(data(&events[0]), json);
}

#[test]
fn nothing_that_acts_on_a_terminal_is_written_as_it_is() {
    let message = RunEvent::MessageAdded {
        node: node(),
        text: "a\u{9b}2J\u{1b}[2J\u{202e}b\nc".to_owned(),
    };
    let (events, text) = write_all(RunId::generate(), vec![message]);
    assert!(
        text.trim_end()
            .bytes()
            .all(|byte| (0x20..0x7f).contains(&byte)),
        "{text}"
    );
    assert_eq!(data(&events[0])["text"], "a\u{9b}2J\u{1b}[2J\u{202e}b\nc");
}
