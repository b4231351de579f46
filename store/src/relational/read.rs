//! Reading what is kept.

mod row;

use super::cell::{Cell, Columns};
use super::column::each;
use super::database::{Found, Relational};
use super::heads;
use super::record::Record;
use crate::tables::Heads;

pub(crate) use row::{
    audited, body, catalogue, catalogue_row, checkpoint, interrupt_id, list, notification,
    numbered, rule_id,
};

/// What a store of rows is asked.
pub(crate) trait Rows: Relational {
    async fn rows<T: Send + 'static, const N: usize>(
        &self,
        sql: &'static str,
        values: [Cell<'static>; N],
        read: fn(&dyn Columns) -> Found<T>,
    ) -> Found<Vec<T>> {
        self.ask(move |database| each(database, sql, &values, read))
            .await
    }

    async fn row<T: Send + 'static, const N: usize>(
        &self,
        sql: &'static str,
        values: [Cell<'static>; N],
        read: fn(&dyn Columns) -> Found<T>,
    ) -> Found<Option<T>> {
        Ok(self.rows(sql, values, read).await?.pop())
    }

    async fn heads(&self) -> Found<Option<Heads>> {
        let values = [Cell::Number(1)];
        self.row(heads::SQL, values, |row| Ok(heads::newest(row)?.0))
            .await
    }

    /// A small row that is found by its key or an index: most requests ask for several.
    async fn point<T: Send + 'static, const N: usize>(
        &self,
        sql: &'static str,
        values: [Cell<'static>; N],
        read: fn(&dyn Columns) -> Found<T>,
    ) -> Found<Option<T>> {
        Ok(self.few(sql, values, read).await?.pop())
    }

    /// What the row of a key says.
    async fn record<R: Record>(&self, key: &R::Key) -> Found<Option<R::Body>> {
        let sql = R::TABLE.by_key;
        self.point(sql, [R::find(key)], |row| body(row, R::TABLE))
            .await
    }

    /// Rows that are as a rule few and at hand.
    async fn few<T: Send + 'static, const N: usize>(
        &self,
        sql: &'static str,
        values: [Cell<'static>; N],
        read: fn(&dyn Columns) -> Found<T>,
    ) -> Found<Vec<T>> {
        self.look_up(move |database| each(database, sql, &values, read))
            .await
    }
}

impl<R: Relational> Rows for R {}
