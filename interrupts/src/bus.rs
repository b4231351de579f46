//! The bus: supervisors outside receive events here and publish commands.
//!
//! A port for the adapters of brokers. The store is the truth: what a broker loses is published again from there, and
//! nothing waits for a broker.

use async_trait::async_trait;
use interrupt_router::{NodeId, RunId};

use crate::store::Consumer;

/// An event that is published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BusEvent {
    /// Distinguishes it from all other events of its store: the broker drops it when it comes again soon.
    pub id: String,
    /// Its run, if it is about one.
    pub run: Option<RunId>,
    /// The agent that it is about.
    pub node: Option<NodeId>,
    /// Its name, as `interrupt.opened`.
    pub topic: String,
    /// The CloudEvent as JSON.
    pub json: String,
}

/// A command that a supervisor published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BusCommand {
    /// What it asks for, as its subject names it: `reroute`.
    pub verb: String,
    /// Its headers; a name may come more than once.
    pub headers: Vec<(String, String)>,
    /// A CloudEvent, or its data if the attributes are in the headers.
    pub body: Vec<u8>,
    /// Where the answer goes, if one is expected.
    pub reply: Option<String>,
}

/// The answer to a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BusAnswer {
    /// The status, as HTTP has it: 202 if the command was accepted.
    pub status: u16,
    /// The media type of the body.
    pub media_type: String,
    /// The same JSON as REST answers.
    pub body: Vec<u8>,
}

/// Why the broker did not take something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BusError {
    /// The broker cannot be reached, or did not answer in time. It may have taken the event: [`Bus::last`] says so.
    #[error("the broker is away: {reason}")]
    Away {
        /// Why, in the client's words.
        reason: String,
    },
    /// The broker takes no message of this size, now or later.
    #[error("the event has {length} bytes, more than the broker takes")]
    TooLarge {
        /// How many bytes it has.
        length: usize,
    },
    /// The broker refused it.
    #[error("the broker refuses it: {reason}")]
    Refused {
        /// Why, in the broker's words.
        reason: String,
    },
}

/// A broker that events are published to and commands come from.
#[async_trait]
pub trait Bus: Send + Sync {
    /// Where it is, without passwords.
    fn place(&self) -> String;

    /// The cursor in the outbox up to which the broker has everything.
    fn consumer(&self) -> &Consumer;

    /// Checks whether the broker takes events, and prepares it if it is new.
    ///
    /// # Errors
    ///
    /// [`BusError`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn prepare(&self) -> Result<(), BusError>;

    /// Publishes an event, and returns when the broker has acknowledged it.
    ///
    /// # Errors
    ///
    /// [`BusError`].
    ///
    /// # Cancel safety
    ///
    /// If dropped, the event may have been taken: [`Bus::last`] says so.
    async fn publish(&self, event: &BusEvent) -> Result<(), BusError>;

    /// The JSON of the last event that the broker has of this store; `None` if it has none.
    ///
    /// # Errors
    ///
    /// [`BusError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    async fn last(&self) -> Result<Option<String>, BusError>;

    /// Waits for the next command; `None` after [`Bus::close`], when none is left.
    ///
    /// # Cancel safety
    ///
    /// Safe: a command that was not returned is returned by the next call.
    async fn command(&self) -> Option<BusCommand>;

    /// Answers a command.
    ///
    /// # Errors
    ///
    /// [`BusError`]: the supervisor sends the command again.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the answer may not have been sent.
    async fn answer(&self, reply: &str, answer: BusAnswer) -> Result<(), BusError>;

    /// Takes no more commands: other servers get them from here on.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    async fn close(&self);
}
