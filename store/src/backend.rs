//! What another database needs to be a store. Everything here serves a crate that adds one.
//!
//! # How the parts meet
//!
//! An [`Operation`] is what one operation of a port means: synchronous code over [`Tables`], which hold rows. All operations
//! are of this crate; a backend neither reads nor writes tables. It brings three things:
//!
//! | trait | what it is | how many |
//! | --- | --- | --- |
//! | [`Database`] | a connection: carries statements out, and looks rows up by their keys | one for each reader |
//! | [`Transactions`] | the connection that writes: begins, commits, rolls back | one in each process |
//! | [`Relational`] | the store: gives operations to the [`Writer`], and questions to a connection that reads | one |
//!
//! [`Writer::start`] runs the thread that writes. It takes up to [`LARGEST_BATCH`](crate::LARGEST_BATCH) operations that wait,
//! begins one transaction, loads the rows that they need by [`Database::look_up`], runs them, loads what turns out to be missing
//! and runs them again, writes the rows that changed, commits, and only then answers. An operation that is refused writes nothing.
//! [`Adapter::over`](crate::Adapter::over) makes a store of a [`Relational`], with all ports.
//!
//! # What a backend owes
//!
//! - One transaction at a time, over all processes that have the store: positions have no gaps, and what an operation has read
//!   is still true when it writes. It takes the lock in [`Transactions::begin`], before the first row is read.
//! - What was committed is durable: [`Transactions::commit`] returns after the flush, not before.
//! - [`Transactions::roll_back`] leaves nothing of a transaction, also after half of it was written.
//! - Readers see whole transactions, and each that was acknowledged before the question was asked.
//! - A commit whose answer was lost is found out. Where that is impossible, it fails, and [`Transactions::can_try_again`] is
//!   false: nothing is done twice.
//! - A text or number is read as it was written: each row has a seal over its bytes, and a row that does not fit is refused.
//!
//! # The schema and the statements
//!
//! Both are in the words of SQLite. [`schema`] has the steps that make the tables. Where the dialect differs, a backend has a
//! schema of its own with the same tables and columns, as `migrations/postgres` of this crate, and translates each statement
//! when it sees it first: `?` and `?1` for values, `INDEXED BY`, `json_each`, and `ON CONFLICT`. Whether nothing is
//! missing, [`Audit::verify_audit`](interrupts::store::Audit::verify_audit) says.
//!
//! The schema and the statements change together, with the version of this crate: a backend names it exactly.
//!
//! # An example
//!
//! `tests/conformance/third.rs` of this crate is a whole backend that uses nothing but this module. The tests beside it are what
//! every store must do; run them against yours.

pub use crate::operation::Operation;
pub use crate::relational::{
    Cell, ColumnValue, Columns, Database, Found, Lookup, Relational, Transactions, Writer,
};
pub use crate::sqlite::schema;
pub use crate::tables::Tables;
