//! Copying all rows of a store into an empty one, as they are: seals and the audit's chain are valid there too.

use interrupts::store::StoreError;

use super::cell::{Cell, ColumnValue, Columns};
use super::column::{count, each};
use super::database::Found;
use super::database::Transactions;
use super::sealed::{COUNTED, OUTBOX, Sealed};
use crate::tables::damaged;

/// A table, and how its rows are read and written.
struct Copied {
    table: &'static str,
    read: &'static str,
    write: &'static str,
    clear: &'static str,
}

macro_rules! copied {
    ($table:literal, $columns:literal, $values:literal) => {
        Copied {
            table: $table,
            read: concat!("SELECT ", $columns, " FROM ", $table),
            write: concat!(
                "INSERT INTO ",
                $table,
                " (",
                $columns,
                ") VALUES (",
                $values,
                ")"
            ),
            clear: concat!("DELETE FROM ", $table),
        }
    };
}

/// The tables whose rows have no seals.
const OTHERS: [Copied; 5] = [
    copied!("store", "id, name", "?, ?"),
    copied!("heads", "id, body", "?, ?"),
    copied!("purged", "result, place, digest", "?, ?, ?"),
    copied!("cursors", "consumer, position", "?, ?"),
    copied!("audit", "position, previous, digest, entry", "?, ?, ?, ?"),
];

const fn copied(table: &Sealed) -> Copied {
    Copied {
        table: table.table,
        read: table.copied,
        write: table.write,
        clear: table.clear,
    }
}

/// Copies all rows in one transaction, while nothing else writes to either. Says how many rows there were.
///
/// # Errors
///
/// [`StoreError::Foreign`] where something is kept in the other store already; otherwise as reading and writing.
pub(crate) fn copy_rows(from: &mut impl Transactions, to: &mut impl Transactions) -> Found<u64> {
    from.begin()?;
    // Begins the transaction now if the database waits for the first statement.
    from.time()?;
    let copied = into_empty(from, to);
    from.roll_back();
    if copied.is_err() {
        to.roll_back();
    }
    copied
}

fn into_empty(from: &mut impl Transactions, to: &mut impl Transactions) -> Found<u64> {
    to.begin()?;
    to.time()?;
    let kept = each(to, "SELECT COUNT(*) FROM audit", &[], |row| count(row, 0))?;
    if kept.iter().any(|rows| *rows > 0) {
        return Err(StoreError::Foreign);
    }
    let mut rows = 0;
    let sealed = COUNTED.into_iter().chain([&OUTBOX]).map(copied);
    for table in OTHERS.into_iter().chain(sealed) {
        to.execute(table.clear, &[])?;
        from.each(table.read, &[], &mut |row| {
            rows += 1;
            let values = values_of(row, &table)?;
            to.write(table.write, &values)
        })?;
        tracing::info!(table = table.table, rows, "copied");
    }
    to.commit()?;
    Ok(rows)
}

fn values_of<'row>(row: &'row dyn Columns, table: &Copied) -> Found<Vec<Cell<'row>>> {
    let cell = |column| {
        Ok(match row.value(column)? {
            ColumnValue::Nothing => Cell::Nothing,
            ColumnValue::Number(number) => Cell::Number(number),
            ColumnValue::Fraction(_) => {
                return Err(damaged(&"a column has a number that is not whole"));
            }
            ColumnValue::Text(text) => {
                Cell::Text(std::str::from_utf8(text).map_err(|error| damaged(&error))?)
            }
            ColumnValue::Bytes(bytes) => Cell::Bytes(bytes),
        })
    };
    (0..table.write.matches('?').count()).map(cell).collect()
}
