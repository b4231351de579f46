//! What a call cost, from what the provider says.

use genai::chat::Usage;
use routing_core::model::TokenUsage;
use serde_json::Value;

/// Where providers say how much was read: OpenAI (twice), Anthropic (twice), Gemini.
const READ: [&str; 5] = [
    "/response/usage/input_tokens",
    "/usage/prompt_tokens",
    "/message/usage/input_tokens",
    "/usage/input_tokens",
    "/usageMetadata/promptTokenCount",
];

/// Where providers say how much was written. What Anthropic says of it in the opening event is left
/// out: it is a number before the first word.
const WRITTEN: [&str; 4] = [
    "/response/usage/output_tokens",
    "/usage/completion_tokens",
    "/usage/output_tokens",
    "/usageMetadata/candidatesTokenCount",
];

/// The cost of a whole answer.
pub(crate) fn of_whole(usage: Option<&Usage>) -> TokenUsage {
    let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok());
    TokenUsage {
        input: count(usage.and_then(|usage| usage.prompt_tokens)),
        output: count(usage.and_then(|usage| usage.completion_tokens)),
    }
}

/// What one event of a stream says of the cost so far, put over what was known before.
pub(crate) fn updated(known: TokenUsage, event: &Value) -> TokenUsage {
    let said = |places: &[&str]| {
        places
            .iter()
            .find_map(|place| event.pointer(place).and_then(Value::as_u64))
    };
    TokenUsage {
        input: said(&READ).or(known.input),
        output: said(&WRITTEN).or(known.output),
    }
}
