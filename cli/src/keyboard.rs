//! The keyboard of a run that is shown on a terminal: lines where something is asked, and Esc at any time.
//!
//! One thread reads the terminal, and only while somebody wants what is typed: what is typed for an editor, for the
//! screens, or for the next program is left to them. Nothing that was typed before a question was seen answers it.

mod leaving;
mod modes;
mod reader;

use std::collections::HashMap;
use std::io::{self, IsTerminal, PipeWriter, Write};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex as StdMutex, PoisonError};

use tokio::sync::{Mutex, mpsc::UnboundedReceiver, mpsc::unbounded_channel, oneshot};

use routing_core::InterruptId;

use crate::palette::is_dumb;
use crate::reviewer::{NoLine, Typed};
use modes::Modes;
use reader::TerminalReader;

pub(crate) use modes::give_back;

/// What a keyboard is told.
enum KeyboardCommand {
    /// Esc is listened for from now on, or not any more.
    Listen(bool),
    /// Somebody asks; told when the terminal is theirs.
    Ask(oneshot::Sender<()>),
    /// What was typed so far is to be forgotten; told when it is.
    Forget(oneshot::Sender<()>),
    /// What is asked now was answered elsewhere: no line of it is waited for any more.
    Withdraw,
    /// Nobody asks any more.
    Asked,
    /// A line is wanted.
    Line(oneshot::Sender<Result<String, NoLine>>),
    /// Whoever had the terminal after Esc has left it.
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
    /// The keyboard of standard input; `None` where that is no terminal.
    ///
    /// # Errors
    ///
    /// Where the system gives no thread, or does not tell how the terminal is set.
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

    /// Whether a key alone can be told from a line on this terminal, and what comes of it can be shown.
    pub(crate) fn tells_keys() -> bool {
        io::stdin().is_terminal()
            && io::stdout().is_terminal()
            && io::stderr().is_terminal()
            && !is_dumb()
    }

    /// Listens for Esc, or does not any more.
    pub(crate) fn listen(&self, listens: bool) {
        self.tell(KeyboardCommand::Listen(listens));
    }

    /// Waits for Esc. The terminal is as it was found then, and is nobody's but the caller's until
    /// [`Keyboard::back`] is called.
    ///
    /// # Cancel safety
    ///
    /// Safe: an Esc that comes after the future was dropped is told the next time.
    pub(crate) async fn escape(&self) {
        if self.escapes.lock().await.recv().await.is_none() {
            // The terminal is gone.
            std::future::pending::<()>().await;
        }
    }

    /// Whether Esc was pressed and nobody has heard of it. Then the caller has the terminal, as after
    /// [`Keyboard::escape`].
    ///
    /// # Cancel safety
    ///
    /// Safe: dropped, nothing is heard of.
    pub(crate) async fn was_escaped(&self) -> bool {
        self.escapes.lock().await.try_recv().is_ok()
    }

    /// Whoever has heard Esc is done with the terminal.
    pub(crate) fn back(&self) {
        self.tell(KeyboardCommand::Back);
    }

    /// Somebody asks, and lines are read, while the guard lives. What was typed before is thrown away. Waits while
    /// somebody has the terminal after Esc.
    ///
    /// # Cancel safety
    ///
    /// Safe: dropped, nobody asks.
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

    /// Takes back what is asked now: whoever waits for its line is told [`NoLine::Withdrawn`], and what was typed of it is
    /// thrown away. Nothing happens where nobody asks.
    pub(crate) fn withdraw(&self) {
        self.tell(KeyboardCommand::Withdraw);
    }

    /// Keeps what was begun as the answer to a question, if anything was, for when it is asked again.
    pub(crate) fn keep(&self, question: InterruptId, begun: DraftAnswer) {
        if begun.words.trim().is_empty() {
            return;
        }
        let mut kept = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(question, begun);
    }

    /// What was begun as the answer to a question, once.
    pub(crate) fn kept(&self, question: InterruptId) -> Option<DraftAnswer> {
        let mut kept = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        kept.remove(&question)
    }

    fn tell(&self, order: KeyboardCommand) {
        // A reader that has ended reads nothing more; whoever asks is told so by its end.
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
        // The reader ends once nobody can tell it anything.
        self.orders = last;
        self.nudge();
    }
}

/// Somebody asks at the terminal. Dropping it ends that.
pub(crate) struct PromptSession {
    keyboard: Arc<Keyboard>,
}

impl PromptSession {
    /// Throws away what was typed so far: it was typed before what is asked next could be seen.
    ///
    /// # Cancel safety
    ///
    /// Safe: dropped, it is thrown away or not.
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
    /// [`NoLine`]; [`NoLine::Escape`] where Esc was pressed instead: whoever waits for it has the terminal then.
    ///
    /// # Cancel safety
    ///
    /// Safe: what was typed of a line that nobody waits for any more is thrown away.
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

/// Wakes the reader when it is dropped: nobody may wait for its line any more.
struct Nudge<'keyboard>(&'keyboard Keyboard);

impl Drop for Nudge<'_> {
    fn drop(&mut self) {
        self.0.nudge();
    }
}
