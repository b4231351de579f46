//! The thread on which a model's connections are read.
//!
//! The client library reads on, within one poll, for as long as there are bytes, and copies what it
//! has of a line with each read. With the connection served by another thread, a long line keeps it
//! busy without a pause, and neither an interrupt nor a limit would ever be looked at. Where reading
//! and parsing share one thread, each poll ends after a read or two; and the caller waits for the answer elsewhere, so
//! limits and interrupts work however busy this thread is.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use futures_util::StreamExt;
use genai::chat::{ChatOptions, ChatRequest, ChatStream, ChatStreamEvent};
use genai::{Client, ServiceTarget};
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::frames::FrameWatch;

/// How many events may wait for their reader.
const WAITING_EVENTS: usize = 64;

type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One thread with a runtime of its own. It ends when the last clone is dropped.
#[derive(Debug, Clone)]
pub(crate) struct IoThread {
    jobs: mpsc::UnboundedSender<Job>,
}

/// How long an ended call may take to let go of its connection. It is a matter of microseconds unless
/// the thread is busy with a line that does not end.
const CLOSE_WITHIN: Duration = Duration::from_millis(100);

/// Why a stream says nothing more.
#[derive(Debug)]
pub(crate) enum Broken {
    /// What the client library met.
    Client(genai::Error),
    /// So many reads brought neither an event nor the end.
    LineTooLong(u32),
    /// An event was no JSON. The client library may pass over it, and what it said would be missing.
    Garbled,
}

/// Counts the reads of a connection that bring no event. The client library keeps what has no end yet, and does not say how much.
struct LineWatch {
    watch: Arc<FrameWatch>,
    most: u32,
    events: u64,
    reads: u32,
}

impl LineWatch {
    /// Whether there were too many, after a look at the stream that brought nothing.
    fn is_too_long(&mut self) -> bool {
        let events = self.watch.events();
        if events != self.events {
            self.events = events;
            self.reads = 0;
        }
        self.reads += 1;
        self.reads > self.most
    }
}

/// What a stream says, in order. Its connection is closed as soon as this is dropped.
#[derive(Debug)]
pub(crate) struct Events {
    receiver: mpsc::Receiver<Result<ChatStreamEvent, Broken>>,
    /// Its other half is dropped when the connection has been let go of.
    open: oneshot::Receiver<Infallible>,
}

impl Events {
    /// The next event; `None` at the end.
    ///
    /// # Cancel safety
    ///
    /// Safe: no event is lost.
    pub(crate) async fn recv(&mut self) -> Option<Result<ChatStreamEvent, Broken>> {
        self.receiver.recv().await
    }

    /// Takes the events that have been read from the connection and not been received.
    pub(crate) fn drain(&mut self) -> Vec<ChatStreamEvent> {
        let waiting = std::iter::from_fn(|| self.receiver.try_recv().ok());
        waiting.filter_map(Result::ok).collect()
    }

    /// Closes the connection, and says whether that was seen to happen within a short time.
    ///
    /// # Cancel safety
    ///
    /// Safe: the connection is closed, but no one sees it close.
    pub(crate) async fn close(self) -> bool {
        let Self { receiver, open } = self;
        drop(receiver);
        tokio::time::timeout(CLOSE_WITHIN, open).await.is_ok()
    }
}

/// The next event of a stream, or that it brings none for too long.
async fn next(
    stream: &mut ChatStream,
    line: &mut LineWatch,
) -> Option<Result<ChatStreamEvent, Broken>> {
    poll_fn(|context| match stream.poll_next_unpin(context) {
        // What comes now comes after the garbled event.
        _ if line.watch.is_garbled() => Poll::Ready(Some(Err(Broken::Garbled))),
        Poll::Ready(event) => Poll::Ready(event.map(|event| event.map_err(Broken::Client))),
        Poll::Pending if line.is_too_long() => {
            Poll::Ready(Some(Err(Broken::LineTooLong(line.most))))
        }
        Poll::Pending => Poll::Pending,
    })
    .await
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

    /// Begins a call.
    pub(crate) fn stream(
        &self,
        client: Client,
        target: ServiceTarget,
        (request, options): (ChatRequest, ChatOptions),
        (watch, line_reads): (Arc<FrameWatch>, u32),
    ) -> Events {
        let (sender, receiver) = mpsc::channel(WAITING_EVENTS);
        let (is_open, open) = oneshot::channel();
        let job = async move {
            // Declared first, so that it is dropped after the stream.
            let _is_open = is_open;
            if sender.is_closed() {
                return;
            }
            let opened = client
                .exec_chat_stream(target, request, Some(&options))
                .await;
            let mut stream = match opened {
                Ok(response) => response.stream,
                Err(error) => {
                    // If the receiver is gone, no one waits for it.
                    let _nobody = sender.send(Err(Broken::Client(error))).await;
                    return;
                }
            };
            let mut line = LineWatch {
                watch,
                most: line_reads,
                events: 0,
                reads: 0,
            };
            loop {
                let event = tokio::select! {
                    biased;
                    () = sender.closed() => break,
                    event = next(&mut stream, &mut line) => event,
                };
                let Some(event) = event else {
                    return;
                };
                let is_over = matches!(event, Err(Broken::LineTooLong(_) | Broken::Garbled));
                if sender.send(event).await.is_err() || is_over {
                    break;
                }
            }
            drop(stream);
            // The task that owns the socket has been woken by that, and gets its turn.
            tokio::task::yield_now().await;
        };
        // Where the thread is gone the sender is dropped with the job, and the stream ends at once.
        self.run(job);
        Events { receiver, open }
    }

    /// Runs something else where the connections are. Dropped with the thread.
    pub(crate) fn run(&self, job: impl Future<Output = ()> + Send + 'static) {
        let _gone = self.jobs.send(Box::pin(job));
    }
}
