//! Causes of refusals that have an outcome of their own, regardless of their status: what the providers call them.
//!
//! Sources: OpenAI, "Error codes" (`insufficient_quota`, `context_length_exceeded`, `content_filter` of Azure);
//! Anthropic, "Errors" (`billing_error`, and its words for a long prompt and for missing credit); Google, "Troubleshooting"
//! of the Gemini API; llama.cpp, `tools/server/README.md` (`exceed_context_size_error`); as of November 2026.

use interrupt_router::model::ModelError;
use serde_json::Value;

/// Codes and types of errors that mean that a payment is missing.
const UNPAID: [&str; 7] = [
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "billing_error",
    "insufficient_balance",
    "insufficient_credits",
    "payment_required",
];

/// And words, of providers that have no code for it.
const UNPAID_WORDS: [&str; 3] = [
    "credit balance is too low",
    "insufficient balance",
    "exceeded your current quota, please check your plan",
];

/// Codes and types of errors that mean that the prompt is too long.
const TOO_LONG: [&str; 4] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "string_above_max_length",
    "request_too_large",
];

/// And words.
const TOO_LONG_WORDS: [&str; 7] = [
    "prompt is too long",
    "maximum context length",
    "exceeds the available context size",
    "context window",
    "context length exceeded",
    "exceeds the maximum number of tokens",
    "input length and `max_tokens` exceed",
];

/// Codes and types of errors that mean that a filter kept the answer back.
const FILTERED: [&str; 4] = [
    "content_filter",
    "content_policy_violation",
    "responsibleaipolicyviolation",
    "sensitive_words_detected",
];

/// The error of a refusal for one of these causes.
pub(super) fn of(status: u16, body: &Value, detail: &str) -> Option<ModelError> {
    // Some wrap the object in a list.
    let body = body.get(0).unwrap_or(body);
    let error = body.get("error").unwrap_or(body);
    let names: Vec<String> = ["/code", "/type", "/status", "/innererror/code"]
        .iter()
        .filter_map(|place| error.pointer(place).and_then(Value::as_str))
        .map(str::to_ascii_lowercase)
        .collect();
    let words = detail.to_ascii_lowercase();
    let says = |codes: &[&str], phrases: &[&str]| {
        names.iter().any(|name| codes.contains(&name.as_str()))
            || phrases.iter().any(|phrase| words.contains(phrase))
    };
    let detail = detail.to_owned();
    if status == 402 || says(&UNPAID, &UNPAID_WORDS) {
        return Some(ModelError::Unpaid { status, detail });
    }
    // A provider that has a fault of its own may say anything.
    if status >= 500 && !says(&TOO_LONG, &[]) {
        return None;
    }
    if status == 413 || says(&TOO_LONG, &TOO_LONG_WORDS) {
        return Some(ModelError::ContextFull { detail });
    }
    says(&FILTERED, &[]).then_some(ModelError::Filtered { detail })
}

#[cfg(test)]
mod tests {
    use interrupt_router::model::ModelError;
    use serde_json::{Value, json};

    use super::of;

    fn cause(status: u16, body: &Value) -> Option<&'static str> {
        let detail = body
            .pointer("/error/message")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let error = of(status, body, detail)?;
        Some(if let ModelError::Unpaid { .. } = error {
            "unpaid"
        } else if let ModelError::ContextFull { .. } = error {
            "context"
        } else {
            "filtered"
        })
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "one row for each provider's words")]
    fn each_provider_is_understood_in_its_own_words() {
        let error = |error: Value| json!({ "error": error });
        for (status, said, expected) in [
            (
                402,
                error(json!({"message": "Insufficient Balance"})),
                Some("unpaid"),
            ),
            (402, Value::Null, Some("unpaid")),
            (
                429,
                error(
                    json!({"message": "You exceeded your current quota, please check your plan and billing details.",
                "type": "insufficient_quota", "code": "insufficient_quota"}),
                ),
                Some("unpaid"),
            ),
            (
                400,
                error(json!({"type": "invalid_request_error",
                "message": "Your credit balance is too low to access the Anthropic API."})),
                Some("unpaid"),
            ),
            (
                400,
                error(
                    json!({"message": "This model's maximum context length is 8192 tokens.",
                "type": "invalid_request_error", "code": "context_length_exceeded"}),
                ),
                Some("context"),
            ),
            (
                400,
                error(json!({"code": 400, "type": "exceed_context_size_error",
                "message": "the request exceeds the available context size, try increasing it",
                "n_prompt_tokens": 9000, "n_ctx": 8192})),
                Some("context"),
            ),
            (
                400,
                error(json!({"type": "invalid_request_error",
                "message": "prompt is too long: 210000 tokens > 200000 maximum"})),
                Some("context"),
            ),
            (
                400,
                error(json!({"code": 400, "status": "INVALID_ARGUMENT",
                "message": "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576)."})),
                Some("context"),
            ),
            (413, Value::Null, Some("context")),
            (
                400,
                error(
                    json!({"code": "content_filter", "message": "The response was filtered.",
                "innererror": {"code": "ResponsibleAIPolicyViolation"}}),
                ),
                Some("filtered"),
            ),
            (
                429,
                error(json!({"message": "Rate limit reached", "code": "rate_limit_exceeded"})),
                None,
            ),
            (
                429,
                error(
                    json!({"message": "Quota exceeded for quota metric", "status": "RESOURCE_EXHAUSTED"}),
                ),
                None,
            ),
            (400, error(json!({"message": "unknown field"})), None),
            (
                500,
                error(json!({"message": "the context window of our proxy"})),
                None,
            ),
        ] {
            assert_eq!(cause(status, &said), expected, "{status} {said}");
        }
    }
}
