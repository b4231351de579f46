//! The history: who did what, newest first.

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use jiff::tz::Offset;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::layout::{NavigationItem, page, refused, state, time_text};
use super::visitor::Visitor;
use super::words;
use crate::app::App;
use crate::parameters::Parameters;
use crate::problem::{Code, Problem};
use crate::routes::{ABOUT, HistoryQuery, export_history, newest_history, verified};
use crate::visible::visible;
use crate::wire::{HistoryRow, label};

/// Which rows.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct HistoryPageQuery {
    actor: String,
    run_id: String,
    kind: String,
    /// Only what happened at this time or later.
    from: String,
    /// Only what happened before this time.
    to: String,
    /// Only those before this row.
    before: Option<u64>,
    verify: Option<String>,
}

impl HistoryPageQuery {
    fn query(&self) -> Result<HistoryQuery, Problem> {
        let given = |text: &str| (!text.trim().is_empty()).then(|| text.trim().to_owned());
        let (from, to) = (time_of("from", &self.from)?, time_of("to", &self.to)?);
        if let (Some(from), Some(to)) = (from, to)
            && from >= to
        {
            return Err(Problem::new(
                Code::Parameter,
                format!("to: {to} is not after {from}, so there is nothing in between"),
                "choose an end that is later than the beginning, or leave one of them empty",
            )
            .with("parameter", "to"));
        }
        Ok(HistoryQuery {
            actor: given(&self.actor),
            run_id: given(&self.run_id),
            kind: given(&self.kind),
            from: from.map(|from| from.to_string()),
            to: to.map(|to| to.to_string()),
            ..HistoryQuery::default()
        })
    }

    /// The address of a page with these conditions.
    fn address(&self, path: &str, before: Option<u64>) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        for (name, value) in [
            ("actor", &self.actor),
            ("run_id", &self.run_id),
            ("kind", &self.kind),
            ("from", &self.from),
            ("to", &self.to),
        ] {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        if let Some(before) = before {
            query.append_pair("before", &before.to_string());
        }
        format!("{path}?{}", query.finish())
    }
}

/// A time as a browser sends it, without a zone, or with one as programs write it.
fn time_of(name: &str, text: &str) -> Result<Option<Timestamp>, Problem> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let with_zone = text.parse::<Timestamp>();
    let without = || text.parse().and_then(|time| Offset::UTC.to_timestamp(time));
    let read = with_zone.or_else(|_error| without());
    read.map(Some).map_err(|_error| {
        Problem::new(
            Code::Parameter,
            format!("{name}: `{text}` is no time"),
            "choose a day and a time in the field, or write them as 2026-11-21T12:00, in UTC; empty is without a limit",
        )
        .with("parameter", name)
    })
}

/// A time for the fields of browsers: without a zone, and with at most three digits of a second.
fn for_browser(text: &str) -> String {
    let Ok(Some(time)) = time_of("", text) else {
        return String::new();
    };
    let form = if time.subsec_nanosecond() == 0 {
        "%Y-%m-%dT%H:%M:%S"
    } else {
        "%Y-%m-%dT%H:%M:%S%.3f"
    };
    Offset::UTC.to_datetime(time).strftime(form).to_string()
}

/// The history.
pub(super) async fn show(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Parameters(shown): Parameters<HistoryPageQuery>,
) -> Response {
    let found = match shown.query() {
        Ok(query) => newest_history(&app, &query, shown.before).await,
        Err(problem) => Err(problem),
    };
    let (rows, older) = match found {
        Ok(found) => found,
        Err(problem) => return refused(&problem, Some(&caller)),
    };
    let chain = match &shown.verify {
        Some(_) => Some(verified(&app).await),
        None => None,
    };
    let body = html! {
        h1 { "History" }
        (conditions(&shown))
        @match chain {
            Some(Ok(head)) => p.good role="status" { "Every digest was compared, up to row " (head.position) ", and all that the history vouches for. The last one is " code { (head.digest) } "." },
            Some(Err(problem)) => (super::layout::banner(&problem)),
            None => p.hint { "Each row is bound to the one before by its digest, and to what it tells of, so that nothing is changed or left out unseen." },
        }
        @if rows.is_empty() { p.empty { "Nothing like that has happened." } }
        @else { div.wide role="region" aria-label="History" tabindex="0" { table {
            caption { "What happened, the last thing first" }
            thead { tr { th scope="col" { "Row" } th scope="col" { "When" } th scope="col" { "What" } th scope="col" { "Who" } th scope="col" { "Of" } th scope="col" { "Detail" } } }
            tbody { @for row in &rows { (line(row, app.now())) } }
        } } }
        p.buttons {
            @if shown.before.is_some() { a href=(shown.address("/history", None)) { "Newest" } }
            @if older.is_some() { a href=(shown.address("/history", older)) { "Older" } }
            a href=(shown.address("/history/export", None)) download="history.ndjson" { "Save all of these as lines of JSON" }
        }
    };
    page("History", NavigationItem::History, Some(&caller), &body).into_response()
}

/// All rows that fit, oldest first, as a file.
pub(super) async fn export(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Parameters(shown): Parameters<HistoryPageQuery>,
) -> Response {
    let exported = match shown.query() {
        Ok(query) => export_history(&app, &query).await,
        Err(problem) => Err(problem),
    };
    match exported {
        Ok(mut file) => {
            let kept = HeaderValue::from_static("attachment; filename=\"history.ndjson\"");
            file.headers_mut().insert(header::CONTENT_DISPOSITION, kept);
            file
        }
        Err(problem) => refused(&problem, Some(&caller)),
    }
}

fn conditions(shown: &HistoryPageQuery) -> Markup {
    html! {
        form.find method="get" action="/history" role="search" {
            span { label for="kind" { "About" }
                select id="kind" name="kind" {
                    option value="" { "everything" }
                    @for about in ABOUT { option value=(about) selected[shown.kind == about] { (label(about)) } }
                }
            }
            span { label for="actor" { "Who" } input id="actor" name="actor" value=(shown.actor); }
            span { label for="run_id" { "Run" } input id="run_id" name="run_id" value=(shown.run_id); }
            // Seconds can be chosen too, for much happens within a minute.
            @for (name, title, text) in [("from", "From (UTC)", &shown.from), ("to", "To, not included (UTC)", &shown.to)] {
                span { label for=(name) { (title) } input id=(name) name=(name) type="datetime-local" step="1" value=(for_browser(text)); }
            }
            button type="submit" { "Show" }
            button.quiet type="submit" name="verify" value="1" { "Verify the chain" }
        }
    }
}

fn line(row: &HistoryRow, now: Timestamp) -> Markup {
    let text = |pointer: &str| {
        let value = row.entry.pointer(pointer);
        value.and_then(Value::as_str).unwrap_or_default()
    };
    // The words of an event that is always followed by the same state already say it.
    let reached = match text("/event") {
        "change" | "decide" | "withdraw" | "deadline" | "redrive" | "delivery_failed" => {
            [text("/to"), text("/state")]
        }
        _ => [text("/change"), ""],
    };
    let reached = reached.into_iter().find(|state| !state.is_empty());
    html! {
        tr {
            td { (row.position) }
            td { (time_text(text("/at"), now)) }
            td { (words::audited(text("/about"), text("/event"))) @if let Some(reached) = reached { " " (state(reached)) } }
            td { @if text("/actor/name").is_empty() { span.hint { "the program" } } @else { (visible(text("/actor/name"))) } }
            td.short { (of(text("/interrupt"), text("/run"))) }
            td { (visible(text("/detail"))) (visible(text("/reason"))) }
        }
    }
}

/// What a row is about, as a link to its page. Ids are long: only their ends are shown, the whole id is in the title.
fn of(interrupt: &str, run: &str) -> Markup {
    let short = |id: &str| {
        let end: Vec<char> = id.chars().rev().take(6).collect();
        format!("…{}", end.iter().rev().collect::<String>())
    };
    html! {
        @if !interrupt.is_empty() {
            a href=(format!("/review/{interrupt}")) title=(visible(interrupt)) { "interrupt " (visible(&short(interrupt))) }
        } @else if !run.is_empty() {
            a href=(format!("/runs/{run}")) title=(visible(run)) { "run " (visible(&short(run))) }
        }
    }
}
