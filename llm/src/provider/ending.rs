//! Why providers end an answer, in their own words: which of these words are good ends.
//!
//! A word that is on none of these lists is a failure, which is told with the word: providers invent new ones, and what they
//! mean by them is seldom that the answer is whole.
//!
//! Sources: OpenAI, "Chat completions" and "Responses"; Anthropic, "Handling stop reasons"; Google, `FinishReason` of the Gemini
//! API; DeepSeek (`insufficient_system_resource`), Z.ai (`sensitive`, `network_error`), Mistral (`model_length`), Together
//! (`eos`), text-generation-inference (`eos_token`), vLLM (`abort`), OpenRouter (`error`); as of November 2026.

use super::wire::Form;

/// What a word at the end of an answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The answer is whole.
    Whole,
    /// The length limit was reached.
    CutOff,
    /// A filter kept the rest back.
    Filtered,
    /// The model refuses.
    Refused,
    /// The model can read and write no more.
    ContextFull,
    /// The answer is not whole. The same call may succeed, or not.
    Failed { again: bool },
}

/// The words of a provider's form.
struct Words {
    whole: &'static [&'static str],
    cut_off: &'static [&'static str],
    filtered: &'static [&'static str],
    refused: &'static [&'static str],
    context_full: &'static [&'static str],
}

const GEMINI_FILTERS: &[&str] = &[
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MODEL_ARMOR",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
];

/// Gateways to other providers pass some of their words on.
const CHAT_COMPLETIONS: Words = Words {
    whole: &[
        "stop",
        "tool_calls",
        "function_call",
        "eos",
        "eos_token",
        "stop_sequence",
        "end_turn",
        "tool_use",
        "STOP",
    ],
    cut_off: &["length", "max_tokens", "model_length", "MAX_TOKENS"],
    filtered: &["content_filter", "sensitive", "SAFETY", "RECITATION"],
    refused: &["refusal"],
    context_full: &["model_context_window_exceeded"],
};

const RESPONSES: Words = Words {
    whole: &["completed"],
    cut_off: &["max_output_tokens"],
    filtered: &["content_filter"],
    refused: &[],
    context_full: &[],
};

const ANTHROPIC: Words = Words {
    whole: &["end_turn", "tool_use", "stop_sequence"],
    cut_off: &["max_tokens"],
    filtered: &[],
    refused: &["refusal"],
    context_full: &["model_context_window_exceeded"],
};

const GEMINI: Words = Words {
    whole: &["STOP"],
    cut_off: &["MAX_TOKENS"],
    filtered: GEMINI_FILTERS,
    refused: &[],
    context_full: &[],
};

/// Of the providers that only the client library reads: Cohere, Ollama's cloud, Bedrock, Vertex, Gemini's interactions and
/// gateways that choose a form by the model.
const LIBRARY: Words = Words {
    whole: &[
        "stop",
        "tool_calls",
        "function_call",
        "end_turn",
        "tool_use",
        "stop_sequence",
        "STOP",
        "COMPLETE",
        "STOP_SEQUENCE",
        "TOOL_CALL",
        "completed",
        "requires_action",
    ],
    cut_off: &["length", "max_tokens", "MAX_TOKENS", "incomplete"],
    filtered: &[
        "content_filter",
        "content_filtered",
        "guardrail_intervened",
        "ERROR_TOXIC",
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
    ],
    refused: &["refusal"],
    context_full: &["model_context_window_exceeded"],
};

/// Words after which the same call ends the same way: what was sent is at fault.
const NEVER_AGAIN: [&str; 1] = ["MISSING_THOUGHT_SIGNATURE"];

impl Form {
    const fn words(self) -> &'static Words {
        match self {
            Self::ChatCompletions => &CHAT_COMPLETIONS,
            Self::Responses => &RESPONSES,
            Self::Anthropic => &ANTHROPIC,
            Self::Gemini => &GEMINI,
            Self::Library => &LIBRARY,
        }
    }

    /// What it means that an answer in this form ended with this word.
    pub(crate) fn end(self, word: &str) -> End {
        let words = self.words();
        let lists = [
            (words.whole, End::Whole),
            (words.cut_off, End::CutOff),
            (words.filtered, End::Filtered),
            (words.refused, End::Refused),
            (words.context_full, End::ContextFull),
        ];
        let known = lists.into_iter().find(|(list, _)| list.contains(&word));
        let again = !NEVER_AGAIN.contains(&word);
        known.map_or(End::Failed { again }, |(_, end)| end)
    }
}
