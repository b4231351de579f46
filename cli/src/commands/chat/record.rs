//! What happens as JSON, one object a line, for programs.

use std::io::{self, Write};

use interrupt_router::StopReason;
use interrupt_router::model::ToolRequest;
use llm::{AtProvider, ChatPartial, ChatUsage, ConversationEvent, TokenCount};
use serde_json::{Value, json};

use super::lines::Output;
use crate::visible::visible_json;

/// Writes each event as it happens.
#[derive(Debug)]
pub(super) struct Records;

impl Output for Records {
    fn show_event(&mut self, event: &ConversationEvent) -> io::Result<()> {
        let Some(record) = record(event) else {
            return Ok(());
        };
        let mut output = io::stdout().lock();
        output.write_all(visible_json(&record.to_string()).as_bytes())?;
        output.write_all(b"\n")?;
        output.flush()
    }
}

/// The record of an event; none for those that this version does not know.
fn record(event: &ConversationEvent) -> Option<Value> {
    Some(match event {
        ConversationEvent::MessageSent { text } => json!({"type": "messageSent", "text": text}),
        ConversationEvent::RunStarted => json!({"type": "runStarted"}),
        ConversationEvent::StepStarted { messages } => {
            json!({"type": "stepStarted", "messages": messages})
        }
        ConversationEvent::Piece { text } => json!({"type": "piece", "text": text}),
        ConversationEvent::Restarted => json!({"type": "restarted"}),
        ConversationEvent::Noted { note } => {
            json!({"type": "noted", "text": note.to_string()})
        }
        ConversationEvent::Answered {
            text,
            tool_requests,
            usage,
            cut_off,
        } => {
            let asked: Vec<Value> = tool_requests.iter().map(of_request).collect();
            json!({"type": "answered", "text": text, "cutOff": cut_off, "usage": of_usage(*usage),
                "toolRequests": asked})
        }
        ConversationEvent::ToolStarted { request } => {
            json!({"type": "toolStarted", "request": of_request(request)})
        }
        ConversationEvent::ToolEnded { request, result } => {
            json!({"type": "toolEnded", "request": of_request(request),
                "state": result.state.word(), "summary": result.summary, "text": result.text,
                "mayStillRun": result.may_still_run})
        }
        ConversationEvent::Failed { error } => {
            json!({"type": "failed", "error": crate::causes(&**error)})
        }
        ConversationEvent::Interrupted { reason, partial } => {
            json!({"type": "interrupted", "reason": of_reason(reason),
                "partial": partial.as_ref().map(of_partial)})
        }
        ConversationEvent::Paused { reason } => {
            json!({"type": "paused", "reason": of_reason(reason)})
        }
        ConversationEvent::RunEnded => json!({"type": "runEnded"}),
        _ => return None,
    })
}

fn of_request(request: &ToolRequest) -> Value {
    json!({"id": request.id, "tool": request.name, "arguments": request.arguments})
}

fn of_reason(reason: &StopReason) -> Value {
    json!({"source": reason.source, "mode": reason.mode, "message": reason.message,
        "timestamp": reason.timestamp})
}

fn of_partial(partial: &ChatPartial) -> Value {
    let at_provider = match partial.at_provider {
        AtProvider::NothingUnderWay => "nothingUnderWay",
        AtProvider::ConnectionClosed => "connectionClosed",
        AtProvider::BeingTold => "beingTold",
        AtProvider::OnlyDiscarded => "onlyDiscarded",
    };
    json!({
        "text": partial.text,
        "toolRequests": partial.tool_requests.iter().map(of_request).collect::<Vec<Value>>(),
        "usage": of_usage(partial.usage),
        "atProvider": at_provider,
        "mayBeBilled": partial.may_be_billed(),
        "discarded": {
            "reasoningBytes": partial.discarded.reasoning,
            "toolCallPieces": partial.discarded.tool_call_pieces,
            "waitingEvents": partial.discarded.waiting_events,
        },
    })
}

fn of_usage(usage: ChatUsage) -> Value {
    json!({"input": of_count(usage.input), "output": of_count(usage.output)})
}

fn of_count(count: TokenCount) -> Value {
    match count {
        TokenCount::Unknown => json!({"known": "no"}),
        TokenCount::NothingSent => json!({"known": "nothingSent", "tokens": 0}),
        TokenCount::Reported(tokens) => json!({"known": "reported", "tokens": tokens}),
        TokenCount::Estimated { tokens, method } => {
            json!({"known": "estimated", "tokens": tokens, "method": method.name()})
        }
    }
}

#[cfg(test)]
mod tests {
    use llm::{ChatPartial, ChatUsage, ConversationEvent, EstimationMethod, TokenCount};

    use super::record;
    use crate::commands::chat::now;

    #[test]
    fn an_interrupt_tells_what_is_kept_and_how_its_cost_is_known() {
        let usage = ChatUsage {
            input: TokenCount::Reported(3),
            output: TokenCount::Estimated {
                tokens: 1,
                method: EstimationMethod::QuarterOfCharacters,
            },
        };
        let partial = ChatPartial {
            text: "half".to_owned(),
            usage,
            ..ChatPartial::default()
        };
        let event = ConversationEvent::Interrupted {
            reason: now("Esc"),
            partial: Some(partial),
        };
        let record = record(&event).unwrap();
        assert_eq!(record["reason"]["message"], "Esc");
        assert_eq!(record["partial"]["text"], "half");
        assert_eq!(record["partial"]["usage"]["input"]["known"], "reported");
        let output = &record["partial"]["usage"]["output"];
        assert_eq!(output["method"], "quarter_of_characters");
        assert_eq!(output["tokens"], 1);
    }
}
