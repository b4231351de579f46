//! The ports that a store implements.
//!
//! A store keeps interrupts, standing rules, reroutes, runs, journals, checkpoints, notices and the audit. What an
//! operation writes, it writes in one transaction, and when it has answered, that is durable. If several callers race,
//! one wins and the others get the winner. Times are the store's own: it judges deadlines and leases by its clock,
//! never by a caller's.
//!
//! Dropping the future of an operation neither undoes nor hastens it: once it was polled it may have happened
//! or not. All operations are made to be repeated; each says how.

mod access;
mod audit;
mod binding;
mod catalogue;
mod checkpoint;
mod error;
mod interrupt;
mod journal;
mod message;
mod node;
pub mod operations;
mod outbox;
mod pages;
mod pending;
mod purge;
mod question;
mod reroute;
mod run;
mod standing_rules;
mod waiting;
mod worker;

use crate::Clock;

pub use access::{NewToken, TokenRow, TokenScope, Tokens, short_name};
pub use audit::{
    Audit, AuditEntry, AuditHead, AuditRow, AuditSubject, MessageEvent, RuleEvent, VerifyError,
};
pub use binding::{JournalMark, JournalPosition, JournalSoFar, Verification};
pub use catalogue::{CatalogueRow, Catalogues, FollowError};
pub use checkpoint::{Checkpoint, CheckpointDraft, CheckpointError, CheckpointId, Checkpoints};
pub use error::{ChangeError, StoreError};
pub use interrupt::{
    AdmitError, Admitted, Deciding, Delivery, Filter, Interrupts, Page, PageBack, RefusedDecision,
    Swept, TogetherError,
};
pub use journal::{
    Begun, Intent, Journal, JournalEntry, JournalError, JournalResult, KnownEffect, Repeating,
};
pub use message::{
    MessageError, MessageState, Messages, NewMessage, StoredMessage, WaitingMessages,
};
pub use node::{CallWait, NodeActivity, NodeRow, Nodes};
pub use outbox::{Consumer, Notification, Outbox, OutboxRow};
pub use pages::{Pages, Positioned};
pub use pending::PendingInput;
pub use purge::{Purge, Purged};
pub use question::{Deciders, PutQuestion, PutQuestionError, RaisedQuestion};
pub use reroute::{RerouteRow, Reroutes};
pub use run::{ForkStart, NewRun, RootNode, Run, RunError, RunHold, Runs};
pub use standing_rules::{NewRule, RuleError, StandingRules};
pub use waiting::WaitingPosition;
pub use worker::{WorkerRow, WorkerState, Workers};

/// Everything that a store does. It is a clock, too: the one by which leases and deadlines are judged.
pub trait Store:
    Clock
    + Interrupts
    + Reroutes
    + Runs
    + Nodes
    + Catalogues
    + Messages
    + Journal
    + Checkpoints
    + Outbox
    + Tokens
    + StandingRules
    + Workers
    + Audit
    + Purge
    + 'static
{
}

impl<S> Store for S where
    S: Clock
        + Interrupts
        + Reroutes
        + Runs
        + Nodes
        + Catalogues
        + Messages
        + Journal
        + Checkpoints
        + Outbox
        + Tokens
        + StandingRules
        + Workers
        + Audit
        + Purge
        + 'static
{
}
