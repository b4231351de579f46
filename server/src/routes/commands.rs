//! Commands as `irq` and the Rust client send them: a command ([`control::Command`]) as its name, in the path, and the rest
//! of it as JSON. What is changed over the network is changed as it is beside the store.

use axum::Json;
use axum::extract::{FromRequest as _, Request, State};
use axum::response::{IntoResponse as _, Response};
use control::{COMMANDS, carried_out};

use crate::access::Reads;
use crate::app::App;
use crate::body::RawJson;
use crate::parameters::Segment;
use crate::problem::Problem;

/// Carries out a command.
pub(crate) async fn carry_out(
    State(app): State<App>,
    Reads(caller): Reads,
    Segment(name): Segment,
    request: Request,
) -> Result<Response, Problem> {
    // Who may not give it is told so before its body is read.
    if let Some((_name, right)) = COMMANDS.iter().find(|(known, _right)| *known == name) {
        right.demand(&caller)?;
    }
    let RawJson(of) = RawJson::from_request(request, &app).await?;
    let carried_out = carried_out(&name, &of, &app.control(), &caller).await?;
    app.is_carried_out(carried_out.run);
    Ok(Json(carried_out.done).into_response())
}
