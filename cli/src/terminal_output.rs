//! The one place that writes: a thread that owns the outputs, so that nothing is torn and no work waits for a slow
//! reader.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use engine::run::{RunObserver, RunOccurrence};
use rustix::io::Errno;
use tokio::sync::oneshot;

use crate::model::UnansweredCall;
use crate::report::{Finished, Report};

/// Whether something cannot be written or read because the terminal behind it is gone.
pub(crate) fn is_of_closed_terminal(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::IO.raw_os_error())
}

/// How often a picture that moves is drawn.
const FRAME: Duration = Duration::from_millis(100);

enum Cue {
    Occurrence(Box<RunOccurrence>),
    Unanswered(Box<UnansweredCall>),
    Notice(String),
    Ask {
        text: String,
        shown: oneshot::Sender<()>,
    },
    /// A line was typed; it has to be shown if no terminal has done so.
    Typed(Option<String>),
    Released,
    /// Another part of the program has the screen; notified when nothing is written there any more.
    Aside(oneshot::Sender<()>),
    Back,
    Finish(Box<Finished>),
    /// It continues under another output.
    Leave,
}

/// The output that has the terminal now, if any.
static CURRENT: Mutex<Option<TerminalOutput>> = Mutex::new(None);

/// Shows a message on the output that has the terminal, if any; returns whether one has.
pub(crate) fn notice_on_current(text: &str) -> bool {
    let current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
    match &*current {
        Some(output) => {
            output.notice(text);
            true
        }
        None => false,
    }
}

/// Tells the thread that writes what to show. Clones share one thread.
#[derive(Clone)]
pub(crate) struct TerminalOutput {
    cues: Sender<Cue>,
}

/// The thread behind a terminal output.
pub(crate) struct OutputThread {
    output: TerminalOutput,
    thread: JoinHandle<io::Result<()>>,
}

impl TerminalOutput {
    /// Starts the thread. `when_broken` is called once with the reason, when standard output cannot be written any
    /// more.
    ///
    /// # Errors
    ///
    /// If the system gives no thread.
    pub(crate) fn open(
        report: Box<dyn Report>,
        when_broken: impl FnOnce(&io::Error) + Send + 'static,
    ) -> io::Result<OutputThread> {
        let (cues, receiver) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("stage".to_owned())
            .spawn(move || {
                let mut play = Play {
                    report,
                    waiting: VecDeque::new(),
                    prompting: false,
                    at_prompt: false,
                    is_aside: false,
                };
                let played = play.run(&receiver);
                if let Err(error) = &played {
                    when_broken(error);
                }
                played
            })?;
        let output = Self { cues };
        *CURRENT.lock().unwrap_or_else(PoisonError::into_inner) = Some(output.clone());
        Ok(OutputThread { output, thread })
    }

    /// A call to a model ended without a whole answer.
    pub(crate) fn unanswered(&self, call: UnansweredCall) {
        self.tell(Cue::Unanswered(Box::new(call)));
    }

    /// Shows people a message at once.
    pub(crate) fn notice(&self, text: impl Into<String>) {
        self.tell(Cue::Notice(text.into()));
    }

    /// Takes the screen for a conversation. What happens meanwhile is shown when the guard is dropped.
    pub(crate) fn converse(&self) -> TerminalConversation {
        TerminalConversation {
            output: self.clone(),
        }
    }

    /// Leaves the whole screen to another part of the program. What happens meanwhile is shown when the guard is
    /// dropped.
    ///
    /// # Cancel safety
    ///
    /// Safe: dropped, the screen is the output's own again.
    pub(crate) async fn step_aside(&self) -> Aside {
        let aside = Aside {
            output: self.clone(),
        };
        let (cleared, is_clear) = oneshot::channel();
        self.tell(Cue::Aside(cleared));
        // An error says that the terminal output has closed; then it writes nothing any more.
        let _ = is_clear.await;
        aside
    }

    fn tell(&self, cue: Cue) {
        // An output that has closed shows nothing more; its callers continue regardless.
        let _ = self.cues.send(cue);
    }
}

impl RunObserver for TerminalOutput {
    fn observe(&self, occurrence: &RunOccurrence) {
        self.tell(Cue::Occurrence(Box::new(occurrence.clone())));
    }
}

/// A conversation with the user who types. Dropping it gives the screen back.
pub(crate) struct TerminalConversation {
    output: TerminalOutput,
}

impl TerminalConversation {
    /// Puts a question on the screen, after all earlier output; the cursor stays behind it.
    ///
    /// # Cancel safety
    ///
    /// Safe: the question is on the screen, and the conversation can be dropped.
    pub(crate) async fn ask(&self, text: String) {
        let (shown, seen) = oneshot::channel();
        self.output.tell(Cue::Ask { text, shown });
        // An error says that the terminal output has closed; then there is nothing to wait for.
        let _ = seen.await;
    }

    /// A line was typed. `echo` is the line if no terminal has shown it.
    pub(crate) fn typed(&self, echo: Option<String>) {
        self.output.tell(Cue::Typed(echo));
    }
}

impl Drop for TerminalConversation {
    fn drop(&mut self) {
        self.output.tell(Cue::Released);
    }
}

/// Another part of the program has the screen. Dropping it gives it back to the terminal output.
pub(crate) struct Aside {
    output: TerminalOutput,
}

impl Drop for Aside {
    fn drop(&mut self) {
        self.output.tell(Cue::Back);
    }
}

impl OutputThread {
    /// For telling it what to show.
    pub(crate) fn output(&self) -> TerminalOutput {
        self.output.clone()
    }

    /// Shows how the run ended, and waits until all is written.
    ///
    /// # Errors
    ///
    /// If standard output could not be written.
    pub(crate) fn finish(self, finished: Finished) -> io::Result<()> {
        self.end(Cue::Finish(Box::new(finished)))
    }

    /// Removes what moves, and reports no end: the run continues at once. Waits until all is written.
    ///
    /// # Errors
    ///
    /// If standard output could not be written.
    pub(crate) fn leave(self) -> io::Result<()> {
        self.end(Cue::Leave)
    }

    fn end(self, last: Cue) -> io::Result<()> {
        CURRENT
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        self.output.tell(last);
        self.thread
            .join()
            .unwrap_or_else(|_panic| Err(io::Error::other("the output has stopped")))
    }
}

struct Play {
    report: Box<dyn Report>,
    /// What happened while the user was typing.
    waiting: VecDeque<Cue>,
    prompting: bool,
    /// Whether the cursor is behind a question.
    at_prompt: bool,
    /// Whether another part of the program has the screen.
    is_aside: bool,
}

impl Play {
    /// Shows everything to the end.
    fn run(&mut self, cues: &Receiver<Cue>) -> io::Result<()> {
        let mut next_frame = Instant::now() + FRAME;
        loop {
            let now = Instant::now();
            if now >= next_frame {
                next_frame = now + FRAME;
                if !self.prompting && !self.is_aside {
                    self.report.tick()?;
                }
            }
            match cues.recv_timeout(next_frame.saturating_duration_since(now)) {
                Ok(Cue::Finish(finished)) => {
                    self.come_back()?;
                    self.release()?;
                    return self.report.finish(&finished);
                }
                Ok(Cue::Leave) => {
                    self.come_back()?;
                    self.release()?;
                    return self.report.clear();
                }
                Ok(cue) => self.cue(cue)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    fn cue(&mut self, cue: Cue) -> io::Result<()> {
        if self.is_aside && !matches!(cue, Cue::Back | Cue::Aside(_)) {
            self.waiting.push_back(cue);
            return Ok(());
        }
        match cue {
            Cue::Back => self.come_back(),
            Cue::Aside(cleared) => {
                self.leave_prompt()?;
                self.report.clear()?;
                self.is_aside = true;
                // The caller that wanted the screen may have gone, and says so.
                let _ = cleared.send(());
                Ok(())
            }
            Cue::Notice(text) => {
                self.leave_prompt()?;
                self.report.notice(&text)
            }
            Cue::Ask { text, shown } => {
                self.leave_prompt()?;
                self.prompting = true;
                self.at_prompt = true;
                self.report.ask(&text)?;
                // The caller may have gone.
                let _ = shown.send(());
                Ok(())
            }
            Cue::Typed(echo) => {
                self.at_prompt = false;
                match echo {
                    Some(line) => self.report.ask(&format!("{line}\n")),
                    None => Ok(()),
                }
            }
            Cue::Released => self.release(),
            cue @ (Cue::Occurrence(_) | Cue::Unanswered(_) | Cue::Finish(_) | Cue::Leave) => {
                if self.prompting && self.report.shares_the_prompt() {
                    self.waiting.push_back(cue);
                    return Ok(());
                }
                self.show(&cue)
            }
        }
    }

    fn show(&mut self, cue: &Cue) -> io::Result<()> {
        match cue {
            Cue::Occurrence(occurrence) => self.report.occurrence(occurrence),
            Cue::Unanswered(call) => self.report.unanswered(call),
            Cue::Notice(_)
            | Cue::Ask { .. }
            | Cue::Typed(_)
            | Cue::Released
            | Cue::Aside(_)
            | Cue::Back
            | Cue::Finish(_)
            | Cue::Leave => Ok(()),
        }
    }

    /// The terminal output has the screen again: what happened meanwhile is shown.
    fn come_back(&mut self) -> io::Result<()> {
        self.is_aside = false;
        for cue in std::mem::take(&mut self.waiting) {
            self.cue(cue)?;
        }
        Ok(())
    }

    /// Ends the line of a question after which nothing was typed.
    fn leave_prompt(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.at_prompt) {
            self.report.ask("\n")?;
        }
        Ok(())
    }

    fn release(&mut self) -> io::Result<()> {
        self.leave_prompt()?;
        self.prompting = false;
        while let Some(cue) = self.waiting.pop_front() {
            self.show(&cue)?;
        }
        Ok(())
    }
}
