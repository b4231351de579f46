//! The Responses API: an item for each text and each call, which comes in pieces, then as a whole, and again in the last event.

use serde_json::Value;

use super::super::signature::Signature;
use super::{Answer, Fault, pass_over, place, says, text};

impl Answer {
    pub(super) fn read_responses(&mut self, kind: &str, event: &Value) -> Result<(), Fault> {
        self.name(text(event, "/response/id"));
        let index = place(event, "output_index");
        match kind {
            "response.output_text.delta" => {
                let piece = text(event, "/delta");
                self.part(event).1 += piece.len();
                self.say(piece);
            }
            "response.output_text.done" => {
                let whole = text(event, "/text");
                let known = self.part(event);
                let rest = whole.get(known.1..).unwrap_or_default();
                known.1 = known.1.max(whole.len());
                self.say(rest);
            }
            "response.refusal.delta" => self.refusal.push_str(text(event, "/delta")),
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {}
            "response.output_item.added" => {
                if let Some(item) = event.get("item").filter(|item| is_call(item)) {
                    self.tools
                        .begin(index, text(item, "/call_id"), text(item, "/name"));
                }
            }
            "response.function_call_arguments.delta" => {
                self.tools.grow(index, text(event, "/delta"))?;
            }
            "response.output_item.done" => {
                if let Some(item) = event.get("item") {
                    self.finish_item(index, item);
                }
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => self.complete(kind, event)?,
            // Of the other events all text is about something else, or is said again.
            kind if kind.starts_with("response.") => {}
            _ => return pass_over(event),
        }
        Ok(())
    }

    /// How much text came of the part that an event is about.
    fn part(&mut self, event: &Value) -> &mut ((u64, u64), usize) {
        let key = (place(event, "output_index"), place(event, "content_index"));
        let known = self.parts.iter().position(|(part, _)| *part == key);
        let known = known.unwrap_or_else(|| {
            self.parts.push((key, 0));
            self.parts.len() - 1
        });
        &mut self.parts[known]
    }

    fn finish_item(&mut self, index: u64, item: &Value) {
        if text(item, "/type") == "reasoning" {
            let encrypted = text(item, "/encrypted_content");
            if !encrypted.is_empty() {
                self.tools
                    .think(Signature::Responses(encrypted.to_owned()).kept());
            }
            return;
        }
        if !is_call(item) || text(item, "/status") == "incomplete" {
            return;
        }
        if self.tools.at(index).is_none() {
            self.tools
                .begin(index, text(item, "/call_id"), text(item, "/name"));
        }
        let arguments = Some(text(item, "/arguments")).filter(|arguments| !arguments.is_empty());
        self.tools.finish(index, arguments);
    }

    /// Some servers say the answer in the last event alone.
    fn complete(&mut self, kind: &str, event: &Value) -> Result<(), Fault> {
        self.is_over = true;
        if let Some(error) = event.pointer("/response/error").filter(|error| says(error)) {
            return Err(Fault::Error(error.clone()));
        }
        let items = event.pointer("/response/output").and_then(Value::as_array);
        let items = items.map(Vec::as_slice).unwrap_or_default();
        let parts = items
            .iter()
            .filter_map(|item| item.get("content")?.as_array())
            .flatten();
        let of = |kind: &str, field: &str| -> String {
            let parts = parts.clone().filter(|part| text(part, "/type") == kind);
            parts.map(|part| text(part, field)).collect()
        };
        if self.refusal.is_empty() {
            self.refusal = of("refusal", "/refusal");
        }
        self.say_whole(&of("output_text", "/text"))?;
        if self.tools.is_empty() {
            for (index, item) in (0..).zip(items) {
                self.finish_item(index, item);
            }
        }
        let why = text(event, "/response/incomplete_details/reason");
        let status = kind.trim_start_matches("response.");
        self.end_with(if why.is_empty() { status } else { why });
        Ok(())
    }
}

fn is_call(item: &Value) -> bool {
    text(item, "/type") == "function_call"
}
