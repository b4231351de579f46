//! What the operations of a store mean: synchronous code over the tables, the same for every adapter.

mod admit;
mod catalogue;
mod change;
mod checkpoint;
mod cursor;
mod fork;
mod holding;
mod join;
mod journal;
mod message;
mod node;
mod pending;
mod purge;
mod question;
mod reroute;
mod rule;
mod run;
mod together;
mod token;
mod undelivered;
mod worker;

use interrupts::store::StoreError;

use crate::tables::{Absent, Failed, Tables};

pub(crate) use admit::{Admit, Raise};
pub(crate) use catalogue::{CatalogueNews, FollowCatalogue, KeepCatalogue};
pub(crate) use change::{Change, ChangeInterrupt};
pub(crate) use checkpoint::Save;
pub(crate) use cursor::Consume;
pub(crate) use fork::Fork;
pub(crate) use join::Join;
pub(crate) use journal::{Begin, Finish};
pub(crate) use message::{KeepReading, ReadMessages, SendMessage, WithdrawMessage};
pub(crate) use node::PutNodes;
pub(crate) use purge::{Cut, PurgeRun, PurgedRun, ended_before};
pub(crate) use question::{Consult, Put};
pub(crate) use reroute::{ExpireReroute, NodeEnded, TurnIgnored};
pub(crate) use rule::{ExpireRule, PutRule, RevokeRule};
pub(crate) use run::{ChangeRun, CreateRun, RunChange};
pub(crate) use together::DecideTogether;
pub(crate) use token::{LONGEST_CHAIN, PutToken, RevokeToken, UseToken};
pub(crate) use worker::TellWorker;

/// Why an operation did not come to its end. Nothing of what it wrote is kept.
///
/// It has no name outside of this crate, so that no other one implements [`Operation`].
#[derive(Debug)]
pub enum Halt<E> {
    /// A row has to be loaded first; then it runs again.
    Absent,
    /// It is refused.
    Refused(E),
}

impl<E> Halt<E> {
    /// The same, where a larger operation has this one in it.
    fn within<F: From<E>>(self) -> Halt<F> {
        match self {
            Self::Absent => Halt::Absent,
            Self::Refused(error) => Halt::Refused(error.into()),
        }
    }
}

impl<E> From<Absent> for Halt<E> {
    fn from(_absent: Absent) -> Self {
        Self::Absent
    }
}

impl<E: From<StoreError>> From<Failed> for Halt<E> {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Absent => Self::Absent,
            Failed::Store(error) => Self::Refused(error.into()),
        }
    }
}

/// Something that is done to the tables, wholly or not at all: what one operation of a port means.
///
/// Only this crate implements it. A backend passes it to [`Writer::submit`](crate::backend::Writer::submit).
pub trait Operation: Send + 'static {
    /// The answer.
    type Output: Send + 'static;
    /// Why it is refused, or was not written.
    type Error: From<StoreError> + Send + 'static;

    /// Names the rows that it will surely need.
    #[doc(hidden)]
    fn want(&self, tables: &mut Tables);

    /// Does it. May run several times; only the last run counts.
    ///
    /// # Errors
    ///
    /// [`Halt`] where a row has to be loaded first, or it is refused.
    #[doc(hidden)]
    fn run(&self, tables: &mut Tables) -> Result<Self::Output, Halt<Self::Error>>;
}
