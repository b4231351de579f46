//! What the journal records of a run, as JSON: only what is stable, and all that a replay needs.

use interrupt_router::ask::is_rejected_early;
use interrupt_router::handler::{DecidedBy, FilledBy};
use interrupt_router::model::{ModelReply, PartialReply, Purpose, TokenUsage, ToolRequest};
use interrupt_router::review::Answer;
use interrupt_router::{DecisionId, EventId, InterruptId, NodeId, Outcome, RunId, Verdict};
use interrupts::Digest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::AgentMessage;

/// Where in its flow something happened: flows count their turns, and a worker's flow knows which turn the run's own
/// flow was in when the worker's began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowPosition {
    /// The first node of a worker's flow; absent for the run's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<NodeId>,
    /// The turn of the run's own flow.
    pub main: u64,
    /// The turn of this flow.
    pub own: u64,
}

/// How a turn began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnStart {
    /// The step's number in the run.
    pub step: u32,
    pub place: FlowPosition,
    /// Whether the node takes this turn because something came after its last answer.
    pub again: bool,
    /// The supervisor's words, repeated to it because it had ignored them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reminder: Option<String>,
    /// What it read at its start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub letters: Vec<AgentMessage>,
}

/// A model is about to be called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallIntent {
    pub purpose: Purpose,
    pub turn: u32,
    pub correction: u32,
    /// The name of the schema that it shall fit.
    pub schema: String,
    /// The digest of that schema.
    pub digest: Digest,
    /// How the turn began, for the first call of a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<TurnStart>,
    /// How much it is asked. Older journals do not say.
    #[serde(default, skip_serializing_if = "Prompt::is_unknown")]
    pub prompt: Prompt,
}

/// How much a model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Prompt {
    /// The messages, and one more for the schema.
    pub messages: u32,
    /// The bytes of all of them.
    pub bytes: u64,
}

impl Prompt {
    fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

/// A model has answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallResult {
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_requests: Vec<ToolRequest>,
    pub usage: TokenUsage,
    pub cut_off: bool,
    /// It was rejected before it had arrived whole: the text is what had arrived by then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rejected: bool,
}

impl From<CallResult> for ModelReply {
    fn from(result: CallResult) -> Self {
        Self {
            text: result.text,
            tool_requests: result.tool_requests,
            usage: result.usage,
            cut_off: result.cut_off,
        }
    }
}

impl CallResult {
    /// What is recorded of a call with this outcome; `None` if it has no answer and is made again.
    pub fn of(outcome: &Outcome<ModelReply, PartialReply>) -> Option<Self> {
        let (reply, rejected) = match outcome {
            Outcome::Completed(reply) => (reply.clone(), false),
            Outcome::Interrupted { reason, partial } if is_rejected_early(reason) => {
                (ModelReply::rejected_early(partial.clone()), true)
            }
            Outcome::Interrupted { .. } => return None,
        };
        Some(Self {
            text: reply.text,
            tool_requests: reply.tool_requests,
            usage: reply.usage,
            cut_off: reply.cut_off,
            rejected,
        })
    }

    /// What is recorded of a call; `None` if its agent was left out before it had an answer.
    ///
    /// # Errors
    ///
    /// If it is neither.
    pub fn read(content: &str) -> serde_json::Result<Option<Self>> {
        match serde_json::from_str(content) {
            Ok(answer) => Ok(Some(answer)),
            Err(error) => match serde_json::from_str::<LeftOut>(content) {
                Ok(_) => Ok(None),
                Err(_neither) => Err(error),
            },
        }
    }
}

/// Something that was begun for an agent is not continued: the agent was left out first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Why.
    pub left_out: String,
}

/// An interrupt is about to be handled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InterruptIntent {
    pub interrupt: InterruptId,
    pub request: Value,
    /// The supervisor's event that asked for it, as it was published: in the store the agent's request takes its
    /// place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Value>,
}

/// What became of an interrupt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InterruptOutcome {
    /// Whether a supervisor's event asked for it.
    pub requested: bool,
    #[serde(flatten)]
    pub end: InterruptEnd,
}

impl InterruptOutcome {
    /// Whether its agent was cut off before anything came of it.
    pub const fn is_left_out(&self) -> bool {
        matches!(self.end, InterruptEnd::LeftOut { .. })
    }
}

/// How an interrupt ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum InterruptEnd {
    Routed {
        routing: Value,
        origin: String,
        target: String,
        decision: DecisionId,
        /// What was decided; absent in journals of before verdicts were kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verdict: Option<Verdict>,
        decided_by: DecidedBy,
        filled_by: FilledBy,
        answer: Answer,
        reroute: Option<EventId>,
    },
    /// The answer was no, or none came in time.
    Declined {
        decision: DecisionId,
        verdict: Verdict,
        decided_by: DecidedBy,
        answer: Answer,
        reroute: Option<EventId>,
    },
    Stopped {
        reason: String,
    },
    Pruned {
        reason: String,
    },
    Branched {
        branch: RunId,
        reason: String,
    },
    Refused {
        reason: String,
    },
    /// Its agent was cut off from outside before.
    LeftOut {
        reason: String,
    },
}

/// A node was cut off from outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutOff {
    pub node: NodeId,
    pub reason: String,
    pub place: FlowPosition,
}

#[cfg(test)]
mod tests {
    use super::{CallIntent, CallResult, InterruptOutcome, LeftOut};

    /// From journals written before agents had tools.
    const INTENT: &str = r#"{"purpose":"step","turn":1,"correction":0,"schema":"OrchestratorRouting","digest":"126b4eeb011ae604c43b2d3596ec80fba06958cfee3dd7f90cbf948e8f57eb36"}"#;
    const RESULT: &str = r#"{"text":"{}","usage":{"input":3,"output":4},"cut_off":false}"#;

    #[test]
    fn journals_of_before_there_were_tools_are_read_and_written_alike() {
        let intent: CallIntent = serde_json::from_str(INTENT).unwrap();
        assert_eq!(serde_json::to_string(&intent).unwrap(), INTENT);
        let result: CallResult = serde_json::from_str(RESULT).unwrap();
        assert!(result.tool_requests.is_empty());
        assert_eq!(serde_json::to_string(&result).unwrap(), RESULT);
    }

    #[test]
    fn outcomes_of_before_verdicts_were_kept_are_read_and_written_alike() {
        let outcome = r#"{"requested":false,"outcome":"routed","routing":{"refund":{}},"origin":"REFUNDS","target":"REFUNDS","decision":"dec_01993d4e5f607182b3c4d5e6f7089a1b","decided_by":{"by":"person"},"filled_by":{"by":"person"},"answer":{"selectedChoices":[],"text":"[rejected: do not do what you asked for]","confirmations":{}},"reroute":null}"#;
        let read: InterruptOutcome = serde_json::from_str(outcome).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), outcome);
    }

    #[test]
    fn a_call_that_was_left_out_has_a_result_and_no_answer() {
        assert!(CallResult::read(RESULT).unwrap().is_some());
        let left_out = LeftOut {
            left_out: "nobody needs it".to_owned(),
        };
        let content = serde_json::to_string(&left_out).unwrap();
        assert_eq!(CallResult::read(&content).unwrap(), None);
        assert!(CallResult::read("{}").is_err());
    }
}
