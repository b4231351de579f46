//! What happened in a run, newest first.

use interrupts::store::Run;
use maud::{Markup, html};
use serde_json::Value;

use crate::app::App;
use crate::page::layout::{state, time_text};
use crate::page::words;
use crate::problem::Problem;
use crate::visible::visible;

/// How many events are shown.
const SHOWN: u32 = 200;

/// The lines.
pub(super) async fn lines(app: &App, run: &Run) -> Result<Markup, Problem> {
    let events = last_events(app, run).await?;
    let now = app.now();
    Ok(html! {
        @if events.is_empty() { p { "Nothing is told of it any more; the history may have it." } }
        ol.events { @for event in &events { (line(event, now)) } }
        p { a href=(format!("/history?run_id={}", run.id)) { "The whole history of this run" } }
    })
}

/// The last events of a run, newest first.
async fn last_events(app: &App, run: &Run) -> Result<Vec<Value>, Problem> {
    let told = app.feed.last_of_run(run.id, SHOWN).await?;
    let read = told.iter().map(|event| serde_json::from_str(&event.json));
    Ok(read.filter_map(Result::ok).collect())
}

fn line(event: &Value, now: jiff::Timestamp) -> Markup {
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str);
    let kind = text("/type").unwrap_or_default();
    let kind = kind.trim_start_matches("dev.irq.").trim_end_matches(".v1");
    let agent = text("/data/agent_id").and_then(|agent| agent.split_once('/'));
    let is_of_agent = ["agent.", "llm.", "tool.", "effect."]
        .iter()
        .any(|topic| kind.starts_with(topic));
    let tells_state = is_of_agent || kind.starts_with("run.");
    let told = text("/data/status")
        .or(text("/data/state"))
        .or(text("/data/outcome"));
    let left_behind = event.pointer("/data/left_behind").and_then(Value::as_bool);
    html! {
        li data-event=(kind) {
            span.when { (time_text(text("/time").unwrap_or_default(), now)) }
            span {
                @if let (true, Some((_, node))) = (is_of_agent, agent) { strong { (visible(node)) } " " }
                (words::event(kind))
                @if let Some(tool) = text("/data/tool") { " " code { (visible(tool)) } }
                @if let (false, Some((_, node))) = (is_of_agent, agent) { " · " (visible(node)) }
                @if let Some(by) = text("/data/claimed_by/by") { ": " (visible(by)) }
                @if let (true, Some(told)) = (tells_state, told) { " " (state(told)) }
                @if let Some(said) = text("/data/message").or(text("/data/summary")) { " " span.hint { (visible(said)) } }
                @if left_behind == Some(true) { " " strong { "Something of it may still run." } }
            }
        }
    }
}
