//! A conversation in the client library's form, with tools that were asked for and what came of them.
//!
//! What the provider would refuse is set right on the way: two requests with one id, an id or a name in
//! signs that it does not take, arguments that are no JSON object.

use std::collections::HashSet;

use genai::chat::{ChatMessage, ContentPart, MessageContent, ToolCall, ToolResponse};
use interrupt_router::model::{Message, Role, ToolRequest};
use serde_json::{Map, Value, json};

use super::super::signature::Signature;
use super::super::wire::Wire;

/// The longest id and the longest name that all providers take.
const LONGEST_ID: usize = 40;
const LONGEST_NAME: usize = 64;

/// The name of a tool that was asked for without one.
const NAMELESS: &str = "unnamed";

/// The field for arguments that are not a JSON object, as they were written.
const UNREADABLE: &str = "unreadable_arguments";

/// The messages of a call.
pub(crate) fn of(messages: &[Message], wire: Wire) -> Vec<ChatMessage> {
    let mut transcript = Transcript {
        wire,
        said: Vec::new(),
        open: Vec::new(),
        results: Vec::new(),
        ids: HashSet::new(),
    };
    for message in messages {
        transcript.add(message);
    }
    transcript.flush();
    transcript.said
}

struct Transcript {
    wire: Wire,
    said: Vec<ChatMessage>,
    /// The requests that wait for their result, as the model and as the provider know them.
    open: Vec<(String, ToolCall)>,
    /// Results that go into one message.
    results: Vec<ContentPart>,
    /// The ids that are taken.
    ids: HashSet<String>,
}

impl Transcript {
    fn add(&mut self, message: &Message) {
        let text = &*message.text;
        match message.role {
            Role::Tool => self.add_result(message),
            Role::User if self.wire == Wire::Anthropic && !self.results.is_empty() => {
                // Results and what is said next are one turn of the user.
                let mut parts = std::mem::take(&mut self.results);
                parts.push(ContentPart::from_text(text));
                let content = MessageContent::from_parts(parts);
                self.said.push(ChatMessage::user(content));
            }
            Role::System => {
                self.flush();
                self.said.push(ChatMessage::system(text));
            }
            Role::User => {
                self.flush();
                self.said.push(ChatMessage::user(text));
            }
            Role::Assistant => {
                self.flush();
                let answer = self.answer(message);
                self.said.push(answer);
            }
        }
    }

    fn answer(&mut self, message: &Message) -> ChatMessage {
        if message.tool_requests.is_empty() {
            return ChatMessage::assistant(&*message.text);
        }
        let requests = message.tool_requests.iter();
        let mut parts: Vec<ContentPart> = requests
            .flat_map(Signature::all_of)
            .filter_map(|signature| self.leading(signature))
            .collect();
        if !message.text.trim().is_empty() {
            parts.push(ContentPart::from_text(&*message.text));
        }
        for request in &message.tool_requests {
            let call = self.call(request);
            self.open.push((request.id.clone(), call.clone()));
            parts.push(ContentPart::ToolCall(call));
        }
        ChatMessage::assistant(MessageContent::from_parts(parts))
    }

    /// What comes before everything else in an answer, if this provider said it.
    fn leading(&self, signature: Signature) -> Option<ContentPart> {
        match (signature, self.wire) {
            (Signature::Anthropic(block), Wire::Anthropic) => {
                Some(ContentPart::from_custom(block, None))
            }
            (Signature::Responses(encrypted), Wire::OpenAiResponses) => {
                Some(ContentPart::ThoughtSignature(encrypted))
            }
            (Signature::Reasoning(text), Wire::ChatCompletions | Wire::JsonObject) => {
                Some(ContentPart::ReasoningContent(text))
            }
            _ => None,
        }
    }

    fn call(&mut self, request: &ToolRequest) -> ToolCall {
        let of_gemini = Signature::all_of(request).filter_map(|signature| match signature {
            Signature::Gemini(signature) => Some(signature),
            Signature::Anthropic(_) | Signature::Responses(_) | Signature::Reasoning(_) => None,
        });
        let signatures: Vec<String> = of_gemini.collect();
        let is_shown = self.wire == Wire::Gemini && !signatures.is_empty();
        ToolCall {
            call_id: self.unique_id(&request.id),
            fn_name: name(&request.name),
            fn_arguments: arguments(&request.arguments),
            thought_signatures: is_shown.then_some(signatures),
        }
    }

    /// The id itself where the provider takes it, else another.
    fn unique_id(&mut self, id: &str) -> String {
        if id.is_empty() && self.wire == Wire::Gemini {
            // It matches results with requests by their order then.
            return String::new();
        }
        let fits = !id.is_empty() && id.len() <= LONGEST_ID && id.bytes().all(is_plain);
        if fits && self.ids.insert(id.to_owned()) {
            return id.to_owned();
        }
        let numbered = (self.ids.len()..).map(|number| format!("call_{number}"));
        let mut free = numbered.filter(|id| !self.ids.contains(id));
        let id = free.next().unwrap_or_default();
        self.ids.insert(id.clone());
        id
    }

    fn add_result(&mut self, message: &Message) {
        let id = message.result_of.as_deref().unwrap_or_default();
        let open = self.open.iter().position(|(known, _)| known == id);
        let Some(index) = open else {
            // No provider takes a result of nothing.
            self.flush();
            let text = format!("A tool that was not asked for said:\n{}", message.text);
            self.said.push(ChatMessage::user(text));
            return;
        };
        let (_, call) = self.open.remove(index);
        let response = ToolResponse::from_tool_call(&call, &*message.text);
        self.results.push(ContentPart::ToolResponse(response));
    }

    /// Ends the message of results.
    fn flush(&mut self) {
        self.open.clear();
        if !self.results.is_empty() {
            let results = MessageContent::from_parts(std::mem::take(&mut self.results));
            self.said.push(ChatMessage::tool(results));
        }
    }
}

/// A name that all providers take.
pub(super) fn name(name: &str) -> String {
    if name.is_empty() {
        return NAMELESS.to_owned();
    }
    let signs = name.chars().take(LONGEST_NAME);
    let plain = |sign: char| u8::try_from(sign).is_ok_and(is_plain);
    signs
        .map(|sign| if plain(sign) { sign } else { '_' })
        .collect()
}

const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// An object, which is what all providers want to see.
fn arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Object(Map::new());
    }
    match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(object) => Value::Object(object),
        Err(_) => json!({ UNREADABLE: text }),
    }
}
