//! Writing the rows that operations have written: few statements, each of many rows.

use interrupts::store::{Checkpoint, JournalEntry, OutboxRow, RerouteRow, StoreError};
use routing_core::reroute::RerouteState;
use sqlx::AssertSqlSafe;
use sqlx::sqlite::{SqliteArguments, SqliteConnection};

use super::column::{Value, node_key};
use super::error::store_error;
use crate::tables::{InterruptRow, RunRow, Tables, damaged};

/// The most rows in one statement. Fewer rows are written by statements of halves of it, so that there are few
/// different statements, all of them prepared.
const MOST_ROWS: usize = 32;

/// Up to this many rows in all, everything goes to the database in one piece.
const FEW_ROWS: usize = 16;

/// How rows of one table are written.
struct Shape {
    insert: &'static str,
    row: &'static str,
    conflict: &'static str,
}

const HEADS: Shape = Shape {
    insert: "INSERT INTO heads (id, body) VALUES ",
    row: "(1, ?)",
    conflict: " ON CONFLICT (id) DO UPDATE SET body = excluded.body;",
};
const INTERRUPTS: Shape = Shape {
    insert: "INSERT INTO interrupts \
        (position, id, key, digest, run, node, state, live, deadline, body) VALUES ",
    row: "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    conflict: " ON CONFLICT (position) DO UPDATE SET state = excluded.state, live = excluded.live, \
        deadline = excluded.deadline, body = excluded.body;",
};
const REROUTES: Shape = Shape {
    insert: "INSERT INTO reroutes (event, pending, expires_at, body) VALUES ",
    row: "(?, ?, ?, ?)",
    conflict: " ON CONFLICT (event) DO UPDATE SET pending = excluded.pending, \
        expires_at = excluded.expires_at, body = excluded.body;",
};
const SLOTS: Shape = Shape {
    insert: "INSERT INTO slots (id, body) VALUES ",
    row: "(?, ?)",
    conflict: " ON CONFLICT (id) DO UPDATE SET body = excluded.body;",
};
const RUNS: Shape = Shape {
    insert: "INSERT INTO runs (position, id, alias, state, body) VALUES ",
    row: "(?, ?, ?, ?, ?)",
    conflict: " ON CONFLICT (position) DO UPDATE SET state = excluded.state, body = excluded.body;",
};
const NODES: Shape = Shape {
    insert: "INSERT INTO nodes (position, id, run, body) VALUES ",
    row: "(?, ?, ?, ?)",
    conflict: " ON CONFLICT (position) DO UPDATE SET body = excluded.body;",
};
const MESSAGES: Shape = Shape {
    insert: "INSERT INTO messages (position, key, run, body) VALUES ",
    row: "(?, ?, ?, ?)",
    conflict: ";",
};
const TOKENS: Shape = Shape {
    insert: "INSERT INTO tokens (position, digest, body) VALUES ",
    row: "(?, ?, ?)",
    conflict: " ON CONFLICT (position) DO UPDATE SET body = excluded.body;",
};
const JOURNAL: Shape = Shape {
    insert: "INSERT INTO journal (position, effect, run, done, body) VALUES ",
    row: "(?, ?, ?, ?, ?)",
    conflict: " ON CONFLICT (position) DO UPDATE SET done = excluded.done, body = excluded.body;",
};
const CHECKPOINTS: Shape = Shape {
    insert: "INSERT INTO checkpoints \
        (id, run, number, parent, form, digest, pending, at, content, journal) VALUES ",
    row: "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    conflict: ";",
};
const CURSORS: Shape = Shape {
    insert: "INSERT INTO cursors (consumer, position) VALUES ",
    row: "(?, ?)",
    conflict: " ON CONFLICT (consumer) DO UPDATE SET position = excluded.position;",
};
const OUTBOX: Shape = Shape {
    insert: "INSERT INTO outbox (position, at, body) VALUES ",
    row: "(?, ?, ?)",
    conflict: ";",
};
const AUDIT: Shape = Shape {
    insert: "INSERT INTO audit (position, previous, digest, entry) VALUES ",
    row: "(?, ?, ?, ?)",
    conflict: ";",
};

/// Writes every row that is dirty.
pub(super) async fn dirty(
    connection: &mut SqliteConnection,
    tables: &Tables,
) -> Result<(), StoreError> {
    let mut writes = Writes::default();
    writes.add(&HEADS, tables.heads.dirty(), |(_key, heads)| {
        Ok(vec![Value::json(heads)?])
    })?;
    writes.add(&INTERRUPTS, tables.interrupts.dirty(), |(_id, row)| {
        interrupt(row)
    })?;
    writes.add(&REROUTES, tables.reroutes.dirty(), |(_event, row)| {
        reroute(row)
    })?;
    writes.add(&SLOTS, tables.slots.dirty(), |(key, slot)| {
        Ok(vec![
            Value::Text(node_key(key.0, &key.1)),
            Value::json(slot)?,
        ])
    })?;
    writes.add(&RUNS, tables.runs.dirty(), |(_id, row)| run(row))?;
    writes.add(&NODES, tables.nodes.dirty(), |(key, row)| {
        Ok(vec![
            Value::position(row.position)?,
            Value::Text(node_key(key.0, &key.1)),
            Value::text(key.0),
            Value::json(&row.node)?,
        ])
    })?;
    writes.add(&MESSAGES, tables.messages.dirty(), |(key, row)| {
        Ok(vec![
            Value::position(row.position)?,
            Value::text(key),
            Value::text(row.message.run),
            Value::json(row)?,
        ])
    })?;
    writes.add(&TOKENS, tables.tokens.dirty(), |(digest, row)| {
        Ok(vec![
            Value::position(row.position)?,
            Value::text(digest),
            Value::json(&row.token)?,
        ])
    })?;
    writes.add(&JOURNAL, tables.journal.dirty(), |(_effect, entry)| {
        effect(entry)
    })?;
    writes.add(&CHECKPOINTS, tables.checkpoints.dirty(), |(_id, row)| {
        checkpoint(row)
    })?;
    writes.add(&CURSORS, tables.cursors.dirty(), |(consumer, through)| {
        Ok(vec![Value::text(consumer), Value::position(*through)?])
    })?;
    writes.add(&OUTBOX, tables.outbox.dirty(), |(_position, row)| {
        notification(row)
    })?;
    writes.add(&AUDIT, tables.audit.dirty(), |(_position, row)| {
        Ok(vec![
            Value::position(row.position)?,
            Value::text(row.previous),
            Value::text(row.digest),
            Value::Text(row.entry.clone()),
        ])
    })?;
    writes.execute(connection).await
}

/// The statements of a transaction.
#[derive(Default)]
struct Writes {
    statements: Vec<(String, Vec<Value>)>,
    rows: usize,
}

impl Writes {
    fn add<R>(
        &mut self,
        shape: &Shape,
        rows: impl Iterator<Item = R>,
        values: impl Fn(R) -> Result<Vec<Value>, StoreError>,
    ) -> Result<(), StoreError> {
        let mut rows: Vec<Vec<Value>> = rows.map(values).collect::<Result<_, _>>()?;
        self.rows += rows.len();
        let mut size = MOST_ROWS;
        while !rows.is_empty() {
            while size > rows.len() {
                size /= 2;
            }
            let rest = rows.split_off(size);
            let values = rows.into_iter().flatten().collect();
            self.statements.push((shape.of(size), values));
            rows = rest;
        }
        Ok(())
    }

    async fn execute(self, connection: &mut SqliteConnection) -> Result<(), StoreError> {
        if self.rows > FEW_ROWS {
            for (sql, values) in self.statements {
                execute(connection, sql, values).await?;
            }
            return Ok(());
        }
        let (mut sql, mut values) = (String::new(), Vec::new());
        for (statement, of_statement) in self.statements {
            sql.push_str(&statement);
            values.extend(of_statement);
        }
        if sql.is_empty() {
            return Ok(());
        }
        execute(connection, sql, values).await
    }
}

impl Shape {
    fn of(&self, rows: usize) -> String {
        let list = vec![self.row; rows].join(", ");
        [self.insert, &list, self.conflict].concat()
    }
}

async fn execute(
    connection: &mut SqliteConnection,
    sql: String,
    values: Vec<Value>,
) -> Result<(), StoreError> {
    let mut arguments = SqliteArguments::default();
    for value in values {
        value.bind(&mut arguments)?;
    }
    // The text is put together from the constants above.
    sqlx::query_with(AssertSqlSafe(sql), arguments)
        .execute(connection)
        .await
        .map_err(|error| store_error(&error))?;
    Ok(())
}

fn interrupt(row: &InterruptRow) -> Result<Vec<Value>, StoreError> {
    let interrupt = &row.interrupt;
    Ok(vec![
        Value::position(row.position)?,
        Value::text(interrupt.id),
        Value::text(&interrupt.key),
        Value::text(interrupt.digest),
        Value::text(interrupt.run),
        Value::text(&interrupt.node),
        Value::text(interrupt.state),
        Value::flag(interrupt.state.is_live()),
        interrupt.deadline.map_or(Value::Nothing, Value::time),
        Value::json(interrupt)?,
    ])
}

fn reroute(row: &RerouteRow) -> Result<Vec<Value>, StoreError> {
    Ok(vec![
        Value::text(&row.event),
        Value::flag(row.state == RerouteState::Pending),
        Value::time(row.expires_at),
        Value::json(row)?,
    ])
}

fn run(row: &RunRow) -> Result<Vec<Value>, StoreError> {
    Ok(vec![
        Value::position(row.position)?,
        Value::text(row.run.id),
        row.run.alias.as_ref().map_or(Value::Nothing, Value::text),
        Value::text(row.run.state),
        Value::json(&row.run)?,
    ])
}

fn effect(entry: &JournalEntry) -> Result<Vec<Value>, StoreError> {
    Ok(vec![
        Value::position(entry.position)?,
        Value::text(entry.intent.effect),
        Value::text(entry.intent.run),
        Value::flag(entry.result.is_some()),
        Value::json(entry)?,
    ])
}

fn checkpoint(row: &Checkpoint) -> Result<Vec<Value>, StoreError> {
    Ok(vec![
        Value::text(row.id),
        Value::text(row.id.run),
        Value::position(row.id.number)?,
        match &row.parent {
            Some(parent) => Value::json(parent)?,
            None => Value::Nothing,
        },
        Value::Number(i64::from(row.form)),
        Value::text(row.digest),
        Value::json(&row.pending)?,
        Value::time(row.at),
        Value::Text(row.content.clone()),
        Value::position(row.journal)?,
    ])
}

fn notification(row: &OutboxRow) -> Result<Vec<Value>, StoreError> {
    let json = serde_json::to_string(&row.notification).map_err(|error| damaged(&error))?;
    Ok(vec![
        Value::position(row.position)?,
        Value::time(row.at),
        Value::Text(json),
    ])
}
