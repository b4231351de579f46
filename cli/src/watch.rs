//! `irq watch`: the agents, what waits for a person, and what happened, on a whole terminal.
//!
//! [`state`] is a value: keys and news go in, actions come out. [`desk`] carries actions out through the store,
//! [`draw`] puts the state on the screen. The store is looked at again whenever time has passed; nothing that is
//! shown is kept anywhere else.

mod action;
mod desk;
mod draft;
mod draw;
mod editing;
mod key;
mod modal;
mod review;
mod screen;
mod snapshot;
mod state;

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::EventStream;
use futures_util::StreamExt;
use jiff::Timestamp;
use tokio::sync::mpsc;

use crate::arguments::{Global, StoreArguments, WatchArguments};
use crate::exit::{Exit, Failure};
use crate::palette::Palette;
use crate::refused::by_store;
use crate::storage::Storage;

use action::{Action, Done};
use draw::Look;
use screen::TakenScreen;
use snapshot::Feed;
use state::{Screen, State};

/// How often the store is looked at.
const LOOK: Duration = Duration::from_millis(250);

/// Shows the screens until the person leaves.
///
/// # Errors
///
/// Where there is no terminal, or the store cannot be read.
pub(crate) fn watch(
    arguments: &WatchArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        let hint = "`irq ps` and `irq review` print what can be read by programs";
        return Err(Failure::new(Exit::Usage, "this needs a terminal")
            .hint(hint)
            .into());
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let tasks = tokio::task::LocalSet::new();
    let watched = tasks.block_on(&runtime, perform(arguments, store, global));
    // A thread that reads the terminal cannot be joined.
    runtime.shutdown_background();
    watched
}

/// What is under way beside the screens.
struct Desk {
    storage: Arc<Storage>,
    done: mpsc::UnboundedSender<Done>,
}

impl Desk {
    /// Does what the terminal can do, and begins the rest; whether the screens stay.
    fn carry_out(&self, action: Action) -> io::Result<bool> {
        match action {
            Action::Quit => return Ok(false),
            Action::Copy(text) => copy(&text)?,
            Action::Interrupt { .. }
            | Action::Harden { .. }
            | Action::Resume { .. }
            | Action::Suggest { .. }
            | Action::ApplyPlan { .. }
            | Action::Withdraw { .. }
            | Action::Stop { .. }
            | Action::Decide { .. }
            | Action::Claim { .. }
            | Action::Send { .. }
            | Action::Edit { .. } => self.begin(action),
        }
        Ok(true)
    }

    /// Begins an action; what becomes of it is told later.
    fn begin(&self, action: Action) {
        let (storage, done) = (Arc::clone(&self.storage), self.done.clone());
        tokio::task::spawn_local(async move {
            let became = desk::perform(&storage, action).await;
            // Nobody waits for it where the screens were left.
            let _ = done.send(became);
        });
    }
}

async fn perform(
    arguments: &WatchArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    let storage = Arc::new(Storage::open(store).await?);
    let mut feed = Feed::new(Arc::clone(&storage.store));
    let first = if arguments.inbox {
        Screen::Inbox
    } else {
        Screen::Agents
    };
    let mut state = State::new(first, Timestamp::now());
    let snapshot = feed.read(None).await.map_err(|error| by_store(&error))?;
    let _nothing_is_open = state.refresh(snapshot);
    let look = Look::new(Palette::for_stream(&io::stdout(), global.no_color));
    let (done, mut became) = mpsc::unbounded_channel();
    let desk = Desk {
        storage: Arc::clone(&storage),
        done,
    };
    let mut taken = TakenScreen::take()?;
    let mut keys = EventStream::new();
    let mut clock = tokio::time::interval(LOOK);
    loop {
        taken
            .terminal
            .draw(|frame| draw::draw(frame, &state, look))?;
        let actions = tokio::select! {
            event = keys.next() => match event {
                Some(event) => {
                    state.tick(Timestamp::now());
                    key::pressed(&mut state, &event?)
                }
                None => vec![Action::Quit],
            },
            Some(done) = became.recv() => {
                state.done(done);
                look_again(&mut feed, &mut state).await
            }
            _ = clock.tick() => {
                state.tick(Timestamp::now());
                look_again(&mut feed, &mut state).await
            }
        };
        if std::mem::take(&mut state.rings) && !arguments.silent {
            ring()?;
        }
        for action in actions {
            if let Action::Edit { interrupt } = action {
                // The editor has the terminal, and its keys.
                drop(keys);
                drop(taken);
                let edited = editing::edit(&state, interrupt);
                taken = TakenScreen::take()?;
                keys = EventStream::new();
                if let Some(action) = after_editing(&mut state, edited) {
                    desk.begin(action);
                }
            } else if !desk.carry_out(action)? {
                return Ok(Exit::Success);
            }
        }
    }
}

/// The edited answer, while the terminal was somebody else's.
fn after_editing(state: &mut State, edited: Result<Option<Action>, Failure>) -> Option<Action> {
    match edited {
        Ok(Some(action)) => return Some(action),
        Ok(None) => state.tell("Nothing was changed, nothing decided."),
        Err(failure) => state.warn(failure.to_string()),
    }
    None
}

/// Reads the store; a store that cannot be read is told of, and tried again.
async fn look_again(feed: &mut Feed, state: &mut State) -> Vec<Action> {
    match feed.read(state.looked_at()).await {
        Ok(snapshot) => state.refresh(snapshot),
        Err(error) => {
            state.warn(by_store(&error).to_string());
            Vec::new()
        }
    }
}

/// The terminal's bell: somebody is waited for.
fn ring() -> io::Result<()> {
    let mut output = io::stdout();
    output.write_all(b"\x07")?;
    output.flush()
}

/// Puts a text on the clipboard by the terminal's own means (OSC 52).
fn copy(text: &str) -> io::Result<()> {
    crossterm::execute!(
        io::stdout(),
        crossterm::clipboard::CopyToClipboard::to_clipboard_from(text)
    )
}
