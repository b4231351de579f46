//! The page for people: made here, so that it works reloaded at any moment and without scripts.
//!
//! What a script adds is convenience: lists that follow the feed, keys, notices. Text of models and of other
//! people goes through [`crate::visible`] and is escaped; there is no markup but our own.

mod agents;
mod assets;
mod form;
mod history;
mod inbox;
mod layout;
mod plan;
mod reference;
mod refusal;
mod review;
mod rules;
mod run;
mod settings;
mod visitor;
mod words;

use axum::Router;
use axum::routing::{get, post};

use crate::app::App;

pub(crate) use refusal::tell_people;

/// The addresses of the page. They are for people, and stand in no description.
pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/", get(inbox::show))
        .route("/inbox", get(inbox::list))
        .route("/inbox/decide", post(inbox::decide))
        .route(
            "/review/{interrupt_id}",
            get(review::show).post(review::decide),
        )
        .route("/review/{interrupt_id}/claim", post(review::claim))
        .route("/runs", get(run::list))
        .route("/runs/{run_id}", get(run::show))
        .route("/runs/{run_id}/live", get(run::live))
        .route("/runs/{run_id}/timeline", get(run::timeline))
        .route("/runs/{run_id}/stop", post(run::stop))
        .route("/runs/{run_id}/resume", post(run::resume))
        .route("/runs/{run_id}/message", post(run::message))
        .route(
            "/runs/{run_id}/messages/{message}/withdraw",
            post(run::withdraw_message),
        )
        .route("/agents", get(agents::show))
        .route("/agents/list", get(agents::list))
        .route("/docs", get(reference::show))
        .route("/history", get(history::show))
        .route("/history/export", get(history::export))
        .route("/settings", get(settings::show))
        .route("/rules/{rule_id}/revoke", post(rules::revoke))
        .route("/session", post(visitor::begin))
        .route("/session/end", post(visitor::end))
        .route("/assets/{name}", get(assets::send))
}
