//! Responses that a client cancels by request.

use std::sync::{Mutex, PoisonError};

use axum::body::Body;
use axum::http::Response;
use tokio::sync::watch;

use super::hang_up::HangUpGuard;
use super::openai_responses;
use super::part::Received;

/// How a double answers a cancellation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CancelAnswer {
    /// The response is cancelled.
    #[default]
    Cancelled,
    /// The response was whole already.
    Completed,
    /// An error status.
    Refused(u16),
    /// Nothing, for ever.
    Nothing,
}

/// The cancellations that a double was asked for.
#[derive(Debug)]
pub struct Cancellations {
    ids: watch::Sender<Vec<String>>,
    answer: Mutex<CancelAnswer>,
}

impl Default for Cancellations {
    fn default() -> Self {
        Self {
            ids: watch::Sender::new(Vec::new()),
            answer: Mutex::default(),
        }
    }
}

impl Cancellations {
    /// Answers so from now on.
    pub fn answer_with(&self, answer: CancelAnswer) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = answer;
    }

    /// The ids of the responses, in order.
    pub fn ids(&self) -> Vec<String> {
        self.ids.borrow().clone()
    }

    /// Waits until there were so many.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is lost, for the count stays.
    pub async fn reached(&self, count: usize) {
        let mut changes = self.ids.subscribe();
        // The sender lives in `self`, so the wait cannot end otherwise.
        let _reached = changes.wait_for(|ids| ids.len() >= count).await;
    }

    pub(super) async fn answer(
        &self,
        id: &str,
        received: &Received,
        mut guard: HangUpGuard,
    ) -> Response<Body> {
        if let Err(refusal) = openai_responses::check_key(received) {
            guard.disarm();
            return answered(refusal.status, refusal.message);
        }
        self.ids.send_modify(|ids| ids.push(id.to_owned()));
        let answer = *self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        let response = |status| openai_responses::response(id, status, true).to_string();
        let (status, body) = match answer {
            CancelAnswer::Cancelled => (200, response("cancelled")),
            CancelAnswer::Completed => (200, response("completed")),
            CancelAnswer::Refused(status) => {
                let text = "Only background responses can be cancelled.";
                (status, super::openai::error_body(status, text))
            }
            CancelAnswer::Nothing => std::future::pending().await,
        };
        guard.disarm();
        answered(status, body)
    }
}

fn answered(status: u16, body: String) -> Response<Body> {
    let builder = Response::builder()
        .status(status)
        .header("content-type", "application/json");
    builder.body(Body::from(body)).unwrap_or_default()
}
