//! What became of a run.

use interrupt_router::handler::{DecidedBy, FilledBy};
use interrupt_router::model::TokenUsage;
use interrupt_router::review::{Answer, Question};
use interrupt_router::{EventId, InterruptId, InterruptType, NodeId, RunId, Verdict};
use interrupts::life::Interrupt;
use interrupts::store::CheckpointId;
use jiff::SignedDuration;
use serde::Serialize;

use super::event::RunEvent;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum RunStatus {
    /// The work is done.
    Completed {
        /// What came of it.
        summary: String,
    },
    /// It stopped to ask, and no one is there to answer.
    Waiting {
        /// The open questions; empty if it was paused.
        questions: Vec<Question>,
        /// The open interrupts, the paused one included.
        interrupts: Vec<InterruptId>,
    },
    /// It has stopped as it was asked to from outside, and can be resumed.
    Paused {
        /// Why.
        reason: String,
    },
    /// It was cancelled: by a STOP interrupt, or by the caller that started it.
    Cancelled {
        /// Why.
        reason: String,
        /// Whether a person's signal or the program's owner stopped it, not an agent's STOP.
        from_outside: bool,
    },
    /// It failed, for good or for now.
    Failed {
        /// Why, from the outermost cause to the innermost.
        error: String,
        /// What may help, if anything is known to.
        hint: Option<String>,
        /// Whether the configured step limit was what ended it.
        limit_hit: bool,
        /// Whether it can be resumed: it is paused where it was, and what failed is tried again.
        resumable: bool,
    },
}

impl RunStatus {
    /// The event that reports it.
    pub fn last_event(&self) -> RunEvent {
        match self {
            Self::Completed { summary } => RunEvent::Completed {
                summary: summary.clone(),
            },
            Self::Paused { reason } => RunEvent::Stopped {
                reason: reason.clone(),
            },
            Self::Cancelled { reason, .. } => RunEvent::Cancelled {
                reason: reason.clone(),
            },
            Self::Waiting { interrupts, .. } => RunEvent::Waiting {
                interrupts: interrupts.clone(),
            },
            Self::Failed {
                error, resumable, ..
            } => RunEvent::Failed {
                error: error.clone(),
                resumable: *resumable,
            },
        }
    }
}

/// What became of one interrupt.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum InterruptResult {
    /// It went on along one route.
    Routed {
        /// The agent type that it went to.
        target: String,
        /// Who decided.
        decided_by: DecidedBy,
        /// Who filled in the request.
        filled_by: FilledBy,
        /// The answer.
        answer: Answer,
        /// The reroute event that was used.
        reroute: Option<EventId>,
    },
    /// The answer was no, or none came in time: it took no route, and its node learned why.
    Declined {
        /// What was decided.
        verdict: Verdict,
        /// Who decided.
        decided_by: DecidedBy,
        /// The words that were said with it.
        answer: Answer,
    },
    /// It ended the run.
    Stopped,
    /// It ended its node and all below.
    Pruned,
    /// It forked the run.
    Branched {
        /// The new run.
        run: RunId,
    },
    /// It could not be carried out; its node learned why.
    Refused {
        /// Why.
        reason: String,
    },
    /// It was decided, but that was not carried out: its run was stopped first, or its node was cut off.
    Decided {
        /// Why it was not carried out.
        reason: String,
    },
    /// It is still open.
    Open,
}

/// An interrupt of the run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InterruptRecord {
    /// Its id.
    pub interrupt: InterruptId,
    /// The node that raised it.
    pub node: NodeId,
    /// The name of that node's kind.
    pub origin: &'static str,
    /// Its type.
    pub interrupt_type: InterruptType,
    /// Why it was raised.
    pub reason: String,
    /// What became of it.
    pub outcome: InterruptResult,
}

impl InterruptRecord {
    /// One that a person is asked about now.
    pub fn asked(question: &Question) -> Self {
        Self {
            interrupt: question.interrupt,
            node: question.node.clone(),
            origin: question.agent_type,
            interrupt_type: question.details.r#type,
            reason: question.details.reason.clone(),
            outcome: InterruptResult::Open,
        }
    }

    /// One that the store has, of an agent of this kind.
    pub fn of(interrupt: &Interrupt, origin: &'static str, outcome: InterruptResult) -> Self {
        Self {
            interrupt: interrupt.id,
            node: interrupt.node.clone(),
            origin,
            interrupt_type: interrupt.interrupt_type,
            reason: interrupt.first_reason().to_owned(),
            outcome,
        }
    }
}

/// What became of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    /// The run.
    pub run: RunId,
    /// How it ended.
    #[serde(flatten)]
    pub status: RunStatus,
    /// Its interrupts, in the order in which they were raised.
    pub interrupts: Vec<InterruptRecord>,
    /// How many steps it took: model calls of agents, corrections not counted.
    pub steps: u32,
    /// The last checkpoint, from which the run can be resumed or forked.
    pub checkpoint: Option<CheckpointId>,
    /// What its models used.
    pub usage: TokenUsage,
    /// How long it took.
    #[serde(skip)]
    pub elapsed: SignedDuration,
}

impl RunReport {
    /// Why the run ended as it did, in words; `None` if its work is done.
    pub fn reason(&self) -> Option<&str> {
        match &self.status {
            RunStatus::Completed { .. } => None,
            RunStatus::Waiting { .. } => Some("it waits for an answer"),
            RunStatus::Paused { reason } | RunStatus::Cancelled { reason, .. } => Some(reason),
            RunStatus::Failed { error, .. } => Some(error),
        }
    }

    /// What came of the run, if its work is done.
    pub fn answer(&self) -> Option<&str> {
        match &self.status {
            RunStatus::Completed { summary } => Some(summary),
            RunStatus::Waiting { .. }
            | RunStatus::Paused { .. }
            | RunStatus::Cancelled { .. }
            | RunStatus::Failed { .. } => None,
        }
    }
}
