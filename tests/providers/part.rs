//! What a double does with each request.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Response, Uri};
use futures_util::stream::{self, BoxStream, Stream, StreamExt};
use serde_json::Value;

use super::behaviour::Ending;
use super::cancellations::Cancellations;
use super::hang_up::HangUpGuard;
use super::{Behaviour, HangUps, Said, WireForm, openai_responses, pieces};

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Received {
    /// The path, with the query.
    pub path: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as it was sent.
    pub text: String,
    /// The body as a tree.
    pub body: Value,
}

/// What a double says to a request.
pub(super) type Answering = dyn Fn(&Received) -> Said + Send + Sync;

impl Received {
    fn new(uri: &Uri, headers: HeaderMap, text: String) -> Self {
        let path = uri.path_and_query();
        Self {
            path: path.map_or_else(|| uri.path().to_owned(), ToString::to_string),
            body: serde_json::from_str(&text).unwrap_or(Value::Null),
            headers,
            text,
        }
    }
}

/// The part that a double plays.
pub(super) struct Part {
    pub(super) form: WireForm,
    pub(super) behaviours: Mutex<VecDeque<Behaviour>>,
    pub(super) received: Mutex<Vec<Received>>,
    pub(super) hang_ups: HangUps,
    pub(super) answering: Box<Answering>,
    pub(super) blocks_sent: Arc<AtomicUsize>,
    pub(super) received_count: AtomicUsize,
    pub(super) cancellations: Cancellations,
    /// What it says of its models, and of itself, where it says anything: by the last part of the path.
    pub(super) facts: Mutex<HashMap<&'static str, String>>,
}

/// Answers one request.
pub(super) async fn handle(
    State(part): State<Arc<Part>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    text: String,
) -> Result<Response<Body>, Infallible> {
    if method == Method::GET {
        return Ok(part.about_itself(&uri));
    }
    // Dropped with this future where the client goes away first.
    let guard = part.hang_ups.guard();
    let received = Received::new(&uri, headers, text);
    if part.form == WireForm::OpenAiResponses
        && let Some(id) = openai_responses::cancelled_by(&received.path)
    {
        return Ok(part.cancellations.answer(id, &received, guard).await);
    }
    let verdict = part.form.check(&received);
    let answer = (part.answering)(&received);
    let number = part.keep(received);
    let behaviour = match verdict {
        Err(refusal) => return Ok(refused(&part, guard, refusal.status, &[], &refusal.message)),
        Ok(()) => part.next_behaviour(),
    };
    if behaviour == Behaviour::StallsBeforeHeaders {
        return std::future::pending().await;
    }
    Ok(begun(&part, guard, number, &behaviour, &answer))
}

/// The head of an answer, and its body as it will come.
fn begun(
    part: &Part,
    guard: HangUpGuard,
    number: usize,
    behaviour: &Behaviour,
    answer: &Said,
) -> Response<Body> {
    match behaviour.clone() {
        Behaviour::Refuses { status, headers } => refused(
            part,
            guard,
            status,
            &headers,
            "the double was told to refuse",
        ),
        Behaviour::RefusesWith { status, body } => {
            let body = stream::iter([Ok(Bytes::from(body))]).boxed();
            response(status, "application/json", &[], guard, body)
        }
        Behaviour::Page => {
            let page = stream::iter([Ok(Bytes::from_static(
                b"<html>\n\n<body>Welcome</body></html>",
            ))]);
            response(200, "text/html", &[], guard, page.boxed())
        }
        Behaviour::RefusesEndlessly(status) => {
            let body = part.counted_stream(number, &Behaviour::EndlessLine, answer);
            response(status, "application/json", &[], guard, body)
        }
        Behaviour::SendsAs { kind, body } => {
            let body = stream::iter([Ok(Bytes::from(body))]).boxed();
            response(200, kind, &[], guard, body)
        }
        Behaviour::Answers
        | Behaviour::AnswersSlowly(_)
        | Behaviour::Drips(_)
        | Behaviour::ReachesLengthLimit
        | Behaviour::Withholds
        | Behaviour::Sends(_)
        | Behaviour::BreaksAfter(_)
        | Behaviour::EndsAfter(_)
        | Behaviour::EndsWithin(_)
        | Behaviour::StallsAfter(_)
        | Behaviour::StallsWithin(_)
        | Behaviour::StallsAtByte(_)
        | Behaviour::KeepsAlive
        | Behaviour::Endless
        | Behaviour::EndlessLine
        | Behaviour::OneLine(_)
        | Behaviour::FailsAfter(_)
        | Behaviour::GarblesAfter(_)
        | Behaviour::StallsBeforeHeaders
        | Behaviour::Garbage => {
            let body = part.counted_stream(number, behaviour, answer);
            response(200, "text/event-stream", &[], guard, body)
        }
    }
}

impl Part {
    /// Answers a question about the server itself, which is no call of a model.
    fn about_itself(&self, uri: &Uri) -> Response<Body> {
        let facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = uri.path().rsplit('/').next().unwrap_or_default();
        let said = facts.get(asked).cloned();
        let status = if said.is_some() { 200 } else { 404 };
        Response::builder()
            .status(status)
            .header("content-type", "application/json")
            .body(Body::from(said.unwrap_or_default()))
            .unwrap_or_default()
    }

    /// Keeps a request, and says which number it has, from 1.
    fn keep(&self, received: Received) -> usize {
        let mut all = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(received);
        self.received_count.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn next_behaviour(&self) -> Behaviour {
        let mut behaviours = self
            .behaviours
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let next = if behaviours.len() > 1 {
            behaviours.pop_front()
        } else {
            behaviours.front().cloned()
        };
        next.unwrap_or(Behaviour::Answers)
    }

    /// The events of an answer; each that is handed out is counted.
    fn counted_stream(
        &self,
        number: usize,
        behaviour: &Behaviour,
        answer: &Said,
    ) -> BoxStream<'static, io::Result<Bytes>> {
        let sent = Arc::clone(&self.blocks_sent);
        let count = move |_: &io::Result<Bytes>| {
            sent.fetch_add(1, Ordering::Relaxed);
        };
        let stream = self.stream(number, behaviour, answer);
        stream.inspect(count).boxed()
    }

    fn stream(
        &self,
        number: usize,
        behaviour: &Behaviour,
        answer: &Said,
    ) -> BoxStream<'static, io::Result<Bytes>> {
        let form = self.form;
        let events = events_of(form, number, answer, behaviour.ending());
        let first = |count: usize| events.iter().take(count).cloned().collect::<Vec<_>>();
        let within = |count: usize| [first(count), vec![half_of(events.get(count))]].concat();
        let endless = |block: String| stream::repeat(block).map(|block| Ok(Bytes::from(block)));
        match *behaviour {
            Behaviour::BreaksAfter(count) => sent(first(count)).chain(broken()).boxed(),
            Behaviour::EndsAfter(count) => sent(first(count)).boxed(),
            Behaviour::EndsWithin(count) => sent(within(count)).boxed(),
            Behaviour::StallsWithin(count) => sent(within(count)).chain(stream::pending()).boxed(),
            Behaviour::StallsAtByte(length) => {
                let mut stream = events.concat();
                stream.truncate(length);
                sent(vec![stream]).chain(stream::pending()).boxed()
            }
            Behaviour::StallsAfter(count) => sent(first(count)).chain(stream::pending()).boxed(),
            Behaviour::KeepsAlive => endless(": still here\n\n".to_owned()).boxed(),
            Behaviour::Endless => sent(form.opening(number))
                .chain(endless(form.piece("more and ")))
                .boxed(),
            Behaviour::EndlessLine => endless("x".repeat(64 * 1024)).boxed(),
            Behaviour::OneLine(length) => {
                let closing = form.closing(&[], Ending::Whole);
                let line = vec![form.piece(&"x".repeat(length))];
                sent([form.opening(number), line, closing].concat()).boxed()
            }
            Behaviour::FailsAfter(count) => sent(first(count))
                .chain(sent(vec![form.error_event()]))
                .boxed(),
            Behaviour::GarblesAfter(count) => {
                let mut garbled = events;
                garbled.insert(count, "data: {nonsense\n\n".to_owned());
                sent(garbled).boxed()
            }
            Behaviour::AnswersSlowly(each) => slowly(sent(events), each).boxed(),
            Behaviour::Drips(each) => {
                let bytes = stream::iter(events.concat().into_bytes());
                slowly(bytes.map(|byte| Ok(Bytes::from(vec![byte]))), each).boxed()
            }
            Behaviour::Garbage => sent(vec![
                "event: content_block_delta\ndata: {nonsense\n\n".to_owned(),
            ])
            .boxed(),
            Behaviour::Sends(ref stream) => sent(vec![stream.clone()]).boxed(),
            Behaviour::Answers
            | Behaviour::ReachesLengthLimit
            | Behaviour::Withholds
            | Behaviour::Refuses { .. }
            | Behaviour::RefusesWith { .. }
            | Behaviour::RefusesEndlessly(_)
            | Behaviour::SendsAs { .. }
            | Behaviour::StallsBeforeHeaders
            | Behaviour::Page => sent(events).boxed(),
        }
    }
}

/// The events of a whole answer.
pub(super) fn events_of(
    form: WireForm,
    number: usize,
    answer: &Said,
    ending: Ending,
) -> Vec<String> {
    let mut events = form.opening(number);
    events.extend(pieces(&answer.text).map(|piece| form.piece(piece)));
    events.extend(form.closing(&answer.calls, ending));
    events
}

fn sent(events: Vec<String>) -> impl Stream<Item = io::Result<Bytes>> + Send {
    stream::iter(events.into_iter().map(|event| Ok(Bytes::from(event))))
}

/// A pause before each of these.
fn slowly<T: Send>(
    blocks: impl Stream<Item = T> + Send,
    each: Duration,
) -> impl Stream<Item = T> + Send {
    blocks.then(move |block| async move {
        tokio::time::sleep(each).await;
        block
    })
}

/// A connection that breaks.
fn broken() -> impl Stream<Item = io::Result<Bytes>> + Send {
    stream::once(async {
        // What was said before is flushed when there is nothing more to say.
        tokio::task::yield_now().await;
        Err(io::Error::other("told to break"))
    })
}

/// The first half of an event.
fn half_of(event: Option<&String>) -> String {
    event
        .and_then(|event| event.get(..event.len() / 2))
        .unwrap_or_default()
        .to_owned()
}

fn refused(
    part: &Part,
    guard: HangUpGuard,
    status: u16,
    headers: &[(&'static str, String)],
    message: &str,
) -> Response<Body> {
    let body = part.form.error_body(status, message);
    let body = stream::iter([Ok(Bytes::from(body))]).boxed();
    response(status, "application/json", headers, guard, body)
}

fn response(
    status: u16,
    kind: &'static str,
    headers: &[(&'static str, String)],
    guard: HangUpGuard,
    body: BoxStream<'static, io::Result<Bytes>>,
) -> Response<Body> {
    let guarded = Guarded { body, guard };
    let mut builder = Response::builder()
        .status(status)
        .header("content-type", kind);
    for (name, value) in headers {
        builder = builder.header(*name, value);
    }
    // The statuses and headers are those of tests; a bad one shows as an empty answer.
    builder.body(Body::from_stream(guarded)).unwrap_or_default()
}

/// A body that knows whether it was sent to its end.
struct Guarded {
    body: BoxStream<'static, io::Result<Bytes>>,
    guard: HangUpGuard,
}

impl Stream for Guarded {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.body.poll_next_unpin(context);
        if matches!(next, Poll::Ready(None | Some(Err(_)))) {
            self.guard.disarm();
        }
        next
    }
}
