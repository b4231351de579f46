//! How large the head of a request may be.

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::app::App;
use crate::problem::{Code, Problem};

/// Refuses a request whose headers together are too large. A head larger than a connection reads at once was refused
/// before, without a message.
pub(crate) async fn refuse_large_heads(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Response {
    let most = app.config.limits.head_bytes;
    if size_of(request.headers()) <= most {
        return next.run(request).await;
    }
    Problem::new(
        Code::HeadTooLarge,
        format!("the headers of the request have more than {most} bytes"),
        "send fewer or shorter headers; what is long belongs into the body",
    )
    .into_response()
}

fn size_of(headers: &HeaderMap) -> usize {
    let each = headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len());
    each.sum()
}
