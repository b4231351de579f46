//! The Responses API: an item for each request, whose arguments come in pieces and again as a whole.

use serde_json::Value;

use super::super::signature::Signature;
use super::{ToolStream, place, text};

impl ToolStream {
    pub(super) fn read_responses(&mut self, data: &str) {
        let ends = data.contains("\"response.completed\"");
        if !ends && !data.contains("function_call") && !data.contains("encrypted_content") {
            return;
        }
        let Ok(event) = serde_json::from_str::<Value>(data) else {
            return;
        };
        let index = place(&event, "output_index");
        match text(&event, "/type") {
            "response.output_item.added" => {
                if let Some(item) = event.get("item").filter(|item| is_call(item)) {
                    self.begin(index, text(item, "/call_id"), text(item, "/name"));
                }
            }
            "response.function_call_arguments.delta" => self.grow(index, text(&event, "/delta")),
            "response.output_item.done" => {
                if let Some(item) = event.get("item") {
                    self.finish_item(index, item);
                }
            }
            "response.completed" => self.complete(&event),
            _ => {}
        }
    }

    fn finish_item(&mut self, index: u64, item: &Value) {
        if text(item, "/type") == "reasoning" {
            let encrypted = text(item, "/encrypted_content");
            if !encrypted.is_empty() {
                self.think(Signature::Responses(encrypted.to_owned()).kept());
            }
            return;
        }
        if !is_call(item) || text(item, "/status") == "incomplete" {
            return;
        }
        if self.at(index).is_none() {
            self.begin(index, text(item, "/call_id"), text(item, "/name"));
        }
        let arguments = text(item, "/arguments");
        if let Some(growing) = self.at(index) {
            growing.whole = true;
            growing.pieces += 1;
            if !arguments.is_empty() && growing.request.arguments != arguments {
                arguments.clone_into(&mut growing.request.arguments);
                self.bytes += arguments.len();
            }
        }
    }

    /// Some servers say what was asked for in the last event alone.
    fn complete(&mut self, event: &Value) {
        if self.growing.is_empty() {
            let items = event
                .pointer("/response/output")
                .and_then(Value::as_array)
                .into_iter()
                .flatten();
            for (index, item) in (0..).zip(items) {
                self.finish_item(index, item);
            }
        }
        for growing in &mut self.growing {
            growing.whole = true;
        }
    }
}

fn is_call(item: &Value) -> bool {
    text(item, "/type") == "function_call"
}
