//! Who the caller is, and which server answers.

use axum::Json;
use axum::extract::State;
use control::role_name;
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::Reads;
use crate::app::App;
use crate::events::position_text;
use crate::wire::RoleName;

/// Who the caller is, and the server's version.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WhoAmI {
    /// The name that stands in the audit when he does something.
    name: String,
    /// What he may do.
    #[schema(value_type = RoleName)]
    role: String,
    /// The run that an agent's token is bound to.
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<String>,
    /// The agent of that run that it is bound to, with those that it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<String>,
    /// The version of this program.
    version: String,
    /// The name of this installation.
    instance: String,
    /// The last position of the feed: who reads on after it misses nothing that happens from now on.
    seq: String,
}

/// Says who the caller is, and which version of the server answers.
#[utoipa::path(get, path = "/v1/whoami", extensions(("x-right" = json!("read"))),
    responses((status = 200, body = WhoAmI)))]
pub(crate) async fn whoami(State(app): State<App>, Reads(caller): Reads) -> Json<WhoAmI> {
    Json(WhoAmI {
        name: caller.actor.name.as_str().to_owned(),
        role: role_name(caller.actor.role).to_owned(),
        run_id: caller.reach.bound_run().map(|run| run.to_string()),
        agent_id: caller
            .reach
            .0
            .as_ref()
            .and_then(interrupts::store::TokenScope::agent),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        instance: app.config.instance.clone(),
        seq: position_text(app.feed.latest()),
    })
}
