//! The history: who did what.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use super::layout::{Place, page, refused, time_text};
use super::visitor::Visitor;
use crate::app::App;
use crate::parameters::Parameters;
use crate::routes::{HistoryQuery, find_history, verified};
use crate::visible::visible;
use crate::wire::HistoryRow;

/// Which rows.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Shown {
    actor: String,
    run_id: String,
    cursor: Option<String>,
    verify: Option<String>,
}

/// The history.
pub(super) async fn show(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Parameters(shown): Parameters<Shown>,
) -> Response {
    let given = |text: &str| (!text.trim().is_empty()).then(|| text.trim().to_owned());
    let query = HistoryQuery {
        actor: given(&shown.actor),
        run_id: given(&shown.run_id),
        cursor: shown.cursor.clone(),
        ..HistoryQuery::default()
    };
    let (rows, next) = match find_history(&app, &query).await {
        Ok(found) => found,
        Err(problem) => return refused(&problem, Some(&caller)),
    };
    let chain = match &shown.verify {
        Some(_) => Some(verified(&app).await),
        None => None,
    };
    let body = html! {
        h1 { "History" }
        form.find method="get" action="/history" role="search" {
            label for="actor" { "Who" } input id="actor" name="actor" value=(shown.actor);
            label for="run_id" { "Run" } input id="run_id" name="run_id" value=(shown.run_id);
            button type="submit" { "Show" }
            button type="submit" name="verify" value="1" { "Verify the chain" }
        }
        @match chain {
            Some(Ok(head)) => p.good role="status" { "Every digest was compared, up to row " (head.position) ". The last one is " code { (head.digest) } "." },
            Some(Err(problem)) => (super::layout::banner(&problem)),
            None => p { "Each row is bound to the one before by its digest. As lines: " code { "curl -H 'Accept: application/x-ndjson' …/v1/history" } },
        }
        div.wide role="region" aria-label="History" tabindex="0" { table {
            caption { "What happened, in its order" }
            thead { tr { th scope="col" { "Row" } th scope="col" { "When" } th scope="col" { "What" } th scope="col" { "Who" } th scope="col" { "Of" } th scope="col" { "Detail" } } }
            tbody { @for row in &rows { (line(row, app.now())) } }
        } }
        @if let Some(next) = next {
            p { a href=(format!("/history?{}", next_query(&shown, &next))) { "More" } }
        }
    };
    page("History", Place::History, Some(&caller), &body).into_response()
}

fn next_query(shown: &Shown, cursor: &str) -> String {
    url::form_urlencoded::Serializer::new(String::new())
        .append_pair("actor", &shown.actor)
        .append_pair("run_id", &shown.run_id)
        .append_pair("cursor", cursor)
        .finish()
}

fn line(row: &HistoryRow, now: jiff::Timestamp) -> Markup {
    let text = |pointer: &str| {
        let value = row.entry.pointer(pointer);
        value.and_then(Value::as_str).unwrap_or_default()
    };
    let state = [text("/to"), text("/state"), text("/change")]
        .into_iter()
        .find(|state| !state.is_empty())
        .unwrap_or_default();
    html! {
        tr {
            td { (row.position) }
            td { (time_text(text("/at"), now)) }
            td { (visible(text("/about"))) " " (visible(text("/event"))) @if !state.is_empty() { " → " (visible(state)) } }
            td { (visible(text("/actor/name"))) }
            td {
                @if text("/interrupt").is_empty() { (visible(text("/run"))) }
                @else { a href=(format!("/review/{}", text("/interrupt"))) { (visible(text("/interrupt"))) } }
            }
            td { (visible(text("/detail"))) (visible(text("/reason"))) }
        }
    }
}
