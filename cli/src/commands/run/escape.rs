//! Esc while a run is shown: the run is interrupted, and its window opens over what is shown.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use interrupt_router::RunId;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use super::talk::Talk;
use crate::arguments::Global;
use crate::backend::{Backend, Local, Remote, ServerLocation};
use crate::exit::{Exit, Failure};
use crate::keyboard::Keyboard;
use crate::storage::Storage;
use crate::terminal_output::TerminalOutput;
use crate::time::Grace;
use crate::visible::visible_line;
use crate::watch::{Left, Visit};

/// The keyboard of a run, and the unsent text of its window.
#[derive(Clone)]
pub(super) struct Escape {
    keyboard: Option<Arc<Keyboard>>,
    hears: bool,
    no_color: bool,
    grace: Grace,
    draft: Arc<Mutex<String>>,
}

/// Where the run of a window is executed.
#[derive(Clone)]
pub(super) enum Where {
    /// In the store of the process that executes it.
    Here(Storage),
    /// On a server.
    There(ServerLocation),
}

impl Escape {
    /// The keyboard of a process that talks with a run like this.
    ///
    /// # Errors
    ///
    /// As [`Keyboard::of_terminal`].
    pub(super) fn of(talk: Talk, global: Global, grace: Option<Grace>) -> std::io::Result<Self> {
        let types = !talk.no_input && talk.input_is_free;
        let keyboard = if types {
            Keyboard::of_terminal()?
        } else {
            None
        };
        Ok(Self {
            hears: keyboard.is_some() && talk.hears_escape(global),
            keyboard: keyboard.map(Arc::new),
            no_color: global.no_color,
            grace: grace.unwrap_or(Grace::OF_ESCAPE),
            draft: Arc::default(),
        })
    }

    /// Where lines are typed, if anywhere.
    pub(super) fn keyboard(&self) -> Option<Arc<Keyboard>> {
        self.keyboard.clone()
    }

    /// Opens the window of this run at each Esc until [`Attending::end`]; not once the process was told to end.
    pub(super) fn attend(
        &self,
        run: RunId,
        at: Where,
        output: TerminalOutput,
        is_leaving: impl Fn() -> bool + Send + 'static,
    ) -> Attending {
        let ends = Arc::new(Notify::new());
        let visited = Arc::new(AtomicBool::new(false));
        let task = self.keys().map(|keys| {
            let (ends, visited, escape) = (Arc::clone(&ends), Arc::clone(&visited), self.clone());
            tokio::spawn(async move {
                keys.listen(true);
                loop {
                    tokio::select! {
                        biased;
                        () = ends.notified() => break,
                        () = keys.escape() => {}
                    }
                    if is_leaving() {
                        keys.back();
                        continue;
                    }
                    visited.store(true, Ordering::Release);
                    let aside = output.step_aside().await;
                    let said = escape.visit(run, at.clone()).await;
                    drop(aside);
                    for text in said {
                        output.notice(text);
                    }
                    keys.back();
                }
                keys.listen(false);
                if keys.was_escaped().await {
                    keys.back();
                }
            })
        });
        Attending {
            task,
            ends,
            visited,
        }
    }

    /// The keys to listen to, if Esc is heard; the caller that hears it calls [`Escape::visit`].
    pub(super) fn keys(&self) -> Option<Arc<Keyboard>> {
        self.keyboard().filter(|_keyboard| self.hears)
    }

    /// Interrupts a run and shows its window until the person is done. Returns what to print then.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the window stays until the person leaves it.
    pub(super) async fn visit(&self, run: RunId, at: Where) -> Vec<String> {
        let visit = Visit {
            run,
            draft: std::mem::take(&mut *self.draft()),
            no_color: self.no_color,
            grace: self.grace,
            goes_on_here: matches!(at, Where::Here(_)),
        };
        let (send, left) = oneshot::channel();
        // The screens have a runtime of their own.
        std::thread::spawn(move || {
            // The receiver may be gone.
            let _ = send.send(visit.pay(|| open(at)));
        });
        let left = left
            .await
            .unwrap_or_else(|_panicked| Err(Failure::new(Exit::Failure, "it has failed").into()));
        match left {
            Ok(Left { draft, said }) => {
                let kept = (!draft.trim().is_empty())
                    .then(|| format!("Not sent: {}", visible_line(&draft)));
                *self.draft() = draft;
                said.into_iter().chain(kept).collect()
            }
            Err(error) => vec![format!("The window could not be shown: {error}")],
        }
    }

    fn draft(&self) -> MutexGuard<'_, String> {
        self.draft.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn open(at: Where) -> Result<Arc<dyn Backend>, Failure> {
    match at {
        Where::Here(storage) => Ok(Arc::new(Local::over(storage))),
        Where::There(place) => Ok(Arc::new(Remote::at(&place)?)),
    }
}

/// A task that listens for Esc.
pub(super) struct Attending {
    task: Option<JoinHandle<()>>,
    ends: Arc<Notify>,
    visited: Arc<AtomicBool>,
}

impl Attending {
    /// Stops listening; waits for an open window. Returns whether there was one.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the window stays until the person leaves it.
    pub(super) async fn end(self) -> bool {
        self.ends.notify_one();
        if let Some(task) = self.task {
            // The failure of a window was reported already.
            let _ = task.await;
        }
        self.visited.load(Ordering::Acquire)
    }
}
