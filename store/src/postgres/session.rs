//! A connection to the server, as a database of rows: it is used by one thread at a time, which waits for it.

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use futures_util::{Stream, StreamExt as _};
use interrupts::store::StoreError;
use jiff::Timestamp;
use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Config, NoTls, Row, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::dialect::translated;
use super::error::{in_words, is_lost, is_undone, store_error};
use super::location::{PostgresLocation, SILENCE_AT_SERVER, connected};
use crate::relational::Found;
use crate::relational::{Cell, ColumnValue, Columns, Database, Lookup};
use crate::tables::Tables;

/// The oldest version, as the server numbers it.
const OLDEST_SERVER: i64 = 140_000;
const OLDEST_SERVER_TEXT: &str = "14";

/// Settings of every session. A process that is stopped in the middle of a transaction must not hold the store's lock for
/// ever: the server ends its session, and what it had begun is undone. It may not wait for ever either.
///
/// A statement is planned once: all of them are written so that their plans need no values. By itself the server plans each
/// one anew the first five times, and some of them every time, which took longer than to execute them. Nothing is asked that is
/// worth starting other processes for.
const SETTINGS: &str = "SET idle_in_transaction_session_timeout = '5s'; \
    SET lock_timeout = '30s'; SET client_min_messages = warning; SET TIME ZONE 'UTC'; \
    SET plan_cache_mode = force_generic_plan; SET max_parallel_workers_per_gather = 0";

/// The connection.
pub(super) struct Session {
    client: Client,
    /// Sends and receives while something is waited for.
    runtime: Option<Runtime>,
    connection: Option<JoinHandle<()>>,
    statements: HashMap<&'static str, Statement>,
    state: SessionState,
    is_replicated: bool,
    opened_at: Timestamp,
}

/// What is known of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionState {
    /// It can be used.
    Open,
    /// The last transaction was undone by the server and may be tried again.
    Undone,
    /// It is of no use any more.
    Lost,
}

impl Session {
    /// Connects, and checks that what is written will be durable.
    pub(super) fn open(location: &PostgresLocation) -> Found<Self> {
        let configs = location.configs().map_err(|error| {
            let file = location.password_file().unwrap_or_else(|| "".as_ref());
            unavailable(format!("{}: {error}", file.display()))
        })?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| unavailable(error.to_string()))?;
        let (client, connection) = runtime.block_on(connect(&configs, location))?;
        let mut session = Self {
            client,
            runtime: Some(runtime),
            connection: Some(connection),
            statements: HashMap::new(),
            state: SessionState::Open,
            is_replicated: false,
            opened_at: Timestamp::default(),
        };
        session.check()?;
        let schema = location.schema();
        session.batch(&format!(
            "SET search_path TO \"{schema}\"; {SETTINGS}; {SILENCE_AT_SERVER}"
        ))?;
        Ok(session)
    }

    pub(super) const fn state(&self) -> SessionState {
        self.state
    }

    pub(super) const fn is_lost(&self) -> bool {
        matches!(self.state, SessionState::Lost)
    }

    /// Whether a commit waits until it is on another machine, where the server has one.
    pub(super) const fn is_replicated(&self) -> bool {
        self.is_replicated
    }

    /// When it was opened, by the server's clock.
    pub(super) const fn opened_at(&self) -> Timestamp {
        self.opened_at
    }

    /// Says that the last transaction has ended, however.
    pub(super) const fn begin_anew(&mut self) {
        if matches!(self.state, SessionState::Undone) {
            self.state = SessionState::Open;
        }
    }

    /// Closes the connection, and waits until it is.
    pub(super) fn close(mut self) {
        let (runtime, connection) = (self.runtime.take(), self.connection.take());
        drop(self);
        if let (Some(runtime), Some(connection)) = (runtime, connection) {
            let _ended = runtime.block_on(connection);
            runtime.shutdown_background();
        }
    }

    /// Statements that return nothing.
    pub(super) fn batch(&mut self, sql: &str) -> Found<()> {
        let (runtime, client) = (runtime(&self.runtime)?, &self.client);
        let done = runtime.block_on(client.batch_execute(sql));
        self.noted(done)
    }

    /// The server's version and what it promises.
    fn check(&mut self) -> Found<()> {
        let sql = "SELECT current_setting('server_version_num')::bigint, \
            current_setting('server_version'), current_setting('fsync'), \
            current_setting('full_page_writes'), current_setting('synchronous_commit'), \
            current_setting('server_encoding'), \
            current_setting('synchronous_standby_names'), \
            CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)";
        let row = {
            let (runtime, client) = (runtime(&self.runtime)?, &self.client);
            runtime.block_on(client.query_one(sql, &[]))
        };
        let row = self.noted(row)?;
        let text = |column| row.get::<usize, String>(column);
        if row.get::<usize, i64>(0) < OLDEST_SERVER {
            return Err(StoreError::EngineTooOld {
                found: text(1),
                needed: OLDEST_SERVER_TEXT,
            });
        }
        for (column, setting) in [(2, "fsync"), (3, "full_page_writes")] {
            if text(column) != "on" {
                let found = text(column);
                return Err(StoreError::NotDurable { setting, found });
            }
        }
        if text(5) != "UTF8" {
            return Err(unavailable(format!(
                "the database keeps texts in {}; make one with ENCODING 'UTF8'",
                text(5)
            )));
        }
        // These acknowledge what a crash or a failover may lose. A session may ask for more.
        if ["off", "local", "remote_write"].contains(&text(4).as_str()) {
            self.batch("SET synchronous_commit = on")?;
        }
        self.is_replicated = !text(6).is_empty();
        self.opened_at = Timestamp::from_microsecond(row.get(7))
            .map_err(|error| unavailable(error.to_string()))?;
        Ok(())
    }

    /// Prepares the statements for which that has not been done, all in one round trip.
    fn prepare(&mut self, wanted: impl Iterator<Item = &'static str>) -> Found<()> {
        let mut missing: Vec<_> = wanted
            .filter(|sql| !self.statements.contains_key(sql))
            .collect();
        missing.sort_unstable();
        missing.dedup();
        if missing.is_empty() {
            return Ok(());
        }
        let (runtime, client) = (runtime(&self.runtime)?, &self.client);
        let under_way = missing
            .iter()
            .map(|sql| Box::pin(async { client.prepare(&translated(sql)).await }));
        let under_way = in_order(under_way.collect());
        let prepared: Result<Vec<_>, _> = runtime.block_on(under_way).into_iter().collect();
        let prepared = self.noted(prepared)?;
        self.statements.extend(missing.into_iter().zip(prepared));
        Ok(())
    }

    fn statement(&self, sql: &'static str) -> Found<Statement> {
        self.statements.get(sql).cloned().ok_or(StoreError::Closed)
    }

    /// Sends all at once, and waits for the answers: one round trip, however many there are.
    pub(super) fn send(&mut self, requests: &[StatementRequest<'_>]) -> Found<Vec<Answer>> {
        self.prepare(requests.iter().map(|request| request.sql))?;
        let statements = requests.iter().map(|request| self.statement(request.sql));
        let statements: Vec<_> = statements.collect::<Found<_>>()?;
        let (runtime, client) = (runtime(&self.runtime)?, &self.client);
        let under_way = requests
            .iter()
            .zip(&statements)
            .map(|(request, statement)| {
                Box::pin(async move {
                    let values = request.values.iter().map(|it| it as &(dyn ToSql + Sync));
                    let values: Vec<_> = values.collect();
                    if statement.columns().is_empty() {
                        let rows = client.execute(statement, &values).await?;
                        return Ok(Answer::Changed(rows));
                    }
                    client.query(statement, &values).await.map(Answer::Rows)
                })
            });
        let under_way = in_order(under_way.collect());
        let answers: Result<Vec<_>, _> = runtime.block_on(under_way).into_iter().collect();
        self.noted(answers)
    }

    fn noted<T>(&mut self, done: Result<T, tokio_postgres::Error>) -> Found<T> {
        done.map_err(|error| {
            if self.client.is_closed() || is_lost(&error) {
                self.state = SessionState::Lost;
            } else if is_undone(&error) {
                self.state = SessionState::Undone;
            }
            store_error(&error)
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // A runtime that waits for its end must not be dropped by a task.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A statement and its values.
pub(super) struct StatementRequest<'cells> {
    pub(super) sql: &'static str,
    pub(super) values: &'cells [Cell<'cells>],
}

/// What a statement gave.
pub(super) enum Answer {
    Rows(Vec<Row>),
    Changed(u64),
}

fn unreachable(detail: String) -> StoreError {
    StoreError::Unreachable { detail }
}

fn unavailable(detail: String) -> StoreError {
    StoreError::Unavailable { detail }
}

fn runtime(runtime: &Option<Runtime>) -> Found<&Runtime> {
    runtime.as_ref().ok_or(StoreError::Closed)
}

/// Connects to the first host that takes what is written.
async fn connect(
    configs: &[Config],
    location: &PostgresLocation,
) -> Found<(Client, JoinHandle<()>)> {
    let mut failed = unreachable("it has no host".to_owned());
    for config in configs {
        let connected = timeout(location.longest_opening(), connect_to(config, location)).await;
        match connected {
            Ok(Ok(connected)) => return Ok(connected),
            Ok(Err(error)) => failed = error,
            Err(_elapsed) => failed = unreachable("the server says nothing".to_owned()),
        }
    }
    Err(failed)
}

/// Connects, and begins to carry what is sent and received.
async fn connect_to(
    config: &Config,
    location: &PostgresLocation,
) -> Found<(Client, JoinHandle<()>)> {
    if !location.has_tls() {
        let connect = |config: Config| async move { config.connect(NoTls).await };
        let opened = connected(config, connect).await;
        let (client, connection) = opened.map_err(|error| unreachable_server(&error))?;
        return Ok((client, tokio::spawn(async move { ended(connection.await) })));
    }
    let tls = MakeRustlsConnect::new(tls(location)?);
    let connect = |config: Config| {
        let tls = tls.clone();
        async move { config.connect(tls).await }
    };
    let opened = connected(config, connect).await;
    let (client, connection) = opened.map_err(|error| unreachable_server(&error))?;
    Ok((client, tokio::spawn(async move { ended(connection.await) })))
}

/// Without a connection the server is unavailable where it answers that it gives none, and unreachable otherwise.
fn unreachable_server(error: &tokio_postgres::Error) -> StoreError {
    match error.code().is_none() || is_lost(error) {
        true => unreachable(in_words(error)),
        false => unavailable(in_words(error)),
    }
}

fn ended(connection: Result<(), tokio_postgres::Error>) {
    if let Err(error) = connection {
        tracing::debug!(
            error = in_words(&error),
            "a connection to the store has ended"
        );
    }
}

/// The server's certificate is checked by those that are named, else by the system's.
pub(super) fn tls(location: &PostgresLocation) -> Found<ClientConfig> {
    let builder = ClientConfig::builder_with_provider(::tls::provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| unavailable(error.to_string()))?;
    let Some(file) = location.root_certificates() else {
        let builder = builder
            .with_platform_verifier()
            .map_err(|error| unavailable(error.to_string()))?;
        return Ok(builder.with_no_client_auth());
    };
    let unread =
        |error: &dyn std::fmt::Display| unavailable(format!("{}: {error}", file.display()));
    let mut roots = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(|error| unread(&error))? {
        let certificate = certificate.map_err(|error| unread(&error))?;
        roots.add(certificate).map_err(|error| unread(&error))?;
    }
    if roots.is_empty() {
        return Err(unread(&"it has no certificate"));
    }
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// Begins all in their order, and then waits for each. Answers come in the same order.
async fn in_order<F: Future>(mut under_way: Vec<Pin<Box<F>>>) -> Vec<F::Output> {
    let mut answers: Vec<Option<F::Output>> = Vec::with_capacity(under_way.len());
    let mut is_begun = false;
    poll_fn(|context| {
        if !is_begun {
            // The first poll sends.
            is_begun = true;
            answers.extend(
                under_way
                    .iter_mut()
                    .map(|one| match one.as_mut().poll(context) {
                        Poll::Ready(answer) => Some(answer),
                        Poll::Pending => None,
                    }),
            );
        }
        for (one, answer) in under_way.iter_mut().zip(&mut answers) {
            if answer.is_none() {
                match one.as_mut().poll(context) {
                    Poll::Ready(ready) => *answer = Some(ready),
                    Poll::Pending => return Poll::Pending,
                }
            }
        }
        Poll::Ready(())
    })
    .await;
    answers.into_iter().flatten().collect()
}

impl Database for Session {
    fn each(
        &mut self,
        sql: &'static str,
        values: &[Cell<'_>],
        read: &mut dyn FnMut(&dyn Columns) -> Found<()>,
    ) -> Found<()> {
        if values.iter().any(Cell::has_null_character) {
            // The server takes no such text, so no row has it.
            return Ok(());
        }
        self.prepare([sql].into_iter())?;
        let statement = self.statement(sql)?;
        let (runtime, client) = (runtime(&self.runtime)?, &self.client);
        let read_all = runtime.block_on(async {
            let rows = client
                .query_raw(&statement, values)
                .await
                .map_err(Stopped::Server)?;
            each_of(rows, read).await
        });
        match read_all {
            Ok(()) => Ok(()),
            Err(Stopped::Server(error)) => self.noted(Err(error)),
            Err(Stopped::Reader(error)) => Err(error),
        }
    }

    fn execute(&mut self, sql: &'static str, values: &[Cell<'_>]) -> Found<u64> {
        match self.send(&[StatementRequest { sql, values }])?.pop() {
            Some(Answer::Changed(rows)) => Ok(rows),
            Some(Answer::Rows(rows)) => Ok(rows.len() as u64),
            None => Ok(0),
        }
    }

    fn look_up(&mut self, lookups: &[Lookup], tables: &mut Tables) -> Found<()> {
        let requests: Vec<_> = looked_up(lookups).collect();
        let answers = self.send(&requests)?;
        take(lookups, answers.into_iter(), tables)
    }

    fn begin_snapshot(&mut self) -> Found<()> {
        self.batch("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    }

    fn end_snapshot(&mut self) -> Found<()> {
        self.batch("ROLLBACK")
    }
}

/// What is sent for lookups.
pub(super) fn looked_up(lookups: &[Lookup]) -> impl Iterator<Item = StatementRequest<'_>> {
    lookups.iter().flat_map(|lookup| {
        lookup.keys().iter().map(|key| StatementRequest {
            sql: lookup.sql(),
            values: key,
        })
    })
}

/// Takes the answers to lookups, which are in their order.
pub(super) fn take(
    lookups: &[Lookup],
    mut answers: impl Iterator<Item = Answer>,
    tables: &mut Tables,
) -> Found<()> {
    for lookup in lookups {
        for number in 0..lookup.keys().len() {
            if let Some(Answer::Rows(rows)) = answers.next() {
                for row in &rows {
                    lookup.take(tables, number, row)?;
                }
            }
        }
    }
    Ok(())
}

/// Why not all rows were read.
enum Stopped {
    Server(tokio_postgres::Error),
    Reader(StoreError),
}

async fn each_of(
    rows: impl Stream<Item = Result<Row, tokio_postgres::Error>>,
    read: &mut dyn FnMut(&dyn Columns) -> Found<()>,
) -> Result<(), Stopped> {
    let mut rows = pin!(rows);
    while let Some(row) = rows.next().await {
        let row = row.map_err(Stopped::Server)?;
        read(&row).map_err(Stopped::Reader)?;
    }
    Ok(())
}

/// The bytes of a column of any type.
struct Raw<'row> {
    kind: Kind,
    bytes: &'row [u8],
}

/// The types of columns that are read.
#[derive(Clone, Copy)]
enum Kind {
    Number,
    Text,
    Bytes,
}

impl<'row> FromSql<'row> for Raw<'row> {
    fn from_sql(
        column: &Type,
        bytes: &'row [u8],
    ) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        let kind = match *column {
            Type::INT8 | Type::INT4 => Kind::Number,
            Type::BYTEA => Kind::Bytes,
            _ => Kind::Text,
        };
        Ok(Self { kind, bytes })
    }

    fn accepts(column: &Type) -> bool {
        [
            Type::INT8,
            Type::INT4,
            Type::BYTEA,
            Type::TEXT,
            Type::VARCHAR,
        ]
        .contains(column)
    }
}

impl Columns for Row {
    fn value(&self, column: usize) -> Found<ColumnValue<'_>> {
        let found: Option<Raw<'_>> = self.try_get(column).map_err(|error| store_error(&error))?;
        let Some(Raw { kind, bytes }) = found else {
            return Ok(ColumnValue::Nothing);
        };
        Ok(match kind {
            Kind::Text => ColumnValue::Text(bytes),
            Kind::Bytes => ColumnValue::Bytes(bytes),
            Kind::Number => ColumnValue::Number(number(bytes)?),
        })
    }
}

fn number(bytes: &[u8]) -> Found<i64> {
    if let Ok(long) = <[u8; 8]>::try_from(bytes) {
        return Ok(i64::from_be_bytes(long));
    }
    let short = <[u8; 4]>::try_from(bytes).map_err(|error| unavailable(error.to_string()))?;
    Ok(i64::from(i32::from_be_bytes(short)))
}

impl ToSql for Cell<'_> {
    fn to_sql(
        &self,
        column: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self.value() {
            ColumnValue::Nothing => return Ok(IsNull::Yes),
            ColumnValue::Number(number) if *column == Type::INT4 => {
                out.extend_from_slice(&i32::try_from(number)?.to_be_bytes());
            }
            ColumnValue::Number(number) => out.extend_from_slice(&number.to_be_bytes()),
            ColumnValue::Fraction(number) => out.extend_from_slice(&number.to_be_bytes()),
            ColumnValue::Text(bytes) | ColumnValue::Bytes(bytes) => out.extend_from_slice(bytes),
        }
        Ok(IsNull::No)
    }

    fn accepts(column: &Type) -> bool {
        Raw::accepts(column)
    }

    to_sql_checked!();
}
