//! How much known models read, as their providers publish it. A model that is not listed here counts as unknown: a
//! prompt that is cut to a wrong size is worse than one that the provider refuses.
//!
//! Sources, as of November 2026: OpenAI, "Models" (context window, on each model's page); Anthropic, "Context windows" (which
//! models read a million tokens, and that the others read 200,000); Google, "Gemini models" (input token limit).

use crate::provider::Provider;

const OPENAI: [(&str, u64); 17] = [
    ("gpt-4o", 128_000),
    ("gpt-4o-mini", 128_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4.1-mini", 1_047_576),
    ("gpt-4.1-nano", 1_047_576),
    ("gpt-5", 400_000),
    ("gpt-5-mini", 400_000),
    ("gpt-5-nano", 400_000),
    ("gpt-5-chat", 128_000),
    ("gpt-5.1", 400_000),
    ("gpt-5.1-chat", 128_000),
    ("o1", 200_000),
    ("o1-mini", 128_000),
    ("o1-preview", 128_000),
    ("o3", 200_000),
    ("o3-mini", 200_000),
    ("o4-mini", 200_000),
];

const ANTHROPIC: [(&str, u64); 15] = [
    ("claude-3-haiku", 200_000),
    ("claude-3-opus", 200_000),
    ("claude-3-5-haiku", 200_000),
    ("claude-3-5-sonnet", 200_000),
    ("claude-3-7-sonnet", 200_000),
    ("claude-haiku-4-5", 200_000),
    ("claude-opus-4-0", 200_000),
    ("claude-opus-4-1", 200_000),
    ("claude-opus-4-5", 200_000),
    ("claude-sonnet-4-0", 200_000),
    ("claude-sonnet-4-5", 200_000),
    ("claude-opus-4-6", 1_000_000),
    ("claude-opus-4-7", 1_000_000),
    ("claude-opus-4-8", 1_000_000),
    ("claude-sonnet-4-6", 1_000_000),
];

const GEMINI: [(&str, u64); 3] = [
    ("gemini-2.5-pro", 1_048_576),
    ("gemini-2.5-flash", 1_048_576),
    ("gemini-2.5-flash-lite", 1_048_576),
];

/// How many tokens a model of a provider reads and writes together, where that is published.
pub(super) fn context(provider: Provider, model: &str) -> Option<u64> {
    let known: &[(&str, u64)] = match provider {
        Provider::OPENAI | Provider::OPENAI_RESPONSES => &OPENAI,
        Provider::ANTHROPIC => &ANTHROPIC,
        Provider::GEMINI => &GEMINI,
        _ => return None,
    };
    let (_, context) = known.iter().find(|(family, _)| is_of(family, model))?;
    Some(*context)
}

/// Whether a name is a family's own, or one of its versions: with a date, a number, or as the latest.
fn is_of(family: &str, model: &str) -> bool {
    let Some(rest) = model.strip_prefix(family) else {
        return false;
    };
    let is_number = |rest: &str| {
        let fits = |byte: u8| byte.is_ascii_digit() || byte == b'-';
        !rest.is_empty() && rest.bytes().all(fits)
    };
    // A second number is another version of the model, and no date of this one.
    let is_version = |rest: &str| rest.len() > 2 && is_number(rest);
    rest.is_empty()
        || rest
            .strip_prefix('-')
            .is_some_and(|rest| rest == "latest" || is_version(rest))
}

#[cfg(test)]
mod tests {
    use super::context;
    use crate::provider::Provider;

    #[test]
    fn a_published_model_is_known_with_its_versions_and_no_other() {
        for (provider, model, known) in [
            (Provider::OPENAI, "gpt-5-mini", Some(400_000)),
            (
                Provider::OPENAI_RESPONSES,
                "gpt-4o-2024-08-06",
                Some(128_000),
            ),
            (Provider::OPENAI, "gpt-5-chat-latest", Some(128_000)),
            (Provider::OPENAI, "gpt-5.4", None),
            (Provider::OPENAI, "gpt-4o-audio-preview", None),
            (
                Provider::ANTHROPIC,
                "claude-haiku-4-5-20251001",
                Some(200_000),
            ),
            (Provider::ANTHROPIC, "claude-opus-4-6", Some(1_000_000)),
            (Provider::ANTHROPIC, "claude-opus-4-9", None),
            (Provider::GEMINI, "gemini-2.5-flash", Some(1_048_576)),
            (Provider::GEMINI, "gemini-2.5-flash-image", None),
            (Provider::OLLAMA, "gpt-4o", None),
        ] {
            assert_eq!(context(provider, model), known, "{provider}:{model}");
        }
    }
}
