//! Chat completions: pieces of the text and of all calls, told apart by their index, and one end for all.

use serde_json::Value;

use super::super::signature::Signature;
use super::{Answer, Fault, first_of, pass_over, says, text, unknown};

impl Answer {
    pub(super) fn read_chat_completions(&mut self, event: &Value) -> Result<(), Fault> {
        self.name(text(event, "/id"));
        if event.get("choices").is_none() {
            return pass_over(event);
        }
        let Some(choice) = first_of(event, "choices") else {
            return Ok(());
        };
        if choice.get("error").is_some_and(says) {
            return Err(Fault::Error(choice.clone()));
        }
        // Some servers send messages in place of pieces, and some nothing but text.
        let delta = ["delta", "message"].into_iter().find_map(|name| {
            let delta = choice.get(name)?;
            says(delta).then_some(delta)
        });
        match delta {
            Some(delta) => self.read_delta(delta)?,
            None => self.say(text(choice, "/text")),
        }
        self.end_with(text(choice, "/finish_reason"));
        Ok(())
    }

    fn read_delta(&mut self, delta: &Value) -> Result<(), Fault> {
        let wanted_again = text(delta, "/reasoning_content");
        self.reasoning_text.push_str(wanted_again);
        self.kept += wanted_again.len();
        match delta.get("content") {
            Some(Value::String(piece)) => self.say(piece),
            Some(Value::Array(parts)) => {
                for part in parts {
                    if text(part, "/type") != "thinking" {
                        self.say(text(part, "/text"));
                    }
                }
            }
            Some(Value::Null) | None => {}
            Some(content) => return Err(unknown(content)),
        }
        self.refusal.push_str(text(delta, "/refusal"));
        let calls = delta.get("tool_calls").and_then(Value::as_array);
        for call in calls.into_iter().flatten() {
            self.take_piece(call)?;
        }
        // As it was before there could be several.
        if let Some(function) = delta.get("function_call").filter(|call| says(call)) {
            self.take_piece(&serde_json::json!({ "index": 0, "function": function }))?;
        }
        Ok(())
    }

    fn take_piece(&mut self, call: &Value) -> Result<(), Fault> {
        let (id, name) = (text(call, "/id"), text(call, "/function/name"));
        let is_head = !id.is_empty() || !name.is_empty();
        let last = self.tools.last_place();
        let index = match call.get("index").and_then(Value::as_u64) {
            Some(index) => index,
            None if is_head => last.map_or(0, |last| last.saturating_add(1)),
            None => last.unwrap_or_default(),
        };
        // Some servers give all calls the same index, and each an id of its own.
        let begins = is_head
            && self
                .tools
                .at(index)
                .is_none_or(|known| !id.is_empty() && !known.id.is_empty() && known.id != id);
        if begins {
            if !self.reasoning_text.is_empty() {
                let reasoning = std::mem::take(&mut self.reasoning_text);
                self.tools.think(Signature::Reasoning(reasoning).kept());
            }
            self.tools.begin(index, id, name);
        } else if let Some(known) = self.tools.at(index) {
            for (known, said) in [(&mut known.id, id), (&mut known.name, name)] {
                if known.is_empty() {
                    said.clone_into(known);
                }
            }
        }
        match call.pointer("/function/arguments") {
            Some(Value::String(arguments)) => self.tools.grow(index, arguments)?,
            // Some servers send the arguments as they are meant.
            Some(arguments @ Value::Object(_)) => {
                self.tools.grow(index, &arguments.to_string())?;
            }
            Some(Value::Null) | None => {}
            Some(arguments) => return Err(unknown(arguments)),
        }
        Ok(())
    }
}
