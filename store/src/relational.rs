//! What every database of rows has in common: which rows an operation needs and leaves, their seals, the one writer,
//! and what is read. A backend brings connections, the schema, and what its server or its file needs beside.

mod binding;
mod cell;
pub(crate) mod checked;
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
pub(crate) mod sealed;
pub(crate) mod verify;
mod writer;

pub use cell::{Cell, ColumnValue, Columns};
pub(crate) use checked::misfits;
pub(crate) use column::{count, position, read_json, text};
#[cfg(feature = "postgres")]
pub(crate) use copy::copy_rows;
pub use database::{Database, Found, Lookup, Relational, Transactions};
pub(crate) use read::{
    Rows, audited, body, catalogue, catalogue_row, checkpoint, interrupt_id, list, notification,
    numbered, rule_id,
};
#[cfg(test)]
pub(crate) use sealed::COUNTED;
pub(crate) use sealed::columns;
pub(crate) use writer::carry_out;
pub use writer::{LARGEST_BATCH, Writer};
