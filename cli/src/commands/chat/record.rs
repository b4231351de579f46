//! What happens as JSON, one object a line, for programs.

use std::io::{self, Write};

use interrupt_router::StopReason;
use interrupt_router::model::{AtProvider, PartialReply, TokenUsage, ToolRequest};
use llm::ConversationEvent;
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

fn of_partial(partial: &PartialReply) -> Value {
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
    })
}

fn of_usage(usage: TokenUsage) -> Value {
    json!({"input": of_count(usage.input), "output": of_count(usage.output)})
}

fn of_count(said: Option<u64>) -> Value {
    match said {
        None => json!({"known": "no"}),
        Some(tokens) => json!({"known": "reported", "tokens": tokens}),
    }
}

#[cfg(test)]
mod tests {
    use interrupt_router::model::{PartialReply, TokenUsage};
    use llm::ConversationEvent;

    use super::record;
    use crate::commands::chat::now;

    #[test]
    fn an_interrupt_tells_what_is_kept_and_how_its_cost_is_known() {
        let usage = TokenUsage {
            input: Some(3),
            output: None,
        };
        let partial = PartialReply {
            text: "half".to_owned(),
            usage,
            ..PartialReply::default()
        };
        let event = ConversationEvent::Interrupted {
            reason: now("Esc"),
            partial: Some(partial),
        };
        let record = record(&event).unwrap();
        assert_eq!(record["reason"]["message"], "Esc");
        assert_eq!(record["partial"]["text"], "half");
        assert_eq!(record["partial"]["usage"]["input"]["known"], "reported");
        assert_eq!(record["partial"]["usage"]["output"]["known"], "no");
        assert_eq!(record["partial"]["mayBeBilled"], true);
    }
}
