//! Reading what is kept.

mod row;

use interrupts::catalogue::SharedCatalogue;
use interrupts::life::{Interrupt, RunState};
use interrupts::rules::StandingRule;
use interrupts::store::{
    AuditHead, AuditRow, CatalogueRow, Checkpoint, CheckpointId, Consumer, Filter, JournalEntry,
    NodeRow, OutboxRow, Page, PageBack, Purged, RerouteRow, Run, StoredMessage, TokenRow,
    Verification, VerifyError, WaitingPosition, WorkerRow,
};
use interrupts::{ActorName, Digest, EffectId, IdempotencyKey};
use jiff::Timestamp;
use routing_core::{EventId, InterruptId, NodeId, RuleId, RunId};

use super::cell::{Cell, Columns};
use super::column::{count, each, position, read_json, text};
use super::database::{Found, Relational};
use super::record::Record;
use super::sealed::{self, columns};
use super::{checked, heads, verify};
use crate::tables::{Heads, InterruptRow, PlacedNode, PlacedRule, PlacedToken, RunRow, damaged};
use row::{body, interrupt_id, list, notification, numbered, rule_id};

pub(super) use row::{audited, catalogue, catalogue_row, checkpoint};

/// A checkpoint that a run may continue from.
fn whole(found: Option<Checkpoint>) -> Found<Option<Checkpoint>> {
    found.map(Checkpoint::whole).transpose()
}

/// The ended and the open ones each lie in order.
const INTERRUPTS_OF_RUN: &str = concat!(
    "SELECT ",
    columns!(interrupts),
    " FROM (SELECT ",
    columns!(interrupts),
    " FROM interrupts INDEXED BY interrupts_of_run \
     WHERE run = ?1 AND live = 0 AND position > ?2 UNION ALL SELECT ",
    columns!(interrupts),
    " FROM interrupts INDEXED BY interrupts_of_run \
     WHERE run = ?1 AND live = 1 AND position > ?2) AS of_run \
     WHERE (CAST(?3 AS TEXT) IS NULL OR node = ?3) \
     AND (CAST(?4 AS TEXT) IS NULL OR state IN (SELECT value FROM json_each(?4))) \
     ORDER BY position LIMIT ?5"
);
/// What has ended is not looked at, however much of it a run has.
const OPEN_INTERRUPTS_OF_RUN: &str = concat!(
    "SELECT ",
    columns!(interrupts),
    " FROM interrupts INDEXED BY interrupts_of_run \
     WHERE run = ?1 AND live = 1 AND position > ?2 \
     AND (CAST(?3 AS TEXT) IS NULL OR node = ?3) \
     AND state IN (SELECT value FROM json_each(?4)) \
     ORDER BY position LIMIT ?5"
);
const OPEN_INTERRUPTS: &str = concat!(
    "SELECT ",
    columns!(interrupts),
    " FROM interrupts INDEXED BY interrupts_open \
     WHERE live = 1 AND position > ?1 AND (CAST(?2 AS TEXT) IS NULL OR node = ?2) \
     AND state IN (SELECT value FROM json_each(?3)) \
     ORDER BY position LIMIT ?4"
);
const INTERRUPTS: &str = concat!(
    "SELECT ",
    columns!(interrupts),
    " FROM interrupts \
     WHERE position > ?1 AND (CAST(?2 AS TEXT) IS NULL OR node = ?2) \
     AND (CAST(?3 AS TEXT) IS NULL OR state IN (SELECT value FROM json_each(?3))) \
     ORDER BY position LIMIT ?4"
);

/// What waits for a person, from the index alone. A time as text is compared without its `Z`, which comes after the digits
/// of a fraction that the other time may have.
macro_rules! waiting {
    () => {
        " FROM interrupts INDEXED BY interrupts_waiting WHERE state = 'awaiting_review' \
         AND (CAST(?1 AS TEXT) IS NULL OR assignee = ?1 OR (claimed_by = ?1 AND claimed_until > ?2))"
    };
}

/// Whose, and when, in that statement.
fn whose(of: Option<&ActorName>, now: Timestamp) -> [Cell<'static>; 2] {
    let person = Cell::text(of.map(|person| person.as_str().to_owned()));
    [person, Cell::made(&now.to_string().trim_end_matches('Z'))]
}

/// Up to how many rows may be read on the thread that asks.
const FEW: u32 = 256;

/// What a store of rows is asked.
trait Rows: Relational {
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

impl<R: Relational> Reads for R {}

/// Which part of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JournalPart {
    Whole,
    WithoutResult,
}

/// What is asked of a store of rows, beside what its operations look up.
pub(crate) trait Reads: Relational + Sized {
    /// Checks that no row is missing.
    async fn count_rows(&self) -> Found<()> {
        self.ask(checked::count_rows).await
    }

    async fn interrupt(&self, id: InterruptId) -> Found<Option<Interrupt>> {
        self.record::<InterruptRow>(&id).await
    }

    async fn interrupt_of(&self, key: &IdempotencyKey) -> Found<Option<Interrupt>> {
        let sql = concat!(
            "SELECT ",
            columns!(interrupts),
            " FROM interrupts WHERE key = ?1 UNION ALL SELECT ",
            columns!(interrupts),
            " FROM interrupts \
             WHERE id IN (SELECT interrupt FROM joined WHERE key = ?1)"
        );
        self.point(sql, [Cell::made(key)], |row| body(row, &sealed::INTERRUPTS))
            .await
    }

    async fn interrupts(&self, filter: &Filter, page: Page) -> Found<Vec<(u64, Interrupt)>> {
        let after = Cell::position(page.after)?;
        let limit = Cell::limit(page.limit);
        let node = Cell::text(filter.node.as_ref().map(ToString::to_string));
        let states = list(filter.states.iter().map(|state| state.name()));
        let only_live = !filter.states.is_empty() && filter.states.iter().all(|it| it.is_live());
        let read = |row: &dyn Columns| numbered(row, &sealed::INTERRUPTS);
        // A statement for each, so that each has its index.
        match filter.run {
            Some(run) => {
                let values = [Cell::made(&run), after, node, states, limit];
                let sql = match only_live {
                    true => OPEN_INTERRUPTS_OF_RUN,
                    false => INTERRUPTS_OF_RUN,
                };
                self.rows(sql, values, read).await
            }
            None => {
                let sql = match only_live {
                    true => OPEN_INTERRUPTS,
                    false => INTERRUPTS,
                };
                self.rows(sql, [after, node, states, limit], read).await
            }
        }
    }

    /// How many interrupts wait for a person: all, or those that are one person's at a time.
    async fn count_waiting(&self, of: Option<&ActorName>, now: Timestamp) -> Found<u64> {
        let sql = concat!("SELECT COUNT(*)", waiting!());
        let counted = self.row(sql, whose(of, now), |row| count(row, 0));
        Ok(counted.await?.unwrap_or(0))
    }

    async fn waiting(
        &self,
        of: Option<&ActorName>,
        now: Timestamp,
        after: WaitingPosition,
        limit: u32,
    ) -> Found<Vec<(WaitingPosition, Interrupt)>> {
        let sql = concat!(
            "SELECT ",
            columns!(interrupts),
            waiting!(),
            " AND (priority, position) > (?3, ?4) ORDER BY priority, position LIMIT ?5"
        );
        let [person, now] = whose(of, now);
        let priority = Cell::Number(i64::from(after.priority));
        let admitted = Cell::position(after.admitted)?;
        let values = [person, now, priority, admitted, Cell::limit(limit)];
        self.rows(sql, values, |row| {
            let (admitted, interrupt) = numbered(row, &sealed::INTERRUPTS)?;
            Ok((WaitingPosition::of(admitted, &interrupt), interrupt))
        })
        .await
    }

    /// Live interrupts whose deadlines have passed.
    async fn due(&self, now: Timestamp, limit: u32) -> Found<Vec<InterruptId>> {
        let sql = "SELECT id FROM interrupts \
             WHERE live = 1 AND deadline <= ? ORDER BY deadline LIMIT ?";
        self.rows(
            sql,
            [Cell::Number(now.as_microsecond()), Cell::limit(limit)],
            interrupt_id,
        )
        .await
    }

    async fn reroute(&self, event: &EventId) -> Found<Option<RerouteRow>> {
        self.record::<RerouteRow>(event).await
    }

    /// Pending reroutes whose time has passed.
    async fn due_reroutes(&self, now: Timestamp, limit: u32) -> Found<Vec<EventId>> {
        let sql = concat!(
            "SELECT ",
            columns!(reroutes),
            " FROM reroutes \
             WHERE pending = 1 AND expires_at <= ? ORDER BY expires_at LIMIT ?"
        );
        let rows = self.rows(
            sql,
            [Cell::Number(now.as_microsecond()), Cell::limit(limit)],
            |row| body::<RerouteRow>(row, &sealed::REROUTES),
        );
        Ok(rows.await?.into_iter().map(|row| row.event).collect())
    }

    async fn run(&self, id: RunId) -> Found<Option<Run>> {
        self.record::<RunRow>(&id).await
    }

    async fn run_of(&self, alias: &str) -> Found<Option<Run>> {
        let sql = concat!("SELECT ", columns!(runs), " FROM runs WHERE alias = ?");
        self.point(sql, [Cell::made(&alias)], |row| body(row, &sealed::RUNS))
            .await
    }

    async fn runs(&self, states: &[RunState], page: Page) -> Found<Vec<(u64, Run)>> {
        let only_live = !states.is_empty() && states.iter().all(|state| !state.is_final());
        let only_at_work = only_live && !states.contains(&RunState::Waiting);
        let states = list(states.iter().map(|state| state.name()));
        // A statement for each, so that each has its index.
        let sql = match (only_at_work, only_live) {
            (true, _) => {
                concat!(
                    "SELECT ",
                    columns!(runs),
                    " FROM runs INDEXED BY runs_at_work WHERE position > ?1 \
                     AND state NOT IN ('completed', 'failed', 'cancelled', 'waiting') \
                     AND state IN (SELECT value FROM json_each(?2)) \
                     ORDER BY position LIMIT ?3"
                )
            }
            (false, true) => {
                concat!(
                    "SELECT ",
                    columns!(runs),
                    " FROM runs INDEXED BY runs_live WHERE position > ?1 \
                     AND state NOT IN ('completed', 'failed', 'cancelled') \
                     AND state IN (SELECT value FROM json_each(?2)) \
                     ORDER BY position LIMIT ?3"
                )
            }
            (false, false) => {
                concat!(
                    "SELECT ",
                    columns!(runs),
                    " FROM runs WHERE position > ?1 \
                     AND (CAST(?2 AS TEXT) IS NULL OR state IN (SELECT value FROM json_each(?2))) \
                     ORDER BY position LIMIT ?3"
                )
            }
        };
        let values = [Cell::position(page.after)?, states, Cell::limit(page.limit)];
        self.rows(sql, values, |row| numbered(row, &sealed::RUNS))
            .await
    }

    async fn last_runs(&self, page: PageBack) -> Found<Vec<(u64, Run)>> {
        let sql = concat!(
            "SELECT ",
            columns!(runs),
            " FROM runs WHERE (CAST(?1 AS BIGINT) IS NULL OR position < ?1) \
             ORDER BY position DESC LIMIT ?2"
        );
        let before = Cell::number(page.before.map(position).transpose()?);
        self.rows(sql, [before, Cell::limit(page.limit)], |row| {
            numbered(row, &sealed::RUNS)
        })
        .await
    }

    async fn node(&self, run: RunId, node: &NodeId) -> Found<Option<NodeRow>> {
        self.record::<PlacedNode>(&(run, node.clone())).await
    }

    async fn nodes(&self, run: Option<RunId>, page: Page) -> Found<Vec<(u64, NodeRow)>> {
        let after = Cell::position(page.after)?;
        // Two statements, so that each has its index.
        match run {
            Some(run) => {
                let sql = concat!(
                    "SELECT ",
                    columns!(nodes),
                    " FROM nodes WHERE run = ? AND position > ? \
                     ORDER BY position LIMIT ?"
                );
                self.rows(
                    sql,
                    [Cell::made(&run), after, Cell::limit(page.limit)],
                    |row| numbered(row, &sealed::NODES),
                )
                .await
            }
            None => {
                let sql = concat!(
                    "SELECT ",
                    columns!(nodes),
                    " FROM nodes WHERE position > ? \
                     ORDER BY position LIMIT ?"
                );
                self.rows(sql, [after, Cell::limit(page.limit)], |row| {
                    numbered(row, &sealed::NODES)
                })
                .await
            }
        }
    }

    async fn messages(&self, run: RunId, page: Page) -> Found<Vec<StoredMessage>> {
        let sql = concat!(
            "SELECT ",
            columns!(messages),
            " FROM messages WHERE run = ? AND position > ? \
             ORDER BY position LIMIT ?"
        );
        let values = [
            Cell::made(&run),
            Cell::position(page.after)?,
            Cell::limit(page.limit),
        ];
        self.rows(sql, values, |row| body(row, &sealed::MESSAGES))
            .await
    }

    /// A catalogue, which has the digest.
    async fn catalogue(&self, digest: Digest) -> Found<Option<SharedCatalogue>> {
        let sql = concat!(
            "SELECT ",
            columns!(catalogues),
            " FROM catalogues WHERE digest = ?"
        );
        self.row(sql, [Cell::made(&digest)], catalogue).await
    }

    async fn catalogues(&self) -> Found<Vec<CatalogueRow>> {
        let sql =
            "SELECT position, digest, name, version, '', seal FROM catalogues ORDER BY position";
        self.rows(sql, [], catalogue_row).await
    }

    async fn token(&self, digest: Digest) -> Found<Option<TokenRow>> {
        self.record::<PlacedToken>(&digest).await
    }

    /// All tokens, in the order in which they were made.
    async fn tokens(&self) -> Found<Vec<TokenRow>> {
        let sql = concat!(
            "SELECT ",
            columns!(tokens),
            " FROM tokens ORDER BY position"
        );
        self.rows(sql, [], |row| body(row, &sealed::TOKENS)).await
    }

    async fn rule(&self, id: RuleId) -> Found<Option<StandingRule>> {
        self.record::<PlacedRule>(&id).await
    }

    async fn rules(&self, page: Page) -> Found<Vec<(u64, StandingRule)>> {
        let sql = concat!(
            "SELECT ",
            columns!(rules),
            " FROM rules WHERE position > ? ORDER BY position LIMIT ?"
        );
        self.rows(
            sql,
            [Cell::position(page.after)?, Cell::limit(page.limit)],
            |row| numbered(row, &sealed::RULES),
        )
        .await
    }

    /// Whether there are rules about a matter that have not ended.
    async fn has_rules(&self, matter: Digest) -> Found<bool> {
        let sql = "SELECT COUNT(*) FROM (SELECT 1 FROM rules WHERE matter = ? AND live = 1 LIMIT 1) AS found";
        let found = self.point(sql, [Cell::made(&matter)], |row| count(row, 0));
        Ok(found.await?.unwrap_or(0) > 0)
    }

    /// Rules that have not ended and whose time is over.
    async fn due_rules(&self, now: Timestamp, limit: u32) -> Found<Vec<RuleId>> {
        let sql =
            "SELECT id FROM rules WHERE live = 1 AND expires_at <= ? ORDER BY expires_at LIMIT ?";
        self.rows(
            sql,
            [Cell::Number(now.as_microsecond()), Cell::limit(limit)],
            rule_id,
        )
        .await
    }

    async fn effect(&self, effect: EffectId) -> Found<Option<JournalEntry>> {
        self.record::<JournalEntry>(&effect).await
    }

    async fn journal(&self, run: RunId, part: JournalPart, page: Page) -> Found<Vec<JournalEntry>> {
        let sql = match part {
            JournalPart::Whole => {
                concat!(
                    "SELECT ",
                    columns!(journal),
                    " FROM journal WHERE run = ? AND position > ? ORDER BY position LIMIT ?"
                )
            }
            JournalPart::WithoutResult => {
                concat!(
                    "SELECT ",
                    columns!(journal),
                    " FROM journal WHERE run = ? AND position > ? AND done = 0 \
                 ORDER BY position LIMIT ?"
                )
            }
        };
        let values = [
            Cell::made(&run),
            Cell::position(page.after)?,
            Cell::limit(page.limit),
        ];
        self.rows(sql, values, |row| body(row, &sealed::JOURNAL))
            .await
    }

    async fn checkpoint(&self, id: CheckpointId) -> Found<Option<Checkpoint>> {
        let sql = concat!(
            "SELECT ",
            columns!(checkpoints),
            " FROM checkpoints WHERE id = ?"
        );
        whole(self.row(sql, [Cell::made(&id)], checkpoint).await?)
    }

    async fn last_checkpoint(&self, run: RunId) -> Found<Option<Checkpoint>> {
        let sql = concat!(
            "SELECT ",
            columns!(checkpoints),
            " FROM checkpoints WHERE run = ? ORDER BY number DESC LIMIT 1"
        );
        whole(self.row(sql, [Cell::made(&run)], checkpoint).await?)
    }

    async fn checkpoints(&self, run: RunId, page: Page) -> Found<Vec<Checkpoint>> {
        let sql = concat!(
            "SELECT ",
            columns!(checkpoints),
            " FROM checkpoints WHERE run = ? AND number > ? ORDER BY number LIMIT ?"
        );
        let values = [
            Cell::made(&run),
            Cell::position(page.after)?,
            Cell::limit(page.limit),
        ];
        self.rows(sql, values, checkpoint).await
    }

    async fn outbox(&self, page: Page) -> Found<Vec<OutboxRow>> {
        let sql = concat!(
            "SELECT ",
            columns!(outbox),
            " FROM outbox WHERE position > ? \
             ORDER BY position LIMIT ?"
        );
        let values = [Cell::position(page.after)?, Cell::limit(page.limit)];
        if page.limit > FEW {
            return self.rows(sql, values, notification).await;
        }
        // A follower reads the newest rows, which were just written.
        let rows = self.few(sql, values, notification).await?;
        if rows.len() == page.limit as usize {
            // One that is far behind does not keep the thread for itself.
            tokio::task::yield_now().await;
        }
        Ok(rows)
    }

    async fn outbox_of(&self, run: RunId, page: Page) -> Found<Vec<OutboxRow>> {
        let sql = concat!(
            "SELECT ",
            columns!(outbox),
            " FROM outbox INDEXED BY outbox_of_run \
             WHERE run = ? AND position > ? ORDER BY position LIMIT ?"
        );
        let values = [
            Cell::made(&run),
            Cell::position(page.after)?,
            Cell::limit(page.limit),
        ];
        self.rows(sql, values, notification).await
    }

    async fn last_outbox_of(&self, run: RunId, page: PageBack) -> Found<Vec<OutboxRow>> {
        let sql = concat!(
            "SELECT ",
            columns!(outbox),
            " FROM outbox INDEXED BY outbox_of_run \
             WHERE run = ?1 AND (CAST(?2 AS BIGINT) IS NULL OR position < ?2) ORDER BY position DESC LIMIT ?3"
        );
        let before = Cell::number(page.before.map(position).transpose()?);
        self.rows(
            sql,
            [Cell::made(&run), before, Cell::limit(page.limit)],
            notification,
        )
        .await
    }

    async fn cursor(&self, consumer: &Consumer) -> Found<u64> {
        let sql = "SELECT position FROM cursors WHERE consumer = ?";
        let stands = self.row(sql, [Cell::made(consumer)], |row| count(row, 0));
        Ok(stands.await?.unwrap_or(0))
    }

    /// All workers that have told of themselves and are not forgotten, by their names.
    async fn workers(&self) -> Found<Vec<WorkerRow>> {
        let sql = "SELECT body FROM workers ORDER BY name";
        self.rows(sql, [], |row| read_json("a worker", text(row, 0)?))
            .await
    }

    async fn audit(&self, page: Page) -> Found<Vec<AuditRow>> {
        let sql = "SELECT position, previous, digest, entry FROM audit WHERE position > ? \
             ORDER BY position LIMIT ?";
        let rows = self.rows(
            sql,
            [Cell::position(page.after)?, Cell::limit(page.limit)],
            audited,
        );
        let rows = rows.await?;
        match rows
            .windows(2)
            .find(|pair| !pair[1].follows(&pair[0].head()))
        {
            Some(pair) => Err(damaged(&format!(
                "a row of the audit is missing after row {}",
                pair[0].position
            ))),
            None => Ok(rows),
        }
    }

    /// Compares the audit with itself, and every row that it vouches for with it.
    async fn verify(&self) -> Result<Verification, VerifyError> {
        self.ask(|database| Ok(verify::whole(database))).await?
    }

    /// Where the audit was cut off; [`AuditHead::EMPTY`] where it is whole.
    async fn audit_anchor(&self) -> Found<AuditHead> {
        let heads = self.heads().await?;
        Ok(heads.map_or(AuditHead::EMPTY, |heads| heads.audit_anchor))
    }

    /// How much belongs to a run. Its list of runs is empty.
    async fn footprint(&self, run: RunId) -> Found<Purged> {
        let sql = "SELECT (SELECT COUNT(*) FROM interrupts WHERE run = ?1), \
             (SELECT COUNT(*) FROM reroutes WHERE run = ?1), \
             (SELECT COUNT(*) FROM journal WHERE run = ?1), \
             (SELECT COUNT(*) FROM checkpoints WHERE run = ?1), \
             (SELECT COUNT(*) FROM nodes WHERE run = ?1), \
             (SELECT COUNT(*) FROM messages WHERE run = ?1)";
        let counted = self.row(sql, [Cell::made(&run)], |row| {
            Ok(Purged {
                interrupts: count(row, 0)?,
                reroutes: count(row, 1)?,
                effects: count(row, 2)?,
                checkpoints: count(row, 3)?,
                nodes: count(row, 4)?,
                messages: count(row, 5)?,
                ..Purged::default()
            })
        });
        Ok(counted.await?.unwrap_or_default())
    }

    /// The last row of the outbox that every consumer with a cursor has dealt with, and before which no row is
    /// younger than a time; and how many rows there are up to it.
    async fn dealt_with(&self, before: Timestamp) -> Found<(u64, u64)> {
        // The first row that stays ends the list, so that none goes from its middle.
        let sql = "WITH bounds (first) AS (SELECT MIN(bound) FROM (SELECT \
             COALESCE((SELECT MIN(position) FROM outbox WHERE at > ?1), 9223372036854775807) AS bound UNION ALL SELECT \
             COALESCE((SELECT MIN(position) + 1 FROM cursors), 9223372036854775807)) AS ends) \
             SELECT COALESCE(MAX(position), 0), COUNT(*) FROM outbox, bounds \
             WHERE position < bounds.first";
        let found = self.row(sql, [Cell::Number(before.as_microsecond())], |row| {
            Ok((count(row, 0)?, count(row, 1)?))
        });
        Ok(found.await?.unwrap_or_default())
    }
}
