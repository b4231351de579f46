//! What can be done to what is stored: each command once, with the right that it takes.

use interrupts::IdempotencyKey;
use interrupts::life::{Interrupt, ReviewChange, State, WithdrawCause};
use interrupts::rules::StandingRule;
use interrupts::store::{MessageError, NewMessage, Page, StoredMessage};
use routing_core::{InterruptId, NodeId, RuleId, RunId};

use crate::caller::Caller;
use crate::control::Control;
use crate::refusal::{NotDone, not_changed, not_open, not_sent, rule_not_made};
use crate::right::Right;

/// A command of one who may give it.
pub trait Command: Send + Sync {
    /// What came of it.
    type Done: Send;

    /// What the caller needs for it.
    const RIGHT: Right;

    /// Carries it out for one who has that right.
    fn carry_out(
        self,
        at: &Control<'_>,
        by: &Caller,
    ) -> impl Future<Output = Result<Self::Done, NotDone>> + Send;
}

/// Claims an interrupt, so that others cannot decide it while the claim holds, or gives a claim back.
#[derive(Debug, Clone)]
pub struct ChangeReview {
    /// Which.
    pub interrupt: InterruptId,
    /// The version that the caller has seen; any if absent.
    pub version: Option<u64>,
    /// What.
    pub change: ReviewChange,
}

impl Command for ChangeReview {
    type Done = Interrupt;

    const RIGHT: Right = Right::Decide;

    async fn carry_out(self, at: &Control<'_>, by: &Caller) -> Result<Interrupt, NotDone> {
        let id = self.interrupt;
        let found = by.reach.interrupt(at.store, &id.to_string()).await?;
        if found.state != State::AwaitingReview
            && let Some(refusal) = not_open(&found, at.now)
        {
            return Err(refusal.into());
        }
        let version = self.version.unwrap_or(found.version);
        let changed = at.store.review(id, by.actor.clone(), version, self.change);
        let changed = changed.await;
        changed.map_err(|error| not_changed(Some(id), error, at.now))
    }
}

/// Withdraws an interrupt, or one of those who ask for a stop.
#[derive(Debug, Clone)]
pub struct Withdraw {
    /// Which.
    pub interrupt: InterruptId,
    /// The number of the one who asks.
    pub asking: Option<u32>,
}

impl Command for Withdraw {
    type Done = Interrupt;

    const RIGHT: Right = Right::Request;

    async fn carry_out(self, at: &Control<'_>, by: &Caller) -> Result<Interrupt, NotDone> {
        let id = self.interrupt;
        by.reach.interrupt(at.store, &id.to_string()).await?;
        let cause = match self.asking {
            Some(number) => WithdrawCause::Asking { number },
            None => WithdrawCause::Withdrawn,
        };
        let withdrawn = at.store.withdraw(id, by.actor.clone(), cause).await;
        withdrawn.map_err(|error| not_changed(Some(id), error, at.now))
    }
}

/// Tries a dead-lettered interrupt again.
#[derive(Debug, Clone)]
pub struct Redrive {
    /// Which.
    pub interrupt: InterruptId,
}

impl Command for Redrive {
    type Done = Interrupt;

    const RIGHT: Right = Right::Operate;

    async fn carry_out(self, at: &Control<'_>, by: &Caller) -> Result<Interrupt, NotDone> {
        let id = self.interrupt;
        let redriven = at.store.redrive(id, by.actor.clone()).await;
        redriven.map_err(|error| not_changed(Some(id), error, at.now))
    }
}

/// Sends an agent a message, which it reads at the start of its next turn.
#[derive(Debug, Clone)]
pub struct SendMessage {
    /// Its run.
    pub run: RunId,
    /// The agent.
    pub node: NodeId,
    /// What it says.
    pub text: String,
    /// The same key with the same text is the same message.
    pub key: IdempotencyKey,
}

impl Command for SendMessage {
    type Done = StoredMessage;

    const RIGHT: Right = Right::Direct;

    async fn carry_out(self, at: &Control<'_>, by: &Caller) -> Result<StoredMessage, NotDone> {
        let message = NewMessage {
            run: self.run,
            node: self.node,
            text: self.text,
            from: by.actor.clone(),
            key: self.key,
        };
        at.store.send_message(message).await.map_err(not_sent)
    }
}

/// Takes a message back that its agent has not read: no turn reads it from then on. One that was taken back before is
/// returned as it is.
#[derive(Debug, Clone)]
pub struct TakeBack {
    /// The run of its agent.
    pub run: RunId,
    /// The agent, unless it does not matter.
    pub node: Option<NodeId>,
    /// Its place among all messages.
    pub message: u64,
}

impl Command for TakeBack {
    type Done = StoredMessage;

    const RIGHT: Right = Right::Direct;

    async fn carry_out(self, at: &Control<'_>, by: &Caller) -> Result<StoredMessage, NotDone> {
        let Self { run, message, .. } = self;
        // No store counts further.
        let number = message.min(i64::MAX as u64);
        if let Some(node) = self.node {
            let page = Page {
                after: number.saturating_sub(1),
                limit: 1,
            };
            let rows = at.store.messages(run, page).await.map_err(NotDone::Store)?;
            let is_it = |it: &StoredMessage| it.position == message && it.message.node == node;
            if !rows.iter().any(is_it) {
                return Err(not_sent(MessageError::UnknownMessage { run, message }));
            }
        }
        let by = by.actor.clone();
        let withdrawn = at.store.withdraw_message(run, number, by).await;
        withdrawn.map_err(not_sent)
    }
}

/// Revokes a rule. What it decided stays decided.
#[derive(Debug, Clone)]
pub struct RevokeRule {
    /// Which.
    pub rule: RuleId,
}

impl Command for RevokeRule {
    type Done = StandingRule;

    const RIGHT: Right = Right::Decide;

    async fn carry_out(self, at: &Control<'_>, by: &Caller) -> Result<StandingRule, NotDone> {
        let revoked = at.store.revoke_rule(self.rule, by.actor.clone()).await;
        revoked.map_err(rule_not_made)
    }
}

impl Control<'_> {
    /// Carries out a command of a caller who has the right to give it.
    ///
    /// # Errors
    ///
    /// The caller has no right to it, a rule refuses it, or the store failed.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it was carried out or not. Repeated, it changes nothing more.
    pub async fn carry_out<C: Command>(&self, by: &Caller, command: C) -> Result<C::Done, NotDone> {
        C::RIGHT.demand(by)?;
        command.carry_out(self, by).await
    }
}
