//! Gemini: a part for each piece of text and each call, which is whole and often has no id.

use serde_json::Value;

use super::super::signature::Signature;
use super::tools::NO_ARGUMENTS;
use super::{Answer, Fault, first_of, pass_over, text};

impl Answer {
    pub(super) fn read_gemini(&mut self, event: &Value) -> Result<(), Fault> {
        self.name(text(event, "/responseId"));
        let blocked = text(event, "/promptFeedback/blockReason");
        if !blocked.is_empty() {
            self.blocked = Some(blocked.to_owned());
        }
        let Some(candidate) = first_of(event, "candidates") else {
            return pass_over(event);
        };
        let parts = candidate.pointer("/content/parts");
        for part in parts.and_then(Value::as_array).into_iter().flatten() {
            self.read_part(part);
        }
        let why = text(candidate, "/finishMessage");
        if !why.is_empty() {
            self.why = Some(why.to_owned());
        }
        self.end_with(text(candidate, "/finishReason"));
        Ok(())
    }

    fn read_part(&mut self, part: &Value) {
        let piece = text(part, "/text");
        if part.get("thought") != Some(&Value::Bool(true)) {
            self.say(piece);
        }
        let Some(call) = part.get("functionCall") else {
            return;
        };
        let signature = text(part, "/thoughtSignature");
        if !signature.is_empty() {
            self.tools
                .think(Signature::Gemini(signature.to_owned()).kept());
        }
        let place = self
            .tools
            .last_place()
            .map_or(0, |last| last.saturating_add(1));
        self.tools
            .begin(place, text(call, "/id"), text(call, "/name"));
        // An object without members is left out, as in every message of this form.
        let arguments = call.get("args").map(Value::to_string);
        // It may announce that more of the same call follows, in a form that is not asked for.
        if call.get("willContinue") != Some(&Value::Bool(true)) {
            let arguments = arguments.as_deref().unwrap_or(NO_ARGUMENTS);
            self.tools.finish(place, Some(arguments));
        }
    }
}
