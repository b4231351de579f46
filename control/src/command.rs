//! What can be done to what is stored: each command once, with the right that it takes.
//!
//! A command is a value. Beside the store it is carried out at once; to a server it goes as its name and the rest of it as
//! JSON.

use interrupt_router::{InterruptId, NodeId, RuleId, RunId};
use interrupts::life::{Interrupt, ReviewChange, State, WithdrawCause};
use interrupts::rules::StandingRule;
use interrupts::store::{MessageError, NewMessage, Page, StoredMessage};
use jiff::SignedDuration;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::ask::{in_json, misread};
use crate::caller::Caller;
use crate::control::Control;
use crate::event::PublishEvent;
use crate::refusal::{NotDone, not_changed, not_open, not_sent, rule_not_made};
use crate::right::Right;
use crate::stop::RequestStop;
use crate::token::{MakeToken, RevokeToken};

/// A command of one who may give it.
pub trait Command: Serialize + DeserializeOwned + Send + Sync {
    /// What came of it.
    type Done: Serialize + DeserializeOwned + Send;

    /// Its name.
    const NAME: &'static str;

    /// What the caller needs for it.
    const RIGHT: Right;

    /// Whether it does nothing more where it is given twice.
    fn is_repeatable(&self) -> bool {
        false
    }

    /// The run that it concerns, whose process has to look now.
    fn run_of(_done: &Self::Done) -> Option<RunId> {
        None
    }

    /// Carries it out for one who has that right.
    fn carry_out(
        self,
        at: &Control<'_>,
        by: &Caller,
    ) -> impl Future<Output = Result<Self::Done, NotDone>> + Send;
}

/// What came of a command, in JSON, and the run whose process has to look now.
#[derive(Debug)]
pub struct CarriedOut {
    /// What came of it.
    pub done: Box<RawValue>,
    /// The run.
    pub run: Option<RunId>,
}

macro_rules! commands {
    ($($command:ty),* $(,)?) => {
        /// All commands: the name of each, and what the caller needs for it.
        pub const COMMANDS: &[(&str, Right)] = &[$((<$command>::NAME, <$command>::RIGHT)),*];

        /// Carries out the command of this name, the rest of which is JSON.
        ///
        /// # Errors
        ///
        /// As of [`Control::carry_out`]; [`Code::Parameter`](crate::Code::Parameter) if it is no command.
        ///
        /// # Cancel safety
        ///
        /// As of [`Control::carry_out`].
        pub async fn carried_out(
            name: &str,
            of: &[u8],
            at: &Control<'_>,
            by: &Caller,
        ) -> Result<CarriedOut, NotDone> {
            $(if name == <$command>::NAME {
                let command: $command = serde_json::from_slice(of)
                    .map_err(|error| misread("of", &error.to_string()))?;
                let done = at.carry_out(by, command).await?;
                return Ok(CarriedOut {
                    run: <$command>::run_of(&done),
                    done: in_json(&done)?,
                });
            })*
            Err(misread("path", "there is no such command").into())
        }
    };
}

commands!(
    RequestStop,
    PublishEvent,
    ChangeClaim,
    Withdraw,
    Redrive,
    SendMessage,
    TakeBack,
    RevokeRule,
    MakeToken,
    RevokeToken,
);

/// The longest claim.
const LONGEST_CLAIM: SignedDuration = SignedDuration::from_hours(1);

/// Claims an interrupt, so that others cannot decide it while the claim holds, or gives a claim back.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeClaim {
    /// Which.
    pub interrupt: InterruptId,
    /// The version that the caller has seen; any if absent.
    pub version: Option<u64>,
    /// How long it is claimed, from a second to an hour; given back if absent.
    pub lasting: Option<SignedDuration>,
}

impl Command for ChangeClaim {
    type Done = Interrupt;

    const NAME: &'static str = "change_claim";

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
        let change = match self.lasting {
            Some(lasting) => ReviewChange::Claim {
                until: at.now + lasting.clamp(SignedDuration::from_secs(1), LONGEST_CLAIM),
            },
            None => ReviewChange::Release,
        };
        let changed = at.store.review(id, by.actor.clone(), version, change);
        let changed = changed.await;
        changed.map_err(|error| not_changed(Some(id), error, at.now))
    }
}

/// Withdraws an interrupt, or one of those who ask for a stop.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Withdraw {
    /// Which.
    pub interrupt: InterruptId,
    /// The number of the one who asks.
    pub asking: Option<u32>,
}

impl Command for Withdraw {
    type Done = Interrupt;

    const NAME: &'static str = "withdraw";

    const RIGHT: Right = Right::Request;

    fn run_of(done: &Interrupt) -> Option<RunId> {
        Some(done.run)
    }

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
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Redrive {
    /// Which.
    pub interrupt: InterruptId,
}

impl Command for Redrive {
    type Done = Interrupt;

    const NAME: &'static str = "redrive";

    const RIGHT: Right = Right::Operate;

    fn run_of(done: &Interrupt) -> Option<RunId> {
        Some(done.run)
    }

    async fn carry_out(self, at: &Control<'_>, by: &Caller) -> Result<Interrupt, NotDone> {
        let id = self.interrupt;
        let redriven = at.store.redrive(id, by.actor.clone()).await;
        redriven.map_err(|error| not_changed(Some(id), error, at.now))
    }
}

/// Sends an agent a message, which it reads at the start of its next turn.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SendMessage {
    /// Its run.
    pub run: RunId,
    /// The agent.
    pub node: NodeId,
    /// What it says.
    pub text: String,
    /// The same key of the same caller with the same text is the same message; it is a new one if absent.
    pub key: Option<String>,
}

impl Command for SendMessage {
    type Done = StoredMessage;

    const NAME: &'static str = "send_message";

    const RIGHT: Right = Right::Direct;

    fn is_repeatable(&self) -> bool {
        self.key.is_some()
    }

    fn run_of(done: &StoredMessage) -> Option<RunId> {
        Some(done.message.run)
    }

    async fn carry_out(self, at: &Control<'_>, by: &Caller) -> Result<StoredMessage, NotDone> {
        let key = by.request_key("message", self.key.as_deref());
        let message = NewMessage {
            run: self.run,
            node: self.node,
            text: self.text,
            from: by.actor.clone(),
            key: key.map_err(|error| NotDone::Failed(error.into()))?,
        };
        at.store.send_message(message).await.map_err(not_sent)
    }
}

/// Takes a message back that its agent has not read: no turn reads it from then on. One that was taken back before is
/// returned as it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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

    const NAME: &'static str = "take_back";

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
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevokeRule {
    /// Which.
    pub rule: RuleId,
}

impl Command for RevokeRule {
    type Done = StandingRule;

    const NAME: &'static str = "revoke_rule";

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
