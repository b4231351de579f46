//! The keyboard of a run that is shown on a terminal: lines when something is asked, and Esc at any time.
//!
//! One thread reads the terminal, and only while someone wants input: what is typed for an editor, for the screens, or
//! for the next program is left to them. Nothing that was typed before a question was shown answers it.

mod leaving;
mod modes;
mod reader;

use std::collections::HashMap;
use std::io::{self, IsTerminal, PipeWriter, Write};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex as StdMutex, PoisonError};

use tokio::sync::{Mutex, mpsc::UnboundedReceiver, mpsc::unbounded_channel, oneshot};

use interrupt_router::InterruptId;

use crate::palette::is_dumb;
use crate::reviewer::{NoLine, Typed};
use modes::Modes;
use reader::TerminalReader;

pub(crate) use modes::give_back;

/// A command to the keyboard.
enum KeyboardCommand {
    /// Starts or stops listening for Esc.
    Listen(bool),
    /// A prompt begins; notified when it has the terminal.
    Ask(oneshot::Sender<()>),
    /// What was typed so far is to be forgotten; notified when it is.
    Forget(oneshot::Sender<()>),
    /// The current question was answered elsewhere: its line is no longer waited for.
    Withdraw,
    /// A prompt has ended.
    Asked,
    /// A line is wanted.
    Line(oneshot::Sender<Result<String, NoLine>>),
    /// The caller that had the terminal after Esc has left it.
    Back,
}

/// What was begun as an answer when Esc was pressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DraftAnswer {
    /// What was typed.
    pub(crate) words: String,
    /// Whether it was typed at the question itself, and not at what is asked after its answer.
    pub(crate) is_answer: bool,
}

/// The keyboard of this process's terminal.
pub(crate) struct Keyboard {
    orders: Sender<KeyboardCommand>,
    wake: PipeWriter,
    escapes: Mutex<UnboundedReceiver<()>>,
    modes: Arc<Modes>,
    /// What was begun as an answer when Esc was pressed.
    begun: StdMutex<HashMap<InterruptId, DraftAnswer>>,
}

impl Keyboard {
    /// The keyboard of standard input; `None` if that is no terminal.
    ///
    /// # Errors
    ///
    /// If the system gives no thread, or does not say how the terminal is set.
    pub(crate) fn of_terminal() -> io::Result<Option<Self>> {
        if !io::stdin().is_terminal() {
            return Ok(None);
        }
        let modes = Modes::found()?;
        let (orders, received) = mpsc::channel();
        let (heard, escapes) = unbounded_channel();
        let (woken, wake) = io::pipe()?;
        leaving::give_back_first(&modes)?;
        let reader = TerminalReader::new(received, woken, heard, Arc::clone(&modes));
        std::thread::Builder::new()
            .name("keyboard".to_owned())
            .spawn(move || reader.run())?;
        Ok(Some(Self {
            orders,
            wake,
            escapes: Mutex::new(escapes),
            modes,
            begun: StdMutex::default(),
        }))
    }

    /// Whether this terminal reports single keys, and can show what comes of them.
    pub(crate) fn tells_keys() -> bool {
        io::stdin().is_terminal()
            && io::stdout().is_terminal()
            && io::stderr().is_terminal()
            && !is_dumb()
    }

    /// Starts or stops listening for Esc.
    pub(crate) fn listen(&self, listens: bool) {
        self.tell(KeyboardCommand::Listen(listens));
    }

    /// Waits for Esc. The terminal is then as it was found, and is the caller's alone until [`Keyboard::back`] is
    /// called.
    ///
    /// # Cancel safety
    ///
    /// Safe: an Esc that comes after the future was dropped is reported the next time.
    pub(crate) async fn escape(&self) {
        if self.escapes.lock().await.recv().await.is_none() {
            // The terminal is gone.
            std::future::pending::<()>().await;
        }
    }

    /// Whether Esc was pressed and not reported yet. Then the caller has the terminal, as after [`Keyboard::escape`].
    ///
    /// # Cancel safety
    ///
    /// Safe: dropped, it reports nothing.
    pub(crate) async fn was_escaped(&self) -> bool {
        self.escapes.lock().await.try_recv().is_ok()
    }

    /// The caller that has heard Esc is done with the terminal.
    pub(crate) fn back(&self) {
        self.tell(KeyboardCommand::Back);
    }

    /// Opens a prompt: lines are read while the guard lives. What was typed before is discarded. Waits while another
    /// caller has the terminal after Esc.
    ///
    /// # Cancel safety
    ///
    /// Safe: dropped, no prompt is open.
    pub(crate) async fn ask(self: &Arc<Self>) -> PromptSession {
        let asking = PromptSession {
            keyboard: Arc::clone(self),
        };
        let (ready, is_ready) = oneshot::channel();
        self.tell(KeyboardCommand::Ask(ready));
        // An error says that the terminal is gone: then no line comes either.
        let _ = is_ready.await;
        asking
    }

    /// Withdraws the current question: the caller that waits for its line gets [`NoLine::Withdrawn`], and what was
    /// typed of it is discarded. Does nothing without a prompt.
    pub(crate) fn withdraw(&self) {
        self.tell(KeyboardCommand::Withdraw);
    }

    /// Keeps a begun answer to a question, if there is any, for when it is asked again.
    pub(crate) fn keep(&self, question: InterruptId, begun: DraftAnswer) {
        if begun.words.trim().is_empty() {
            return;
        }
        let mut kept = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(question, begun);
    }

    /// Takes out the begun answer to a question.
    pub(crate) fn kept(&self, question: InterruptId) -> Option<DraftAnswer> {
        let mut kept = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        kept.remove(&question)
    }

    fn tell(&self, order: KeyboardCommand) {
        // A reader that has ended reads nothing more; callers learn that from its end.
        let _ = self.orders.send(order);
        self.nudge();
    }

    fn nudge(&self) {
        // A pipe that is full wakes the reader just as well.
        let _ = (&self.wake).write_all(&[0]);
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        self.modes.end();
        let (last, _) = mpsc::channel();
        // The reader ends once no one can send it commands.
        self.orders = last;
        self.nudge();
    }
}

/// A prompt at the terminal. Dropping it ends it.
pub(crate) struct PromptSession {
    keyboard: Arc<Keyboard>,
}

impl PromptSession {
    /// Discards what was typed so far: it was typed before the next question could be seen.
    ///
    /// # Cancel safety
    ///
    /// Safe: dropped, it is discarded or not.
    pub(crate) async fn forget(&self) {
        let (forgotten, is_forgotten) = oneshot::channel();
        self.keyboard.tell(KeyboardCommand::Forget(forgotten));
        // An error says that the terminal is gone.
        let _ = is_forgotten.await;
    }

    fn wish(&self) -> oneshot::Receiver<Result<String, NoLine>> {
        let (send, line) = oneshot::channel();
        self.keyboard.tell(KeyboardCommand::Line(send));
        line
    }

    /// The next line that is typed, without its end.
    ///
    /// # Errors
    ///
    /// [`NoLine`]; [`NoLine::Escape`] if Esc was pressed instead: the caller has the terminal then.
    ///
    /// # Cancel safety
    ///
    /// Safe: what was typed of a line that is no longer waited for is discarded.
    pub(crate) async fn line(&self) -> Result<String, NoLine> {
        let _wakes = Nudge(&self.keyboard);
        self.wish().await.unwrap_or(Err(NoLine::End))
    }
}

impl Typed for PromptSession {
    fn forget(&self) {
        let (forgotten, is_forgotten) = oneshot::channel();
        self.keyboard.tell(KeyboardCommand::Forget(forgotten));
        // An error says that the terminal is gone.
        let _ = is_forgotten.blocking_recv();
    }

    fn line(&self) -> Result<String, NoLine> {
        let _wakes = Nudge(&self.keyboard);
        self.wish().blocking_recv().unwrap_or(Err(NoLine::End))
    }
}

impl Drop for PromptSession {
    fn drop(&mut self) {
        self.keyboard.tell(KeyboardCommand::Asked);
    }
}

/// Wakes the reader when it is dropped: its line may no longer be waited for.
struct Nudge<'keyboard>(&'keyboard Keyboard);

impl Drop for Nudge<'_> {
    fn drop(&mut self) {
        self.0.nudge();
    }
}
