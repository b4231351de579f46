//! Where interrupts are kept: the adapters of the store ports.
//!
//! [`SqliteStore`] keeps everything in one file, durably; [`MemoryStore`] in a SQLite database in the memory of one process.
//! What an operation means is written once, in `operation`, as synchronous code over `tables`; how a record lies in its
//! table, in `relational/record.rs`; what is asked, in the ports in `adapter`. A backend only carries statements out, so no two
//! can differ in meaning.
//!
//! For another database, implement the traits of [`backend`] in a crate of your own.
//!
//! Knows nothing of buses, HTTP, or who calls.

mod adapter;
pub mod backend;
#[cfg(feature = "postgres")]
mod copying;
mod location;
mod memory;
mod notifier;
mod operation;
#[cfg(feature = "postgres")]
mod postgres;
mod relational;
mod sqlite;
mod tables;
#[cfg(not(feature = "postgres"))]
mod without_postgres;

pub use adapter::{Adapter, Opening, StoreSettings, Written};
#[cfg(feature = "postgres")]
pub use copying::{CopyError, StoreCopy, copy_store};
pub use location::{LocationError, OpenError, Opened, StoreLocation, open_any};
pub use memory::{Memory, MemoryStore};
pub use notifier::notifier_at;
#[cfg(unix)]
pub use notifier::{LocalNotifier, NotifierError};
#[cfg(feature = "postgres")]
pub use postgres::{Postgres, PostgresLocation, PostgresNotifier, PostgresStore};
pub use relational::LARGEST_BATCH;
pub use sqlite::{Sqlite, SqliteStore, StoreStatus, until_closed};
#[cfg(not(feature = "postgres"))]
pub use without_postgres::PostgresLocation;
