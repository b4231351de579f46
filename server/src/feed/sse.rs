//! The feed as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, StreamExt as _};

use super::{FeedReader, Filter, ReaderItem};
use crate::access::{Proof, Stay};
use crate::app::App;
use crate::events::{position_text, reset_event};
use crate::metrics::{CountedReader, Transport};
use crate::problem::Problem;

/// How long a reader waits before it comes back.
const RETRY: Duration = Duration::from_secs(2);

/// What a reader wants.
#[derive(Debug)]
pub(crate) struct FeedOrder {
    /// Which events.
    pub(crate) filter: Filter,
    /// After which position; from now on if absent.
    pub(crate) after: Option<u64>,
    /// Whether each event's type is its name in the stream too.
    pub(crate) named: bool,
}

/// A stream in the making.
struct Stream {
    app: App,
    /// How long the reader may read.
    stay: Arc<Stay>,
    reader: FeedReader,
    named: bool,
    /// The only run that the reader wants has ended: the stream ends when it has caught up.
    run_ended: bool,
    done: bool,
    _counted: CountedReader,
}

/// Opens a stream. For a run that has ended and has no more events, there is none.
pub(crate) async fn open_stream(
    app: App,
    proof: Proof,
    order: FeedOrder,
) -> Result<Response, Problem> {
    let mut run_ended = false;
    if let Some(run) = order.filter.run {
        run_ended = app.run(run).await?.state.is_final();
    }
    let resumes = order.after.is_some();
    // "From now on" means from here on; and a run's end may be in the store but not yet in the feed.
    if run_ended || !resumes {
        app.feed.catches_up().await;
    }
    let mut reader = FeedReader::new(&app.feed, order.filter, order.after);
    let mut first = None;
    if run_ended {
        first = reader.at_hand().await?;
        if first.is_none() && resumes {
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
    }
    let counted = app.metrics.reader(Transport::Sse);
    let heartbeat = app.feed.heartbeat();
    let stream = Stream {
        stay: proof.stays(&app),
        app,
        reader,
        named: order.named,
        run_ended,
        done: false,
        _counted: counted,
    };
    let first: Vec<Event> = match first {
        Some(next) => vec![stream.event_of(next)],
        None => Vec::new(),
    };
    let events = stream::unfold(stream, Stream::step)
        .map(Ok::<_, Infallible>)
        .boxed();
    // The greeting goes before what was looked up already.
    let greeting = stream::once(async { Ok(Event::default().retry(RETRY)) });
    let first = stream::iter(first.into_iter().map(Ok));
    let all = greeting.chain(first).chain(events);
    let keep_alive = KeepAlive::new().interval(heartbeat).text("alive");
    // A proxy that collects an answer before it passes it on would keep each event until the next ones fill its buffer.
    let unbuffered = [("x-accel-buffering", "no")];
    Ok((unbuffered, Sse::new(all).keep_alive(keep_alive)).into_response())
}

impl Stream {
    async fn step(mut self) -> Option<(Event, Self)> {
        if self.done {
            return None;
        }
        let draining = self.app.draining.clone();
        let next = tokio::select! {
            biased; // A reader that is behind at the drain comes back with its position.
            () = draining.cancelled() => {
                self.done = true;
                return Some((Event::default().comment("draining; come back"), self));
            }
            () = self.stay.is_over() => return None,
            next = next_of(&mut self.reader, &mut self.run_ended) => next,
        };
        match next {
            Ok(Some(next)) => Some((self.event_of(next), self)),
            Ok(None) => None,
            Err(problem) => {
                tracing::warn!(detail = problem.detail(), "a stream ended early");
                None
            }
        }
    }

    fn event_of(&self, next: ReaderItem) -> Event {
        match next {
            ReaderItem::Event(event) => {
                let told = Event::default()
                    .id(position_text(event.position))
                    .data(&event.json);
                if self.named {
                    told.event(&event.topic)
                } else {
                    told
                }
            }
            ReaderItem::Gap { from, to, reason } => {
                let resume_at = self.reader.position();
                let instance = &self.app.config.instance;
                let json = reset_event(instance, (from, to), self.app.now(), reason.name());
                let told = Event::default().id(position_text(resume_at)).data(json);
                if self.named {
                    told.event("stream.reset")
                } else {
                    told
                }
            }
        }
    }
}

/// What comes next; nothing if the run has ended and all its events were sent.
async fn next_of(
    reader: &mut FeedReader,
    run_ended: &mut bool,
) -> Result<Option<ReaderItem>, Problem> {
    let next = if *run_ended {
        reader.at_hand().await
    } else {
        reader.next().await.map(Some)
    };
    next.map_err(Problem::from).inspect(|next| {
        if let Some(ReaderItem::Event(event)) = next {
            // What follows the end of a run is sent, then there is nothing more to wait for.
            *run_ended |=
                event.run_state.is_some_and(|state| state.is_final()) && reader.is_of_one_run();
        }
    })
}
