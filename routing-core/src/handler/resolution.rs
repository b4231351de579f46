//! How an interrupt ends, and why it could not be resolved.

use serde::{Deserialize, Serialize};

use super::decisions::DecisionError;
use crate::answer::AnswerError;
use crate::ids::{DecisionId, EventId, InterruptId, NodeId};
use crate::interrupt::InterruptType;
use crate::model::ModelError;
use crate::review::{Answer, InvalidAnswer, Question, ReviewError};
use crate::route::RouteId;
use crate::routing::Routing;
use crate::verdict::{DecidedAs, Verdict};

/// What became of an interrupt.
#[derive(Debug, Clone, PartialEq)]
pub enum Resolution<R: Routing> {
    /// The run continues along one route.
    Routed(Box<Routed<R>>),
    /// The answer is no, or none came in time: no route is taken, and nothing that was asked about is done.
    Declined(Declined),
    /// The run ends as cancelled.
    Stopped {
        /// The decision.
        decision: DecisionId,
        /// Why.
        reason: String,
    },
    /// The node and all below it end; the parent continues without them.
    Pruned {
        /// The decision.
        decision: DecisionId,
        /// The node.
        node: NodeId,
        /// Why.
        reason: String,
    },
    /// The run is to be forked here, which the embedder does; both continue from the decision.
    Branched {
        /// The decision.
        decision: DecisionId,
        /// Why.
        reason: String,
    },
}

/// An interrupt that leaves along one route.
#[derive(Debug, Clone, PartialEq)]
pub struct Routed<R: Routing> {
    /// The record, with exactly the target's field set.
    pub routing: R,
    /// Where it goes.
    pub target: RouteId<R>,
    /// Where it came from.
    pub origin: RouteId<R>,
    /// The decision.
    pub decision: DecisionId,
    /// What was decided.
    pub verdict: Verdict,
    /// Who decided.
    pub decided_by: DecidedBy,
    /// Who filled in the target's request.
    pub filled_by: FilledBy,
    /// The answer, if one was given.
    pub answer: Answer,
    /// The reroute event that the decision consumed.
    pub reroute: Option<EventId>,
}

impl<R: Routing> Routed<R> {
    /// What the decision means for the code that asked.
    pub fn decided_as(&self) -> DecidedAs {
        let is_rerouted = self.target != self.origin;
        DecidedAs::of(self.verdict, self.decided_by, is_rerouted, &self.answer)
    }
}

/// An interrupt whose answer is no, or that got none in time.
#[derive(Debug, Clone, PartialEq)]
pub struct Declined {
    /// The decision.
    pub decision: DecisionId,
    /// What was decided.
    pub verdict: Verdict,
    /// Who decided.
    pub decided_by: DecidedBy,
    /// The words that were said with it.
    pub answer: Answer,
    /// The reroute event that the decision consumed.
    pub reroute: Option<EventId>,
}

impl Declined {
    /// What the decision means for the code that asked: [`DecidedAs::Declined`] or [`DecidedAs::Expired`].
    pub fn decided_as(&self) -> DecidedAs {
        DecidedAs::of(self.verdict, self.decided_by, false, &self.answer)
    }
}

/// Who decided an interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum DecidedBy {
    /// A person.
    Person,
    /// A rule of the policy.
    Policy,
    /// A person's standing rule: a decision about the same question that was to apply from then on.
    Rule,
    /// No one in time: what was fixed for that case applies.
    Deadline,
    /// A reviewing model.
    Model {
        /// How sure it was, in percent.
        confidence: u8,
    },
}

/// Who filled in the request of the route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum FilledBy {
    /// The person, in the answer. No model was asked.
    Person,
    /// No one: the target's last request is passed on unchanged. No model was asked.
    Unchanged,
    /// A model.
    Model {
        /// How many corrections it took.
        corrections: u32,
    },
}

/// Why an interrupt could not be resolved. It stays open and can be handled again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HandleError {
    /// The question waits for an answer that cannot come now.
    #[error("{} waits for an answer", question.interrupt)]
    Unanswered {
        /// What is asked.
        question: Box<Question>,
        /// Why no answer came.
        #[source]
        source: ReviewError,
    },
    /// The run is paused, and cannot be resumed now.
    #[error("{interrupt} has paused the run")]
    Paused {
        /// The interrupt.
        interrupt: InterruptId,
        /// Why it was paused.
        reason: String,
        /// Why it was not resumed.
        #[source]
        source: ReviewError,
    },
    /// Every answer was invalid, as often as the policy allows.
    #[error("{interrupt} got {count} answers that do not fit")]
    InvalidAnswers {
        /// The interrupt.
        interrupt: InterruptId,
        /// How many.
        count: u32,
        /// What is asked, and is still open.
        question: Box<Question>,
        /// What was wrong with the last one.
        #[source]
        last: InvalidAnswer,
    },
    /// The interrupt's type needs more than one process has.
    #[error(
        "an interrupt of type {interrupt_type} needs checkpoints to fork a run from, and this run has none"
    )]
    NeedsCheckpoints {
        /// The type.
        interrupt_type: InterruptType,
    },
    /// The model gave no answer at all.
    #[error("{} for {interrupt}", .source.in_short())]
    Model {
        /// The interrupt.
        interrupt: InterruptId,
        /// Why.
        #[source]
        source: ModelError,
    },
    /// The interrupt cannot be written as JSON, so it cannot be shown.
    #[error("the interrupt cannot be shown")]
    Unshowable(#[source] serde_json::Error),
    /// The bound reroute names a target that is no route of the record.
    #[error("the reroute target `{target}` is no route of `{record}`")]
    NoRoute {
        /// The target.
        target: String,
        /// The record.
        record: &'static str,
    },
    /// The decorators let the model take another route than the one that was decided; it was not asked.
    #[error(
        "the decorators must narrow the answer to `{target}`, which was decided, and leave: {allowed}; `FilterPropertiesDecorator` narrows it"
    )]
    NotNarrowed {
        /// The field of the route.
        target: &'static str,
        /// The fields that the decorators leave.
        allowed: String,
    },
    /// The decision could not be recorded or read.
    #[error(transparent)]
    Decision(#[from] DecisionError),
    /// The reviewing model's answer never fitted.
    #[error("the reviewing model's answer does not fit")]
    Review(#[source] AnswerError),
}
