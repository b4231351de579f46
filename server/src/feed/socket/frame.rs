//! Frames: those from clients, and those from the server.

use std::time::Duration;

use interrupts::life::Interrupt;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::body::parse;
use crate::events::position_text;
use crate::problem::{Code, Problem};

/// A frame that a client sends.
#[derive(Debug)]
pub(super) struct Frame {
    /// Its type.
    pub(super) kind: String,
    /// The client's name for it, repeated in the reply.
    pub(super) id: Option<String>,
    /// What it says.
    pub(super) payload: Value,
}

/// The form of a client's frame.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Incoming {
    r#type: String,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    payload: Option<Value>,
}

/// Reads a frame strictly. If it cannot be read, its id is still repeated, if there is one.
pub(super) fn read_frame(text: &[u8], depth: usize) -> Result<Frame, (Option<String>, Problem)> {
    match parse::<Incoming>(text, depth) {
        Ok(frame) => Ok(Frame {
            kind: frame.r#type,
            id: frame.id,
            payload: frame.payload.unwrap_or_else(|| json!({})),
        }),
        Err(problem) => {
            let id = serde_json::from_slice::<Value>(text)
                .ok()
                .and_then(|frame| Some(frame.get("id")?.as_str()?.to_owned()));
            Err((id, problem))
        }
    }
}

/// A frame that the server sends. The order of its fields is the order on the wire.
#[derive(Debug, Serialize)]
pub(super) struct Outgoing {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    payload: Payload,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Payload {
    Value(Value),
    Event {
        #[serde(skip_serializing_if = "Option::is_none")]
        subscription_id: Option<String>,
        seq: String,
        event: Box<RawValue>,
    },
}

impl Outgoing {
    /// A reply to a frame, or news.
    pub(super) fn new(kind: &'static str, id: Option<String>, payload: Value) -> Self {
        Self {
            r#type: kind,
            id,
            payload: Payload::Value(payload),
        }
    }

    /// The first frame to a client.
    pub(super) fn welcome(instance: &str, seq: u64, heartbeat: Duration) -> Self {
        let payload = json!({
            "protocol": "irq.v1",
            "server": concat!("irq/", env!("CARGO_PKG_VERSION")),
            "instance": instance,
            "seq": position_text(seq),
            "heartbeat_ms": u64::try_from(heartbeat.as_millis()).unwrap_or(u64::MAX),
            "capabilities": ["subscribe", "interrupt", "decision", "reroute", "resume", "cancel"],
        });
        Self::new("welcome", None, payload)
    }

    /// What is wrong with a frame.
    pub(super) fn error(id: Option<String>, problem: &Problem) -> Self {
        Self::new("error", id, problem.to_json())
    }

    /// An event of the feed, rendered once for all.
    pub(super) fn event(subscription: &str, position: u64, json: &str) -> Self {
        let seq = position_text(position);
        let subscription_id = Some(subscription.to_owned());
        match RawValue::from_string(json.to_owned()) {
            Ok(event) => Self {
                r#type: "event",
                id: None,
                payload: Payload::Event {
                    subscription_id,
                    seq,
                    event,
                },
            },
            // What was rendered is JSON.
            Err(error) => Self::error(
                None,
                &Problem::new(Code::Internal, error.to_string(), "report this"),
            ),
        }
    }

    /// Events that are gone.
    pub(super) fn gap(subscription: &str, from: u64, to: u64, reason: &str) -> Self {
        let payload = json!({
            "subscription_id": subscription,
            "from_seq": position_text(from),
            "to_seq": position_text(to),
            "reason": reason,
        });
        Self::new("gap", None, payload)
    }

    /// How far an interrupt of this client has got.
    pub(super) fn update(interrupt: &Interrupt, state: &str, at: Timestamp) -> Self {
        let latency = at.duration_since(interrupt.requested_at).as_millis();
        let payload = json!({
            "interrupt_id": interrupt.id.to_string(),
            "state": state,
            "at": at.to_string(),
            "latency_ms": u64::try_from(latency).unwrap_or_default(),
        });
        Self::new("interrupt_update", None, payload)
    }

    /// The text of the frame.
    pub(super) fn into_text(self) -> String {
        // A struct of texts and JSON always serializes.
        serde_json::to_string(&self).unwrap_or_default()
    }
}
