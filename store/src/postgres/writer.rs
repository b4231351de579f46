//! The connection that writes: one transaction of a store at a time, over all processes, and what became of one whose
//! connection was lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use interrupts::store::StoreError;
use jiff::Timestamp;
use uuid::Uuid;

use super::location::PostgresLocation;
use super::schema;
use super::session::{Answer, Session, SessionState, StatementRequest, looked_up, take};
use crate::adapter::StoreSettings;
use crate::relational::Found;
use crate::relational::{Cell, ColumnValue, Columns, Database, Lookup, Transactions};
use crate::tables::Tables;

/// For how long it is tried to reach a server that was there before: one that restarts, or the standby that takes its
/// place.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// How often it is tried.
const PACE: Duration = Duration::from_millis(100);

/// How many rows wait at most to be written with the commit.
const MOST_WAITING: usize = 4_096;

const BEGIN: &str = "BEGIN";
const COMMIT: &str = "COMMIT";
/// The locks of two stores in one database differ by their table. The number is that of the schema's locks.
pub(super) const LOCK: &str =
    "SELECT pg_advisory_xact_lock(1769107827, 'commits'::regclass::oid::int4)";
const TIME: &str = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)";
/// A newer program may have changed the schema since this one connected; it does so under the same lock.
const CHANGED_SCHEMA: &str = "SELECT version FROM irq_schema WHERE version > ? AND compatible > ?";
const COMMITTED: &str = "INSERT INTO commits (writer, number) VALUES (?, ?) \
    ON CONFLICT (writer) DO UPDATE SET number = excluded.number, at = now()";
const LAST_COMMIT: &str = "SELECT number FROM commits WHERE writer = ?";
/// A server that died while it waited for its standby has the commit when it is back, and shows it, though the standby does
/// not have it. What is written after it is not acknowledged before the standby has both.
const SEEN: &str = "INSERT INTO commits (writer, number) VALUES (?, ?) \
    ON CONFLICT (writer) DO UPDATE SET at = now()";
const FORGET: &str = "DELETE FROM commits WHERE at < now() - interval '1 day'";
/// Notifies all listeners, with the commit.
const NEWS: &str = "SELECT pg_notify('irq_' || current_schema(), '')";
/// Rows that a listener may wait for begin with this.
const OUTBOX: &str = "INSERT INTO outbox ";

/// The time of the server, as far as is known between two transactions: what it said last, and what has passed since by a
/// clock that cannot be set.
#[derive(Debug, Default)]
pub(super) struct ServerClock {
    /// How many microseconds it is ahead of that clock.
    ahead: AtomicI64,
}

/// The microseconds since this machine began to run, those that it slept through included.
fn since_boot() -> i64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
}

impl ServerClock {
    pub(super) fn now(&self, settings: &StoreSettings) -> Timestamp {
        if settings.clock.is_some() {
            return settings.now();
        }
        let now = since_boot() + self.ahead.load(Ordering::Relaxed);
        Timestamp::from_microsecond(now).unwrap_or_else(|_out_of_range| settings.now())
    }

    /// It is this time at the server.
    pub(super) fn stands_at(&self, server: Timestamp) {
        let ahead = server.as_microsecond() - since_boot();
        self.ahead.store(ahead, Ordering::Relaxed);
    }
}

/// Connects to a server that was there before, for as long as it may take to be there again.
pub(super) fn again(location: &PostgresLocation) -> Found<Session> {
    let begun = Instant::now();
    loop {
        match Session::open(location) {
            Err(error @ (StoreError::Unreachable { .. } | StoreError::Unavailable { .. }))
                if begun.elapsed() < PATIENCE =>
            {
                if location.is_away() {
                    tracing::warn!(%error, "the store cannot be reached; it is tried again");
                }
                std::thread::sleep(PACE);
            }
            opened => {
                if opened.is_ok() && location.is_back() {
                    tracing::info!("the store is reached again");
                }
                return opened;
            }
        }
    }
}

/// The connection that writes.
pub(crate) struct DatabaseWriter {
    session: Session,
    location: Arc<PostgresLocation>,
    settings: StoreSettings,
    clock: Arc<ServerClock>,
    /// Under which its commits are found.
    name: String,
    /// How many transactions it has committed, or tried to.
    number: i64,
    /// When the transaction began; none if the server does not know of it yet.
    now: Option<Timestamp>,
    /// Whether the server may be in the transaction.
    is_open: bool,
    /// What is written with the commit.
    writes: Vec<(&'static str, Vec<Cell<'static>>)>,
    has_written: bool,
    /// Whether nothing was committed yet by this connection.
    is_anew: bool,
    /// Whether a listener may wait for what is written.
    has_news: bool,
    /// What is known of the last commit whose answer was lost.
    lost_commit: Option<LostCommit>,
    /// Since when nothing succeeds.
    failing: Option<Instant>,
}

impl DatabaseWriter {
    pub(super) fn new(
        session: Session,
        location: Arc<PostgresLocation>,
        settings: StoreSettings,
        clock: Arc<ServerClock>,
    ) -> Self {
        Self {
            session,
            location,
            settings,
            clock,
            name: Uuid::now_v7().simple().to_string(),
            number: 0,
            now: None,
            is_open: false,
            writes: Vec::new(),
            has_written: false,
            is_anew: true,
            has_news: false,
            lost_commit: None,
            failing: None,
        }
    }

    /// Forgets the last commits of processes that are gone for long.
    pub(super) fn forget_old_writers(&mut self) -> Found<()> {
        self.session.execute(FORGET, &[]).map(drop)
    }

    /// Begins the transaction where that has not been done, with the lookups in the same round trip.
    fn begun(&mut self, lookups: &[Lookup]) -> Found<Vec<Answer>> {
        let known = [Cell::Number(schema::NEWEST), Cell::Number(schema::NEWEST)];
        let changed = StatementRequest {
            sql: CHANGED_SCHEMA,
            values: &known,
        };
        let mut requests: Vec<_> = match self.now {
            Some(_begun) => Vec::new(),
            None => {
                let [begin, lock, time] = [BEGIN, LOCK, TIME].map(without_values);
                vec![begin, lock, changed, time]
            }
        };
        requests.extend(looked_up(lookups));
        self.is_open = true;
        let mut answers = self.session.send(&requests)?;
        if self.now.is_none() {
            let mut begun = answers.drain(..4).skip(2);
            let (changed, time) = (begun.next(), begun.next());
            drop(begun);
            if let Some(found) = number_of(changed)? {
                return Err(schema::newer(found));
            }
            self.now = Some(self.time_of(time)?);
        }
        Ok(answers)
    }

    fn time_of(&self, answer: Option<Answer>) -> Found<Timestamp> {
        let server = Timestamp::from_microsecond(number_of(answer)?.unwrap_or_default());
        let server = server.map_err(|error| StoreError::Unavailable {
            detail: error.to_string(),
        })?;
        self.clock.stands_at(server);
        Ok(match &self.settings.clock {
            Some(_other) => self.settings.now(),
            None => server,
        })
    }

    /// Sends what waits to be written, before something that must see it.
    fn send_writes(&mut self) -> Found<()> {
        if self.now.is_none() {
            self.begun(&[])?;
        }
        let writes = std::mem::take(&mut self.writes);
        let requests: Vec<_> = requests_of(&writes).collect();
        self.session.send(&requests).map(drop)
    }

    /// Writes all that waits, and commits. Where the connection is lost meanwhile, a new one finds out what became of it.
    fn send_commit(&mut self) -> Found<()> {
        let writes = std::mem::take(&mut self.writes);
        let mut requests: Vec<_> = requests_of(&writes).collect();
        self.number += 1;
        let mark = [Cell::Text(&self.name), Cell::Number(self.number)];
        requests.push(StatementRequest {
            sql: COMMITTED,
            values: &mark,
        });
        if self.has_news {
            requests.push(without_values(NEWS));
        }
        requests.push(without_values(COMMIT));
        let Err(error) = self.session.send(&requests) else {
            return Ok(());
        };
        if !self.session.is_lost() {
            return Err(error);
        }
        match self.found_out() {
            Ok(true) => Ok(()),
            Ok(false) => {
                self.lost_commit = Some(LostCommit::Undone);
                Err(error)
            }
            Err(unknown) => {
                tracing::error!(error = %unknown, "it is not known whether a transaction was committed");
                // Done again, it could be done twice.
                self.lost_commit = Some(LostCommit::InDoubt);
                Err(error)
            }
        }
    }

    /// Whether the last transaction was committed. A connection that is lost while it asks is no answer.
    fn found_out(&mut self) -> Found<bool> {
        let begun = Instant::now();
        loop {
            match self.has_committed() {
                Err(
                    StoreError::Unreachable { .. }
                    | StoreError::Unavailable { .. }
                    | StoreError::Locked,
                ) if begun.elapsed() < PATIENCE => {
                    tracing::debug!("it is asked again whether a transaction was committed");
                }
                found => return found,
            }
        }
    }

    /// Whether the last transaction was committed. With the lock this is known: the server has ended that one by then.
    fn has_committed(&mut self) -> Found<bool> {
        self.session = again(&self.location)?;
        self.is_anew = true;
        let name = [Cell::Text(&self.name)];
        let last = StatementRequest {
            sql: LAST_COMMIT,
            values: &name,
        };
        let mark = [Cell::Text(&self.name), Cell::Number(self.number - 1)];
        let seen = StatementRequest {
            sql: SEEN,
            values: &mark,
        };
        let [begin, lock, commit] = [BEGIN, LOCK, COMMIT].map(without_values);
        let answers = self.session.send(&[begin, lock, last, seen, commit])?;
        Ok(number_of(answers.into_iter().nth(2))? == Some(self.number))
    }
}

/// A commit whose answer was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LostCommit {
    /// It surely did not happen.
    Undone,
    /// It may have happened.
    InDoubt,
}

const fn without_values(sql: &'static str) -> StatementRequest<'static> {
    StatementRequest { sql, values: &[] }
}

fn requests_of<'writes>(
    writes: &'writes [(&'static str, Vec<Cell<'static>>)],
) -> impl Iterator<Item = StatementRequest<'writes>> {
    writes
        .iter()
        .map(|(sql, values)| StatementRequest { sql, values })
}

/// The number in the only row of an answer; none where there is no row.
fn number_of(answer: Option<Answer>) -> Found<Option<i64>> {
    let Some(Answer::Rows(rows)) = answer else {
        return Ok(None);
    };
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    Ok(match row.value(0)? {
        ColumnValue::Number(number) => Some(number),
        ColumnValue::Nothing
        | ColumnValue::Fraction(_)
        | ColumnValue::Text(_)
        | ColumnValue::Bytes(_) => None,
    })
}

impl Database for DatabaseWriter {
    fn each(
        &mut self,
        sql: &'static str,
        values: &[Cell<'_>],
        read: &mut dyn FnMut(&dyn Columns) -> Found<()>,
    ) -> Found<()> {
        self.send_writes()?;
        self.session.each(sql, values, read)
    }

    fn execute(&mut self, sql: &'static str, values: &[Cell<'_>]) -> Found<u64> {
        self.send_writes()?;
        self.has_written = true;
        self.session.execute(sql, values)
    }

    fn write(&mut self, sql: &'static str, values: &[Cell<'_>]) -> Found<()> {
        self.has_written = true;
        self.has_news |= sql.starts_with(OUTBOX);
        self.writes
            .push((sql, values.iter().map(Cell::owned).collect()));
        match self.writes.len() < MOST_WAITING {
            true => Ok(()),
            false => self.send_writes(),
        }
    }

    fn look_up(&mut self, lookups: &[Lookup], tables: &mut Tables) -> Found<()> {
        let answers = self.begun(lookups)?;
        take(lookups, answers.into_iter(), tables)
    }

    fn begin_snapshot(&mut self) -> Found<()> {
        self.session.begin_snapshot()
    }

    fn end_snapshot(&mut self) -> Found<()> {
        self.session.end_snapshot()
    }
}

impl Transactions for DatabaseWriter {
    /// Sent to the server with the first lookup.
    fn begin(&mut self) -> Found<()> {
        self.now = None;
        self.lost_commit = None;
        self.writes.clear();
        (self.has_written, self.has_news) = (false, false);
        self.session.begin_anew();
        if self.session.is_lost() {
            self.session = again(&self.location)?;
            self.is_anew = true;
        }
        Ok(())
    }

    fn time(&mut self) -> Found<Timestamp> {
        if let Some(now) = self.now {
            return Ok(now);
        }
        self.begun(&[])?;
        Ok(self.now.unwrap_or_default())
    }

    fn commit(&mut self) -> Found<()> {
        // What a new connection has read may be what a server showed that had died before its standby had it: the first
        // commit writes, and waits for the standby.
        let committed = match self.has_written || self.is_anew {
            true => self.send_commit(),
            false => self.session.send(&[without_values(COMMIT)]).map(drop),
        };
        if committed.is_ok() {
            self.is_open = false;
            self.is_anew = false;
            self.failing = None;
        }
        committed
    }

    fn roll_back(&mut self) {
        let was_open = std::mem::take(&mut self.is_open);
        if self.session.is_lost() || self.lost_commit.is_some() || !was_open {
            return;
        }
        if let Err(error) = self.session.batch("ROLLBACK") {
            tracing::debug!(%error, "nothing was rolled back");
        }
    }

    fn can_try_again(&mut self) -> bool {
        let failing = *self.failing.get_or_insert_with(Instant::now);
        let is_undone = match self.lost_commit {
            Some(LostCommit::Undone) => true,
            Some(LostCommit::InDoubt) => false,
            None => self.session.state() != SessionState::Open,
        };
        if is_undone && failing.elapsed() < PATIENCE {
            return true;
        }
        self.failing = None;
        false
    }

    fn close(self) {
        self.session.close();
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::ServerClock;
    use crate::adapter::StoreSettings;

    #[test]
    fn between_transactions_the_time_is_the_servers_as_well() {
        let (clock, settings) = (ServerClock::default(), StoreSettings::default());
        let hour = SignedDuration::from_hours(1);
        clock.stands_at(Timestamp::now() + hour);
        let ahead = clock.now(&settings).duration_since(Timestamp::now());
        assert!(
            (ahead - hour).abs() < SignedDuration::from_secs(1),
            "{ahead}"
        );
    }
}
