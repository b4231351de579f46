//! What every database of rows has in common: which rows an operation needs and leaves, their seals, the one writer,
//! and what is read. A backend brings connections, the schema, and what its server or its file needs beside.

mod binding;
mod cell;
mod checked;
mod column;
#[cfg(feature = "postgres")]
mod copy;
mod database;
mod flush;
mod forget;
mod heads;
mod load;
mod read;
mod record;
mod sealed;
mod verify;
mod writer;

pub use cell::{Cell, ColumnValue, Columns};
pub(crate) use checked::misfits;
#[cfg(feature = "postgres")]
pub(crate) use copy::copy_rows;
pub use database::{Database, Found, Lookup, Relational, Transactions};
pub(crate) use read::{JournalPart, Reads};
#[cfg(test)]
pub(crate) use sealed::COUNTED;
pub(crate) use writer::carry_out;
pub use writer::{LARGEST_BATCH, Writer};
