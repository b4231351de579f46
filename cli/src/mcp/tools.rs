//! The tools as a client reads about them.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// A tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolName {
    /// Asks a question.
    AskHuman,
    /// Asks whether something may be done.
    RequestApproval,
    /// Continues waiting.
    AwaitAnswer,
    /// Takes a question back.
    Withdraw,
    /// Lists the questions that wait.
    ListOpen,
}

impl ToolName {
    const ALL: [Self; 5] = [
        Self::AskHuman,
        Self::RequestApproval,
        Self::AwaitAnswer,
        Self::Withdraw,
        Self::ListOpen,
    ];

    /// The tool that has this name.
    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Its name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::AskHuman => "ask_human",
            Self::RequestApproval => "request_approval",
            Self::AwaitAnswer => "await_answer",
            Self::Withdraw => "withdraw",
            Self::ListOpen => "list_open",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::AskHuman => "Ask a person",
            Self::RequestApproval => "Request approval",
            Self::AwaitAnswer => "Wait for an answer",
            Self::Withdraw => "Withdraw a question",
            Self::ListOpen => "List open questions",
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Self::AskHuman => {
                "Asks a person a question and waits for the answer. Use it when you need a decision, a preference or a \
                 fact that only a person has. If no answer has come in time, `state` is `open` and `ticket` is for \
                 await_answer. The same words asked again while they wait are the same question."
            }
            Self::RequestApproval => {
                "Asks a person whether you may do something, and waits. Only `decided_as: approved` allows it; anything \
                 else, also no answer, does not. If no answer has come in time, `state` is `open` and `ticket` is for \
                 await_answer."
            }
            Self::AwaitAnswer => {
                "Goes on waiting for the answer to a question that is open, by its ticket."
            }
            Self::Withdraw => {
                "Withdraws a question that you need no answer to any more. One that is decided stays decided."
            }
            Self::ListOpen => {
                "Lists the questions of this session whose answers you have not read yet, also those from before a \
                 restart, with their tickets."
            }
        }
    }

    fn input(self) -> Value {
        let wait = json!({
            "type": "integer", "minimum": 0, "maximum": super::asking::LONGEST_WAIT,
            "description": "How many seconds to wait for the answer before a ticket is handed back",
        });
        let ticket = json!({"type": "string", "maxLength": 200, "description": "The ticket of the question"});
        match self {
            Self::AskHuman => closed(
                json!({
                    "question": {"type": "string", "minLength": 1, "description": "The question, in one or two sentences"},
                    "context": {"type": "string", "description": "What the person needs to know to answer"},
                    "choices": {
                        "type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": super::asking::MOST_CHOICES,
                        "uniqueItems": true, "description": "Answers to choose from; the person may also write another one",
                    },
                    "wait_seconds": wait,
                }),
                &["question"],
            ),
            Self::RequestApproval => closed(
                json!({
                    "action": {"type": "string", "minLength": 1, "description": "What you want to do, in one sentence"},
                    "details": {"type": "string", "description": "What exactly happens then: the command, the diff, the cost"},
                    "wait_seconds": wait,
                }),
                &["action"],
            ),
            Self::AwaitAnswer => {
                closed(json!({"ticket": ticket, "wait_seconds": wait}), &["ticket"])
            }
            Self::Withdraw => closed(json!({"ticket": ticket}), &["ticket"]),
            Self::ListOpen => closed(json!({}), &[]),
        }
    }

    fn output(self) -> Value {
        match self {
            Self::AskHuman | Self::RequestApproval | Self::AwaitAnswer | Self::Withdraw => answer(),
            Self::ListOpen => {
                let question = closed(
                    json!({
                        "ticket": {"type": "string"},
                        "state": state(),
                        "question": {"type": "string"},
                        "asked_at": {"type": "string", "format": "date-time"},
                    }),
                    &["ticket", "state", "question", "asked_at"],
                );
                closed(
                    json!({"questions": {"type": "array", "items": question}}),
                    &["questions"],
                )
            }
        }
    }

    fn tool(self) -> Tool {
        let annotations = ToolAnnotations::new()
            .read_only(matches!(self, Self::AwaitAnswer | Self::ListOpen))
            .destructive(false)
            .idempotent(true)
            .open_world(matches!(self, Self::AskHuman | Self::RequestApproval));
        Tool::new(self.name(), self.description(), object(self.input()))
            .with_title(self.title())
            .with_raw_output_schema(object(self.output()))
            .with_annotations(annotations)
    }
}

/// All tools.
pub(super) fn all() -> Vec<Tool> {
    ToolName::ALL.into_iter().map(ToolName::tool).collect()
}

/// What the tools that ask and wait answer.
fn answer() -> Value {
    closed(
        json!({
            "state": state(),
            "decision": {
                "type": ["string", "null"],
                "description": "What the person decided: approve, edit, reject, respond, ignore or cancel",
            },
            "decided_as": {
                "type": ["string", "null"],
                "description": "What that means: approved, answered, rerouted, declined, expired or withdrawn. After any but `approved` nothing is allowed",
            },
            "text": {"type": ["string", "null"], "description": "What the person wrote"},
            "choices": {"type": "array", "items": {"type": "string"}, "description": "What the person chose"},
            "by": {"type": ["string", "null"], "description": "Who decided: a person, `policy` or `deadline`"},
            "ticket": {"type": "string", "description": "Names the question for await_answer and withdraw"},
        }),
        &[
            "state",
            "decision",
            "decided_as",
            "text",
            "choices",
            "by",
            "ticket",
        ],
    )
}

fn state() -> Value {
    json!({
        "type": "string", "enum": ["open", "decided", "expired", "withdrawn"],
        "description": "`open`: no answer yet; `expired`: no answer came in time; `withdrawn`: none will come",
    })
}

fn closed(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn object(value: Value) -> Arc<JsonObject> {
    match value {
        Value::Object(members) => Arc::new(members),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Arc::default()
        }
    }
}
