//! Anthropic: blocks of text, thought and calls, each of which begins, comes in pieces and stops.

use serde_json::{Value, json};

use super::super::signature::Signature;
use super::tools::Orphan;
use super::{Answer, Fault, pass_over, place, text};

impl Answer {
    pub(super) fn read_anthropic(&mut self, kind: &str, event: &Value) -> Result<(), Fault> {
        let index = place(event, "index");
        match kind {
            "message_start" => {
                self.name(text(event, "/message/id"));
                let blocks = event.pointer("/message/content").and_then(Value::as_array);
                for (index, block) in (0..).zip(blocks.into_iter().flatten()) {
                    self.start_block(index, block)?;
                }
            }
            "content_block_start" => {
                if let Some(block) = event.get("content_block") {
                    self.start_block(index, block)?;
                }
            }
            "content_block_delta" => {
                if let Some(delta) = event.get("delta") {
                    self.read_block_delta(index, delta)?;
                }
            }
            "content_block_stop" => self.stop_block(index),
            "message_delta" => {
                self.end_with(text(event, "/delta/stop_reason"));
                let why = text(event, "/delta/stop_details/explanation");
                if !why.is_empty() {
                    self.why = Some(why.to_owned());
                }
            }
            "message_stop" => self.is_over = true,
            "ping" => {}
            _ => return pass_over(event),
        }
        Ok(())
    }

    fn start_block(&mut self, index: u64, block: &Value) -> Result<(), Fault> {
        match text(block, "/type") {
            "text" => {
                self.other_blocks.push(index);
                self.say(text(block, "/text"));
            }
            "tool_use" => {
                self.tools
                    .begin(index, text(block, "/id"), text(block, "/name"));
                if let Some(input @ Value::Object(_)) = block.get("input") {
                    self.tools.arrived_at_once(index, input);
                }
            }
            "thinking" | "redacted_thinking" => {
                self.other_blocks.push(index);
                self.kept += block.to_string().len();
                self.thought = Some(block.clone());
            }
            _ => {
                self.other_blocks.push(index);
                return pass_over(block);
            }
        }
        Ok(())
    }

    fn read_block_delta(&mut self, index: u64, delta: &Value) -> Result<(), Fault> {
        match text(delta, "/type") {
            "text_delta" => self.say(text(delta, "/text")),
            "input_json_delta" => {
                let piece = text(delta, "/partial_json");
                if self.tools.at(index).is_some() {
                    self.tools.grow(index, piece)?;
                } else if !self.other_blocks.contains(&index) && !piece.is_empty() {
                    return Err(Orphan.into());
                }
            }
            "thinking_delta" => self.extend_thought("thinking", delta),
            "signature_delta" => self.extend_thought("signature", delta),
            _ => return pass_over(delta),
        }
        Ok(())
    }

    fn extend_thought(&mut self, part: &str, delta: &Value) {
        let more = text(delta, &format!("/{part}"));
        self.kept += more.len();
        if let Some(block) = &mut self.thought {
            let so_far = text(block, &format!("/{part}")).to_owned();
            block[part] = json!(so_far + more);
        }
    }

    fn stop_block(&mut self, index: u64) {
        if let Some(block) = self.thought.take() {
            self.tools.think(Signature::Anthropic(block).kept());
        } else {
            self.tools.finish(index, None);
        }
    }
}
