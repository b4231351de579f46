//! A server that is a program: under a keeper from its start to the death of all that it started.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use interrupt_router::{Outcome, StopReason, StopScope};
use tokio::net::UnixStream;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::containment::{
    BoundedOutput, ContainedCommand, ContainedTalk, Containment, ContainmentError,
};
use crate::keeper::ProcessExit;
use crate::tool::{Progress, ProgressSink, Stream};
use journal::tool::ContainmentReport;

/// How much is kept of a server's standard error.
const KEPT_STDERR: usize = 4 * 1024;

/// How a process ended whose end was not seen.
const UNSEEN: &str = "nobody saw how";

/// How a server's process ended.
#[derive(Debug, Clone)]
pub(super) struct ProcessEnd {
    /// In words.
    pub(super) how: String,
    /// What is known of the death of all that it started.
    pub(super) report: Option<ContainmentReport>,
}

/// A server's process. Dropped, it ends.
pub(super) struct ServerProcess {
    scope: StopScope,
    ended: watch::Receiver<Option<ProcessEnd>>,
    stderr: Arc<Stderr>,
    _task: JoinSet<()>,
}

impl ServerProcess {
    pub(super) async fn start(
        containment: &Containment,
        command: ContainedCommand,
    ) -> Result<(Self, UnixStream), ContainmentError> {
        let (talk, socket) = containment.talk(command).await?;
        let (sender, ended) = watch::channel(None);
        let (scope, stderr) = (StopScope::new(), Arc::new(Stderr::new()));
        let mut task = JoinSet::new();
        task.spawn(keep(talk, scope.clone(), Arc::clone(&stderr), sender));
        let process = Self {
            scope,
            ended,
            stderr,
            _task: task,
        };
        Ok((process, socket))
    }

    /// Waits until nothing of it is alive, or no more can be known about that.
    pub(super) async fn ended(&self) -> ProcessEnd {
        let mut ended = self.ended.clone();
        let end = ended.wait_for(Option::is_some).await;
        end.ok().and_then(|end| end.clone()).unwrap_or(ProcessEnd {
            how: UNSEEN.to_owned(),
            report: None,
        })
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.borrow().is_some()
    }

    /// Gives it some time to end by itself.
    pub(super) async fn ends_within(&self, time: Duration) -> bool {
        tokio::time::timeout(time, self.ended()).await.is_ok()
    }

    /// Ends it, and waits for that.
    pub(super) async fn stop(&self, reason: StopReason) -> ProcessEnd {
        self.scope.stop(reason);
        self.ended().await
    }

    /// What it wrote to its standard error, without its middle where that is long.
    pub(super) fn stderr(&self) -> String {
        let kept = self.stderr.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.text().trim().to_owned()
    }
}

async fn keep(
    talk: ContainedTalk,
    scope: StopScope,
    stderr: Arc<Stderr>,
    ended: watch::Sender<Option<ProcessEnd>>,
) {
    let (how, report) = match talk.until_the_end(&scope, &*stderr).await {
        Ok(Outcome::Completed(end)) => {
            let how = end.exit.map_or_else(|| UNSEEN.to_owned(), by_itself);
            (how, Some(end.report))
        }
        Ok(Outcome::Interrupted { partial, .. }) => {
            ("it was ended".to_owned(), Some(partial.report))
        }
        Err(ContainmentError::KeeperDied { report }) => {
            ("its keeper died".to_owned(), Some(report))
        }
        Err(error @ (ContainmentError::Keeper(_) | ContainmentError::Refused { .. })) => {
            (error.to_string(), None)
        }
    };
    ended.send_replace(Some(ProcessEnd { how, report }));
}

fn by_itself(exit: ProcessExit) -> String {
    match exit {
        ProcessExit::Code(code) => format!("it left with code {code}"),
        ProcessExit::Signal(signal) => format!("signal {signal} ended it"),
    }
}

/// Keeps what comes on standard error.
struct Stderr(Mutex<BoundedOutput>);

impl Stderr {
    fn new() -> Self {
        Self(Mutex::new(BoundedOutput::new(KEPT_STDERR)))
    }
}

impl ProgressSink for Stderr {
    fn progress(&self, progress: Progress) {
        if let Progress::Output {
            stream: Stream::Stderr,
            text,
        } = progress
        {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.push(text.as_bytes());
        }
    }
}
