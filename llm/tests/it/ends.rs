//! Why an answer ends, over the wire forms: the good ends are on a list, and every other word is a failure that is told with it.

use interrupt_router::StopScope;
use interrupt_router::model::{LanguageModel, Message, ModelCall, ModelError, ModelReply};

use serde_json::json;
use tests::providers::{Behaviour, WireForm};

use crate::calls::{double, model, talk};
use crate::tools::offers;

/// What an end means.
#[derive(Debug, PartialEq, Eq)]
enum Meaning {
    Whole,
    CutOff,
    Filtered,
    Refused,
    ContextFull,
    /// Whether the call is made again.
    Failed(bool),
}

use Meaning::{ContextFull, CutOff, Failed, Filtered, Refused, Whole};

/// Ends × providers.
const ENDS: [(WireForm, &str, Meaning); 55] = [
    (WireForm::OpenAi, "stop", Whole),
    (WireForm::OpenAi, "tool_calls", Whole),
    (WireForm::OpenAi, "function_call", Whole),
    (WireForm::OpenAi, "eos", Whole),
    (WireForm::OpenAi, "eos_token", Whole),
    (WireForm::OpenAi, "end_turn", Whole),
    (WireForm::OpenAi, "length", CutOff),
    (WireForm::OpenAi, "model_length", CutOff),
    (WireForm::OpenAi, "content_filter", Filtered),
    (WireForm::OpenAi, "sensitive", Filtered),
    (
        WireForm::OpenAi,
        "model_context_window_exceeded",
        ContextFull,
    ),
    (WireForm::OpenAi, "error", Failed(true)),
    (WireForm::OpenAi, "network_error", Failed(true)),
    (
        WireForm::OpenAi,
        "insufficient_system_resource",
        Failed(true),
    ),
    (WireForm::OpenAi, "abort", Failed(true)),
    (WireForm::OpenAi, "repetition_truncation", Failed(true)),
    (WireForm::OpenAi, "MALFORMED_FUNCTION_CALL", Failed(true)),
    (WireForm::OpenAi, "a new word", Failed(true)),
    (WireForm::OpenAiResponses, "completed", Whole),
    (WireForm::OpenAiResponses, "max_output_tokens", CutOff),
    (WireForm::OpenAiResponses, "content_filter", Filtered),
    (WireForm::OpenAiResponses, "cancelled", Failed(true)),
    (WireForm::OpenAiResponses, "failed", Failed(true)),
    (WireForm::OpenAiResponses, "incomplete", Failed(true)),
    (WireForm::OpenAiResponses, "a new word", Failed(true)),
    (WireForm::Anthropic, "end_turn", Whole),
    (WireForm::Anthropic, "tool_use", Whole),
    (WireForm::Anthropic, "stop_sequence", Whole),
    (WireForm::Anthropic, "max_tokens", CutOff),
    (WireForm::Anthropic, "refusal", Refused),
    (
        WireForm::Anthropic,
        "model_context_window_exceeded",
        ContextFull,
    ),
    (WireForm::Anthropic, "pause_turn", Failed(true)),
    (WireForm::Anthropic, "a new word", Failed(true)),
    (WireForm::Gemini, "STOP", Whole),
    (WireForm::Gemini, "MAX_TOKENS", CutOff),
    (WireForm::Gemini, "SAFETY", Filtered),
    (WireForm::Gemini, "RECITATION", Filtered),
    (WireForm::Gemini, "LANGUAGE", Filtered),
    (WireForm::Gemini, "BLOCKLIST", Filtered),
    (WireForm::Gemini, "PROHIBITED_CONTENT", Filtered),
    (WireForm::Gemini, "SPII", Filtered),
    (WireForm::Gemini, "MODEL_ARMOR", Filtered),
    (WireForm::Gemini, "IMAGE_SAFETY", Filtered),
    (WireForm::Gemini, "IMAGE_RECITATION", Filtered),
    (WireForm::Gemini, "FINISH_REASON_UNSPECIFIED", Failed(true)),
    (WireForm::Gemini, "OTHER", Failed(true)),
    (WireForm::Gemini, "IMAGE_OTHER", Failed(true)),
    (WireForm::Gemini, "NO_IMAGE", Failed(true)),
    (WireForm::Gemini, "MALFORMED_FUNCTION_CALL", Failed(true)),
    (WireForm::Gemini, "MALFORMED_RESPONSE", Failed(true)),
    (WireForm::Gemini, "UNEXPECTED_TOOL_CALL", Failed(true)),
    (WireForm::Gemini, "TOO_MANY_TOOL_CALLS", Failed(true)),
    (WireForm::Gemini, "MISSING_THOUGHT_SIGNATURE", Failed(false)),
    (WireForm::Gemini, "stop", Failed(true)),
    (WireForm::Gemini, "a new word", Failed(true)),
];

/// The events of that stream, the last line of the form included where that is an event.
fn events(form: WireForm, word: &str) -> Vec<serde_json::Value> {
    let arguments = json!({"path": "a.txt"});
    let written = arguments.to_string();
    match form {
        WireForm::OpenAi => {
            let call = json!([{"index": 0, "id": "a", "function": {"name": "read_file", "arguments": written}}]);
            vec![
                json!({"choices": [{"index": 0, "delta": {"content": "I look."}, "finish_reason": null}]}),
                json!({"choices": [{"index": 0, "delta": {"tool_calls": call}, "finish_reason": null}]}),
                json!({"choices": [{"index": 0, "delta": {}, "finish_reason": word}]}),
            ]
        }
        WireForm::OpenAiResponses => {
            let kind = match word {
                "completed" | "cancelled" | "failed" | "incomplete" => word,
                _ => "incomplete",
            };
            let why = if kind == word {
                json!(null)
            } else {
                json!({"reason": word})
            };
            let item = json!({"type": "function_call", "call_id": "a", "name": "read_file",
                "arguments": written, "status": "completed"});
            vec![
                json!({"type": "response.output_text.delta", "delta": "I look."}),
                json!({"type": "response.output_item.done", "output_index": 1, "item": item}),
                json!({"type": format!("response.{kind}"),
                    "response": {"status": kind, "incomplete_details": why, "output": []}}),
            ]
        }
        WireForm::Anthropic => vec![
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "I look."}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "content_block_start", "index": 1,
                "content_block": {"type": "tool_use", "id": "a", "name": "read_file", "input": {}}}),
            json!({"type": "content_block_delta", "index": 1,
                "delta": {"type": "input_json_delta", "partial_json": written}}),
            json!({"type": "content_block_stop", "index": 1}),
            json!({"type": "message_delta", "delta": {"stop_reason": word}, "usage": {"output_tokens": 1}}),
            json!({"type": "message_stop"}),
        ],
        WireForm::Gemini => {
            let call = json!({"functionCall": {"id": "a", "name": "read_file", "args": arguments}});
            vec![
                json!({"candidates": [{"content": {"parts": [{"text": "I look."}, call]}}]}),
                json!({"candidates": [{"finishReason": word}]}),
            ]
        }
    }
}

/// A text and a whole call, ended with this word, with the last line of the form or without it.
fn stream(form: WireForm, word: &str, has_last_line: bool) -> Behaviour {
    let mut events = events(form, word);
    if form == WireForm::Anthropic && !has_last_line {
        events.pop();
    }
    let mut text: String = events
        .iter()
        .map(|event| format!("data: {event}\n\n"))
        .collect();
    if form == WireForm::OpenAi && has_last_line {
        text.push_str("data: [DONE]\n\n");
    }
    Behaviour::Sends(text)
}

async fn answered(form: WireForm, behaviour: Behaviour) -> Result<ModelReply, ModelError> {
    let double = double(form, [behaviour]).await;
    let call = ModelCall {
        tools: offers(),
        ..talk(vec![Message::user("Go.")])
    };
    let outcome = model(&double, form).call(call, &StopScope::new()).await?;
    Ok(outcome.completed().unwrap())
}

#[tokio::test]
async fn only_a_good_end_makes_an_answer_whole_and_no_other_has_calls() {
    for (form, word, meaning) in ENDS {
        // A reason that has come decides, with the last line of the form or without it.
        for has_last_line in [true, false] {
            let ended = answered(form, stream(form, word, has_last_line)).await;
            let told = ended.as_ref().err().map(ToString::to_string);
            let found = match &ended {
                Ok(reply) => {
                    assert_eq!(reply.text, "I look.", "{form:?} {word}");
                    assert_eq!(reply.tool_requests.len(), 1, "{form:?} {word}");
                    if reply.cut_off { CutOff } else { Whole }
                }
                Err(ModelError::Filtered { .. }) => Filtered,
                Err(ModelError::Refused { .. }) => Refused,
                Err(ModelError::ContextFull { .. }) => ContextFull,
                Err(error @ ModelError::EndedWith { .. }) => Failed(error.is_transient()),
                Err(error) => panic!("{form:?} {word}: {error:?}"),
            };
            assert_eq!(found, meaning, "{form:?} {word}");
            // A refusal is in the model's own words.
            if let Some(told) = told.filter(|_| meaning != Refused) {
                assert!(told.contains(word), "{form:?} {word}: {told}");
            }
        }
    }
}
