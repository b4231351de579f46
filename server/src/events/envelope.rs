//! The envelope of an event: CloudEvents 1.0, as JSON on one line.

use interrupt_router::{InterruptId, NodeId, RunId};
use interrupts::life::{RunState, State};
use interrupts::store::OutboxRow;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use super::content::EventContent;
use super::records::EventRecords;

/// The prefix of the name of every event.
const PREFIX: &str = "dev.irq.";
/// What follows it.
const SUFFIX: &str = ".v1";
/// The type of the event for a position that is gone.
pub(super) const RESET_TYPE: &str = "dev.irq.stream.reset.v1";

/// An event of the feed.
#[derive(Debug, Clone)]
pub(crate) struct FeedEvent {
    /// Its place in the feed.
    pub(crate) position: u64,
    /// When it was written.
    pub(crate) at: Timestamp,
    /// Its run, if it belongs to one.
    pub(crate) run: Option<RunId>,
    /// The agent that it is about.
    pub(crate) node: Option<NodeId>,
    /// The interrupt that it is about, with its state after.
    pub(crate) interrupt: Option<(InterruptId, State)>,
    /// The state after, if it is about the run itself.
    pub(crate) run_state: Option<RunState>,
    /// Its name, as `interrupt.opened`.
    pub(crate) topic: String,
    /// The CloudEvent, as JSON on one line.
    pub(crate) json: String,
}

/// The order of its fields is the order on the wire.
#[derive(Serialize)]
struct Envelope<'event> {
    specversion: &'static str,
    id: String,
    source: String,
    r#type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    time: String,
    datacontenttype: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<String>,
    /// Whether it is transient.
    #[serde(skip_serializing_if = "Option::is_none")]
    transient: Option<bool>,
    data: &'event Value,
}

impl Envelope<'_> {
    fn json(&self) -> String {
        // An envelope of texts always serializes.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl FeedEvent {
    /// The event of a row. It contains only the immutable parts of what it is about.
    pub(super) fn of(instance: &str, row: &OutboxRow, records: &EventRecords) -> Self {
        let told = EventContent::of(&row.notification, records);
        let sequence = position_text(row.position);
        let envelope = Envelope {
            specversion: "1.0",
            id: sequence.clone(),
            source: source_of(instance, told.run),
            r#type: event_type(&told.topic),
            subject: told.subject(),
            time: row.at.to_string(),
            datacontenttype: "application/json",
            sequence: Some(sequence),
            transient: None,
            data: &told.data,
        };
        Self {
            position: row.position,
            at: row.at,
            json: envelope.json(),
            run: told.run,
            node: told.node,
            interrupt: told.interrupt,
            run_state: told.run_state,
            topic: told.topic,
        }
    }
}

/// The source of events of a run, or of no run.
pub(crate) fn source_of(instance: &str, run: Option<RunId>) -> String {
    match run {
        Some(run) => format!("/irq/{instance}/runs/{run}"),
        None => format!("/irq/{instance}"),
    }
}

/// The type of the events with a name.
pub(crate) fn event_type(topic: &str) -> String {
    format!("{PREFIX}{topic}{SUFFIX}")
}

/// A position as text: of fixed length, so that texts sort as numbers do.
pub(crate) fn position_text(position: u64) -> String {
    format!("{position:016}")
}

/// The event for a position that is gone, with where to read the current state.
pub(crate) fn reset_event(instance: &str, missed: (u64, u64), now: Timestamp, why: &str) -> String {
    let (from, to) = missed;
    let data = json!({
        "from_seq": position_text(from),
        "to_seq": position_text(to),
        "reason": why,
        "snapshot": ["/v1/runs", "/v1/agents", "/v1/interrupts?status=open"],
    });
    let envelope = Envelope {
        specversion: "1.0",
        id: format!("reset-{}", position_text(to)),
        source: format!("/irq/{instance}"),
        r#type: RESET_TYPE.to_owned(),
        subject: None,
        time: now.to_string(),
        datacontenttype: "application/json",
        sequence: Some(position_text(to)),
        transient: None,
        data: &data,
    };
    envelope.json()
}

/// A transient event: no store has it, so it has no position among the others, and it is sent once.
pub(super) fn transient_event(
    (source, id): (String, String),
    topic: &str,
    subject: Option<String>,
    (at, data): (Timestamp, &Value),
) -> String {
    let envelope = Envelope {
        specversion: "1.0",
        id,
        source,
        r#type: event_type(topic),
        subject,
        time: at.to_string(),
        datacontenttype: "application/json",
        sequence: None,
        transient: Some(true),
        data,
    };
    envelope.json()
}
