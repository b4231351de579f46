//! The requests for tools in a stream, read from the provider's own events.
//!
//! The events of the client library do not tell a whole request from half of one, so each event is looked at
//! as it comes over the wire. A request is whole
//!
//! - with Anthropic once its block has stopped,
//! - with the Responses API once its item is done,
//! - with Gemini at once, for it comes in one event,
//! - with chat completions once the provider says why the answer ends, unless that is its length limit,
//!
//! and with all of them once its arguments are one whole JSON object, for nothing can be added to that. What
//! is not whole is thrown away and counted: half a request can only dangle.

mod anthropic;
mod chat_completions;
mod gemini;
mod responses;

use routing_core::model::ToolRequest;
use serde_json::{Map, Value};

/// What a request takes beside its texts, in bytes: a stream of empty ones has a bound too.
const BYTES_OF_REQUEST: usize = 64;

/// What a call without arguments has.
const NO_ARGUMENTS: &str = "{}";

/// The requests in a stream so far.
#[derive(Debug, Default)]
pub(crate) struct ToolStream {
    growing: Vec<Growing>,
    /// What belongs to the next request that begins.
    thoughts: Vec<String>,
    /// The block of thought under way, of Anthropic.
    thought: Option<Value>,
    /// The reasoning that a server of chat completions wants to see again.
    reasoning: String,
    bytes: usize,
}

/// What was whole when a stream was left, and what was not.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadTools {
    /// The whole requests, in the order in which they began.
    pub(crate) requests: Vec<ToolRequest>,
    /// The pieces that whole requests came in.
    pub(crate) kept_pieces: usize,
    /// The pieces of requests that were not whole.
    pub(crate) thrown_away: usize,
}

#[derive(Debug)]
struct Growing {
    /// Its position in the answer, as the provider gives it.
    place: u64,
    request: ToolRequest,
    whole: bool,
    /// The events that told of it.
    pieces: usize,
}

impl ToolStream {
    /// Reads an event.
    pub(crate) fn read(&mut self, name: Option<&str>, data: &str) {
        match name {
            Some("content_block_start" | "content_block_delta" | "content_block_stop") => {
                self.read_anthropic(data);
            }
            Some(name) if name.starts_with("response.") => self.read_responses(data),
            Some(_) | None => self.read_unnamed(data),
        }
    }

    /// Some servers leave the names of events out, and chat completions and Gemini have none.
    fn read_unnamed(&mut self, data: &str) {
        if data.contains("\"choices\"") {
            self.read_chat_completions(data);
        } else if data.contains("\"functionCall\"") {
            self.read_gemini(data);
        } else if data.contains("\"content_block") {
            self.read_anthropic(data);
        } else if data.contains("\"response.") {
            self.read_responses(data);
        }
    }

    /// How much is kept, in bytes.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// What is whole by now.
    pub(crate) fn so_far(&self) -> ReadTools {
        let mut read = ReadTools::default();
        for growing in &self.growing {
            if growing.whole || is_object(&growing.request.arguments) {
                let mut request = growing.request.clone();
                if request.arguments.trim().is_empty() {
                    NO_ARGUMENTS.clone_into(&mut request.arguments);
                }
                read.requests.push(request);
                read.kept_pieces += growing.pieces;
            } else {
                read.thrown_away += growing.pieces;
            }
        }
        read
    }

    /// A request begins; what was thought before belongs to it.
    fn begin(&mut self, place: u64, id: &str, name: &str) -> &mut Growing {
        self.bytes += BYTES_OF_REQUEST + id.len() + name.len();
        let mut request = ToolRequest::new(id, name, "");
        request.signatures = std::mem::take(&mut self.thoughts);
        self.growing.push(Growing {
            place,
            request,
            whole: false,
            pieces: 1,
        });
        let last = self.growing.len() - 1;
        &mut self.growing[last]
    }

    /// The last request that began at a place.
    fn at(&mut self, place: u64) -> Option<&mut Growing> {
        let mut newest_first = self.growing.iter_mut().rev();
        newest_first.find(|growing| growing.place == place)
    }

    /// More of the arguments of the request at a place.
    fn grow(&mut self, place: u64, arguments: &str) {
        if let Some(growing) = self.at(place)
            && !growing.whole
        {
            growing.request.arguments.push_str(arguments);
            growing.pieces += 1;
            self.bytes += arguments.len();
        }
    }

    /// What the provider wants to see again with the next request.
    fn think(&mut self, signature: String) {
        self.bytes += signature.len();
        self.thoughts.push(signature);
    }
}

/// Whether nothing can be added to it: one JSON object from its first brace to its last.
fn is_object(text: &str) -> bool {
    text.trim_end().ends_with('}') && serde_json::from_str::<Map<String, Value>>(text).is_ok()
}

/// A text of an event, empty where there is none.
fn text<'e>(event: &'e Value, pointer: &str) -> &'e str {
    event
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// A number of an event, 0 where there is none.
fn place(event: &Value, name: &str) -> u64 {
    event.get(name).and_then(Value::as_u64).unwrap_or_default()
}

#[cfg(test)]
mod tests;
