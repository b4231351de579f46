//! Requests that were refused before a page was made of them, for readers of pages.

use axum::extract::Request;
use axum::http::header;
use axum::middleware::Next;
use axum::response::Response;

use super::layout::refused;
use crate::problem::Problem;

/// The path of programs, whatever they say that they accept.
const FOR_PROGRAMS: &str = "/v1/";

/// Shows problems as pages to readers of pages: invalid parameters, unknown addresses, a rate limit. Programs get the
/// problem document.
pub(crate) async fn tell_people(request: Request, next: Next) -> Response {
    let reads_pages = reads_pages(&request);
    let response = next.run(request).await;
    let Some(problem) = response
        .extensions()
        .get::<Problem>()
        .filter(|_| reads_pages)
    else {
        return response;
    };
    let mut page = refused(problem, None);
    for (name, value) in response.headers() {
        if name != header::CONTENT_LENGTH && !page.headers().contains_key(name) {
            page.headers_mut().append(name, value.clone());
        }
    }
    page
}

/// Whether a request comes from a person who opens pages, and not from a script of one.
fn reads_pages(request: &Request) -> bool {
    let accepts = request.headers().get_all(header::ACCEPT);
    let mut accepts = accepts.iter().filter_map(|value| value.to_str().ok());
    !request.uri().path().starts_with(FOR_PROGRAMS)
        && accepts.any(|accepted| accepted.contains("text/html"))
}
