//! A server that is a program: under a keeper from its start to the death of all that it started.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use interrupt_router::{Outcome, StopReason, StopScope};
use tokio::net::UnixStream;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::containment::{
    ContainedCommand, ContainedEnd, ContainedTalk, Containment, ContainmentError,
};
use crate::keeper::ProcessExit;
use crate::tool::{Progress, ProgressSink, Stream};
use journal::tool::ContainmentReport;

/// How much is kept of the end of a server's standard error.
const KEPT_STDERR: usize = 4 * 1024;

/// How a server's process ended.
#[derive(Debug)]
pub(super) struct ProcessEnd {
    /// In words.
    pub(super) how: String,
    /// What is known of the death of all that it started.
    pub(super) report: Option<ContainmentReport>,
}

/// A server's process. Dropped, it ends.
pub(super) struct ServerProcess {
    scope: StopScope,
    ended: watch::Receiver<Option<Arc<ProcessEnd>>>,
    stderr: Arc<Tail>,
    _task: JoinSet<()>,
}

impl ServerProcess {
    pub(super) async fn start(
        containment: &Containment,
        command: ContainedCommand,
    ) -> Result<(Self, UnixStream), ContainmentError> {
        let (talk, socket) = containment.talk(command).await?;
        let (sender, ended) = watch::channel(None);
        let (scope, stderr) = (StopScope::new(), Arc::new(Tail::default()));
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
    pub(super) async fn ended(&self) -> Arc<ProcessEnd> {
        let mut ended = self.ended.clone();
        let end = ended.wait_for(Option::is_some).await;
        end.ok().and_then(|end| end.clone()).unwrap_or_else(|| {
            Arc::new(ProcessEnd {
                how: "nobody saw how".to_owned(),
                report: None,
            })
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
    pub(super) async fn stop(&self, reason: StopReason) -> Arc<ProcessEnd> {
        self.scope.stop(reason);
        self.ended().await
    }

    /// The end of what it wrote to its standard error.
    pub(super) fn stderr(&self) -> String {
        self.stderr.text()
    }
}

async fn keep(
    talk: ContainedTalk,
    scope: StopScope,
    stderr: Arc<Tail>,
    ended: watch::Sender<Option<Arc<ProcessEnd>>>,
) {
    let end = match talk.until_the_end(&scope, &*stderr).await {
        Ok(Outcome::Completed(end)) => of(&end, end.exit.map(by_itself)),
        Ok(Outcome::Interrupted { partial, .. }) => of(&partial, Some("it was ended".to_owned())),
        Err(ContainmentError::KeeperDied { report }) => ProcessEnd {
            how: "its keeper died".to_owned(),
            report: Some(report),
        },
        Err(error @ (ContainmentError::Keeper(_) | ContainmentError::Refused { .. })) => {
            ProcessEnd {
                how: error.to_string(),
                report: None,
            }
        }
    };
    ended.send_replace(Some(Arc::new(end)));
}

fn of(end: &ContainedEnd, how: Option<String>) -> ProcessEnd {
    ProcessEnd {
        how: how.unwrap_or_else(|| "nobody saw how".to_owned()),
        report: Some(end.report.clone()),
    }
}

fn by_itself(exit: ProcessExit) -> String {
    match exit {
        ProcessExit::Code(code) => format!("it left with code {code}"),
        ProcessExit::Signal(signal) => format!("signal {signal} ended it"),
    }
}

/// The end of what came.
#[derive(Default)]
struct Tail {
    bytes: Mutex<VecDeque<u8>>,
}

impl Tail {
    fn text(&self) -> String {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(bytes.make_contiguous())
            .trim()
            .to_owned()
    }
}

impl ProgressSink for Tail {
    fn progress(&self, progress: Progress) {
        let Progress::Output {
            stream: Stream::Stderr,
            text,
        } = progress
        else {
            return;
        };
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let last = text.len().saturating_sub(KEPT_STDERR);
        bytes.extend(text.as_bytes().get(last..).unwrap_or_default());
        let surplus = bytes.len().saturating_sub(KEPT_STDERR);
        bytes.drain(..surplus);
    }
}
