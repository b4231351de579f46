//! Requests, at once and one after the other.

use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use reqwest::RequestBuilder;

use super::figures::Figures;

/// How many requests are under way together.
pub(crate) const AT_ONCE: usize = 32;

/// So many requests, some at once.
pub(crate) async fn at_once(count: usize, request: impl Fn(usize) -> RequestBuilder) -> Figures {
    asked_all(count, AT_ONCE, request).await
}

/// So many requests, each after the answer to the one before.
pub(crate) async fn one_by_one(count: usize, request: impl Fn(usize) -> RequestBuilder) -> Figures {
    asked_all(count, 1, request).await
}

/// How long it takes until a request is answered.
pub(crate) async fn asked(request: RequestBuilder) -> Duration {
    let asked = Instant::now();
    let answer = request.send().await.unwrap();
    let status = answer.status();
    let body = answer.bytes().await.unwrap();
    assert!(status.is_success(), "{status}: {body:?}");
    asked.elapsed()
}

async fn asked_all(
    count: usize,
    together: usize,
    request: impl Fn(usize) -> RequestBuilder,
) -> Figures {
    let begun = Instant::now();
    let times = stream::iter(0..count)
        .map(|index| asked(request(index)))
        .buffer_unordered(together)
        .collect()
        .await;
    Figures::of(times, begun.elapsed())
}
