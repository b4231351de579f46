//! The outbox: notifications, in one order without gaps.

use async_trait::async_trait;
use interrupt_router::reroute::RerouteState;
use interrupt_router::{EventId, InterruptId, NodeId, RuleId, RunId, StopSource};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::audit::RuleEvent;
use super::checkpoint::CheckpointId;
use super::error::StoreError;
use super::interrupt::{Page, PageBack};
use super::node::{CallWait, NodeActivity};
use crate::digest::EffectId;
use crate::life::{Notice, RunState, State};
use crate::names::{KindName, OwnerName};

/// Who reads the outbox, and has a cursor of its own in it.
pub type Consumer = OwnerName;

/// A notification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum Notification {
    /// Something happened to an interrupt.
    Interrupt {
        /// Which one.
        interrupt: InterruptId,
        /// Its run.
        run: RunId,
        /// Its state after.
        state: State,
        /// Its version after.
        version: u64,
        /// Its source after, if that can differ from the one that it was admitted with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<StopSource>,
        /// What.
        #[serde(flatten)]
        notice: Notice,
    },
    /// Something happened to a reroute.
    Reroute {
        /// Its event.
        event: EventId,
        /// Its run.
        run: RunId,
        /// Its state after.
        reroute: RerouteState,
    },
    /// A node came to be, or does something else than before.
    Node {
        /// Its run.
        run: RunId,
        /// Which one.
        node: NodeId,
        /// Its kind.
        kind: KindName,
        /// What it does now.
        activity: NodeActivity,
        /// The step of the run that it took last.
        step: u32,
        /// What the call to its model waits for now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waits: Option<CallWait>,
    },
    /// An effect of a run began or has its result; its journal says what it is.
    Effect {
        /// The run.
        run: RunId,
        /// The node.
        node: NodeId,
        /// Which one.
        effect: EffectId,
        /// What kind of effect it is.
        kind: KindName,
        /// Whether it has its result.
        done: bool,
    },
    /// A message was accepted for a node.
    Message {
        /// The run.
        run: RunId,
        /// The node.
        node: NodeId,
        /// The message's place among all messages.
        message: u64,
    },
    /// A checkpoint was saved.
    Checkpoint {
        /// Which one.
        checkpoint: CheckpointId,
    },
    /// A run changed its state.
    Run {
        /// Which one.
        run: RunId,
        /// Its state after.
        state: RunState,
        /// Its version after.
        version: u64,
        /// Why, in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// What waits for a person if the run does not proceed: what can be decided now goes first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        open: Vec<InterruptId>,
    },
    /// A standing rule was made, was used, or ended.
    Rule {
        /// Which one.
        rule: RuleId,
        /// What happened.
        event: RuleEvent,
        /// The run that it is confined to, or in which it was used.
        run: Option<RunId>,
        /// The interrupt that it was made of, or that it answered.
        interrupt: Option<InterruptId>,
        /// Why, if it ended: `time`, `uses` or `revoked`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
}

impl Notification {
    /// The run that it is about; none if it is about a rule that is confined to no run.
    pub const fn run(&self) -> Option<RunId> {
        match self {
            Self::Interrupt { run, .. }
            | Self::Reroute { run, .. }
            | Self::Node { run, .. }
            | Self::Effect { run, .. }
            | Self::Message { run, .. }
            | Self::Run { run, .. } => Some(*run),
            Self::Checkpoint { checkpoint } => Some(checkpoint.run),
            Self::Rule { run, .. } => *run,
        }
    }
}

/// A row of the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxRow {
    /// Its place: 1 for the first, without gaps.
    pub position: u64,
    /// When it was written.
    pub at: Timestamp,
    /// The notification.
    pub notification: Notification,
}

/// Keeps the outbox. A row is written in the transaction of the change that it reports, so no row reports what did not
/// happen.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Rows after a position, in their order.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn outbox(&self, page: Page) -> Result<Vec<OutboxRow>, StoreError>;

    /// Rows about one run after a position, in their order, however many there are about others between.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn outbox_of(&self, run: RunId, page: Page) -> Result<Vec<OutboxRow>, StoreError>;

    /// The last rows about one run, newest first.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn last_outbox_of(
        &self,
        run: RunId,
        page: PageBack,
    ) -> Result<Vec<OutboxRow>, StoreError>;

    /// Records that a consumer has dealt with everything up to a position. Cursors never go back, and never beyond the
    /// last row. Returns the cursor.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat. If it did not happen, the consumer is given the same rows again.
    async fn consumed(&self, consumer: &Consumer, through: u64) -> Result<u64, StoreError>;

    /// A consumer's cursor; 0 before it has consumed anything.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn cursor(&self, consumer: &Consumer) -> Result<u64, StoreError>;
}

#[cfg(test)]
mod tests {
    use interrupt_router::{InterruptId, RunId};
    use serde_json::json;

    use super::Notification;
    use crate::life::{Claim, Notice, ReviewStep};
    use crate::names::ActorName;

    /// Reads a row as another version of the program has written it.
    fn read(change: &serde_json::Value) -> Notification {
        let mut row = json!({
            "about": "interrupt", "interrupt": InterruptId::generate(), "run": RunId::generate(),
            "state": "awaiting_review", "version": 3, "notice": "review_changed",
        });
        if !change.is_null() {
            row["step"] = change.clone();
        }
        serde_json::from_value(row).unwrap()
    }

    #[test]
    fn a_changed_review_is_read_from_rows_of_older_and_newer_programs() {
        let claim = Claim {
            by: ActorName::new("alex").unwrap(),
            until: "2026-01-01T00:00:00Z".parse().unwrap(),
        };
        for (written, meant) in [
            (json!(null), ReviewStep::Unnamed),
            (
                json!({"change": "delegated", "to": "kim"}),
                ReviewStep::Unnamed,
            ),
            (json!({"change": "released"}), ReviewStep::Released),
            (
                json!({"change": "claimed", "by": "alex", "until": "2026-01-01T00:00:00Z"}),
                ReviewStep::Claimed(claim),
            ),
        ] {
            let row = read(&written);
            let Notification::Interrupt { notice, .. } = &row else {
                panic!("{row:?}");
            };
            assert_eq!(*notice, Notice::ReviewChanged { step: meant });
            let again = serde_json::to_value(&row).unwrap();
            assert_eq!(serde_json::from_value::<Notification>(again).unwrap(), row);
        }
    }
}
