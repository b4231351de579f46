//! The page for people: made here, so that it works reloaded at any moment and without scripts.
//!
//! What a script adds is convenience: lists that follow the feed, keys, notices. Text of models and of other people
//! goes through [`crate::visible`] and is escaped; the only markup is our own.

mod agents;
mod assets;
mod form;
mod history;
mod inbox;
mod layout;
mod matter;
mod plan;
mod quoted;
mod refusal;
mod review;
mod rules;
mod run;
mod settings;
mod visitor;
mod words;

use axum::Router;
use axum::response::Redirect;
use axum::routing::get;

use crate::app::App;

pub(crate) use refusal::tell_people;

/// A refused form is shown at the address that it was sent to. A reader who opens that address again is sent to the inbox.
async fn to_inbox() -> Redirect {
    Redirect::to("/")
}

async fn to_settings() -> Redirect {
    Redirect::to("/settings")
}

/// The addresses of the page. They are for people, and not part of any description.
pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/", get(inbox::show))
        .route("/inbox", get(inbox::list))
        .route("/inbox/count", get(inbox::count))
        .route("/inbox/together", get(inbox::together))
        .route("/inbox/decide", get(to_inbox).post(inbox::decide))
        .route(
            "/review/{interrupt_id}",
            get(review::show).post(review::decide),
        )
        .route(
            "/review/{interrupt_id}/claim",
            get(review::look).post(review::claim),
        )
        .route("/review/{interrupt_id}/standing", get(review::status))
        .route("/runs", get(run::list))
        .route("/runs/{run_id}", get(run::show))
        .route("/runs/{run_id}/live", get(run::live))
        .route("/runs/{run_id}/timeline", get(run::timeline))
        .route("/runs/{run_id}/controls", get(run::controls))
        .route("/runs/{run_id}/stop", get(run::look).post(run::stop))
        .route("/runs/{run_id}/resume", get(run::look).post(run::resume))
        .route("/runs/{run_id}/message", get(run::look).post(run::message))
        .route(
            "/runs/{run_id}/messages/{message}/withdraw",
            get(run::look_from_message).post(run::withdraw_message),
        )
        .route("/agents", get(agents::show))
        .route("/agents/list", get(agents::list))
        .route("/history", get(history::show))
        .route("/history/export", get(history::export))
        .route("/settings", get(settings::show))
        .route(
            "/rules/{rule_id}/revoke",
            get(to_settings).post(rules::revoke),
        )
        .route("/session", get(to_inbox).post(visitor::begin))
        .route("/session/end", get(to_inbox).post(visitor::end))
        .route("/assets/{name}", get(assets::send))
}
