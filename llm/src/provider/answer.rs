//! An answer as its events come: the one reader of the four wire forms.
//!
//! Each event is read once. What it says is text, part of a call, the cost, or why the answer ends; or it is a [`Fault`]. An
//! event of an unknown kind is passed over if it has no text, for providers add kinds, and is a fault if it has: text is never
//! lost in silence.

mod anthropic;
mod chat_completions;
mod gemini;
mod halves;
mod responses;
#[cfg(test)]
mod tests;
mod tools;

use genai::chat::StreamEnd;
use interrupt_router::model::{TokenUsage, ToolOffer, ToolRequest};
use serde_json::Value;

use super::event_stream::{ERROR, Event};
use super::usage;
use super::wire::Form;
use halves::Halves;
use tools::{Orphan, Tools};

pub(crate) use tools::WithoutArguments;

/// What ends a stream of chat completions, and of some that imitate others.
const DONE: &str = "[DONE]";

/// Where text is in events of every known form, and of forms that are not known.
const TEXTS: [&str; 8] = [
    "text",
    "content",
    "delta",
    "message",
    "completion",
    "response",
    "output_text",
    "generated_text",
];

/// An event that is none of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    /// An error, in the provider's form.
    Error(Value),
    /// An error in words alone.
    Words(String),
    /// It is no JSON.
    NoJson { data: String, is_first: bool },
    /// The stream ended within it.
    Cut,
    /// It has text, and it is unknown what text.
    Unknown(String),
    /// It has arguments for a call that never began.
    Orphan,
}

impl From<Orphan> for Fault {
    fn from(Orphan: Orphan) -> Self {
        Self::Orphan
    }
}

/// What came of an answer so far.
#[derive(Debug)]
pub(crate) struct Answer {
    form: Form,
    text: String,
    /// How much of the text was taken.
    taken: usize,
    /// How much of what was thought is kept, to be seen again by the provider, in bytes.
    kept: usize,
    tools: Tools,
    pub(crate) usage: TokenUsage,
    /// What the provider calls it.
    pub(crate) id: Option<String>,
    /// Why it ended, in the provider's word.
    pub(crate) end: Option<String>,
    /// Whether the last line of the form has come: nothing follows.
    pub(crate) is_over: bool,
    /// The model's words, where it refuses to answer.
    pub(crate) refusal: String,
    /// What the provider says about the reason of the end.
    pub(crate) why: Option<String>,
    /// Why the prompt was not taken, with Gemini.
    pub(crate) blocked: Option<String>,
    /// Whether there was an event with data.
    pub(crate) has_events: bool,
    halves: Halves,
    /// The block of thought under way, with Anthropic.
    thought: Option<Value>,
    /// The places of Anthropic's blocks that are no calls of tools.
    other_blocks: Vec<u64>,
    /// The reasoning that a server of chat completions wants to see again.
    reasoning_text: String,
    /// How much text came of each part, with the Responses API.
    parts: Vec<((u64, u64), usize)>,
}

impl Answer {
    pub(crate) fn new(form: Form) -> Self {
        Self {
            form,
            text: String::new(),
            taken: 0,
            kept: 0,
            tools: Tools::default(),
            usage: TokenUsage::default(),
            id: None,
            end: None,
            is_over: false,
            refusal: String::new(),
            why: None,
            blocked: None,
            has_events: false,
            halves: Halves::default(),
            thought: None,
            other_blocks: Vec::new(),
            reasoning_text: String::new(),
            parts: Vec::new(),
        }
    }

    pub(crate) const fn form(&self) -> Form {
        self.form
    }

    /// Reads an event.
    pub(crate) fn read(&mut self, event: &Event) -> Result<(), Fault> {
        let data = event.data.trim();
        if data == DONE {
            self.is_over = true;
            return Ok(());
        }
        let is_first = !std::mem::replace(&mut self.has_events, true);
        let value = match self.halves.parse(data) {
            Ok(value) => value,
            Err(error) if event.is_cut && error.is_eof() => return Err(Fault::Cut),
            Err(_) if event.name == ERROR => return Err(Fault::Words(data.to_owned())),
            Err(_) => {
                let data = data.to_owned();
                return Err(Fault::NoJson { data, is_first });
            }
        };
        match &value {
            // Some wrap it in a list.
            Value::Array(values) => values
                .iter()
                .try_for_each(|value| self.read_value(&event.name, value)),
            Value::Object(_) => self.read_value(&event.name, &value),
            Value::String(text) if !text.is_empty() => Err(unknown(&value)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }

    fn read_value(&mut self, name: &str, event: &Value) -> Result<(), Fault> {
        // Some servers leave the names of events out, others the types.
        let kind = match text(event, "/type") {
            "" => name,
            kind => kind,
        };
        if is_error(kind, event) {
            return Err(Fault::Error(event.clone()));
        }
        self.usage = usage::updated(self.usage, event);
        match self.form {
            Form::ChatCompletions | Form::Library => self.read_chat_completions(event),
            Form::Responses => self.read_responses(kind, event),
            Form::Anthropic => self.read_anthropic(kind, event),
            Form::Gemini => self.read_gemini(event),
        }
    }

    /// The text that came since it was taken last.
    pub(crate) fn take_text(&mut self) -> Option<&str> {
        let from = std::mem::replace(&mut self.taken, self.text.len());
        self.text.get(from..).filter(|piece| !piece.is_empty())
    }

    /// Whether any text was taken.
    pub(crate) const fn has_passed_on(&self) -> bool {
        self.taken > 0
    }

    /// The whole text so far.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// How much is kept of it, in bytes.
    pub(crate) const fn bytes(&self) -> usize {
        self.text.len() + self.refusal.len() + self.kept + self.tools.bytes()
    }

    /// The calls that are whole by now.
    pub(crate) fn whole_calls(&self, offers: &[ToolOffer]) -> Vec<ToolRequest> {
        self.tools.whole(offers)
    }

    /// Nothing follows. Unless the answer was cut off, all calls that began are whole.
    pub(crate) fn finish(&mut self, is_cut_off: bool) {
        self.text.extend(self.halves.rest());
        self.tools.mend(|arguments| self.halves.whole(arguments));
        if !is_cut_off {
            self.tools.end();
        }
    }

    /// The text and the calls of an answer that is finished.
    pub(crate) fn into_parts(
        self,
        offers: &[ToolOffer],
    ) -> Result<(String, Vec<ToolRequest>), WithoutArguments> {
        let calls = self.tools.finished(offers)?;
        Ok((self.text, calls))
    }

    /// Reads the end of a stream that the client library has read.
    pub(crate) fn read_library_end(&mut self, end: &StreamEnd) {
        self.is_over = true;
        self.end = end
            .captured_stop_reason
            .as_ref()
            .map(|reason| reason.raw().to_owned());
        self.id.clone_from(&end.captured_response_id);
        self.usage = usage::of_whole(end.captured_usage.as_ref());
        let calls = end.captured_tool_calls().unwrap_or_default();
        for (place, call) in (0..).zip(calls) {
            self.tools.begin(place, &call.call_id, &call.fn_name);
            if let Value::String(arguments) = &call.fn_arguments {
                self.tools.finish(place, Some(arguments));
            } else if !call.fn_arguments.is_null() {
                self.tools.arrived_at_once(place, &call.fn_arguments);
            }
        }
    }

    /// A piece of the text.
    pub(crate) fn say(&mut self, piece: &str) {
        let piece = self.halves.piece(piece);
        self.text.push_str(&piece);
    }

    /// The whole text, or its last piece, where the pieces may have been said before.
    fn say_whole(&mut self, whole: &str) -> Result<(), Fault> {
        if let Some(rest) = whole.strip_prefix(self.text.as_str()) {
            self.text.push_str(rest);
            return Ok(());
        }
        if whole.is_empty() || self.text.trim() == whole.trim() {
            return Ok(());
        }
        Err(Fault::Unknown(whole.to_owned()))
    }

    /// What the provider calls the answer.
    fn name(&mut self, id: &str) {
        if !id.is_empty() {
            self.id = Some(id.to_owned());
        }
    }

    fn end_with(&mut self, word: &str) {
        // In between it is empty, or `null`, with some as a text.
        if !matches!(word, "" | "null") {
            self.end = Some(word.to_owned());
        }
    }
}

/// An event of an unknown kind, which must have no text.
fn pass_over(event: &Value) -> Result<(), Fault> {
    let has_text = TEXTS.iter().any(|name| {
        event
            .get(name)
            .and_then(Value::as_str)
            .is_some_and(|text| !text.is_empty())
    });
    if has_text {
        Err(unknown(event))
    } else {
        Ok(())
    }
}

fn unknown(event: &Value) -> Fault {
    Fault::Unknown(event.to_string())
}

/// Whether something was said, and not that there is nothing.
fn says(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(said) => *said,
        Value::Number(_) => true,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(object) => !object.is_empty(),
    }
}

/// Whether it reports an error, in any of the forms in which servers do.
pub(super) fn is_error(kind: &str, event: &Value) -> bool {
    let has = |name: &str| event.get(name).is_some_and(says);
    let is_answer = [
        "choices",
        "candidates",
        "response",
        "delta",
        "content_block",
    ];
    has("error")
        || kind == ERROR
        || event.get("object").and_then(Value::as_str) == Some(ERROR)
        || (!is_answer.iter().any(|part| event.get(part).is_some())
            && (has("detail")
                || (has("message")
                    && ["code", "status", "status_code", "statusCode"]
                        .into_iter()
                        .any(has))))
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

/// The entry that is the answer, of several that were not asked for.
fn first_of<'e>(event: &'e Value, list: &str) -> Option<&'e Value> {
    let entries = event.get(list)?.as_array()?;
    let is_first = |entry: &&Value| place(entry, "index") == 0;
    entries.iter().find(is_first)
}
