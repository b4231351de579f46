//! The thread on which a model's connections are read.
//!
//! The client library reads on, within one poll, for as long as there are bytes, and copies what it
//! has of a line with each read. With the connection served by another thread, a long line keeps it
//! busy without a pause, and neither an interrupt nor a limit would ever be looked at. Where reading
//! and parsing share one thread, each poll ends after a read or two; and whoever waits for the answer
//! waits elsewhere, so limits and interrupts hold however busy this thread is.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::thread;

use futures_util::StreamExt;
use genai::chat::{ChatOptions, ChatRequest, ChatStreamEvent};
use genai::{Client, ServiceTarget};
use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// How many events may wait for whoever reads them.
const WAITING_EVENTS: usize = 64;

type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One thread with a runtime of its own. It ends when the last clone is dropped.
#[derive(Debug, Clone)]
pub(crate) struct IoThread {
    jobs: mpsc::UnboundedSender<Job>,
}

/// What a stream says, in order.
pub(crate) type Events = mpsc::Receiver<Result<ChatStreamEvent, genai::Error>>;

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
                        // Dropping the set drops the connections of whatever still runs.
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

    /// Begins a call. Its connection is closed as soon as what is returned is dropped.
    pub(crate) fn stream(
        &self,
        client: Client,
        target: ServiceTarget,
        request: ChatRequest,
        options: ChatOptions,
    ) -> Events {
        let (sender, events) = mpsc::channel(WAITING_EVENTS);
        let job = async move {
            let opened = client
                .exec_chat_stream(target, request, Some(&options))
                .await;
            let mut stream = match opened {
                Ok(response) => response.stream,
                Err(error) => {
                    // Nobody waits for it where the receiver is gone.
                    let _nobody = sender.send(Err(error)).await;
                    return;
                }
            };
            loop {
                let event = tokio::select! {
                    biased;
                    () = sender.closed() => return,
                    event = stream.next() => event,
                };
                let Some(event) = event else {
                    return;
                };
                if sender.send(event).await.is_err() {
                    return;
                }
            }
        };
        // Where the thread is gone the sender is dropped with the job, and the stream ends at once.
        let _gone = self.jobs.send(Box::pin(job));
        events
    }
}
