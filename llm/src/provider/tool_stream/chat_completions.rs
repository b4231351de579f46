//! Chat completions: pieces of all requests in one list, told apart by their index, and one end for all.

use serde_json::Value;

use super::super::signature::Signature;
use super::{ToolStream, place, text};

impl ToolStream {
    pub(super) fn read_chat_completions(&mut self, data: &str) {
        let ends = !self.growing.is_empty() && data.contains("\"finish_reason\"");
        if !ends && !data.contains("\"tool_calls\"") && !data.contains("\"reasoning_content\"") {
            return;
        }
        let Ok(event) = serde_json::from_str::<Value>(data) else {
            return;
        };
        let reasoning = text(&event, "/choices/0/delta/reasoning_content");
        self.bytes += reasoning.len();
        self.reasoning.push_str(reasoning);
        let calls = event.pointer("/choices/0/delta/tool_calls");
        for call in calls.and_then(Value::as_array).into_iter().flatten() {
            self.take_piece(call);
        }
        match text(&event, "/choices/0/finish_reason") {
            // In between the reason is `null`; and an answer that was cut off may end in half a request.
            "" | "length" | "content_filter" => {}
            _ => self
                .growing
                .iter_mut()
                .for_each(|growing| growing.whole = true),
        }
    }

    fn take_piece(&mut self, call: &Value) {
        let index = place(call, "index");
        let (id, name) = (text(call, "/id"), text(call, "/function/name"));
        // Some servers give all requests the same index, and each an id of its own.
        let begins = self.at(index).is_none_or(|growing| {
            !id.is_empty() && !growing.request.id.is_empty() && growing.request.id != id
        });
        if begins {
            if !self.reasoning.is_empty() {
                let reasoning = std::mem::take(&mut self.reasoning);
                self.think(Signature::Reasoning(reasoning).kept());
            }
            self.begin(index, id, name);
        } else if let Some(growing) = self.at(index) {
            for (known, said) in [
                (&mut growing.request.id, id),
                (&mut growing.request.name, name),
            ] {
                if known.is_empty() {
                    said.clone_into(known);
                }
            }
        }
        match call.pointer("/function/arguments") {
            Some(Value::String(arguments)) => self.grow(index, arguments),
            // Some servers send the arguments as they are meant.
            Some(arguments @ Value::Object(_)) => self.grow(index, &arguments.to_string()),
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_)) | None => {}
        }
    }
}
