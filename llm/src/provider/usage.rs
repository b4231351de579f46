//! What a call cost, from what the provider says.

use genai::chat::Usage;
use interrupt_router::model::TokenUsage;
use serde_json::Value;

/// Where a provider says how many tokens there were: the sum of these parts of an object, of which the first must be there.
type Place = (&'static str, &'static [&'static str]);

/// How much was read: Responses, chat completions, Anthropic (twice), Gemini. What is read from or written to a cache is read, too.
const READ: [Place; 6] = [
    ("/response/usage", &["input_tokens"]),
    ("/usage", &["prompt_tokens"]),
    ("/x_groq/usage", &["prompt_tokens"]),
    ("/message/usage", ANTHROPIC_READ),
    ("/usage", ANTHROPIC_READ),
    (
        "/usageMetadata",
        &["promptTokenCount", "toolUsePromptTokenCount"],
    ),
];

const ANTHROPIC_READ: &[&str] = &[
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
];

/// How much was written. What Anthropic says of it in the opening event is left out: it is a number before the first word.
const WRITTEN: [Place; 5] = [
    ("/response/usage", &["output_tokens"]),
    ("/usage", &["completion_tokens"]),
    ("/x_groq/usage", &["completion_tokens"]),
    ("/usage", &["output_tokens"]),
    (
        "/usageMetadata",
        &["candidatesTokenCount", "thoughtsTokenCount"],
    ),
];

/// The cost of a whole answer that the client library has read.
pub(crate) fn of_whole(usage: Option<&Usage>) -> TokenUsage {
    let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok());
    TokenUsage {
        input: count(usage.and_then(|usage| usage.prompt_tokens)),
        output: count(usage.and_then(|usage| usage.completion_tokens)),
    }
}

/// What one event of a stream says of the cost so far, put over what was known before.
pub(crate) fn updated(known: TokenUsage, event: &Value) -> TokenUsage {
    let said = |places: &[Place]| {
        places.iter().find_map(|(object, parts)| {
            let object = event.pointer(object)?;
            let count = |part: &&str| object.get(*part).and_then(Value::as_u64);
            parts.first().and_then(count)?;
            Some(parts.iter().filter_map(count).sum::<u64>())
        })
    };
    TokenUsage {
        input: said(&READ).or(known.input),
        output: said(&WRITTEN).or(known.output),
    }
}
