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

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::agent_type::AgentType;
use crate::ask::Asker;
use crate::blackboard::Blackboard;
use crate::context::{Decorator, FilterPropertiesDecorator};
use crate::ids::{InterruptId, NodeId, RunId};
use crate::interrupt::SealedInterrupt;
use crate::memory::InMemoryRouter;
use crate::model::Message;
use crate::outcome::Outcome;
use crate::review::Reviewer;
use crate::routing::InterruptRoutes;
use crate::stop::{StopReason, StopScope};

use slot::Slot;

pub use ask_reviewer::ReviewDecision;
pub use decisions::{
    DecisionError, DecisionPart, Decisions, PersonPrompt, Proposal, RecordedDecision,
};
pub use observer::{InterruptObserver, LifecycleEvent};
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
/// It needs a model that fills in requests and a reviewer who answers; the rest has defaults. It keeps what was decided
/// about each interrupt until it is told to [forget](UnifiedInterruptHandler::forget) it.
pub struct UnifiedInterruptHandler<I: SealedInterrupt, R: InterruptRoutes> {
    asker: Asker,
    reviewing_model: Asker,
    reviewer: Arc<dyn Reviewer>,
    decisions: Arc<dyn Decisions<I::Kind>>,
    decorators: Vec<Arc<dyn Decorator<R>>>,
    observer: Option<Arc<InterruptObserver>>,
    policy: HandlerPolicy,
    slots: Mutex<HashMap<InterruptId, Arc<Slot<R>>>>,
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
    /// A handler whose requests this model fills in, and whose questions this reviewer answers.
    ///
    /// It keeps decisions in memory and knows of no supervisors ([`InMemoryRouter`]); the same model answers AGENT_REVIEW;
    /// the answer is narrowed by [`FilterPropertiesDecorator`]; no one observes it.
    pub fn new(model: impl Into<Asker>, reviewer: impl Reviewer + 'static) -> Self {
        let asker = model.into();
        Self {
            reviewing_model: asker.clone(),
            asker,
            reviewer: Arc::new(reviewer),
            decisions: Arc::new(InMemoryRouter::default()),
            decorators: vec![Arc::new(FilterPropertiesDecorator)],
            observer: None,
            policy: HandlerPolicy::default(),
            slots: Mutex::default(),
        }
    }

    /// The same, with another model for AGENT_REVIEW.
    #[must_use]
    pub fn with_reviewing_model(self, model: impl Into<Asker>) -> Self {
        let reviewing_model = model.into();
        Self {
            reviewing_model,
            ..self
        }
    }

    /// The same, with what keeps decisions and the reroutes that they use: the [`InMemoryRouter`] to which supervisors
    /// publish, or a store of your own.
    #[must_use]
    pub fn with_decisions(self, decisions: Arc<dyn Decisions<I::Kind>>) -> Self {
        Self { decisions, ..self }
    }

    /// The same, with other decorators of the call that fills in a request, in the order in which they act. They must
    /// narrow the answer to its one target, as [`FilterPropertiesDecorator`] does: else the model is not asked
    /// ([`HandleError::NotNarrowed`]).
    #[must_use]
    pub fn with_decorators(self, decorators: Vec<Arc<dyn Decorator<R>>>) -> Self {
        Self { decorators, ..self }
    }

    /// The same, with an observer of what happens.
    #[must_use]
    pub fn with_observer(
        self,
        observer: impl Fn(InterruptId, LifecycleEvent<'_>) + Send + Sync + 'static,
    ) -> Self {
        let observer: Option<Arc<InterruptObserver>> = Some(Arc::new(observer));
        Self { observer, ..self }
    }

    /// The same, with another policy.
    #[must_use]
    pub fn with_policy(self, policy: HandlerPolicy) -> Self {
        Self { policy, ..self }
    }

    fn observe(&self, interrupt: InterruptId, moment: LifecycleEvent<'_>) {
        if let Some(observer) = &self.observer {
            observer(interrupt, moment);
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
    /// [release](InMemoryRouter::release) it.
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
        let slot = Arc::clone(self.slots().entry(context.interrupt).or_default());
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
        self.slots().remove(&interrupt);
        self.decisions.forget(interrupt);
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<InterruptId, Arc<Slot<R>>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
