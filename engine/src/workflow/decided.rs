//! What came of an interrupt, for the code that raised it.

use interrupt_router::handler::{DecidedBy, FilledBy};
use interrupt_router::review::Answer;
use interrupt_router::{EventId, InterruptRoutes, Verdict};

/// What was decided about an interrupt. It has to be matched: only [`Approved`](Self::Approved) says that what was asked
/// about may be done, and only where a route is taken is there a request.
#[derive(Debug, Clone)]
#[must_use = "a decision may say no: match it before anything is done"]
pub enum Decided<R: InterruptRoutes> {
    /// Yes: do what was asked about. The route is the agent's own.
    Approved(Box<Routed<R>>),
    /// Words, choices or a refused confirmation, in [`Routed::answer`]: neither yes nor no until the code has read them.
    Answered(Box<Routed<R>>),
    /// A person or a supervisor's event sent it elsewhere: what was asked about is not done, the other route is taken.
    Rerouted(Box<Routed<R>>),
    /// No: it was rejected, ignored or cancelled. Nothing is done, and no route is taken.
    Declined(Declined),
    /// No one answered in time. Nothing is done, and no route is taken.
    Expired,
    /// It could not be carried out, or was taken back: the agent goes on without it.
    Refused {
        /// Why.
        reason: String,
    },
}

/// An interrupt that leaves along one route.
#[derive(Debug, Clone)]
pub struct Routed<R: InterruptRoutes> {
    /// The record with exactly one field set: the request of the route that was decided.
    pub routing: R,
    /// Where it leads.
    pub target: R::AgentType,
    /// Who decided.
    pub decided_by: DecidedBy,
    /// Who filled in the request.
    pub filled_by: FilledBy,
    /// The answer.
    pub answer: Answer,
    /// The supervisor's event that has set the target, if one has.
    pub reroute: Option<EventId>,
}

/// A decision that says no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declined {
    /// Which no: [`Verdict::Reject`], [`Verdict::Ignore`] or [`Verdict::Cancel`].
    pub verdict: Verdict,
    /// Who decided.
    pub decided_by: DecidedBy,
    /// The words that were said with it.
    pub text: Option<String>,
}
