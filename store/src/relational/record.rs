//! What has a row of its own with a text and a seal: how it lies in its table, said once. It is loaded, written and read by
//! this alone.

use interrupt_router::reroute::RerouteState;
use interrupt_router::{EventId, InterruptId, NodeId, RuleId, RunId};
use interrupts::life::Interrupt;
use interrupts::rules::StandingRule;
use interrupts::store::{JournalEntry, NodeRow, RerouteRow, Run, StoredMessage, TokenRow};
use interrupts::{Digest, EffectId, IdempotencyKey};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::binding::Bound;
use super::cell::{Cell, Columns};
use super::column::{count, node_key, read_json};
use super::database::Found;
use super::sealed::{self, Sealed};
use crate::tables::{
    InterruptRow, PlacedNode, PlacedRule, PlacedToken, RunRow, Slot, Table, Tables,
};

/// A row with a text and a seal.
pub(crate) trait Record: Sized + 'static {
    /// What it is found by.
    type Key: Ord + Clone + 'static;
    /// What its text says, as JSON.
    type Body: Serialize + DeserializeOwned + Send + 'static;
    /// Its table.
    const TABLE: &'static Sealed;

    /// Those that are loaded.
    fn rows(tables: &mut Tables) -> &mut Table<Self::Key, Self>;

    /// A key as its column has it.
    fn find(key: &Self::Key) -> Cell<'static>;

    /// The covered columns, in their order.
    fn cells<'row>(&'row self, key: &'row Self::Key) -> Found<Vec<Cell<'row>>>;

    fn body(&self) -> &Self::Body;

    /// The row with this text.
    fn with(row: &dyn Columns, body: Self::Body) -> Found<Self>;

    /// What the audit knows it by, where that vouches for it.
    fn bound(_key: &Self::Key) -> Option<Bound> {
        None
    }

    /// Whether its text has members that pass, for which the audit does not vouch.
    fn has_passing(&self) -> bool {
        false
    }
}

/// A row as it was found, and its text.
pub(super) fn read<R: Record>(row: &dyn Columns) -> Found<(R, Option<Box<str>>)> {
    let stored = R::TABLE.body(row)?;
    let record = R::with(row, read_json("a row", stored)?)?;
    Ok((record, Some(stored.into())))
}

/// What a row is where its text is all of it, or where its place among all rows stands beside that.
macro_rules! record {
    (@body $row:ident) => { $row };
    (@body $row:ident $field:ident) => { &$row.$field };
    (@with $row:ident $body:ident) => { $body };
    (@with $row:ident $body:ident $field:ident) => {
        Self { position: count($row, 0)?, $field: $body }
    };
    ($record:ident($($field:ident)?: $body:ty) in $table:ident as $rows:ident,
        by $key:ty => $find:expr, |$row:ident, $name:ident| [$($cell:expr),* $(,)?]
        $(, vouched for as $bound:path, passing: $passing:expr)?) => {
        impl Record for $record {
            type Key = $key;
            type Body = $body;
            const TABLE: &'static Sealed = &sealed::$table;

            fn rows(tables: &mut Tables) -> &mut Table<$key, Self> {
                &mut tables.$rows
            }

            fn find(key: &$key) -> Cell<'static> {
                $find(key)
            }

            fn cells<'row>(&'row self, $name: &'row $key) -> Found<Vec<Cell<'row>>> {
                let $row = self;
                Ok(vec![$($cell),*])
            }

            fn body(&self) -> &$body {
                let row = self;
                record!(@body row $($field)?)
            }

            fn with(_row: &dyn Columns, body: $body) -> Found<Self> {
                Ok(record!(@with _row body $($field)?))
            }

            $(fn bound(key: &$key) -> Option<Bound> {
                Some($bound(*key))
            }

            fn has_passing(&self) -> bool {
                ($passing)(self)
            })?
        }
    };
}

record!(
    InterruptRow(interrupt: Interrupt) in INTERRUPTS as interrupts, by InterruptId => Cell::made,
    |row, id| [
        Cell::position(row.position)?,
        Cell::made(id),
        Cell::Text(row.interrupt.key.as_str()),
        Cell::made(&row.interrupt.digest),
        Cell::made(&row.interrupt.run),
        Cell::made(&row.interrupt.node),
        Cell::Text(row.interrupt.state.name()),
        Cell::yes(row.interrupt.state.is_live()),
        Cell::number(row.interrupt.due_at().map(|due| due.as_microsecond())),
    ],
    vouched for as Bound::Interrupt, passing: |row: &Self| row.interrupt.lease.is_some()
);

record!(
    RerouteRow(: Self) in REROUTES as reroutes, by EventId => Cell::made,
    |row, event| [
        Cell::made(event),
        Cell::made(&row.run),
        Cell::yes(row.state == RerouteState::Pending),
        Cell::Number(row.expires_at.as_microsecond()),
    ]
);

record!(
    Slot(: Self) in SLOTS as slots, by (RunId, NodeId) => of_node,
    |_row, key| [of_node(key), Cell::made(&key.0)]
);

record!(
    RunRow(run: Run) in RUNS as runs, by RunId => Cell::made,
    |row, id| [
        Cell::position(row.position)?,
        Cell::made(id),
        row.run.alias.as_deref().map_or(Cell::Nothing, Cell::Text),
        Cell::Text(row.run.state.name()),
    ],
    vouched for as Bound::Run, passing: |_row: &Self| true
);

record!(
    PlacedNode(node: NodeRow) in NODES as nodes, by (RunId, NodeId) => of_node,
    |row, key| [Cell::position(row.position)?, of_node(key), Cell::made(&key.0)]
);

record!(
    StoredMessage(: Self) in MESSAGES as messages, by IdempotencyKey => Cell::made,
    |row, key| [
        Cell::position(row.position)?,
        Cell::Text(key.as_str()),
        Cell::made(&row.message.run),
    ]
);

record!(
    JournalEntry(: Self) in JOURNAL as journal, by EffectId => Cell::made,
    |row, effect| [
        Cell::position(row.position)?,
        Cell::made(effect),
        Cell::made(&row.intent.run),
        Cell::yes(row.result.is_some()),
    ]
);

record!(
    PlacedToken(token: TokenRow) in TOKENS as tokens, by Digest => Cell::made,
    |row, digest| [Cell::position(row.position)?, Cell::made(digest)]
);

record!(
    PlacedRule(rule: StandingRule) in RULES as rules, by RuleId => Cell::made,
    |row, id| [
        Cell::position(row.position)?,
        Cell::made(id),
        Cell::made(&row.rule.matter),
        row.rule.scope.run().map_or(Cell::Nothing, |run| Cell::made(&run)),
        Cell::yes(row.rule.end.is_none()),
        Cell::Number(row.rule.expires_at.as_microsecond()),
    ],
    vouched for as Bound::Rule, passing: |_row: &Self| false
);

fn of_node(key: &(RunId, NodeId)) -> Cell<'static> {
    Cell::Made(node_key(key))
}
