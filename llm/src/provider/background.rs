//! Answers that a provider makes in the background: they continue after the connection is closed, and end when the
//! provider is asked to cancel them.
//!
//! OpenAI's Responses API makes such answers, and can cancel only those. The connections' thread asks for the
//! cancellation, so no caller waits for the reply.

use std::fmt::{self, Debug};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::Secret;
use super::event_stream::Frame;
use super::io_thread::IoThread;

/// How long the provider may take to say that an answer is cancelled.
const CANCEL_WITHIN: Duration = Duration::from_secs(5);

/// The event that names the answer.
const FIRST: &str = "response.created";

/// The events after which there is nothing to cancel.
const LAST: [&str; 4] = [
    "response.completed",
    "response.incomplete",
    "response.failed",
    "response.cancelled",
];

/// What the provider calls the answer that it makes, as soon as it has said so; `None` elsewhere.
#[derive(Debug, Default)]
pub(crate) struct ResponseWatch {
    under_way: Mutex<Option<String>>,
}

impl ResponseWatch {
    /// Looks at a piece of the stream as it is read: the caller may be gone before it receives the piece.
    pub(crate) fn look(&self, frame: &Frame) {
        let Frame::Event(event) = frame else {
            return;
        };
        let is_last = LAST.contains(&event.name.as_str());
        if !is_last && event.name != FIRST {
            return;
        }
        let value: Value = serde_json::from_str(&event.data).unwrap_or_default();
        let id = value.pointer("/response/id").and_then(Value::as_str);
        // It becomes part of an address.
        let is_name = |id: &&str| {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
            !id.is_empty() && id.bytes().all(fits)
        };
        let id = id.filter(is_name).map(str::to_owned);
        let mut under_way = self.lock();
        *under_way = if is_last { None } else { id };
    }

    fn under_way(&self) -> Option<String> {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The outcome of asking a provider to cancel an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CancelOutcome {
    /// The answer is cancelled. What was made of it until then may be billed.
    Cancelled,
    /// The answer was over before.
    Over {
        /// How, in the provider's word, such as `completed`.
        status: String,
    },
    /// The provider refused to cancel it. It may be made, and billed, to its end.
    Refused {
        /// The HTTP status.
        status: u16,
    },
    /// The provider could not be reached. The answer may be made, and billed, to its end.
    Unreachable,
    /// The provider did not say anything in time.
    NotInTime,
}

/// A provider was asked to cancel an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CancelReport {
    /// What the model is called.
    pub model: String,
    /// What the provider calls the answer.
    pub response: String,
    /// What came of it.
    pub outcome: CancelOutcome,
}

/// Told of cancellations once the provider has answered them, or did not.
pub trait CancelObserver: Send + Sync {
    /// What came of one. Called from the thread of the model's connections; must not block.
    fn cancelled(&self, report: CancelReport);
}

impl CancelObserver for () {
    fn cancelled(&self, _report: CancelReport) {}
}

/// That a model's answers are made in the background, and the observer of their cancellations.
#[derive(Clone)]
pub(super) struct Background(pub(super) Arc<dyn CancelObserver>);

impl Debug for Background {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Background(..)")
    }
}

/// Cancels an answer that is not over when this is dropped: after an interrupt, a limit, a failure, or
/// with the future of its call.
pub(crate) struct CancelOnDrop {
    pub(super) watch: Arc<ResponseWatch>,
    pub(super) http: reqwest::Client,
    pub(super) io_thread: IoThread,
    pub(super) base_url: String,
    pub(super) key: Secret,
    pub(super) model: String,
    pub(super) observer: Arc<dyn CancelObserver>,
}

impl CancelOnDrop {
    /// Whether the provider will be asked to cancel: the answer has a name there and is not over.
    pub(crate) fn will_tell(&self) -> bool {
        self.watch.under_way().is_some()
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let Some(response) = self.watch.under_way() else {
            return;
        };
        let url = format!("{}responses/{response}/cancel", self.base_url);
        let request = self.http.post(url).bearer_auth(self.key.reveal());
        let model = self.model.clone();
        let observer = Arc::clone(&self.observer);
        // The thread lives at least as long as what it has to do.
        let alive = self.io_thread.clone();
        self.io_thread.run(async move {
            let outcome = tokio::time::timeout(CANCEL_WITHIN, cancel(request)).await;
            let outcome = outcome.unwrap_or(CancelOutcome::NotInTime);
            tracing::info!(model, response, ?outcome, "told the provider to cancel");
            observer.cancelled(CancelReport {
                model,
                response,
                outcome,
            });
            drop(alive);
        });
    }
}

/// Asks the provider to cancel.
async fn cancel(request: reqwest::RequestBuilder) -> CancelOutcome {
    let Ok(response) = request.send().await else {
        return CancelOutcome::Unreachable;
    };
    let status = response.status();
    if !status.is_success() {
        return CancelOutcome::Refused {
            status: status.as_u16(),
        };
    }
    let body: Value = response.json().await.unwrap_or_default();
    match body.get("status").and_then(Value::as_str) {
        Some("completed" | "failed" | "incomplete") => CancelOutcome::Over {
            status: body["status"].as_str().unwrap_or_default().to_owned(),
        },
        // An answer that is still being cancelled is `in_progress` until it is.
        Some(_) | None => CancelOutcome::Cancelled,
    }
}
