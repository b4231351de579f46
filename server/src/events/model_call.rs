//! Calls of models in events: how much they took, and the field that their answer has set.

use std::collections::BTreeMap;

use interrupt_router::answer::body;
use interrupt_router::model::{Purpose, TokenUsage};
use interrupts::store::JournalEntry;
use journal::attempts::{AttemptEnd, AttemptIntent};
use journal::entry::{CallIntent, CallResult};
use journal::gist;
use journal::message::AgentMessage;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::content::LONGEST_TEXT;

/// The most characters of an unfinished answer.
const LONGEST_PARTIAL: usize = 300;

/// A call, as the journal stores it.
#[derive(Debug)]
pub(crate) struct StoredModelCall {
    intent: CallIntent,
    /// Its answer, once it has one: also absent if its agent was abandoned before.
    result: Option<CallResult>,
}

/// A try of a call that has an entry of its own.
#[derive(Debug)]
pub(crate) struct StoredAttempt {
    intent: AttemptIntent,
    end: Option<AttemptEnd>,
}

impl StoredModelCall {
    /// The call of an entry; `None` if a program wrote it that writes calls differently.
    pub(super) fn of(entry: &JournalEntry) -> Option<Self> {
        let intent = serde_json::from_str(&entry.intent.content).ok()?;
        let result = entry.result.as_ref();
        Some(Self {
            intent,
            result: result.and_then(|result| CallResult::read(&result.content).ok().flatten()),
        })
    }

    /// Adds its beginning, or its end.
    pub(super) fn tell(&self, done: bool, data: &mut Map<String, Value>) {
        let CallIntent {
            purpose,
            turn,
            correction,
            schema,
            start,
            ..
        } = &self.intent;
        data.insert("purpose".to_owned(), json!(purpose));
        if let Some(start) = start {
            data.insert("step".to_owned(), start.step.into());
        }
        data.insert("turn".to_owned(), json!(turn));
        data.insert("correction".to_owned(), json!(correction));
        if !done {
            data.insert("schema".to_owned(), json!(schema));
            report_messages(start.as_ref().map_or(&[], |start| &start.letters), data);
            return;
        }
        let Some(result) = &self.result else {
            return;
        };
        data.insert("usage".to_owned(), usage(result.usage));
        data.insert("cut_off".to_owned(), result.cut_off.into());
        data.insert("rejected".to_owned(), result.rejected.into());
        if *purpose == Purpose::Step
            && !result.rejected
            && let Some(field) = field_of(&result.text)
        {
            data.insert("field".to_owned(), field.into());
            data.insert("summary".to_owned(), gist(&result.text).into());
        }
    }
}

impl StoredAttempt {
    /// The try of an entry; `None` if a program wrote it that writes tries differently.
    pub(super) fn of(entry: &JournalEntry) -> Option<Self> {
        let result = entry.result.as_ref();
        Some(Self {
            intent: serde_json::from_str(&entry.intent.content).ok()?,
            end: result.and_then(|result| serde_json::from_str(&result.content).ok()),
        })
    }

    /// Adds its beginning, or its end, and returns the event's name.
    pub(super) fn tell(&self, done: bool, data: &mut Map<String, Value>) -> &'static str {
        data.insert("attempt".to_owned(), self.intent.attempt.into());
        let Some(end) = self.end.as_ref().filter(|_end| done) else {
            return if done {
                "effect.finished"
            } else {
                "effect.started"
            };
        };
        match end {
            AttemptEnd::CutShort { text, usage: used } => {
                data.insert("cancel_kind".to_owned(), "connection_closed".into());
                data.insert(
                    "tokens_may_be_billed".to_owned(),
                    (!end.was_not_made()).into(),
                );
                data.insert("usage".to_owned(), usage(*used));
                if !text.is_empty() {
                    let partial: String = text.chars().take(LONGEST_PARTIAL).collect();
                    data.insert("partial".to_owned(), partial.into());
                }
                "llm.call_cancelled"
            }
            AttemptEnd::Failed { error, may_cost } => {
                data.insert("error".to_owned(), error.as_str().into());
                data.insert("tokens_may_be_billed".to_owned(), (*may_cost).into());
                "effect.finished"
            }
            AttemptEnd::Answered | AttemptEnd::Unknown => "effect.finished",
        }
    }
}

/// Adds the messages that an agent reads from then on, or the input with which its run was resumed.
pub(super) fn report_messages(letters: &[AgentMessage], data: &mut Map<String, Value>) {
    let texts = letters.iter().map(|letter| letter.text.as_str());
    let texts = texts.filter(|text| text.len() <= LONGEST_TEXT);
    let texts: Vec<&str> = texts.collect();
    if !texts.is_empty() {
        data.insert("reads".to_owned(), json!(texts));
    }
}

fn usage(usage: TokenUsage) -> Value {
    json!({"input": usage.input, "output": usage.output})
}

/// The one field that an answer has set, if it is such an answer.
fn field_of(answer: &str) -> Option<String> {
    let json = body(answer.as_bytes()).ok()?;
    let fields: BTreeMap<String, Option<IgnoredAny>> = serde_json::from_slice(json).ok()?;
    let mut set = fields.into_iter().filter(|(_name, value)| value.is_some());
    let (field, _value) = set.next()?;
    set.next().is_none().then_some(field)
}

#[cfg(test)]
mod tests {
    use super::field_of;

    #[test]
    fn the_one_field_of_an_answer_is_the_one_that_is_no_null() {
        let answer = r#"{"a": null, "b": {"goal": "bake"}}"#;
        assert_eq!(field_of(answer).as_deref(), Some("b"));
        for other in [r#"{"a": {}, "b": {}}"#, "{}", "[1]", "words"] {
            assert_eq!(field_of(other), None, "{other}");
        }
    }
}
