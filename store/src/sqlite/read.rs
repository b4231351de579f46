//! Reading from the file.

use interrupts::life::{Interrupt, RunState};
use interrupts::store::{
    AuditHead, AuditRow, Checkpoint, CheckpointId, Consumer, Filter, JournalEntry, NodeRow,
    OutboxRow, Page, RerouteRow, Run, StoreError, StoredMessage, TokenRow,
};
use interrupts::{Digest, EffectId, IdempotencyKey};
use jiff::Timestamp;
use routing_core::{EventId, InterruptId, NodeId, RunId};
use serde::de::DeserializeOwned;
use sqlx::Row as _;
use sqlx::sqlite::{SqliteArguments, SqliteRow};

use super::Sqlite;
use super::column::{Value, node_key, read_json, read_position, read_text, read_time};
use super::error::store_error;
use crate::operation::Operation;
use crate::query::{Backend, Found, JournalPart};
use crate::tables::{Heads, damaged};

impl Sqlite {
    async fn rows(&self, sql: &'static str, values: Vec<Value>) -> Found<Vec<SqliteRow>> {
        let mut arguments = SqliteArguments::default();
        for value in values {
            value.bind(&mut arguments)?;
        }
        sqlx::query_with(sql, arguments)
            .fetch_all(&self.readers)
            .await
            .map_err(|error| store_error(&error))
    }

    /// Rows whose first column is JSON.
    async fn bodies<T: DeserializeOwned>(
        &self,
        sql: &'static str,
        values: Vec<Value>,
    ) -> Found<Vec<T>> {
        let rows = self.rows(sql, values).await?;
        rows.iter()
            .map(|row| read_json(sql, text(row, 0)?))
            .collect()
    }

    async fn body<T: DeserializeOwned>(
        &self,
        sql: &'static str,
        values: Vec<Value>,
    ) -> Found<Option<T>> {
        Ok(self.bodies(sql, values).await?.pop())
    }

    /// Rows of a position and a body.
    async fn numbered<T: DeserializeOwned>(
        &self,
        sql: &'static str,
        values: Vec<Value>,
    ) -> Found<Vec<(u64, T)>> {
        let rows = self.rows(sql, values).await?;
        rows.iter()
            .map(|row| Ok((position(row, 0)?, read_json(sql, text(row, 1)?)?)))
            .collect()
    }

    async fn checkpoint_rows(
        &self,
        sql: &'static str,
        values: Vec<Value>,
    ) -> Found<Vec<Checkpoint>> {
        let rows = self.rows(sql, values).await?;
        rows.iter().map(checkpoint).collect()
    }
}

fn text(row: &SqliteRow, column: usize) -> Found<&str> {
    row.try_get(column).map_err(|error| store_error(&error))
}

fn number(row: &SqliteRow, column: usize) -> Found<i64> {
    row.try_get(column).map_err(|error| store_error(&error))
}

fn position(row: &SqliteRow, column: usize) -> Found<u64> {
    read_position("a position", number(row, column)?)
}

/// Columns: run, number, parent, form, digest, pending, at, content, journal.
fn checkpoint(row: &SqliteRow) -> Found<Checkpoint> {
    let id = CheckpointId {
        run: read_text("a checkpoint", text(row, 0)?)?,
        number: position(row, 1)?,
    };
    let parent: Option<&str> = row.try_get(2).map_err(|error| store_error(&error))?;
    let content = text(row, 7)?;
    let digest: Digest = read_text("a checkpoint", text(row, 4)?)?;
    if digest != Digest::of(content.as_bytes()) {
        return Err(damaged(&format!("checkpoint {id} is not what was saved")));
    }
    let form = u32::try_from(number(row, 3)?).map_err(|error| damaged(&error))?;
    Ok(Checkpoint::stored(
        id,
        parent.map(|json| read_json("a parent", json)).transpose()?,
        form,
        read_json("pending effects", text(row, 5)?)?,
        read_time("a checkpoint", number(row, 6)?)?,
        position(row, 8)?,
        content.to_owned(),
    ))
}

fn paging(page: Page) -> Result<[Value; 2], StoreError> {
    Ok([
        Value::position(page.after)?,
        Value::Number(i64::from(page.limit)),
    ])
}

/// A list for `json_each`; `None` where the list does not restrict.
fn list(names: impl Iterator<Item = &'static str>) -> Value {
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        Value::Nothing
    } else {
        Value::Text(serde_json::Value::from(names).to_string())
    }
}

impl Backend for Sqlite {
    fn now(&self) -> Timestamp {
        self.time()
    }

    async fn execute<O: Operation>(&self, operation: O) -> Result<O::Output, O::Error> {
        self.submit(operation).await
    }

    async fn interrupt(&self, id: InterruptId) -> Found<Option<Interrupt>> {
        let sql = "SELECT body FROM interrupts WHERE id = ?";
        self.body(sql, vec![Value::text(id)]).await
    }

    async fn interrupt_of(&self, key: &IdempotencyKey) -> Found<Option<Interrupt>> {
        let sql = "SELECT body FROM interrupts WHERE key = ?";
        self.body(sql, vec![Value::text(key)]).await
    }

    async fn interrupts(&self, filter: &Filter, page: Page) -> Found<Vec<(u64, Interrupt)>> {
        let [after, limit] = paging(page)?;
        let node = filter.node.as_ref().map_or(Value::Nothing, Value::text);
        let states = list(filter.states.iter().map(|state| state.name()));
        // Two statements, so that each has its index.
        match filter.run {
            Some(run) => {
                let sql = "SELECT position, body FROM interrupts \
                     WHERE run = ?1 AND position > ?2 AND (?3 IS NULL OR node = ?3) \
                     AND (?4 IS NULL OR state IN (SELECT value FROM json_each(?4))) \
                     ORDER BY position LIMIT ?5";
                let values = vec![Value::text(run), after, node, states, limit];
                self.numbered(sql, values).await
            }
            None => {
                let sql = "SELECT position, body FROM interrupts \
                     WHERE position > ?1 AND (?2 IS NULL OR node = ?2) \
                     AND (?3 IS NULL OR state IN (SELECT value FROM json_each(?3))) \
                     ORDER BY position LIMIT ?4";
                self.numbered(sql, vec![after, node, states, limit]).await
            }
        }
    }

    async fn due(&self, now: Timestamp, limit: u32) -> Found<Vec<InterruptId>> {
        let sql = "SELECT id FROM interrupts \
             WHERE live = 1 AND deadline IS NOT NULL AND deadline <= ? ORDER BY deadline LIMIT ?";
        let values = vec![Value::time(now), Value::Number(i64::from(limit))];
        let rows = self.rows(sql, values).await?;
        rows.iter()
            .map(|row| read_text("an interrupt", text(row, 0)?))
            .collect()
    }

    async fn orphans(&self, limit: u32) -> Found<Vec<InterruptId>> {
        let sql = "SELECT id FROM interrupts WHERE live = 1 AND run IN \
             (SELECT id FROM runs WHERE state IN ('completed', 'failed', 'cancelled')) LIMIT ?";
        let rows = self
            .rows(sql, vec![Value::Number(i64::from(limit))])
            .await?;
        rows.iter()
            .map(|row| read_text("an interrupt", text(row, 0)?))
            .collect()
    }

    async fn reroute(&self, event: &EventId) -> Found<Option<RerouteRow>> {
        let sql = "SELECT body FROM reroutes WHERE event = ?";
        self.body(sql, vec![Value::text(event)]).await
    }

    async fn due_reroutes(&self, now: Timestamp, limit: u32) -> Found<Vec<EventId>> {
        let sql = "SELECT body FROM reroutes \
             WHERE pending = 1 AND expires_at <= ? ORDER BY expires_at LIMIT ?";
        let values = vec![Value::time(now), Value::Number(i64::from(limit))];
        let rows: Vec<RerouteRow> = self.bodies(sql, values).await?;
        Ok(rows.into_iter().map(|row| row.event).collect())
    }

    async fn run(&self, id: RunId) -> Found<Option<Run>> {
        let sql = "SELECT body FROM runs WHERE id = ?";
        self.body(sql, vec![Value::text(id)]).await
    }

    async fn run_of(&self, alias: &str) -> Found<Option<Run>> {
        let sql = "SELECT body FROM runs WHERE alias = ?";
        self.body(sql, vec![Value::text(alias)]).await
    }

    async fn runs(&self, states: &[RunState], page: Page) -> Found<Vec<(u64, Run)>> {
        let [after, limit] = paging(page)?;
        let states = list(states.iter().map(|state| state.name()));
        let sql = "SELECT position, body FROM runs WHERE position > ?1 \
             AND (?2 IS NULL OR state IN (SELECT value FROM json_each(?2))) \
             ORDER BY position LIMIT ?3";
        self.numbered(sql, vec![after, states, limit]).await
    }

    async fn live(&self, run: RunId, limit: u32) -> Found<Vec<InterruptId>> {
        let sql = "SELECT id FROM interrupts WHERE live = 1 AND run = ? LIMIT ?";
        let values = vec![Value::text(run), Value::Number(i64::from(limit))];
        let rows = self.rows(sql, values).await?;
        rows.iter()
            .map(|row| read_text("an interrupt", text(row, 0)?))
            .collect()
    }

    async fn node(&self, run: RunId, node: &NodeId) -> Found<Option<NodeRow>> {
        let sql = "SELECT body FROM nodes WHERE id = ?";
        self.body(sql, vec![Value::Text(node_key(run, node))]).await
    }

    async fn nodes(&self, run: Option<RunId>, page: Page) -> Found<Vec<(u64, NodeRow)>> {
        let [after, limit] = paging(page)?;
        // Two statements, so that each has its index.
        match run {
            Some(run) => {
                let sql = "SELECT position, body FROM nodes WHERE run = ? AND position > ? \
                     ORDER BY position LIMIT ?";
                self.numbered(sql, vec![Value::text(run), after, limit])
                    .await
            }
            None => {
                let sql = "SELECT position, body FROM nodes WHERE position > ? \
                     ORDER BY position LIMIT ?";
                self.numbered(sql, vec![after, limit]).await
            }
        }
    }

    async fn messages(&self, run: RunId, page: Page) -> Found<Vec<StoredMessage>> {
        let [after, limit] = paging(page)?;
        let sql = "SELECT body FROM messages WHERE run = ? AND position > ? \
             ORDER BY position LIMIT ?";
        self.bodies(sql, vec![Value::text(run), after, limit]).await
    }

    async fn token(&self, digest: Digest) -> Found<Option<TokenRow>> {
        let sql = "SELECT body FROM tokens WHERE digest = ?";
        self.body(sql, vec![Value::text(digest)]).await
    }

    async fn tokens(&self) -> Found<Vec<TokenRow>> {
        let sql = "SELECT body FROM tokens ORDER BY position";
        self.bodies(sql, Vec::new()).await
    }

    async fn effect(&self, effect: EffectId) -> Found<Option<JournalEntry>> {
        let sql = "SELECT body FROM journal WHERE effect = ?";
        self.body(sql, vec![Value::text(effect)]).await
    }

    async fn journal(&self, run: RunId, part: JournalPart, page: Page) -> Found<Vec<JournalEntry>> {
        let [after, limit] = paging(page)?;
        let sql = match part {
            JournalPart::Whole => {
                "SELECT body FROM journal WHERE run = ? AND position > ? ORDER BY position LIMIT ?"
            }
            JournalPart::WithoutResult => {
                "SELECT body FROM journal WHERE run = ? AND position > ? AND done = 0 \
                 ORDER BY position LIMIT ?"
            }
        };
        self.bodies(sql, vec![Value::text(run), after, limit]).await
    }

    async fn checkpoint(&self, id: CheckpointId) -> Found<Option<Checkpoint>> {
        let sql = "SELECT run, number, parent, form, digest, pending, at, content, journal \
             FROM checkpoints WHERE id = ?";
        let mut rows = self.checkpoint_rows(sql, vec![Value::text(id)]).await?;
        Ok(rows.pop())
    }

    async fn last_checkpoint(&self, run: RunId) -> Found<Option<Checkpoint>> {
        let sql = "SELECT run, number, parent, form, digest, pending, at, content, journal \
             FROM checkpoints WHERE run = ? ORDER BY number DESC LIMIT 1";
        let mut rows = self.checkpoint_rows(sql, vec![Value::text(run)]).await?;
        Ok(rows.pop())
    }

    async fn checkpoints(&self, run: RunId, page: Page) -> Found<Vec<Checkpoint>> {
        let [after, limit] = paging(page)?;
        let sql = "SELECT run, number, parent, form, digest, pending, at, content, journal \
             FROM checkpoints WHERE run = ? AND number > ? ORDER BY number LIMIT ?";
        let values = vec![Value::text(run), after, limit];
        self.checkpoint_rows(sql, values).await
    }

    async fn outbox(&self, page: Page) -> Found<Vec<OutboxRow>> {
        let sql = "SELECT position, at, body FROM outbox WHERE position > ? \
             ORDER BY position LIMIT ?";
        let rows = self.rows(sql, paging(page)?.into()).await?;
        rows.iter()
            .map(|row| {
                Ok(OutboxRow {
                    position: position(row, 0)?,
                    at: read_time("the outbox", number(row, 1)?)?,
                    notification: read_json("the outbox", text(row, 2)?)?,
                })
            })
            .collect()
    }

    async fn cursor(&self, consumer: &Consumer) -> Found<u64> {
        let sql = "SELECT position FROM cursors WHERE consumer = ?";
        let rows = self.rows(sql, vec![Value::text(consumer)]).await?;
        rows.first().map_or(Ok(0), |row| position(row, 0))
    }

    async fn audit(&self, page: Page) -> Found<Vec<AuditRow>> {
        let sql = "SELECT position, previous, digest, entry FROM audit WHERE position > ? \
             ORDER BY position LIMIT ?";
        let rows = self.rows(sql, paging(page)?.into()).await?;
        rows.iter()
            .map(|row| {
                Ok(AuditRow {
                    position: position(row, 0)?,
                    previous: read_text("the audit", text(row, 1)?)?,
                    digest: read_text("the audit", text(row, 2)?)?,
                    entry: text(row, 3)?.to_owned(),
                })
            })
            .collect()
    }

    async fn audit_head(&self) -> Found<AuditHead> {
        let heads: Option<Heads> = self.body("SELECT body FROM heads", Vec::new()).await?;
        Ok(heads.map_or(AuditHead::EMPTY, |heads| heads.audit))
    }
}
