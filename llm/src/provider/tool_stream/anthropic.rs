//! Anthropic: a block for each request, whose input comes in pieces.

use serde_json::{Value, json};

use super::super::signature::Signature;
use super::{ToolStream, place, text};

/// What events that matter here have in them. Most of a stream is text and has none of it.
const TOLD_BY: [&str; 4] = ["tool_use", "partial_json", "thinking", "signature"];

impl ToolStream {
    pub(super) fn read_anthropic(&mut self, data: &str) {
        let stops = data.contains("content_block_stop");
        if !stops && !TOLD_BY.iter().any(|word| data.contains(word)) {
            return;
        }
        let Ok(event) = serde_json::from_str::<Value>(data) else {
            return;
        };
        let index = place(&event, "index");
        match text(&event, "/type") {
            "content_block_start" => self.start_block(index, &event),
            "content_block_delta" => match text(&event, "/delta/type") {
                "input_json_delta" => self.grow(index, text(&event, "/delta/partial_json")),
                "thinking_delta" => self.extend_thought("thinking", &event),
                "signature_delta" => self.extend_thought("signature", &event),
                _ => {}
            },
            "content_block_stop" => self.stop_block(index),
            _ => {}
        }
    }

    fn start_block(&mut self, index: u64, event: &Value) {
        match text(event, "/content_block/type") {
            "tool_use" => {
                let (id, name) = ("/content_block/id", "/content_block/name");
                self.begin(index, text(event, id), text(event, name));
            }
            "thinking" | "redacted_thinking" => {
                let block = event.get("content_block").cloned().unwrap_or_default();
                self.bytes += block.to_string().len();
                self.thought = Some(block);
            }
            _ => {}
        }
    }

    fn extend_thought(&mut self, part: &str, event: &Value) {
        let more = text(event, &format!("/delta/{part}"));
        if let Some(block) = &mut self.thought {
            let so_far = text(block, &format!("/{part}")).to_owned();
            self.bytes += more.len();
            block[part] = json!(so_far + more);
        }
    }

    fn stop_block(&mut self, index: u64) {
        if let Some(block) = self.thought.take() {
            self.think(Signature::Anthropic(block).kept());
        } else if let Some(growing) = self.at(index) {
            growing.whole = true;
        }
    }
}
