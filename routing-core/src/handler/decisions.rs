//! The port that keeps decisions: recorded the moment they are made, before anything follows from them.

use async_trait::async_trait;

use super::resolution::DecidedBy;
use crate::agent_type::AgentType;
use crate::event::InterruptRequestEvent;
use crate::ids::{DecisionId, EventId, InterruptId, NodeId, RunId};
use crate::review::{Answer, Answerer, Pause, Question};
use crate::verdict::Verdict;

/// What is decided about an interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DecisionPart {
    /// The interrupt itself: its answer, and where it goes.
    Interrupt,
    /// The request of its target, which no model could fill in. The target is decided already.
    Request,
}

/// A proposed decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal<A: AgentType> {
    /// The interrupt.
    pub interrupt: InterruptId,
    /// What of it is decided.
    pub matter: DecisionPart,
    /// The decision's id. Proposed again with it, the decision is the same one.
    pub decision: DecisionId,
    /// What is decided.
    pub verdict: Verdict,
    /// The answer; empty if a pause ends unchanged, or if nothing was asked.
    pub answer: Answer,
    /// Who decides.
    pub decided_by: DecidedBy,
    /// Who answered, if anyone did.
    pub answerer: Option<Answerer>,
    /// Where it goes.
    pub target: A,
    /// Whether the target was chosen with the answer; else it is that of the bound reroute, or the origin.
    pub is_chosen: bool,
    /// The reroute event that is bound to the interrupt, which the decision consumes.
    pub bound: Option<EventId>,
}

/// The decision that was recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedDecision<A: AgentType> {
    /// Its id.
    pub id: DecisionId,
    /// What was decided.
    pub verdict: Verdict,
    /// The answer; empty if a pause ends unchanged, or if nothing was asked.
    pub answer: Answer,
    /// Who decided.
    pub decided_by: DecidedBy,
    /// Where the run continues.
    pub target: A,
    /// The reroute event that it has consumed.
    pub reroute: Option<EventId>,
}

/// What a person is asked.
#[derive(Debug, Clone, Copy)]
pub enum PersonPrompt<'a> {
    /// A question.
    Question(&'a Question),
    /// When to continue after a pause.
    Pause(&'a Pause),
}

/// Why a decision could not be recorded or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecisionError {
    /// The reroute that the decision would use was used by another decision, or is not bound to the interrupt.
    #[error("the reroute of {interrupt} cannot be used: it is not bound to it any more")]
    RerouteGone {
        /// The interrupt.
        interrupt: InterruptId,
    },
    /// The interrupt was withdrawn: its run does not wait for a decision any more.
    #[error("{interrupt} was withdrawn")]
    Withdrawn {
        /// The interrupt.
        interrupt: InterruptId,
    },
    /// What the interrupt has stopped was cancelled: nothing continues from it, and its run ends.
    #[error("{interrupt} was cancelled: {reason}")]
    Cancelled {
        /// The interrupt.
        interrupt: InterruptId,
        /// By whom and why, in words.
        reason: String,
    },
    /// The interrupt was given up before anyone could decide it. An operator of the store may have it tried again.
    #[error("{interrupt} is dead-lettered: it was tried too often and can't be decided any more")]
    DeadLettered {
        /// The interrupt.
        interrupt: InterruptId,
    },
    /// The store of the decisions cannot be read or written.
    #[error("decisions cannot be read or written")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Keeps decisions, and the reroutes that they use. If several callers decide about one matter, the first decision wins.
#[async_trait]
pub trait Decisions<K: AgentType>: Send + Sync {
    /// Binds the reroute event that waits for the node to an interrupt that it raised, and returns what is bound to it.
    /// Called again for the same interrupt, it returns the same event.
    ///
    /// # Errors
    ///
    /// [`DecisionError`].
    ///
    /// # Cancel safety
    ///
    /// If dropped, the reroute is pending or bound; bind again to see.
    async fn bind(
        &self,
        _run: RunId,
        _node: &NodeId,
        _interrupt: InterruptId,
    ) -> Result<Option<InterruptRequestEvent<K>>, DecisionError> {
        Ok(None)
    }

    /// The recorded decision, if there is one.
    ///
    /// # Errors
    ///
    /// [`DecisionError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn recorded(
        &self,
        interrupt: InterruptId,
        matter: DecisionPart,
    ) -> Result<Option<RecordedDecision<K::Route>>, DecisionError>;

    /// The id by which a matter is decided: that of the interrupt, unless a question of its own is asked.
    fn question_of(&self, interrupt: InterruptId, _matter: DecisionPart) -> InterruptId {
        interrupt
    }

    /// A person is needed: called before the reviewer is asked, and again if an interrupt is handled again.
    ///
    /// # Errors
    ///
    /// [`DecisionError`]. The person is not asked then.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn person_needed(&self, _asked: PersonPrompt<'_>) -> Result<(), DecisionError> {
        Ok(())
    }

    /// Why a person was asked before, in this process or another one; `None` if no one was. Then a model is not asked
    /// any more: its answer would not replace what a person was asked.
    ///
    /// # Errors
    ///
    /// [`DecisionError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn person_asked(
        &self,
        _interrupt: InterruptId,
        _matter: DecisionPart,
    ) -> Result<Option<String>, DecisionError> {
        Ok(None)
    }

    /// Waits until someone else has decided. It never ends if all decisions are made through the handler.
    ///
    /// # Errors
    ///
    /// [`DecisionError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn decided_elsewhere(
        &self,
        _interrupt: InterruptId,
        _matter: DecisionPart,
    ) -> Result<RecordedDecision<K::Route>, DecisionError> {
        std::future::pending().await
    }

    /// Records a decision, and consumes the bound reroute with it. Returns the decision that won: another one if
    /// another caller was faster.
    ///
    /// # Errors
    ///
    /// [`DecisionError`].
    ///
    /// # Cancel safety
    ///
    /// If dropped, it is recorded or not. Propose it again with the same id to be sure.
    async fn decide(
        &self,
        proposal: Proposal<K::Route>,
    ) -> Result<RecordedDecision<K::Route>, DecisionError>;

    /// Forgets an interrupt that is not handled any more.
    fn forget(&self, _interrupt: InterruptId) {}
}
