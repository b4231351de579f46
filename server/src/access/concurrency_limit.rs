//! How many requests of a caller are under way at once, from their beginning until the connection has taken over the
//! last byte of their response.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use interrupts::life::Role;

use tokio::sync::{Semaphore, SemaphorePermit};

use super::middleware::takes_tickets;
use crate::problem::{Code, Problem};
use control::Caller;

/// How many lists are made at once, for all callers together: each keeps its rows in memory, and more at once are no faster.
const LISTS_AT_ONCE: usize = 4;

/// Whether a request asks for a list: its path ends in a name, not in the id of one thing.
pub(super) fn is_for_a_list(request: &Request) -> bool {
    let path = request.extensions().get::<MatchedPath>();
    let ends_in_a_name = path.is_some_and(|path| !path.as_str().ends_with('}'));
    // A stream or a socket lasts as long as it is read.
    let address = request.uri().path();
    // What a worker asks is about one run, and the request may wait for news.
    let is_of_one_run = address.starts_with("/v1/work/");
    request.method() == Method::GET && ends_in_a_name && !is_of_one_run && !takes_tickets(address)
}

/// How many requests a caller may have under way for each one of a person. Many agents are behind the token of a
/// worker, and each of them waits.
pub(super) fn share(caller: &Caller) -> usize {
    match caller.actor.role {
        Role::Worker => 16,
        Role::Observer
        | Role::Requester
        | Role::Reviewer
        | Role::Supervisor
        | Role::Operator
        | Role::System => 1,
    }
}

/// Counts the requests that are under way.
#[derive(Debug)]
pub(crate) struct ConcurrencyLimit {
    most: usize,
    turns: Semaphore,
    under_way: Arc<Mutex<HashMap<String, usize>>>,
}

/// A request that is under way until this is dropped.
#[derive(Debug)]
pub(super) struct RequestPermit {
    caller: String,
    under_way: Arc<Mutex<HashMap<String, usize>>>,
}

impl Drop for RequestPermit {
    fn drop(&mut self) {
        // The number is changed in one step, so a panic elsewhere leaves it consistent.
        let mut under_way = self
            .under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = under_way.get_mut(&self.caller) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                under_way.remove(&self.caller);
            }
        }
    }
}

impl ConcurrencyLimit {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            turns: Semaphore::new(LISTS_AT_ONCE),
            under_way: Arc::default(),
        }
    }

    /// Waits until a list may be made, if a request asks for one. The memory for its rows is freed with the turn; the
    /// text of the response stays until it is sent.
    ///
    /// Cancel safe: it only waits.
    pub(crate) async fn turn(&self, is_for_a_list: bool) -> Option<SemaphorePermit<'_>> {
        if is_for_a_list {
            self.turns.acquire().await.ok()
        } else {
            None
        }
    }

    /// One more request of a caller.
    pub(super) fn enter(&self, caller: &Caller) -> Result<RequestPermit, Problem> {
        let name = caller.actor.name.as_str();
        let mut under_way = self
            .under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let count = under_way.entry(name.to_owned()).or_default();
        let most = self.most * share(caller);
        if *count >= most {
            let problem = Problem::new(
                Code::RateLimited,
                format!("{most} of your requests are under way already"),
                "read the answers to the end, and ask one after the other",
            );
            return Err(problem.header(header::RETRY_AFTER, HeaderValue::from_static("1")));
        }
        *count += 1;
        Ok(RequestPermit {
            caller: name.to_owned(),
            under_way: Arc::clone(&self.under_way),
        })
    }
}

/// A response that keeps its permit until it is sent. A stream or a socket does not end by itself, so it keeps none.
pub(super) fn holding(place: RequestPermit, response: Response) -> Response {
    let is_stream = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    if is_stream || response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return response;
    }
    let place = Arc::new(place);
    response.map(|body| Body::new(LimitedBody { body, place }))
}

/// The body of a response, with the permit of its request.
struct LimitedBody {
    body: Body,
    place: Arc<RequestPermit>,
}

/// A part of a response: it keeps the permit until the connection has written it.
struct BodyPart {
    bytes: Bytes,
    _place: Arc<RequestPermit>,
}

impl AsRef<[u8]> for BodyPart {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl HttpBody for LimitedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        frame.map_ok(|frame| {
            frame.map_data(|bytes| {
                Bytes::from_owner(BodyPart {
                    bytes,
                    _place: Arc::clone(&self.place),
                })
            })
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::extract::Request;
    use axum::routing::any;
    use futures_util::FutureExt as _;
    use tower::ServiceExt as _;

    use super::{ConcurrencyLimit, LISTS_AT_ONCE, is_for_a_list};

    #[tokio::test]
    async fn so_many_lists_are_made_at_once_and_what_is_no_list_waits_for_none() {
        let crowd = ConcurrencyLimit::new(1_000);
        let mut turns = Vec::new();
        for _list in 0..LISTS_AT_ONCE {
            turns.push(crowd.turn(true).now_or_never().unwrap());
        }
        assert!(crowd.turn(true).now_or_never().is_none());
        assert!(crowd.turn(false).now_or_never().is_some());
        turns.pop();
        assert!(crowd.turn(true).now_or_never().is_some());
    }

    #[tokio::test]
    async fn a_list_is_what_is_read_at_an_address_that_ends_in_a_name() {
        for (method, path, is_list) in [
            ("GET", "/v1/runs", true),
            ("GET", "/v1/runs/run_1", false),
            ("GET", "/v1/runs/run_1/messages", true),
            ("POST", "/v1/runs", false),
        ] {
            let look = async |request: Request| is_for_a_list(&request).to_string();
            let routes = Router::new()
                .route("/v1/runs", any(look))
                .route("/v1/runs/{run_id}", any(look))
                .route("/v1/runs/{run_id}/messages", any(look));
            let request = Request::builder().method(method).uri(path);
            let answer = routes.oneshot(request.body(Body::empty()).unwrap()).await;
            let told = axum::body::to_bytes(answer.unwrap().into_body(), 100).await;
            assert_eq!(told.unwrap(), is_list.to_string(), "{method} {path}");
        }
    }
}
