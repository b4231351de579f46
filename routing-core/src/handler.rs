//! The unified interrupt handler: every interrupt of every agent comes here, and leaves along one route.

mod ask_person;
mod ask_reviewer;
mod carry_out;
mod decide;
mod decisions;
mod observer;
mod prompt;
mod resolution;
mod resolve;
mod slot;

use std::sync::Arc;

use crate::agent_type::AgentType;
use crate::ask::Asker;
use crate::blackboard::Blackboard;
use crate::clock::Clock;
use crate::context::DecoratorChain;
use crate::ids::{InterruptId, NodeId, RunId};
use crate::interrupt::SealedInterrupt;
use crate::model::Message;
use crate::outcome::Outcome;
use crate::reroute::PendingReroutes;
use crate::review::Reviewer;
use crate::routing::InterruptRoutes;
use crate::stop::{StopReason, StopScope};
use dashmap::DashMap;

use slot::Slot;

pub use ask_reviewer::ReviewDecision;
pub use decisions::{
    DecisionError, DecisionPart, Decisions, InMemoryDecisions, PersonPrompt, Proposal,
    RecordedDecision,
};
pub use observer::{InterruptObserver, LifecycleEvent, Unobserved};
pub use resolution::{DecidedBy, Declined, FilledBy, HandleError, Resolution, Routed};

/// How the handler decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandlerPolicy {
    /// How sure a reviewing model must be, in percent; below that a person is asked.
    pub confidence_threshold: u8,
    /// How often a person is asked again after an answer that does not fit.
    pub invalid_answers: u32,
    /// What becomes of a BRANCH.
    pub branches: Branches,
}

/// What becomes of an interrupt of type BRANCH.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Branches {
    /// It is refused: there are no checkpoints to fork a run from.
    Refused,
    /// It is decided, and the embedder forks the run: [`Resolution::Branched`].
    Forked,
}

impl Default for HandlerPolicy {
    /// 80 percent, 10 answers that do not fit, and no branches.
    fn default() -> Self {
        Self {
            confidence_threshold: 80,
            invalid_answers: 10,
            branches: Branches::Refused,
        }
    }
}

/// The ports and the policy of a handler.
pub struct HandlerConfig<I: SealedInterrupt, R: InterruptRoutes> {
    /// Fills in requests.
    pub asker: Asker,
    /// Answers AGENT_REVIEW; usually the same model as the asker's.
    pub reviewing_model: Asker,
    /// Answers questions and resumes paused runs.
    pub reviewer: Arc<dyn Reviewer>,
    /// Keeps reroute events.
    pub reroutes: Arc<dyn PendingReroutes<I::Kind>>,
    /// Keeps decisions, and consumes reroutes with them.
    pub decisions: Arc<dyn Decisions<R::AgentType>>,
    /// Prepares the call that fills in a request.
    pub decorators: DecoratorChain<R>,
    /// Notified of what happens, as it happens.
    pub observer: Arc<dyn InterruptObserver>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// How to decide.
    pub policy: HandlerPolicy,
}

/// Where an interrupt was raised.
#[derive(Clone, Copy)]
pub struct OperationContext<'a> {
    /// The interrupt's id: running the handler again with the same id gives the same resolution.
    pub interrupt: InterruptId,
    /// The run.
    pub run: RunId,
    /// The node that raised it.
    pub node: &'a NodeId,
    /// The turn of the node in which it was raised, from 1.
    pub turn: u32,
    /// What the nodes have produced.
    pub blackboard: &'a Blackboard,
    /// What the node was told and has said, for the resolution prompt.
    pub conversation: &'a [Message],
    /// Stops the handler.
    pub scope: &'a StopScope,
}

/// Handles the interrupts of all kinds of agents.
///
/// It keeps what was decided about each interrupt until it is told to
/// [forget](UnifiedInterruptHandler::forget) it.
pub struct UnifiedInterruptHandler<I: SealedInterrupt, R: InterruptRoutes> {
    config: HandlerConfig<I, R>,
    slots: DashMap<InterruptId, Arc<Slot<R>>>,
}

/// Why a computation ended without a resolution.
enum Unresolved {
    Failed(HandleError),
    Interrupted(StopReason),
}

impl From<HandleError> for Unresolved {
    fn from(error: HandleError) -> Self {
        Self::Failed(error)
    }
}

impl<I, R> UnifiedInterruptHandler<I, R>
where
    I: SealedInterrupt,
    I::Kind: AgentType<Route = R::AgentType>,
    R: InterruptRoutes,
{
    /// A handler over these ports.
    pub fn new(config: HandlerConfig<I, R>) -> Self {
        Self {
            config,
            slots: DashMap::new(),
        }
    }

    /// Resolves an interrupt: asks the one that its type names, fixes the one target, fills in its request.
    ///
    /// The target is what the person chose, else that of the bound reroute event, else the origin. The decision fixes
    /// it, and is recorded the moment it is made; a model only fills in the request after that, and only if the answer
    /// does not determine it. Running the handler again for the same interrupt returns the same resolution and asks no
    /// one.
    ///
    /// An interrupted outcome leaves the reroute bound, as an error does. If the interrupt is not handled again,
    /// [release](PendingReroutes::release) it.
    ///
    /// # Errors
    ///
    /// [`HandleError`]. The interrupt stays open, its reroute stays bound, and it can be handled again.
    /// An answer that was given is kept and not asked for again.
    ///
    /// # Cancel safety
    ///
    /// If dropped before an answer came, nothing is decided; dropped later, the answer is kept. Handle the
    /// interrupt again.
    pub async fn handle_unified_interrupt(
        &self,
        request: I,
        context: OperationContext<'_>,
    ) -> Result<Outcome<Resolution<R>>, HandleError> {
        let slot = Arc::clone(&self.slots.entry(context.interrupt).or_default());
        // One caller works, the others wait for its result: two callers never decide twice.
        let resolved = slot
            .resolution
            .get_or_try_init(|| self.resolve(&request, &context, &slot))
            .await;
        match resolved {
            Ok(resolution) => Ok(Outcome::Completed(resolution.clone())),
            Err(Unresolved::Interrupted(reason)) => Ok(Outcome::Interrupted {
                reason,
                partial: (),
            }),
            Err(Unresolved::Failed(error)) => Err(error),
        }
    }

    /// Forgets an interrupt, for one whose run has ended or keeps its resolution itself.
    ///
    /// Handled again after that, it is asked about again if its decisions are kept in memory; a reroute that it has
    /// consumed stays consumed, so its resolution is then refused.
    pub fn forget(&self, interrupt: InterruptId) {
        self.slots.remove(&interrupt);
        self.config.decisions.forget(interrupt);
    }
}
