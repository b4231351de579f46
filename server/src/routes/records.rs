//! Records: whole rows of the store, for programs that show them themselves.
//!
//! The views of the other resources contain what callers need, under stable names. A record is the row itself, in the
//! form that this version of the program writes: `irq` reads it, and shows over the network what it shows with the
//! store's file. `GET /v1/whoami` says which version answers.
//!
//! An [`Ask`] goes over the network as its name, in the path, and the rest of it as JSON, in one parameter of the query.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use interrupts::catalogue::SharedCatalogue;
use interrupts::store::StandingRules;
use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value};

use control::{Ask, RunProgress};

use crate::access::{Reads, Right};
use crate::acting::{reading_of, rule_named};
use crate::app::App;
use crate::parameters::{Parameters, Segment, page, wrong};
use crate::problem::{Code, Problem};

/// What exactly is asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordQuery {
    /// As JSON.
    of: String,
}

fn asked(name: String, query: &RecordQuery) -> Result<Ask, Problem> {
    let misread = |error: serde_json::Error| wrong("of", error.to_string());
    let of: Value = serde_json::from_str(&query.of).map_err(misread)?;
    let ask: Ask = serde_json::from_value(Map::from_iter([(name, of)]).into()).map_err(misread)?;
    if let Some(part) = ask.page() {
        page(Some(&part.after.to_string()), Some(part.limit))?;
    }
    Ok(ask)
}

fn record(row: &impl Serialize) -> Result<Response, Problem> {
    let text = to_raw_value(row).map_err(|error| {
        tracing::error!(%error, "a row cannot be written as JSON");
        Problem::new(Code::Internal, "a row cannot be shown", "report this")
    })?;
    Ok(Json(text).into_response())
}

fn catalogue(catalogue: Option<SharedCatalogue>) -> Result<Response, Problem> {
    match catalogue {
        Some(catalogue) => record(&*catalogue),
        None => Err(Problem::new(
            Code::NotFound,
            "nothing is known of the workflow of the run",
            "ask the program that executes the run",
        )),
    }
}

/// Answers an [`Ask`].
#[expect(clippy::too_many_lines, reason = "one arm for each question")]
pub(crate) async fn answer(
    State(app): State<App>,
    Reads(caller): Reads,
    Segment(name): Segment,
    Parameters(query): Parameters<RecordQuery>,
) -> Result<Response, Problem> {
    let ask = asked(name, &query)?;
    let _turn = app.crowd.turn(ask.page().is_some()).await;
    let store = app.store();
    // A run of which all may be read, not one of its agents alone.
    let whole = async |run: routing_core::RunId| {
        let run = caller.run(&app, &run.to_string()).await?;
        caller.demand_whole_run()?;
        Ok::<_, Problem>(run)
    };
    match ask {
        Ask::Run(run) => record(&caller.run(&app, &run).await?),
        Ask::Runs(states, page) => record(&caller.runs(&app, &states, page).await?),
        Ask::Progress(run) => {
            let run = whole(run).await?.id;
            record(&RunProgress::of(store, run, |run| app.is_executed(run)).await?)
        }
        Ask::Plan(run) => record(&reading_of(&app, &whole(run).await?).await?),
        Ask::CatalogueOfRun(run) => {
            let run = caller.run(&app, &run).await?;
            catalogue(app.catalogue_of_run(&run).await?)
        }
        Ask::Agent(run, node) => {
            let run = caller.run(&app, &run.to_string()).await?;
            let row = store.node(run.id, &node).await?;
            record(&row.filter(|row| caller.covers(row.run, &row.node)))
        }
        Ask::Agents(run, page) => {
            let run = caller.run(&app, &run.to_string()).await?;
            record(&caller.nodes(&app, run.id, page).await?)
        }
        Ask::Checkpoints(run, page) => {
            record(&store.checkpoints(whole(run).await?.id, page).await?)
        }
        Ask::Journal(run, page) => record(&store.journal(whole(run).await?.id, page).await?),
        Ask::Messages(run, page) => record(&store.messages(whole(run).await?.id, page).await?),
        Ask::Interrupt(interrupt) => record(&caller.interrupt(&app, &interrupt.to_string()).await?),
        Ask::InterruptOf(key) => {
            let found = store.interrupt_of(&key).await?;
            record(&found.filter(|one| caller.covers(one.run, &one.node)))
        }
        Ask::Interrupts(filter, page) => {
            if let Some(run) = filter.run {
                caller.run(&app, &run.to_string()).await?;
            }
            record(&caller.interrupts(&app, &filter, page).await?)
        }
        Ask::CatalogueOfInterrupt(interrupt) => {
            let interrupt = caller.interrupt(&app, &interrupt.to_string()).await?;
            catalogue(app.catalogue_of(&interrupt).await?)
        }
        Ask::Rule(rule) => {
            Right::Survey.demand(&caller)?;
            record(&rule_named(&app, &rule.to_string()).await?)
        }
        Ask::Rules(page) => {
            Right::Survey.demand(&caller)?;
            record(&StandingRules::rules(store, page).await?)
        }
        Ask::Audit(page) => {
            Right::Survey.demand(&caller)?;
            record(&store.audit(page).await?)
        }
        _ => Err(wrong("path", "this server does not know what is asked for")),
    }
}
