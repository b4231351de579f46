//! The history: who did what, the last thing first.

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::layout::{Place, page, refused, state, time_text};
use super::visitor::Visitor;
use super::words;
use crate::app::App;
use crate::parameters::Parameters;
use crate::routes::{HistoryQuery, export_history, newest_history, verified};
use crate::visible::visible;
use crate::wire::{HistoryRow, label};

/// What rows can be about.
const ABOUT: [&str; 8] = [
    "interrupt",
    "run",
    "reroute",
    "rule",
    "message",
    "checkpoint",
    "token",
    "purge",
];

/// Which rows.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Shown {
    actor: String,
    run_id: String,
    kind: String,
    /// Only those before this row.
    before: Option<u64>,
    verify: Option<String>,
}

impl Shown {
    fn query(&self) -> HistoryQuery {
        let given = |text: &str| (!text.trim().is_empty()).then(|| text.trim().to_owned());
        HistoryQuery {
            actor: given(&self.actor),
            run_id: given(&self.run_id),
            kind: given(&self.kind),
            ..HistoryQuery::default()
        }
    }

    /// The address of a page with these conditions.
    fn address(&self, path: &str, before: Option<u64>) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        for (name, value) in [
            ("actor", &self.actor),
            ("run_id", &self.run_id),
            ("kind", &self.kind),
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

/// The history.
pub(super) async fn show(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Parameters(shown): Parameters<Shown>,
) -> Response {
    let (rows, older) = match newest_history(&app, &shown.query(), shown.before).await {
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
            Some(Ok(head)) => p.good role="status" { "Every digest was compared, up to row " (head.position) ". The last one is " code { (head.digest) } "." },
            Some(Err(problem)) => (super::layout::banner(&problem)),
            None => p.hint { "Each row is bound to the one before by its digest, so that nothing can be changed or left out unseen." },
        }
        @if rows.is_empty() { p.empty { "Nothing of that kind has happened." } }
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
    page("History", Place::History, Some(&caller), &body).into_response()
}

/// All rows that fit, oldest first, as a file.
pub(super) async fn export(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Parameters(shown): Parameters<Shown>,
) -> Response {
    match export_history(app, &shown.query()) {
        Ok(mut file) => {
            let kept = HeaderValue::from_static("attachment; filename=\"history.ndjson\"");
            file.headers_mut().insert(header::CONTENT_DISPOSITION, kept);
            file
        }
        Err(problem) => refused(&problem, Some(&caller)),
    }
}

fn conditions(shown: &Shown) -> Markup {
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
            button type="submit" { "Show" }
            button.quiet type="submit" name="verify" value="1" { "Verify the chain" }
        }
    }
}

fn line(row: &HistoryRow, now: jiff::Timestamp) -> Markup {
    let text = |pointer: &str| {
        let value = row.entry.pointer(pointer);
        value.and_then(Value::as_str).unwrap_or_default()
    };
    // The words of an event that is always followed by the same state say it already.
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

/// What a row is about, as a link to its page. Ids are long: their ends tell them apart, the whole is in the title.
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
