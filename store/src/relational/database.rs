//! What a database must bring.

use std::future::Future;

use interrupts::store::StoreError;
use jiff::Timestamp;

use super::cell::{Cell, Columns};
use crate::operation::Operation;
use crate::tables::Tables;

/// What was found.
pub type Found<T> = Result<T, StoreError>;

/// Rows that are looked up by their keys, the same way each. A key has one value or two.
pub struct Lookup {
    pub(super) sql: &'static str,
    pub(super) keys: Vec<Vec<Cell<'static>>>,
    pub(super) take: TakeRow,
}

/// Takes the row of a key, by its number, into the tables.
pub(super) type TakeRow = Box<dyn Fn(&mut Tables, usize, &dyn Columns) -> Found<()>>;

impl Lookup {
    /// The statement. Its values are those of a key, and it finds one row, several, or none.
    pub const fn sql(&self) -> &'static str {
        self.sql
    }

    /// The keys.
    pub fn keys(&self) -> &[Vec<Cell<'static>>] {
        &self.keys
    }

    /// Takes a row of a key into the tables. Keys are counted from 0.
    ///
    /// # Errors
    ///
    /// [`StoreError`](interrupts::store::StoreError) where the row is not what was written.
    pub fn take(&self, tables: &mut Tables, key: usize, row: &dyn Columns) -> Found<()> {
        (self.take)(tables, key, row)
    }
}

/// A connection, used by one thread at a time. Statements are written for SQLite, with `?` and `?1` for their values;
/// one that speaks another dialect translates them.
///
/// Every method fails with a [`StoreError`](interrupts::store::StoreError): `Full`, `ReadOnly` and `Locked` where that is the
/// cause, `Corrupt` where a value cannot be read, and `Unavailable` otherwise.
pub trait Database: Send {
    /// Gives every row that a statement finds to `read`.
    ///
    /// # Errors
    ///
    /// As the trait says, or what `read` failed with, which ends the reading.
    fn each(
        &mut self,
        sql: &'static str,
        values: &[Cell<'_>],
        read: &mut dyn FnMut(&dyn Columns) -> Found<()>,
    ) -> Found<()>;

    /// Carries a statement out, and says how many rows it changed.
    ///
    /// # Errors
    ///
    /// As the trait says.
    fn execute(&mut self, sql: &'static str, values: &[Cell<'_>]) -> Found<u64>;

    /// Writes a row, at the latest with the commit.
    ///
    /// # Errors
    ///
    /// As the trait says. What is written later may fail with the commit.
    fn write(&mut self, sql: &'static str, values: &[Cell<'_>]) -> Found<()> {
        self.execute(sql, values).map(drop)
    }

    /// Takes what is there of all that is looked up into the tables. A database that is far away asks for all of it in one
    /// round trip.
    ///
    /// # Errors
    ///
    /// As the trait says, or as [`Lookup::take`].
    fn look_up(&mut self, lookups: &[Lookup], tables: &mut Tables) -> Found<()> {
        for lookup in lookups {
            for (number, key) in lookup.keys.iter().enumerate() {
                self.each(lookup.sql, key, &mut |row| lookup.take(tables, number, row))?;
            }
        }
        Ok(())
    }

    /// From now on all is read as it is at one time, until [`Database::end_snapshot`].
    ///
    /// # Errors
    ///
    /// As the trait says.
    fn begin_snapshot(&mut self) -> Found<()>;

    /// Ends what [`Database::begin_snapshot`] began.
    ///
    /// # Errors
    ///
    /// As the trait says.
    fn end_snapshot(&mut self) -> Found<()>;
}

/// The connection that writes.
///
/// A transaction is `begin`, lookups, `time`, writes, `commit`; after a failure of any of them, `roll_back`.
pub trait Transactions: Database + 'static {
    /// Begins a transaction that no other one runs beside, in any process. What is loaded from now on is as the last one
    /// left it.
    ///
    /// # Errors
    ///
    /// As [`Database`] says. A caller that waited too long for another process fails with `Locked`.
    fn begin(&mut self) -> Found<()>;

    /// The time of the transaction, by the store's clock; the same until it ends.
    ///
    /// # Errors
    ///
    /// As [`Database`] says.
    fn time(&mut self) -> Found<Timestamp>;

    /// When this returns, all of the transaction is durable.
    ///
    /// # Errors
    ///
    /// As [`Database`] says. A backend whose connection was lost meanwhile finds out what became of the transaction: where
    /// it was committed, this is no error.
    fn commit(&mut self) -> Found<()>;

    /// Undoes what was begun: nothing of it stays. Where it never began, or has ended already, there is nothing to undo.
    fn roll_back(&mut self);

    /// Whether the transaction that failed surely did not happen and is to be run again now. Where it may have happened, it
    /// is not: it could happen twice.
    fn can_try_again(&mut self) -> bool {
        false
    }

    /// Closes the connection; dropping this wakes the callers that wait for it.
    fn close(self);
}

/// A store of rows: it has a writer, and connections that read.
///
/// [`Adapter::over`](crate::Adapter::over) makes a store of it, which is used within a Tokio runtime.
pub trait Relational: Send + Sync + 'static {
    /// The time, by the store's clock.
    fn time(&self) -> Timestamp;

    /// Runs an operation in a transaction of the [`Writer`](super::Writer).
    ///
    /// # Errors
    ///
    /// As [`Writer::submit`](super::Writer::submit).
    ///
    /// # Cancel safety
    ///
    /// As [`Writer::submit`](super::Writer::submit).
    fn submit<O: Operation>(
        &self,
        operation: O,
    ) -> impl Future<Output = Result<O::Output, O::Error>> + Send;

    /// Asks a question of a connection that sees whole transactions only, and all that were acknowledged before. It may be
    /// asked again where a connection was lost.
    ///
    /// # Errors
    ///
    /// What the question failed with, or that no connection could be had.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the question is answered and the answer discarded. It writes nothing.
    fn ask<T: Send + 'static>(
        &self,
        question: impl Fn(&mut dyn Database) -> Found<T> + Send + 'static,
    ) -> impl Future<Output = Found<T>> + Send;

    /// Asks a question that finds a row by its key. A backend that answers it in less time than it takes to wake a thread
    /// that may block answers it at once.
    ///
    /// # Errors
    ///
    /// As [`Relational::ask`].
    ///
    /// # Cancel safety
    ///
    /// As [`Relational::ask`].
    fn look_up<T: Send + 'static>(
        &self,
        question: impl Fn(&mut dyn Database) -> Found<T> + Send + 'static,
    ) -> impl Future<Output = Found<T>> + Send {
        self.ask(question)
    }
}
