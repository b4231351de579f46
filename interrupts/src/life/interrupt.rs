//! An interrupt as it is kept.

use interrupt_router::{EventId, InterruptId, InterruptType, NodeId, RunId, StopMode, StopSource};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::admission::Admission;
use super::asking::Asking;
use super::decision::{Decision, ExpiryOutcome};
use super::event::Actor;
use super::lane::{Family, Lane};
use super::recurrence::Recurrence;
use super::review::Review;
use super::state::State;
use super::{DecidedAs, Verdict};
use crate::digest::Digest;
use crate::names::{IdempotencyKey, KindName, OwnerName, RouteName};

/// How far an interrupt reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Its node, and all that the node started.
    Agent,
    /// The whole run.
    Run,
}

impl Scope {
    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Run => "run",
        }
    }
}

/// A worker's hold on a delivery.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Lease {
    /// The worker.
    pub owner: OwnerName,
    /// Until when.
    pub until: Timestamp,
}

/// A reroute as an interrupt sees it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BoundReroute {
    /// The event that asked for it.
    pub event: EventId,
    /// Where it leads.
    pub target: RouteName,
}

/// An interrupt, from its admission to its end.
///
/// Its life is changed by [`Interrupt::after`] alone; a store keeps what comes out and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Interrupt {
    /// Its id.
    pub id: InterruptId,
    /// The run that it concerns.
    pub run: RunId,
    /// The node that it concerns.
    pub node: NodeId,
    /// The kind of that node.
    pub kind: KindName,
    /// The catalogue with the schemas of its answer: that of its run at admission, set by the store, or a newer one that
    /// was accepted since. Absent if the run names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalogue: Option<Digest>,
    /// Where the answer goes by default.
    pub origin: RouteName,
    /// Where the answer may go.
    pub routes: Vec<RouteName>,
    /// What it does.
    pub interrupt_type: InterruptType,
    /// Who is behind it: for a stop, the most human of those who ask for it.
    pub source: StopSource,
    /// Who asked for it: for a stop, the first of the most human of those who do.
    pub requested_by: Actor,
    /// How to stop: the hardest mode that was asked for so far.
    pub mode: StopMode,
    /// How far it reaches.
    pub scope: Scope,
    /// Why, in the words of the actor who is named as having asked for it.
    pub reason: String,
    /// Who asks for it, once anyone has joined it or taken anything back: see [`Interrupt::askings`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) asked: Vec<Asking>,
    /// What it says or asks, as JSON; the agent's typed request once there is one.
    pub content: String,
    /// What identifies a repeated request.
    pub key: IdempotencyKey,
    /// The digest of the request that admitted it.
    pub digest: Digest,
    /// What may be decided.
    pub allowed: Vec<Verdict>,
    /// When it expires, by the store's clock; if absent, it waits for ever. Later than it was admitted with by the time
    /// that it was held: see [`Interrupt::due_at`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// What then happens.
    pub on_expiry: ExpiryOutcome,
    /// The most deliveries.
    pub most_attempts: u32,
    /// Which later interrupts ask the same.
    #[serde(default, skip_serializing_if = "Recurrence::is_usual")]
    pub recurrence: Recurrence,
    /// Its state.
    pub state: State,
    /// Counts the changes.
    pub version: u64,
    /// Counts the deliveries; never reset.
    pub epoch: u64,
    /// Counts the deliveries since the last redrive.
    pub attempts: u32,
    /// Who has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    /// What went wrong last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// The reroute that belongs to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<BoundReroute>,
    /// Its review, once a person is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Review>,
    /// The user's interrupt that goes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_by: Option<InterruptId>,
    /// Since when, while it is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_since: Option<Timestamp>,
    /// How long it was held before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_for: Option<SignedDuration>,
    /// Its decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// When it was admitted.
    pub requested_at: Timestamp,
    /// When it took effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

impl Interrupt {
    /// Whether it stops or asks.
    pub const fn family(&self) -> Family {
        Family::of(self.interrupt_type)
    }

    /// Whether an agent of the run has raised it by itself: such a request has the run in its key, and no other may.
    pub fn is_raised_by_agent(&self) -> bool {
        self.key.is_of_agent(self.run)
    }

    /// Whether the run is paused from outside while this is under way. A pause that an agent raises by itself is one
    /// that its run waits on.
    pub fn pauses_run(&self) -> bool {
        self.interrupt_type == InterruptType::Pause && !self.is_raised_by_agent()
    }

    /// Whether its run waits for the answer to it.
    pub fn is_waited_on(&self) -> bool {
        self.family() == Family::Question || self.is_raised_by_agent()
    }

    /// What a person may decide: what is allowed, except that a stop was carried out, and except rerouting a stop,
    /// which has no answer. A stopped agent continues where it was; to send it elsewhere, a reroute is published for
    /// it.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        let stops = self.family() == Family::Stop;
        self.allowed
            .iter()
            .copied()
            .filter(move |verdict| match verdict {
                Verdict::Applied => false,
                Verdict::Reroute => !stops,
                Verdict::Approve
                | Verdict::Edit
                | Verdict::Reject
                | Verdict::Respond
                | Verdict::Ignore
                | Verdict::ModifyPlan
                | Verdict::Cancel
                | Verdict::Resume => true,
            })
    }

    /// What its decision means for the code that asked; `None` while there is none.
    pub fn decided_as(&self) -> Option<DecidedAs> {
        let decision = self.decision.as_ref()?;
        let is_rerouted = decision.target != self.origin;
        Some(match decision.answer() {
            Ok((answer, confidence)) => {
                let by = decision.by.decided_by(confidence);
                DecidedAs::of(decision.verdict, by, is_rerouted, &answer)
            }
            // What can't be read approves nothing.
            Err(_unreadable) if decision.verdict.declines() => DecidedAs::Declined,
            Err(_unreadable) => DecidedAs::Answered,
        })
    }

    /// The queue that it waits in.
    pub const fn lane(&self) -> Lane {
        Lane::of(self.source)
    }

    /// Gives a request that is made again the terms with which this interrupt was admitted: how long it may wait
    /// and what happens then. They are part of what makes it the same request.
    pub fn keep_terms(&self, again: &mut Admission) {
        let held_for = self.held_for.unwrap_or_default();
        again.patience = self
            .deadline
            .map(|deadline| deadline.duration_since(self.requested_at) - held_for);
        again.on_expiry = self.on_expiry.clone();
    }

    /// Whether its answer may go to a route.
    pub fn allows_target(&self, target: &RouteName) -> bool {
        self.routes.contains(target)
    }

    /// When it expires, as of now. Its time does not run while it is held, since no one may answer it then.
    pub fn due_at(&self) -> Option<Timestamp> {
        self.deadline.filter(|_deadline| self.held_by.is_none())
    }

    pub(super) fn hold(&mut self, by: InterruptId, now: Timestamp) {
        self.held_by = Some(by);
        self.held_since.get_or_insert(now);
    }

    /// Lets its time run again from where it stopped.
    pub(super) fn unhold(&mut self, now: Timestamp) {
        self.held_by = None;
        let Some((since, deadline)) = self.held_since.take().zip(self.deadline) else {
            return;
        };
        let held = now.duration_since(since).max(SignedDuration::ZERO);
        self.deadline = Some(deadline.checked_add(held).unwrap_or(Timestamp::MAX));
        self.held_for = Some(self.held_for.unwrap_or_default() + held);
    }

    /// The lease that is valid at a time.
    pub fn lease_at(&self, now: Timestamp) -> Option<&Lease> {
        self.lease.as_ref().filter(|lease| lease.until > now)
    }
}
