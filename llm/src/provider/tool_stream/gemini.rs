//! Gemini: a part for each request, whole, often without an id.

use serde_json::Value;

use super::super::signature::Signature;
use super::{ToolStream, text};

impl ToolStream {
    pub(super) fn read_gemini(&mut self, data: &str) {
        let Ok(event) = serde_json::from_str::<Value>(data) else {
            return;
        };
        let parts = event.pointer("/candidates/0/content/parts");
        for part in parts.and_then(Value::as_array).into_iter().flatten() {
            let Some(call) = part.get("functionCall") else {
                continue;
            };
            let signature = text(part, "/thoughtSignature");
            if !signature.is_empty() {
                self.think(Signature::Gemini(signature.to_owned()).kept());
            }
            let arguments = call.get("args").map(Value::to_string);
            let arguments = arguments.unwrap_or_default();
            // It may announce that more of the same call follows, in a form that is not asked for.
            let whole = call.get("willContinue") != Some(&Value::Bool(true));
            self.bytes += arguments.len();
            let growing = self.begin(0, text(call, "/id"), text(call, "/name"));
            growing.request.arguments = arguments;
            growing.whole = whole;
        }
    }
}
