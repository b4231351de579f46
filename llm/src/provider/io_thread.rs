//! The thread on which a model's connections are read.
//!
//! Reading is kept apart from the caller, who waits for the answer elsewhere: limits and interrupts work however busy this thread
//! is. The client library, which reads the forms that are not read here, reads on within one poll for as long as there are bytes.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use futures_util::StreamExt;
use genai::chat::{
    ChatFrameSink, ChatOptions, ChatRequest, ChatStream, ChatStreamEvent, FrameCtx, RawFrameRef,
};
use genai::{Client, ServiceTarget};
use reqwest::header::HeaderMap;
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::background::ResponseWatch;
use super::event_stream::{EventReader, Frame, NoText};

/// How many events may wait for their reader.
const WAITING_EVENTS: usize = 64;

/// The longest answer to a refused request that is kept.
const LONGEST_REFUSAL: usize = 256 * 1024;

type Job = Pin<Box<dyn Future<Output = ()> + Send>>;
type Sender = mpsc::Sender<Result<Item, Broken>>;

/// One thread with a runtime of its own. It ends when the last clone is dropped.
#[derive(Debug, Clone)]
pub(crate) struct IoThread {
    jobs: mpsc::UnboundedSender<Job>,
}

/// How long an ended call may take to let go of its connection. It is a matter of microseconds unless
/// the thread is busy with a line that does not end.
const CLOSE_WITHIN: Duration = Duration::from_millis(100);

/// A piece of a stream.
#[derive(Debug)]
pub(crate) enum Item {
    /// As it came.
    Frame(Frame),
    /// As the client library has read it.
    Library(ChatStreamEvent),
}

/// Why a stream says nothing more.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The server refused the request.
    Refused {
        status: u16,
        headers: Box<HeaderMap>,
        body: String,
    },
    /// What the connection met.
    Connection(reqwest::Error),
    /// The server sent bytes that are no text.
    NoText,
    /// What the client library met.
    Client(genai::Error),
    /// So many reads brought neither an event nor the end.
    LineTooLong(u32),
}

impl From<NoText> for Broken {
    fn from(NoText: NoText) -> Self {
        Self::NoText
    }
}

/// A call, ready to be sent.
#[derive(Debug)]
pub(crate) enum Sending {
    /// In one of the forms that are read here.
    Own {
        request: Box<reqwest::RequestBuilder>,
        watch: Arc<ResponseWatch>,
    },
    /// In another one.
    Library {
        client: Box<Client>,
        target: Box<ServiceTarget>,
        call: Box<(ChatRequest, ChatOptions)>,
    },
}

/// Counts the events of a stream that the client library reads.
#[derive(Debug, Default)]
struct Counter(Arc<AtomicU64>);

impl ChatFrameSink for Counter {
    fn on_frame(&self, _context: &FrameCtx, _frame: RawFrameRef<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// What a stream says, in order. Its connection is closed as soon as this is dropped.
#[derive(Debug)]
pub(crate) struct Items {
    receiver: mpsc::Receiver<Result<Item, Broken>>,
    /// How many events there were, comments that keep a connection open included.
    seen: Arc<AtomicU64>,
    /// Its other half is dropped when the connection has been let go of.
    open: oneshot::Receiver<Infallible>,
}

impl Items {
    /// The next piece; `None` at the end.
    ///
    /// # Cancel safety
    ///
    /// Safe: no piece is lost.
    pub(crate) async fn recv(&mut self) -> Option<Result<Item, Broken>> {
        self.receiver.recv().await
    }

    /// How many events were read from the connection.
    pub(crate) fn seen(&self) -> u64 {
        self.seen.load(Ordering::Relaxed)
    }

    /// Closes the connection, and says whether that was seen to happen within a short time.
    ///
    /// # Cancel safety
    ///
    /// Safe: the connection is closed, but no one sees it close.
    pub(crate) async fn close(self) -> bool {
        let Self { receiver, open, .. } = self;
        drop(receiver);
        tokio::time::timeout(CLOSE_WITHIN, open).await.is_ok()
    }
}

/// Counts the reads of a connection that bring no event: what has no end yet is kept.
struct LineWatch {
    seen: Arc<AtomicU64>,
    most: u32,
    events: u64,
    reads: u32,
}

impl LineWatch {
    fn new(seen: Arc<AtomicU64>, most: u32) -> Self {
        Self {
            seen,
            most,
            events: 0,
            reads: 0,
        }
    }

    /// Whether there were too many, after one that brought nothing.
    fn is_too_long(&mut self) -> bool {
        let events = self.seen.load(Ordering::Relaxed);
        if events != self.events {
            self.events = events;
            self.reads = 0;
        }
        self.reads += 1;
        self.reads > self.most
    }
}

impl IoThread {
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (jobs, mut queue) = mpsc::unbounded_channel::<Job>();
        let serve = async move {
            let mut running = JoinSet::new();
            loop {
                tokio::select! {
                    job = queue.recv() => match job {
                        Some(job) => {
                            running.spawn(job);
                        }
                        // Dropping the set drops the connections of all calls that still run.
                        None => break,
                    },
                    Some(_ended) = running.join_next() => {}
                }
            }
        };
        thread::Builder::new()
            .name("model-io".to_owned())
            .spawn(move || runtime.block_on(serve))?;
        Ok(Self { jobs })
    }

    /// Begins a call, of which so many reads may bring nothing.
    pub(crate) fn stream(&self, sending: Sending, line_reads: u32) -> Items {
        let (sender, receiver) = mpsc::channel(WAITING_EVENTS);
        let (is_open, open) = oneshot::channel();
        let seen = Arc::new(AtomicU64::new(0));
        let line = LineWatch::new(Arc::clone(&seen), line_reads);
        let job = async move {
            // Declared first, so that it is dropped after the stream.
            let _is_open = is_open;
            let reading = async {
                let ended = match sending {
                    Sending::Own { request, watch } => read(*request, &watch, line, &sender).await,
                    Sending::Library {
                        client,
                        target,
                        call,
                    } => read_by_library(&client, *target, *call, line, &sender).await,
                };
                if let Err(broken) = ended {
                    // If the receiver is gone, no one waits for it.
                    let _nobody = sender.send(Err(broken)).await;
                }
            };
            tokio::select! {
                biased;
                () = sender.closed() => {}
                () = reading => {}
            }
            // The task that owns the socket has been woken by that, and gets its turn.
            tokio::task::yield_now().await;
        };
        // Where the thread is gone the sender is dropped with the job, and the stream ends at once.
        self.run(job);
        Items {
            receiver,
            seen,
            open,
        }
    }

    /// Runs something else where the connections are. Dropped with the thread.
    pub(crate) fn run(&self, job: impl Future<Output = ()> + Send + 'static) {
        let _gone = self.jobs.send(Box::pin(job));
    }
}

/// Sends a request and passes on what its answer consists of.
async fn read(
    request: reqwest::RequestBuilder,
    watch: &ResponseWatch,
    mut line: LineWatch,
    sender: &Sender,
) -> Result<(), Broken> {
    let response = request.send().await.map_err(Broken::Connection)?;
    let status = response.status();
    let headers = response.headers().clone();
    let mut bytes = response.bytes_stream();
    if !status.is_success() {
        let mut body = Vec::new();
        while let Some(Ok(more)) = bytes.next().await {
            if line.is_too_long() {
                return Err(Broken::LineTooLong(line.most));
            }
            let room = LONGEST_REFUSAL.saturating_sub(body.len());
            body.extend_from_slice(more.get(..room).unwrap_or(&more));
        }
        return Err(Broken::Refused {
            status: status.as_u16(),
            headers: Box::new(headers),
            body: String::from_utf8_lossy(&body).into_owned(),
        });
    }
    let mut events = EventReader::default();
    loop {
        let (frames, more) = match bytes.next().await {
            Some(Ok(more)) => (events.read(&more)?, Ok(true)),
            Some(Err(error)) => (Vec::new(), Err(Broken::Connection(error))),
            None => (events.finish()?, Ok(false)),
        };
        if frames.is_empty() && line.is_too_long() {
            return Err(Broken::LineTooLong(line.most));
        }
        for frame in frames {
            line.seen.fetch_add(1, Ordering::Relaxed);
            watch.look(&frame);
            if sender.send(Ok(Item::Frame(frame))).await.is_err() {
                return Ok(());
            }
        }
        if !more? {
            return Ok(());
        }
    }
}

/// Lets the client library send and read.
async fn read_by_library(
    client: &Client,
    target: ServiceTarget,
    (request, options): (ChatRequest, ChatOptions),
    mut line: LineWatch,
    sender: &Sender,
) -> Result<(), Broken> {
    let options = options.with_raw_frame_sink(Counter(Arc::clone(&line.seen)));
    let opened = client.exec_chat_stream(target, request, Some(&options));
    let mut stream = opened.await.map_err(Broken::Client)?.stream;
    while let Some(event) = next(&mut stream, &mut line).await {
        let is_broken = event.is_err();
        if sender.send(event.map(Item::Library)).await.is_err() || is_broken {
            break;
        }
    }
    Ok(())
}

/// The next event of the client library, or that it brings none for too long.
async fn next(
    stream: &mut ChatStream,
    line: &mut LineWatch,
) -> Option<Result<ChatStreamEvent, Broken>> {
    poll_fn(|context| match stream.poll_next_unpin(context) {
        Poll::Ready(event) => Poll::Ready(event.map(|event| event.map_err(Broken::Client))),
        Poll::Pending if line.is_too_long() => {
            Poll::Ready(Some(Err(Broken::LineTooLong(line.most))))
        }
        Poll::Pending => Poll::Pending,
    })
    .await
}
