//! The client of a server on the network: it tells when the stream is open on which the server asks and tells by itself,
//! and replaces replies that cannot be read.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, BoxStream, StreamExt as _};
use http::{HeaderName, HeaderValue};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Error as SseError, Sse};
use tokio::sync::watch;

use super::reply;

/// The longest that a first call waits for the stream. A proxy in between may delay its head until an event comes.
const LONGEST: Duration = Duration::from_secs(3);

/// How the library's words begin for an answer that is no message.
const UNPARSED: &str = "could not parse JSON response";

/// The stream that a client opens with a GET, beside those that answer its requests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OwnStream {
    /// The server has no session, so there is none.
    None,
    /// The session has begun, and the stream is being opened.
    Opening,
    /// The server opened it, or refused to.
    Settled,
}

/// Waits until the stream is open. A server may drop what it has to say while it is not, so a question of the first call
/// would be lost.
///
/// <https://modelcontextprotocol.io/specification/2025-06-18/basic/transports#listening-for-messages-from-the-server>
pub(super) async fn settled(mut stream: watch::Receiver<OwnStream>) {
    let settled = stream.wait_for(|stream| *stream != OwnStream::Opening);
    let _late = tokio::time::timeout(LONGEST, settled).await;
}

/// A client that tells how far that stream is.
#[derive(Clone)]
pub(super) struct Listening {
    inner: reqwest::Client,
    /// The most bytes of one event.
    longest: usize,
    stream: watch::Sender<OwnStream>,
}

impl Listening {
    pub(super) fn new(
        inner: reqwest::Client,
        longest: usize,
    ) -> (Self, watch::Receiver<OwnStream>) {
        let (stream, watched) = watch::channel(OwnStream::None);
        let client = Self {
            inner,
            longest,
            stream,
        };
        (client, watched)
    }

    fn turns(&self, from: OwnStream, to: OwnStream) {
        self.stream.send_if_modified(|stream| {
            let turns = *stream == from;
            if turns {
                *stream = to;
            }
            turns
        });
    }
}

type Failure = StreamableHttpError<reqwest::Error>;
type Events = BoxStream<'static, Result<Sse, SseError>>;
type Headers = HashMap<HeaderName, HeaderValue>;

impl StreamableHttpClient for Listening {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let request = match &message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            ClientJsonRpcMessage::Response(_)
            | ClientJsonRpcMessage::Notification(_)
            | ClientJsonRpcMessage::Error(_) => None,
        };
        let posted = self
            .inner
            .post_message_with_max_sse_event_size(
                uri,
                message,
                session,
                token,
                headers,
                self.longest,
            )
            .await;
        let answer = match (posted, request) {
            (Err(failure), Some(id)) if is_unreadable(&failure) => {
                StreamableHttpPostResponse::Json(reply::unreadable(id, &failure.to_string()), None)
            }
            (
                Ok(StreamableHttpPostResponse::Json(JsonRpcMessage::Error(error), session)),
                Some(id),
            ) if error.id.is_none() => {
                let why = format!("it names no request: {}", error.error.message);
                StreamableHttpPostResponse::Json(reply::unreadable(id, &why), session)
            }
            (Ok(StreamableHttpPostResponse::Sse(events, session)), request) => {
                StreamableHttpPostResponse::Sse(readable(events, request), session)
            }
            (posted, _) => posted?,
        };
        if let StreamableHttpPostResponse::Json(_, Some(_))
        | StreamableHttpPostResponse::Sse(_, Some(_)) = &answer
        {
            self.turns(OwnStream::None, OwnStream::Opening);
        }
        Ok(answer)
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Failure> {
        self.inner
            .delete_session(uri, session, token, headers)
            .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<Events, Failure> {
        let own = last_event.is_none();
        let opened = self
            .inner
            .get_stream_with_max_sse_event_size(
                uri,
                session,
                last_event,
                token,
                headers,
                self.longest,
            )
            .await;
        if own {
            self.turns(OwnStream::Opening, OwnStream::Settled);
        }
        opened.map(|events| readable(events, None))
    }
}

/// Whether a request was answered with what cannot be read. The library has no kind of its own for that.
fn is_unreadable(failure: &Failure) -> bool {
    if let StreamableHttpError::UnexpectedServerResponse(words) = failure {
        return words.starts_with(UNPARSED);
    }
    matches!(
        failure,
        StreamableHttpError::UnexpectedContentType(_)
            | StreamableHttpError::ResponseBodyTooLarge { .. }
    )
}

/// The events of a stream, with an error in place of each reply that cannot be read. `request` is the request that the
/// stream answers.
fn readable(events: Events, request: Option<RequestId>) -> Events {
    let read = move |event: Result<Sse, SseError>| {
        let data = event.as_ref().ok().and_then(|event| event.data.as_deref());
        let errors = data.and_then(|data| reply::in_place_of(data.as_bytes(), request.clone()));
        let Some((errors, event)) = errors.zip(event.as_ref().ok()) else {
            return vec![event];
        };
        let data = errors
            .iter()
            .filter_map(|error| serde_json::to_string(error).ok());
        data.map(|data| {
            Ok(Sse {
                data: Some(data),
                ..event.clone()
            })
        })
        .collect()
    };
    events
        .flat_map(move |event| stream::iter(read(event)))
        .boxed()
}
