//! What a database must bring.

use std::future::Future;

use jiff::Timestamp;

use super::cell::{Cell, Columns};
use crate::operation::Operation;
use crate::query::Found;
use crate::tables::Tables;

/// Rows that are looked up by their keys, the same way each.
pub(crate) struct Lookup {
    /// Finds at most one row for one key.
    pub(crate) sql: &'static str,
    pub(crate) keys: Vec<Cell<'static>>,
    /// Takes the row of the key with this number.
    pub(crate) take: TakeRow,
}

/// Takes the row of a key, by its number, into the tables.
pub(crate) type TakeRow = Box<dyn Fn(&mut Tables, usize, &dyn Columns) -> Found<()>>;

/// A connection, used by one thread at a time. Statements are written for SQLite, with `?` and `?1` for their values;
/// one that speaks another dialect translates them.
pub(crate) trait Database: Send {
    /// Every row that a statement finds.
    fn each(
        &mut self,
        sql: &'static str,
        values: &[Cell<'_>],
        read: &mut dyn FnMut(&dyn Columns) -> Found<()>,
    ) -> Found<()>;

    /// Carries a statement out, and says how many rows it changed.
    fn execute(&mut self, sql: &'static str, values: &[Cell<'_>]) -> Found<u64>;

    /// Writes a row, at the latest with the commit.
    fn write(&mut self, sql: &'static str, values: &[Cell<'_>]) -> Found<()> {
        self.execute(sql, values).map(drop)
    }

    /// Takes what is there of all that is looked up into the tables.
    fn look_up(&mut self, lookups: &[Lookup], tables: &mut Tables) -> Found<()>;

    /// From now on all is read as it is at one time, until [`Database::end_snapshot`].
    fn begin_snapshot(&mut self) -> Found<()>;

    fn end_snapshot(&mut self) -> Found<()>;
}

/// The connection that writes.
pub(crate) trait Transactions: Database + 'static {
    /// Begins a transaction that no other one runs beside. What is loaded from now on is as the last one left it.
    fn begin(&mut self) -> Found<()>;

    /// The time of the transaction, by the store's clock.
    fn time(&mut self) -> Found<Timestamp>;

    /// When this returns, all of the transaction is durable.
    fn commit(&mut self) -> Found<()>;

    /// Undoes what was begun. Where it never began, or has ended already, there is nothing to undo.
    fn roll_back(&mut self);

    /// Whether what failed surely did not happen and can be tried again now.
    fn can_try_again(&mut self) -> bool {
        false
    }

    /// Closes the connection; whoever waits for that is told by dropping this.
    fn close(self);
}

/// A store of rows: it has a writer, and connections that read.
pub(crate) trait Relational: Send + Sync + 'static {
    /// The time, by the store's clock.
    fn time(&self) -> Timestamp;

    /// Runs an operation in the transaction of the writer.
    fn submit<O: Operation>(
        &self,
        operation: O,
    ) -> impl Future<Output = Result<O::Output, O::Error>> + Send;

    /// Asks a question, which may be asked again where a connection was lost.
    fn ask<T: Send + 'static>(
        &self,
        question: impl Fn(&mut dyn Database) -> Found<T> + Send + 'static,
    ) -> impl Future<Output = Found<T>> + Send;

    /// Asks a question that is answered in less time than it takes to wake a thread that may block, where that is so.
    fn look_up<T: Send + 'static>(
        &self,
        question: impl Fn(&mut dyn Database) -> Found<T> + Send + 'static,
    ) -> impl Future<Output = Found<T>> + Send {
        self.ask(question)
    }
}
