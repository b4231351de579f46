//! The audit: what happened, in one chain.

use std::convert::Infallible;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{OriginalUri, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use control::{Caller, Reach};
use futures_util::stream;
use interrupt_router::RunId;
use interrupts::store::{AuditRow, Page};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::openapi::Object;
use utoipa::{IntoParams, ToSchema};

use super::list::listed;
use crate::access::{Reads, Surveys};
use crate::app::App;
use crate::parameters::{Parameters, naming, one_of, page, wrong};
use crate::problem::{Problem, of_verify};
use crate::wire::{HistoryPage, HistoryRow};

/// The type of JSON in lines.
pub(super) const LINES: &str = "application/x-ndjson";
/// How many rows one request reads when it filters.
const MOST_ROWS: usize = 20_000;
/// How many of the newest rows are shown at once.
const NEWEST: usize = 100;
/// How many rows are read at a time, from the end.
const PART: u32 = 500;

/// What rows can be about.
pub(crate) const ABOUT: [&str; 9] = [
    "interrupt",
    "run",
    "fork",
    "reroute",
    "rule",
    "message",
    "checkpoint",
    "token",
    "purge",
];

fn about_schema() -> Object {
    naming(ABOUT)
}

/// The run that is meant. A purged run is still in the audit.
async fn run_of(app: &App, text: &str) -> Result<RunId, Problem> {
    match text.parse() {
        Ok(id) => Ok(id),
        Err(_error) => Ok(Reach::EVERYTHING.run(app.store(), text).await?.id),
    }
}

/// Which rows.
#[derive(Debug, Default, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct HistoryQuery {
    /// Not before this time.
    pub(crate) from: Option<String>,
    /// Before this time.
    pub(crate) to: Option<String>,
    /// Only what this person or program did.
    pub(crate) actor: Option<String>,
    /// Only of this run.
    pub(crate) run_id: Option<String>,
    /// Only about this.
    #[param(schema_with = about_schema, required = false)]
    pub(crate) kind: Option<String>,
    /// Where a part before ended.
    pub(crate) cursor: Option<String>,
    /// The most entries, 1 to 500.
    #[param(minimum = 1, maximum = 500)]
    pub(crate) limit: Option<u32>,
}

/// A query whose parts were read.
#[derive(Debug, Clone)]
struct AuditFilter {
    from: Option<Timestamp>,
    to: Option<Timestamp>,
    actor: Option<String>,
    run: Option<String>,
    kind: Option<String>,
}

impl AuditFilter {
    async fn of(app: &App, query: &HistoryQuery) -> Result<Self, Problem> {
        one_of("kind", query.kind.as_deref(), &ABOUT)?;
        let run = match &query.run_id {
            None => None,
            Some(run) => Some(run_of(app, run).await?),
        };
        let time = |name: &str, text: &Option<String>| match text {
            None => Ok(None),
            Some(text) => text
                .parse()
                .map(Some)
                .map_err(|_error| wrong(name, "this is no time such as 2026-11-21T12:00:00Z")),
        };
        Ok(Self {
            from: time("from", &query.from)?,
            to: time("to", &query.to)?,
            actor: query.actor.clone(),
            run: run.map(|run| run.to_string()),
            kind: query.kind.clone(),
        })
    }

    fn fits(&self, entry: &Value) -> bool {
        let text = |pointer: &str| entry.pointer(pointer).and_then(Value::as_str);
        let is = |wanted: &Option<String>, pointer: &str| {
            wanted
                .as_deref()
                .is_none_or(|wanted| text(pointer) == Some(wanted))
        };
        let at: Option<Timestamp> = text("/at").and_then(|at| at.parse().ok());
        let since = self.from.is_none_or(|from| at.is_some_and(|at| at >= from));
        let until = self.to.is_none_or(|to| at.is_some_and(|at| at < to));
        since
            && until
            && is(&self.actor, "/actor/name")
            && is(&self.run, "/run")
            && is(&self.kind, "/about")
    }
}

/// What happened, in its order: as JSON, or as lines where the caller accepts `application/x-ndjson`, which gives
/// all of it at once.
#[utoipa::path(get, path = "/v1/history", params(HistoryQuery), extensions(("x-right" = json!("read"))),
    responses((status = 200, content((HistoryPage = "application/json"), (String = "application/x-ndjson")))))]
pub(crate) async fn list(
    State(app): State<App>,
    Reads(caller): Reads,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
    Parameters(query): Parameters<HistoryQuery>,
) -> Result<Response, Problem> {
    let query = bound(&app, &caller, query).await?;
    if wants_lines(&headers) {
        return lines(&app, &query).await;
    }
    let (rows, next_cursor) = find(&app, &query).await?;
    let cursor = next_cursor.clone();
    let body = HistoryPage { rows, next_cursor };
    Ok(listed(&uri, cursor.as_deref(), body))
}

/// The query of a caller who is bound to a run: it is limited to that run.
async fn bound(app: &App, caller: &Caller, query: HistoryQuery) -> Result<HistoryQuery, Problem> {
    let Some(run) = caller.reach.bound_run() else {
        return Ok(query);
    };
    caller.reach.demand_whole_run()?;
    if let Some(named) = &query.run_id {
        caller.reach.run(app.store(), named).await?;
    }
    Ok(HistoryQuery {
        run_id: Some(run.to_string()),
        ..query
    })
}

/// The rows that match a query, and where the next part begins.
pub(crate) async fn find(
    app: &App,
    query: &HistoryQuery,
) -> Result<(Vec<HistoryRow>, Option<String>), Problem> {
    let wanted = AuditFilter::of(app, query).await?;
    let mut page = page(query.cursor.as_deref(), query.limit)?;
    let (mut found, mut looked) = (Vec::new(), 0);
    loop {
        let rows = app.store().audit(page).await?;
        let full = rows.len() == page.limit as usize;
        for row in rows {
            page.after = row.position;
            looked += 1;
            let view = HistoryRow::of(&row);
            if wanted.fits(&view.entry) {
                found.push(view);
            }
            if found.len() == page.limit as usize || looked >= MOST_ROWS {
                return Ok((found, Some(row.position.to_string())));
            }
        }
        if !full {
            return Ok((found, None));
        }
    }
}

/// The newest rows that match a query, newest first, before a position if one is given; and the position before which
/// older ones are.
pub(crate) async fn newest(
    app: &App,
    query: &HistoryQuery,
    before: Option<u64>,
) -> Result<(Vec<HistoryRow>, Option<u64>), Problem> {
    let wanted = AuditFilter::of(app, query).await?;
    let mut before = match before {
        Some(before) => before,
        None => last_position(app).await? + 1,
    };
    let (mut found, mut looked) = (Vec::new(), 0);
    while before > 1 {
        let part = Page {
            after: (before - 1).saturating_sub(u64::from(PART)),
            limit: PART,
        };
        let mut rows = app.store().audit(part).await?;
        rows.retain(|row| row.position < before);
        // Earlier rows were purged.
        if rows.is_empty() {
            return Ok((found, None));
        }
        for row in rows.iter().rev() {
            before = row.position;
            looked += 1;
            let view = HistoryRow::of(row);
            if wanted.fits(&view.entry) {
                found.push(view);
            }
            if found.len() == NEWEST || looked >= MOST_ROWS {
                return Ok((found, Some(before).filter(|before| *before > 1)));
            }
        }
    }
    Ok((found, None))
}

/// The position of the last row; 0 if there is none. The audit can only be read from its beginning, so the end is found
/// in steps that double, and then by bisection.
async fn last_position(app: &App) -> Result<u64, Problem> {
    let (mut known, mut step) = (0, 1_u64);
    let mut end = loop {
        let probe = known + (step - 1);
        match first_after(app, probe).await? {
            Some(position) => known = position,
            None => break probe,
        }
        step = step.saturating_mul(2);
    };
    while known < end {
        let middle = known + (end - known) / 2;
        match first_after(app, middle).await? {
            Some(position) => known = position,
            None => end = middle.max(known),
        }
    }
    Ok(known)
}

async fn first_after(app: &App, after: u64) -> Result<Option<u64>, Problem> {
    let rows = app.store().audit(Page { after, limit: 1 }).await?;
    Ok(rows.first().map(|row| row.position))
}

/// The rows that match a query as lines, whatever the caller accepts.
pub(crate) async fn export(app: &App, query: &HistoryQuery) -> Result<Response, Problem> {
    lines(app, query).await
}

/// Whether a caller prefers lines.
pub(super) fn wants_lines(headers: &HeaderMap) -> bool {
    headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|accept| accept.to_str().ok())
        .any(|accept| accept.contains(LINES))
}

/// All rows, read as fast as the caller takes them.
async fn lines(app: &App, query: &HistoryQuery) -> Result<Response, Problem> {
    let wanted = AuditFilter::of(app, query).await?;
    let first = Page {
        after: page(query.cursor.as_deref(), None)?.after,
        limit: 1_000,
    };
    let app = app.clone();
    let chunks = stream::unfold(Some(first), move |page| {
        let (app, wanted) = (app.clone(), wanted.clone());
        async move {
            let mut page = page?;
            let rows = app.store().audit(page).await.ok()?;
            let full = rows.len() == page.limit as usize;
            page.after = rows.last()?.position;
            let chunk: String = rows.iter().filter_map(|row| line(row, &wanted)).collect();
            Some((
                Ok::<_, Infallible>(Bytes::from(chunk)),
                full.then_some(page),
            ))
        }
    });
    let kind = [(header::CONTENT_TYPE, LINES)];
    Ok((kind, Body::from_stream(chunks)).into_response())
}

fn line(row: &AuditRow, wanted: &AuditFilter) -> Option<String> {
    let view = HistoryRow::of(row);
    if !wanted.fits(&view.entry) {
        return None;
    }
    let json = serde_json::to_string(&view).ok()?;
    Some(format!("{json}\n"))
}

/// The end of the audit, after all of it was read, every digest compared, and every row that it vouches for.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct VerifiedView {
    /// The last row.
    pub(crate) position: u64,
    /// Its digest. Who keeps it elsewhere can tell later that nothing was changed or cut off.
    pub(crate) digest: String,
    /// The id of the store; a store in memory has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) store: Option<String>,
    /// How many interrupts, checkpoints and parts of journals nothing vouches for, because an older version wrote them.
    pub(crate) unbound: u64,
    /// How many runs were purged, as far back as the audit goes.
    pub(crate) purged: u64,
}

/// Reads the whole audit, compares every digest, and every row that the audit vouches for.
#[utoipa::path(get, path = "/v1/history/verify", extensions(("x-right" = json!("survey"))),
    responses((status = 200, body = VerifiedView)))]
pub(crate) async fn verify(
    State(app): State<App>,
    Surveys(_caller): Surveys,
) -> Result<Json<VerifiedView>, Problem> {
    verified(&app).await.map(Json)
}

/// The end of the audit, verified.
pub(crate) async fn verified(app: &App) -> Result<VerifiedView, Problem> {
    let found = app.store().verify_audit().await;
    let found = found.map_err(|error| of_verify(&error))?;
    Ok(VerifiedView {
        position: found.head.position,
        digest: found.head.digest.to_string(),
        store: found.store,
        unbound: found.unbound,
        purged: found.purged,
    })
}
