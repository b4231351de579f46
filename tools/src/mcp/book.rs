//! The calls that a connection knows: those that run, and the last of those that were cancelled.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use interrupt_router::StopScope;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, GetExtensions as _, GetMeta as _, JsonRpcMessage,
    ProgressNotificationParam, RequestId, ServerJsonRpcMessage, ServerNotification,
};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::counts::{ToolCounter, count_late_result};
use crate::limit::CallLimit;
use crate::tool::{Progress, ProgressSink, ToolCall};

/// How many cancelled calls are remembered, so that what comes of them late is known for what it is.
const REMEMBERED: usize = 256;

/// A call that a server works on.
pub(super) struct Ongoing {
    pub(super) call: ToolCall,
    pub(super) limit: CallLimit,
    /// Stopped when the call is to end, and when it has ended.
    pub(super) scope: StopScope,
    progress: Arc<dyn ProgressSink>,
    /// When the server last said something about it.
    heard: watch::Sender<Option<Instant>>,
    /// Whether the server knows that it is to stop it, or that it is over.
    known: watch::Sender<bool>,
    last: Mutex<Option<String>>,
}

impl Ongoing {
    pub(super) fn new(
        call: ToolCall,
        limit: CallLimit,
        scope: StopScope,
        progress: Arc<dyn ProgressSink>,
    ) -> Arc<Self> {
        Arc::new(Self {
            call,
            limit,
            scope,
            progress,
            heard: watch::Sender::new(None),
            known: watch::Sender::new(false),
            last: Mutex::new(None),
        })
    }

    /// Changes whenever the server says something about the call.
    pub(super) fn heard(&self) -> watch::Receiver<Option<Instant>> {
        self.heard.subscribe()
    }

    /// The server knows that it is to stop it, or that it is over.
    pub(super) fn set_known(&self) {
        self.known.send_replace(true);
    }

    /// Waits until the server knows that it is to stop it, or that it is over.
    pub(super) async fn known(&self) {
        // The sender lives in `self`. What this returns is a lock.
        drop(self.known.subscribe().wait_for(|known| *known).await);
    }

    /// How far it was, in words, where the server said so.
    pub(super) fn last(&self) -> Option<String> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.clone()
    }

    fn progressed(&self, told: &ProgressNotificationParam) {
        let mut words = told.progress.to_string();
        if let Some(total) = told.total {
            words.push_str(&format!(" of {total}"));
        }
        if let Some(message) = &told.message {
            words.push_str(&format!(": {message}"));
        }
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(words);
        self.heard.send_replace(Some(Instant::now()));
        self.progress.progress(Progress::Step {
            done: told.progress,
            total: told.total,
            message: told.message.clone(),
        });
    }
}

/// Marks the request of a call on its way to the wire. Never on the wire.
#[derive(Clone)]
pub(super) struct Marked(pub(super) Arc<Ongoing>);

/// A call that was cancelled and has had its message.
struct Cancelled {
    id: String,
    token: Option<String>,
    tool: String,
}

struct RunningRequest {
    id: RequestId,
    ongoing: Arc<Ongoing>,
    token: Option<String>,
    /// Whether we, and not the library, told the server to stop it.
    told: bool,
}

#[derive(Default)]
struct BookState {
    /// By the ids of the requests.
    running: BTreeMap<String, RunningRequest>,
    cancelled: VecDeque<Cancelled>,
}

/// What a connection knows of its calls.
pub(super) struct Book {
    state: Mutex<BookState>,
    counter: Arc<dyn ToolCounter>,
    /// If we stop the stream of a request ourselves, the library's own cancellation is still needed for that.
    library_cancels: bool,
    /// Something came of a call after it had been cancelled and been quiet.
    ignores: AtomicBool,
    /// Why nothing more is read of what it sends.
    refused: OnceLock<String>,
}

impl Book {
    pub(super) fn new(counter: Arc<dyn ToolCounter>, library_cancels: bool) -> Self {
        Self {
            state: Mutex::default(),
            counter,
            library_cancels,
            ignores: AtomicBool::new(false),
            refused: OnceLock::new(),
        }
    }

    /// Nothing more is read of what the server sends.
    pub(super) fn refuse(&self, why: String) {
        let _first = self.refused.set(why);
    }

    /// Why nothing more is read of what the server sends, if so.
    pub(super) fn refused(&self) -> Option<String> {
        self.refused.get().cloned()
    }

    fn state(&self) -> MutexGuard<'_, BookState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server was seen to continue a call that it had been told to stop.
    pub(super) fn ignores(&self) -> bool {
        self.ignores.load(Ordering::SeqCst)
    }

    pub(super) fn set_ignores(&self) {
        self.ignores.store(true, Ordering::SeqCst);
    }

    /// The calls that run.
    pub(super) fn running(&self) -> Vec<Arc<Ongoing>> {
        let state = self.state();
        let entries = state.running.values();
        entries.map(|entry| Arc::clone(&entry.ongoing)).collect()
    }

    /// The call of a request, while it runs.
    pub(super) fn get(&self, id: &str) -> Option<Arc<Ongoing>> {
        let state = self.state();
        let entry = state.running.get(id);
        entry.map(|entry| Arc::clone(&entry.ongoing))
    }

    /// The request that runs, if it is the only one.
    pub(super) fn only_request(&self) -> Option<RequestId> {
        let state = self.state();
        let mut running = state.running.values();
        let only = running.next()?.id.clone();
        running.next().is_none().then_some(only)
    }

    /// The server is being told to stop a call.
    pub(super) fn told(&self, id: &str) {
        if let Some(entry) = self.state().running.get_mut(id) {
            entry.told = true;
        }
    }

    /// A call is over. One that was cancelled without an answer is remembered for a while.
    pub(super) fn over(&self, id: &str, answered: bool) {
        let mut state = self.state();
        let Some(entry) = state.running.remove(id) else {
            return;
        };
        if answered {
            return;
        }
        if state.cancelled.len() == REMEMBERED {
            state.cancelled.pop_front();
        }
        state.cancelled.push_back(Cancelled {
            id: id.to_owned(),
            token: entry.token,
            tool: entry.ongoing.call.tool.as_str().to_owned(),
        });
    }

    /// Looks at a message on its way to the server, and says whether it is to go there.
    pub(super) fn sends(&self, message: &ClientJsonRpcMessage) -> bool {
        match message {
            JsonRpcMessage::Request(request) => {
                if let Some(Marked(ongoing)) = request.request.extensions().get() {
                    let token = request.request.get_meta().get_progress_token();
                    let entry = RunningRequest {
                        id: request.id.clone(),
                        ongoing: Arc::clone(ongoing),
                        token: token.map(|token| token.0.to_string()),
                        told: false,
                    };
                    self.state().running.insert(request.id.to_string(), entry);
                }
                true
            }
            JsonRpcMessage::Notification(notification) => {
                let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                else {
                    return true;
                };
                let id = cancelled
                    .params
                    .request_id
                    .as_ref()
                    .map(ToString::to_string);
                let state = self.state();
                let entry = id.and_then(|id| state.running.get(&id));
                // Once is enough, where the second time would have no effect but on the wire.
                self.library_cancels || !entry.is_some_and(|entry| entry.told)
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => true,
        }
    }

    /// Looks at a message of the server.
    pub(super) fn receives(&self, message: &ServerJsonRpcMessage) {
        match message {
            JsonRpcMessage::Response(response) => self.answered(&response.id.to_string(), true),
            JsonRpcMessage::Error(error) => {
                if let Some(id) = &error.id {
                    self.answered(&id.to_string(), false);
                }
            }
            JsonRpcMessage::Notification(notification) => {
                if let ServerNotification::ProgressNotification(progress) =
                    &notification.notification
                {
                    self.progressed(&progress.params);
                }
            }
            JsonRpcMessage::Request(_) => {}
        }
    }

    fn answered(&self, id: &str, is_result: bool) {
        let mut state = self.state();
        let Some(place) = state.cancelled.iter().position(|call| call.id == id) else {
            return;
        };
        let cancelled = state.cancelled.remove(place);
        drop(state);
        let Some(cancelled) = cancelled.filter(|_cancelled| is_result) else {
            return;
        };
        count_late_result(&*self.counter, &cancelled.tool);
        self.set_ignores();
        tracing::warn!(
            tool = cancelled.tool,
            "an MCP server finished a call that it had been told to stop; its result was dropped"
        );
    }

    fn progressed(&self, told: &ProgressNotificationParam) {
        let token = told.progress_token.0.to_string();
        let state = self.state();
        let mut running = state.running.values();
        let entry = running.find(|entry| entry.token.as_ref() == Some(&token));
        if let Some(ongoing) = entry.map(|entry| Arc::clone(&entry.ongoing)) {
            drop(state);
            ongoing.progressed(told);
            return;
        }
        let mut cancelled = state.cancelled.iter();
        let late = cancelled.find(|call| call.token.as_ref() == Some(&token));
        if let Some(late) = late {
            let first = !self.ignores.swap(true, Ordering::SeqCst);
            if first {
                tracing::warn!(
                    tool = late.tool,
                    "an MCP server goes on with a call that it had been told to stop"
                );
            }
        }
    }
}
