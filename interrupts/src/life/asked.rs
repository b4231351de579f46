//! What an interrupt asks, read from its content in any of its forms.

use interrupt_router::InterruptDetails;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::interrupt::Interrupt;

/// The places in its content where the shared part of a question may be.
const PLACES: [&str; 8] = [
    "",
    "/request",
    "/details",
    "/payload",
    "/question",
    "/question/details",
    "/request/details",
    "/payload/details",
];

/// Where the shared part of a question is in its content, as a JSON pointer; `None` if it has none.
pub fn shared_place(content: &Value) -> Option<&'static str> {
    PLACES.into_iter().find(|place| {
        let part = content.pointer(place).and_then(Value::as_object);
        part.is_some_and(|it| it.contains_key("choices") || it.contains_key("contextForDecision"))
    })
}

/// The part of a content that all questions share.
pub fn shared_part(content: &Value) -> Option<&Map<String, Value>> {
    content.pointer(shared_place(content)?)?.as_object()
}

impl Interrupt {
    /// What its question says, offers and wants confirmed. A content of another form offers nothing.
    pub fn details(&self) -> InterruptDetails {
        let content: Value = serde_json::from_str(&self.content).unwrap_or_default();
        self.details_in(&content)
    }

    /// [`Interrupt::details`], from its content as it was read already.
    pub fn details_in(&self, content: &Value) -> InterruptDetails {
        let shared = shared_part(content);
        let reason = shared.map_or_else(|| content.get("reason"), |shared| shared.get("reason"));
        let reason = reason.and_then(Value::as_str);
        InterruptDetails {
            r#type: self.interrupt_type,
            reason: reason.unwrap_or(&self.reason).to_owned(),
            choices: field(shared, "choices"),
            confirmation_items: field(shared, "confirmationItems"),
            context_for_decision: field(shared, "contextForDecision"),
            answer_form: field(shared, "answerForm"),
        }
    }
}

fn field<T: DeserializeOwned + Default>(object: Option<&Map<String, Value>>, name: &str) -> T {
    let value = object.and_then(|object| object.get(name));
    value
        .and_then(|value| T::deserialize(value).ok())
        .unwrap_or_default()
}
