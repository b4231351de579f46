//! Interrupts as a store keeps them.

use async_trait::async_trait;
use interrupt_router::{InterruptId, NodeId, RuleId, RunId, StopMode};
use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use super::error::{ChangeError, StoreError};
use super::message::WaitingMessages;
use super::node::NodeActivity;
use super::question::{PutQuestion, PutQuestionError, RaisedQuestion};
use super::waiting::WaitingPosition;
use crate::digest::Digest;
use crate::life::{
    Actor, Admission, AdmissionError, Choosing, Evidence, Interrupt, Judge, NewAsking, Refusal,
    ReviewChange, State, WithdrawCause,
};
use crate::names::{ActorName, IdempotencyKey, OwnerName};
use crate::rules::Remember;

/// What admitting did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Admitted {
    /// The interrupt is new.
    New(Interrupt),
    /// The same request was admitted before: this is its interrupt now.
    Known(Interrupt),
}

impl Admitted {
    /// The interrupt.
    pub fn into_interrupt(self) -> Interrupt {
        match self {
            Self::New(interrupt) | Self::Known(interrupt) => interrupt,
        }
    }
}

/// Why an interrupt was not admitted. Nothing was recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AdmitError {
    /// The key belongs to a request with other content.
    #[error("the key {key:?} belongs to {interrupt}, which asks something else")]
    OtherContent {
        /// The key.
        key: IdempotencyKey,
        /// The interrupt that has it.
        interrupt: InterruptId,
    },
    /// The id belongs to another request.
    #[error("{interrupt} belongs to another request")]
    IdTaken {
        /// The id.
        interrupt: InterruptId,
    },
    /// There is no such run.
    #[error("there is no {run}")]
    UnknownRun {
        /// The run.
        run: RunId,
    },
    /// The agent that shall stop has ended: there is nothing left to stop.
    #[error("{node} is {}: there is nothing left of it to stop", .activity.name())]
    NodeEnded {
        /// The agent.
        node: NodeId,
        /// How it ended.
        activity: NodeActivity,
    },
    /// It shall fork the run, whose agents have not read all that was sent to them.
    #[error(transparent)]
    MessagesWait(WaitingMessages),
    /// The request does not meet a demand.
    #[error(transparent)]
    Refused(#[from] AdmissionError),
    /// A question could not be delivered and acknowledged at once, or a stop under way could not be raised.
    #[error(transparent)]
    NotRaised(Refusal),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Who takes an interrupt, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The worker.
    pub owner: OwnerName,
    /// How long its lease lasts, from now by the store's clock.
    pub lease: SignedDuration,
    /// The worker that is known to be gone, whose lease does not count any more.
    pub lost: Option<OwnerName>,
}

/// One decision of several that are made together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deciding {
    /// The interrupt.
    pub interrupt: InterruptId,
    /// Who decides.
    pub judge: Judge,
    /// What.
    pub choosing: Choosing,
    /// Whether it also applies when the same question is asked again, and for how long.
    pub remember: Option<Remember>,
}

/// One decision of several that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedDecision {
    /// Its place among them, from 0.
    pub place: usize,
    /// The interrupt.
    pub interrupt: InterruptId,
    /// Why.
    pub error: ChangeError,
}

/// Why several decisions were not made. Not one of them was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TogetherError {
    /// Some of them are refused.
    #[error("{} of the decisions are refused", .0.len())]
    Refused(Vec<RefusedDecision>),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Which interrupts to list, in the order of their admission. What is `None` or empty does not restrict.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Filter {
    /// Of this run.
    pub run: Option<RunId>,
    /// Of this node.
    pub node: Option<NodeId>,
    /// In one of these states.
    pub states: Vec<State>,
}

/// A part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// Begins after this position; 0 for the beginning.
    pub after: u64,
    /// The most entries.
    pub limit: u32,
}

/// A part of a list that is read from its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageBack {
    /// Ends before this position; at the end of the list if it is absent.
    pub before: Option<u64>,
    /// The most entries.
    pub limit: u32,
}

/// What a sweep ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Swept {
    /// Their deadlines had passed.
    pub expired: Vec<InterruptId>,
    /// The time of these standing rules was over.
    pub rules: Vec<RuleId>,
}

/// Keeps interrupts. Each method is one transaction: the interrupt, its reroute, journal, notices and audit.
#[async_trait]
pub trait Interrupts: Send + Sync {
    /// Admits an interrupt. The same key with the same content returns the stored interrupt, as it is now.
    ///
    /// # Errors
    ///
    /// [`AdmitError`]; with [`AdmitError::OtherContent`] if the key was used for something else, with
    /// [`AdmitError::NodeEnded`] if an agent shall stop that has ended, with [`AdmitError::MessagesWait`] if the run shall
    /// be forked and messages wait for its agents.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it was admitted or not. Admit it again with the same key to be sure.
    async fn admit(&self, admission: Admission) -> Result<Admitted, AdmitError>;

    /// Joins a request for a stop to the same stop, if one is under way: that stop's mode is raised until it waits to
    /// be resumed, and the key is that stop's from now on. If none is under way, or it was carried out, the request is
    /// admitted as a stop of its own. The transaction decides which: of equal requests at once one is admitted, and the
    /// others join it. The same key with the same content returns the stored interrupt, as of [`Interrupts::admit`].
    ///
    /// The same stop does the same to the same run, or the same agent of it. A person's pause is not the same as a
    /// pause that no person asked for and that waits to be resumed, since a policy may end that one.
    ///
    /// # Errors
    ///
    /// [`AdmitError`], as of [`Interrupts::admit`]; [`AdmitError::NotRaised`] if the requester may not raise it.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it was joined or admitted or not. Ask again with the same key to be sure.
    async fn join(&self, admission: Admission) -> Result<Admitted, AdmitError>;

    /// Admits a question that an agent raises by itself, delivers it to its worker, acknowledges it, and asks those who may
    /// decide it, in one transaction. The node's pending reroute is bound to it, and the interrupt that the reroute's
    /// event asked for ends.
    ///
    /// # Errors
    ///
    /// [`AdmitError`], as of [`Interrupts::admit`].
    ///
    /// # Cancel safety
    ///
    /// If dropped, it was raised or not. Raise it again with the same key to be sure.
    async fn raise(&self, raised: RaisedQuestion) -> Result<Admitted, AdmitError>;

    /// Records the intent to raise a question, and raises it as [`Interrupts::raise`] does, in one transaction.
    ///
    /// # Errors
    ///
    /// [`PutQuestionError`].
    ///
    /// # Cancel safety
    ///
    /// If dropped, it was put or not: the journal has its intent, or not.
    async fn put_question(&self, question: PutQuestion) -> Result<Interrupt, PutQuestionError>;

    /// Gives an interrupt to a worker, in a new epoch. If its deliveries are used up, it is dead-lettered instead:
    /// check the state of what is returned.
    ///
    /// # Errors
    ///
    /// [`ChangeError`]; refused while another lease is valid.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it may be leased in an epoch that no caller knows; the lease runs out.
    async fn deliver(&self, id: InterruptId, delivery: Delivery) -> Result<Interrupt, ChangeError>;

    /// Extends the lease of a delivery, never shortens it.
    ///
    /// # Errors
    ///
    /// [`ChangeError`]; refused if a newer epoch has begun.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn renew(
        &self,
        id: InterruptId,
        epoch: u64,
        lease: SignedDuration,
    ) -> Result<Interrupt, ChangeError>;

    /// Records that a stop took effect or what the agent asks, and binds the node's pending reroute.
    ///
    /// # Errors
    ///
    /// [`ChangeError`]; refused if a newer epoch has begun, or the evidence does not fit.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it was acknowledged or not: read it to see.
    async fn acknowledge(
        &self,
        id: InterruptId,
        epoch: u64,
        evidence: Evidence,
    ) -> Result<Interrupt, ChangeError>;

    /// Opens a review: a person is needed.
    ///
    /// # Errors
    ///
    /// [`ChangeError`]; refused if a newer epoch has begun.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the review was opened or not: read the interrupt to see.
    async fn require_review(
        &self,
        id: InterruptId,
        epoch: u64,
        shown: Digest,
    ) -> Result<Interrupt, ChangeError>;

    /// Claims, assigns, votes, holds or releases.
    ///
    /// # Errors
    ///
    /// [`ChangeError`]; refused if the version is not the current one.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it happened or not; repeated with the same version it is refused if it happened.
    async fn review(
        &self,
        id: InterruptId,
        actor: Actor,
        version: u64,
        change: ReviewChange,
    ) -> Result<Interrupt, ChangeError>;

    /// Decides. However many callers try, one decision wins; the bound reroute is consumed with it, and its dispatch is
    /// journalled and announced. The same decision may be submitted again, and gives the same answer.
    ///
    /// # Errors
    ///
    /// [`ChangeError`]; [`Refusal::Ended`](crate::life::Refusal::Ended) names the decision that won.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it was decided or not. Decide again with the same decision id to be sure.
    async fn decide(
        &self,
        id: InterruptId,
        judge: Judge,
        choosing: Choosing,
    ) -> Result<Interrupt, ChangeError>;

    /// Decides several interrupts in one transaction: all of them or none. A decision that is to be remembered becomes
    /// a standing rule in the same transaction. A decision that is submitted again stays as it was made, and no other
    /// rule is made of it.
    ///
    /// # Errors
    ///
    /// [`TogetherError::Refused`] names every decision that was refused; none was made then.
    ///
    /// # Cancel safety
    ///
    /// If dropped, all were decided or none. Decide again with the same decision ids to be sure.
    async fn decide_together(
        &self,
        decisions: Vec<Deciding>,
    ) -> Result<Vec<Interrupt>, TogetherError>;

    /// Withdraws an interrupt that is not wanted any more. For a stop that several actors ask for, it takes back what
    /// the actor asks, or the asking that the cause names; the stop ends with the last one, after it has taken effect
    /// if its run was told to stop.
    ///
    /// # Errors
    ///
    /// [`ChangeError`].
    ///
    /// # Cancel safety
    ///
    /// If dropped, it was withdrawn or not: read it to see.
    async fn withdraw(
        &self,
        id: InterruptId,
        actor: Actor,
        cause: WithdrawCause,
    ) -> Result<Interrupt, ChangeError>;

    /// Records that a delivery failed: of an epoch, or with `None` one that no worker took or whose lease ran out. The
    /// last one allowed dead-letters the interrupt.
    ///
    /// # Errors
    ///
    /// [`ChangeError`]; refused if a newer epoch has begun, or if a lease is valid and no epoch is named.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the failure was counted or not.
    async fn fail_delivery(
        &self,
        id: InterruptId,
        epoch: Option<u64>,
        error: String,
    ) -> Result<Interrupt, ChangeError>;

    /// Lets a dead-lettered interrupt be tried again.
    ///
    /// # Errors
    ///
    /// [`ChangeError`]; refused to everyone but operators.
    ///
    /// # Cancel safety
    ///
    /// If dropped, it is requested again or still dead-lettered: read it to see.
    async fn redrive(&self, id: InterruptId, actor: Actor) -> Result<Interrupt, ChangeError>;

    /// Records one more request for a stop that is under way: who, how and why. The same request by the same actor is
    /// one asking; a harder one raises the mode.
    ///
    /// # Errors
    ///
    /// [`ChangeError`]; refused if the stop has ended, or its source has no room for one more asking.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat: the same asked again is one asking.
    async fn ask(&self, id: InterruptId, asking: NewAsking) -> Result<Interrupt, ChangeError>;

    /// Raises the mode of a graceful stop that has taken too long.
    ///
    /// # Errors
    ///
    /// [`ChangeError`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat: modes join.
    async fn raise_mode(
        &self,
        id: InterruptId,
        actor: Actor,
        mode: StopMode,
    ) -> Result<Interrupt, ChangeError>;

    /// Expires what is past its deadline, standing rules too, and cancels what is live in ended runs, at most `limit`
    /// of each.
    ///
    /// # Errors
    ///
    /// [`StoreError`]. What was swept before the error stays swept.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn sweep(&self, limit: u32) -> Result<Swept, StoreError>;

    /// An interrupt.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn interrupt(&self, id: InterruptId) -> Result<Option<Interrupt>, StoreError>;

    /// The interrupt that a key admitted.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn interrupt_of(&self, key: &IdempotencyKey) -> Result<Option<Interrupt>, StoreError>;

    /// Interrupts in the order of their admission, each with its position, which begins the next page.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn interrupts(
        &self,
        filter: &Filter,
        page: Page,
    ) -> Result<Vec<(u64, Interrupt)>, StoreError>;

    /// How many interrupts wait for a person; with a name, only those of this person: see
    /// [`Review::concerns`](crate::life::Review::concerns).
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn count_waiting(&self, of: Option<&ActorName>) -> Result<u64, StoreError>;

    /// The interrupts that [`Interrupts::count_waiting`] counts, in the order of their positions, from after one on.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn waiting(
        &self,
        of: Option<&ActorName>,
        after: WaitingPosition,
        limit: u32,
    ) -> Result<Vec<(WaitingPosition, Interrupt)>, StoreError>;
}
