//! Events from a server, across its restarts.

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use interrupt_router::RunId;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use sse_stream::SseStream;
use tokio::time::Instant;

use crate::{Client, ClientError};

/// How long a server may be away before the reader gives up.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long to wait before the next attempt.
const BETWEEN: Duration = Duration::from_millis(500);
/// The last event that the reader has seen.
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// An event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FeedEvent {
    /// The CloudEvent, as JSON on one line.
    pub json: String,
}

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedItem {
    /// An event.
    Event(FeedEvent),
    /// The server is away; when it is back, the reader continues where it was.
    Away,
    /// The server is back.
    Back,
    /// The run has ended, and all its events were returned.
    End,
}

/// Reads the events of one run, or of all: each once, in order, even if the connection changes.
pub struct Feed {
    client: Client,
    run: Option<RunId>,
    after: String,
    open: Option<BoxStream<'static, Result<sse_stream::Sse, sse_stream::Error>>>,
    away_since: Option<Instant>,
}

impl Feed {
    /// The events of a run, or of all, after a position.
    pub const fn of(client: Client, run: Option<RunId>, after: String) -> Self {
        Self {
            client,
            run,
            after,
            open: None,
            away_since: None,
        }
    }

    /// Returns the next item.
    ///
    /// # Errors
    ///
    /// [`ClientError`] if the server stays away, and what it refuses.
    ///
    /// # Cancel safety
    ///
    /// Safe: an event that was not returned is read again.
    pub async fn next(&mut self) -> Result<FeedItem, ClientError> {
        loop {
            let Some(open) = &mut self.open else {
                match self.connect().await? {
                    Some(next) => return Ok(next),
                    None => continue,
                }
            };
            match open.next().await {
                Some(Ok(event)) => {
                    if let Some(told) = self.feed_event(event) {
                        return Ok(FeedItem::Event(told));
                    }
                }
                // The connection is lost, or the run's events have ended: the next attempt shows which.
                Some(Err(_)) | None => self.open = None,
            }
        }
    }

    fn feed_event(&mut self, event: sse_stream::Sse) -> Option<FeedEvent> {
        let json = event.data?;
        if let Some(id) = event.id.filter(|id| !id.is_empty()) {
            self.after = id;
        }
        Some(FeedEvent { json })
    }

    /// Connects once. `None` if there is a stream now, or the reader must try again.
    async fn connect(&mut self) -> Result<Option<FeedItem>, ClientError> {
        let mut headers = HeaderMap::new();
        let after =
            HeaderValue::from_str(&self.after).map_err(|error| ClientError::Unsendable {
                problem: error.to_string(),
            })?;
        headers.insert(LAST_EVENT, after);
        let query: Vec<_> = self
            .run
            .map(|run| ("run_id", run.to_string()))
            .into_iter()
            .collect();
        match self.client.open(&["v1", "events"], &query, headers).await {
            Ok(response) if response.status() == StatusCode::NO_CONTENT => Ok(Some(FeedItem::End)),
            Ok(response) => {
                let events = SseStream::from_bytes_stream(response.bytes_stream());
                self.open = Some(events.boxed());
                Ok(self.away_since.take().map(|_since| FeedItem::Back))
            }
            Err(error) if error.is_away() => {
                let Some(since) = self.away_since else {
                    self.away_since = Some(Instant::now());
                    return Ok(Some(FeedItem::Away));
                };
                if since.elapsed() >= PATIENCE {
                    return Err(error);
                }
                tokio::time::sleep(BETWEEN).await;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}
