//! What the keys ask for.

use interrupt_router::review::Answer;
use interrupt_router::{InterruptId, NodeId, RunId};
use interrupts::life::{Scope, Verdict};
use interrupts::{Digest, RouteName};
use planning::PlanPreview;

use crate::time::Grace;

/// Something that is to be done to the store.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Action {
    /// Asks agents to pause.
    Interrupt {
        run: RunId,
        /// The agent; all of the run if absent.
        node: Option<NodeId>,
        /// After how long it is stopped at once.
        grace: Grace,
    },
    /// Makes a pause that is under way harder.
    Harden { interrupt: InterruptId },
    /// Continues a paused run, with new input if there is some.
    Resume {
        run: RunId,
        interrupt: InterruptId,
        input: Option<String>,
    },
    /// Lets the run's model propose a change of its plan; nothing is applied.
    Suggest {
        run: RunId,
        /// What is wanted, in words.
        request: String,
    },
    /// Applies the change of a plan that was shown.
    ApplyPlan {
        run: RunId,
        /// Which one.
        digest: Digest,
    },
    /// Pauses the whole run instead of one agent of it.
    Widen {
        run: RunId,
        /// The pause of the agent.
        interrupt: InterruptId,
    },
    /// Asks a paused agent to interrupt itself when it continues, and sends the answer elsewhere; continues it.
    RerouteAgent {
        run: RunId,
        node: NodeId,
        /// Its pause.
        interrupt: InterruptId,
        target: RouteName,
    },
    /// Takes back a pause that has not taken effect yet.
    Withdraw { interrupt: InterruptId },
    /// Ends a run for good.
    Stop { run: RunId, scope: Scope },
    /// Answers a question.
    Decide {
        interrupt: InterruptId,
        /// The version that was shown.
        version: u64,
        /// The digest of what was shown.
        shown: Digest,
        verdict: Verdict,
        target: Option<RouteName>,
        answer: Answer,
    },
    /// Claims a review, or gives it back.
    Claim {
        interrupt: InterruptId,
        version: u64,
        take: bool,
    },
    /// Opens an editor for the answer to a question.
    Edit { interrupt: InterruptId },
    /// Leaves.
    Quit,
}

/// What became of an action.
#[derive(Debug, Clone)]
pub(super) enum Done {
    /// A pause was accepted.
    Interrupted { interrupt: InterruptId },
    /// A pause cannot be taken back any more: the process has received it.
    StopsFirst { run: RunId, interrupt: InterruptId },
    /// A change of a plan is proposed: it can be looked at.
    Proposed {
        run: RunId,
        preview: Box<PlanPreview>,
    },
    /// Nothing was proposed; why.
    NotProposed(String),
    /// It was done; what to show.
    Told(String),
    /// It was refused; why, and what may help.
    Refused(String),
    /// What was written for a run was refused; why.
    NotSent {
        run: RunId,
        words: String,
        why: String,
    },
}
