//! Watches the events of a stream as they are read: whether it continues, and what it says of its cost.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef};
use routing_core::model::TokenUsage;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::tool_stream::{ReadTools, ToolStream};
use super::usage;

/// The longest event that is read for its cost: such events are short.
const LONGEST_WITH_USAGE: usize = 64 * 1024;

/// What ends a stream of chat completions.
const DONE: &str = "[DONE]";

/// The event of the Responses API that names the answer.
const FIRST_OF_RESPONSE: &str = "response.created";

/// The events of the Responses API after which there is nothing to cancel.
const LAST_OF_RESPONSE: [&str; 4] = [
    "response.completed",
    "response.incomplete",
    "response.failed",
    "response.cancelled",
];

/// What was seen of a stream so far.
#[derive(Debug, Default)]
pub(crate) struct FrameWatch {
    events: AtomicU64,
    with_data: AtomicU64,
    no_json: AtomicBool,
    garbled: AtomicBool,
    usage: Mutex<TokenUsage>,
    response: Mutex<Response>,
    withheld: Mutex<Withheld>,
    tools: Mutex<ToolStream>,
}

/// What a stream says of an answer that was withheld.
#[derive(Debug, Clone, Default)]
pub(crate) struct Withheld {
    /// The model's words, where it refuses to answer.
    pub(crate) refusal: Option<String>,
    /// Whether a filter kept the rest back, with the Responses API.
    pub(crate) is_filtered: bool,
    /// What the provider says about the reason.
    pub(crate) why: Option<String>,
    /// Why the prompt was not taken, with Gemini.
    pub(crate) blocked: Option<String>,
}

/// What such events contain. Events without any of these are not searched.
const OF_WITHHELD: [&str; 4] = ["refusal", "content_filter", "blockReason", "finishMessage"];

/// The answer as OpenAI's Responses API keeps it.
#[derive(Debug, Default)]
struct Response {
    id: Option<String>,
    over: bool,
}

impl FrameWatch {
    /// How many events there were, comments that keep a connection open included.
    pub(crate) fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }

    /// Whether there were blocks of lines, and none of them was an event.
    pub(crate) fn is_no_event_stream(&self) -> bool {
        self.events() > 0 && self.with_data.load(Ordering::Relaxed) == 0
    }

    /// Whether the first event was no JSON, which the client library may pass over.
    pub(crate) fn begins_with_no_json(&self) -> bool {
        self.no_json.load(Ordering::Relaxed)
    }

    /// Whether an event after the first one was no JSON: what it said is lost, and the client library may pass over it.
    pub(crate) fn is_garbled(&self) -> bool {
        self.garbled.load(Ordering::Relaxed)
    }

    /// What the provider calls the answer, while it has not said that it is over.
    pub(crate) fn response_under_way(&self) -> Option<String> {
        let response = self.response.lock().unwrap_or_else(PoisonError::into_inner);
        response.id.clone().filter(|_id| !response.over)
    }

    /// What the stream said of an answer that was withheld.
    pub(crate) fn withheld(&self) -> Withheld {
        let withheld = self.withheld.lock().unwrap_or_else(PoisonError::into_inner);
        withheld.clone()
    }

    /// Looks for a refusal, and for what a filter kept back.
    fn look_for_withheld(&self, event: &Value) {
        let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str);
        let mut withheld = self.withheld.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = text("/type").unwrap_or_default();
        let piece = text("/choices/0/delta/refusal").or_else(|| {
            (kind == "response.refusal.delta")
                .then(|| text("/delta"))
                .flatten()
        });
        if let Some(piece) = piece {
            withheld.refusal.get_or_insert_default().push_str(piece);
        }
        let why = text("/response/incomplete_details/reason");
        withheld.is_filtered |= why == Some("content_filter");
        if let Some(why) =
            text("/candidates/0/finishMessage").or_else(|| text("/delta/stop_details/explanation"))
        {
            withheld.why = Some(why.to_owned());
        }
        if let Some(why) = text("/promptFeedback/blockReason") {
            withheld.blocked = Some(why.to_owned());
        }
    }

    /// Looks at an event of the Responses API that is about the answer as a whole.
    fn look_at_response(&self, name: &str, event: &Value) {
        let mut response = self.response.lock().unwrap_or_else(PoisonError::into_inner);
        let id = event.pointer("/response/id").and_then(Value::as_str);
        // It becomes part of an address.
        let is_name = |id: &&str| {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
            !id.is_empty() && id.bytes().all(fits)
        };
        if let Some(id) = id.filter(is_name) {
            response.id = Some(id.to_owned());
        }
        response.over |= LAST_OF_RESPONSE.contains(&name);
    }

    /// How much of requests for tools is kept, in bytes.
    pub(crate) fn tool_bytes(&self) -> usize {
        self.tools().bytes()
    }

    /// The requests for tools that are whole by now.
    pub(crate) fn tools_so_far(&self) -> ReadTools {
        self.tools().so_far()
    }

    fn tools(&self) -> MutexGuard<'_, ToolStream> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of the cost.
    pub(crate) fn usage(&self) -> TokenUsage {
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatFrameSink for FrameWatch {
    fn on_frame(&self, _context: &FrameCtx, frame: RawFrameRef<'_>) {
        self.events.fetch_add(1, Ordering::Relaxed);
        let data = frame.data;
        if !data.is_empty()
            && data != DONE
            && let Err(error) = serde_json::from_str::<IgnoredAny>(data)
        {
            let is_first = self.with_data.load(Ordering::Relaxed) == 0;
            // The end of the stream may cut it off, which is another fault.
            let is_no_json = is_first && !error.is_eof();
            self.no_json.fetch_or(is_no_json, Ordering::Relaxed);
            self.garbled.fetch_or(!is_first, Ordering::Relaxed);
        }
        if !data.is_empty() {
            self.with_data.fetch_add(1, Ordering::Relaxed);
        }
        self.tools().read(frame.event, data);
        let about_response = frame
            .event
            .filter(|name| FIRST_OF_RESPONSE == *name || LAST_OF_RESPONSE.contains(name));
        // The last event of a response repeats the whole answer, and says its cost nowhere else.
        let is_short = data.len() <= LONGEST_WITH_USAGE || about_response.is_some();
        let has_usage = data.contains("\"usage");
        let is_withheld = OF_WITHHELD.iter().any(|word| data.contains(word));
        if is_short
            && (has_usage || is_withheld || about_response.is_some())
            && let Some(event) = frame.json()
        {
            if is_withheld {
                self.look_for_withheld(&event);
            }
            if let Some(name) = about_response {
                self.look_at_response(name, &event);
            }
            let mut known = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
            *known = usage::updated(*known, &event);
        }
    }
}
