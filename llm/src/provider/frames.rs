//! Watches the events of a stream as they are read: whether it goes on, and what it says of its cost.

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
    usage: Mutex<TokenUsage>,
    response: Mutex<Response>,
    tools: Mutex<ToolStream>,
}

/// The answer as OpenAI's Responses API keeps it.
#[derive(Debug, Default)]
struct Response {
    id: Option<String>,
    over: bool,
    withheld: bool,
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

    /// What the provider calls the answer, while it has not said that it is over.
    pub(crate) fn response_under_way(&self) -> Option<String> {
        let response = self.response.lock().unwrap_or_else(PoisonError::into_inner);
        response.id.clone().filter(|_id| !response.over)
    }

    /// Whether the Responses API withheld the rest of the answer.
    pub(crate) fn is_withheld(&self) -> bool {
        let response = self.response.lock().unwrap_or_else(PoisonError::into_inner);
        response.withheld
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
        let why = event.pointer("/response/incomplete_details/reason");
        response.withheld |= why.is_some_and(|why| why == "content_filter");
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
        let is_first = !data.is_empty() && self.with_data.fetch_add(1, Ordering::Relaxed) == 0;
        if is_first {
            // The end of the stream may cut it off, which is another fault.
            let read = serde_json::from_str::<IgnoredAny>(data);
            let is_no_json = read.is_err_and(|error| !error.is_eof());
            self.no_json.store(is_no_json, Ordering::Relaxed);
        }
        self.tools().read(frame.event, data);
        let about_response = frame
            .event
            .filter(|name| FIRST_OF_RESPONSE == *name || LAST_OF_RESPONSE.contains(name));
        // The last event of a response repeats the whole answer, and says its cost nowhere else.
        let is_short = data.len() <= LONGEST_WITH_USAGE || about_response.is_some();
        let has_usage = data.contains("\"usage");
        if is_short
            && (has_usage || about_response.is_some())
            && let Some(event) = frame.json()
        {
            if let Some(name) = about_response {
                self.look_at_response(name, &event);
            }
            let mut known = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
            *known = usage::updated(*known, &event);
        }
    }
}
