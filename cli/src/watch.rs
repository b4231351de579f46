//! `irq watch`: the agents, and what waits for a person, on a whole terminal.
//!
//! [`state`] is a value: keys and news go in, actions come out. [`tasks`] carries actions out through the
//! backend, [`draw`] puts the state on the screen. [`reading`] looks at the backend again and again
//! beside them, so that a slow one never slows the keys; nothing that is shown is kept anywhere else.

mod action;
mod continuation;
mod draft;
mod draw;
mod editing;
mod ends;
mod going_on;
mod key;
mod mark;
mod modal;
mod modal_key;
mod output;
mod overlay;
mod picture;
mod reading;
mod review;
mod screen;
mod seen;
mod snapshot;
mod state;
mod tasks;
#[cfg(test)]
mod tests;
mod visit;

use std::cell::Cell;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::Event;
use interrupt_router::RunId;
use jiff::Timestamp;
use tokio::sync::mpsc;

use crate::arguments::{Global, StoreArguments, WatchArguments};
use crate::backend::{self, Backend};
use crate::exit::{Exit, Failure};
use crate::palette::Palette;
use crate::terminal_events::TerminalEvents;

use action::{Action, Done};
use draw::Theme;
use ends::{End, Ends};
use picture::Picture;
use reading::BackgroundReading;
use screen::{TakenScreen, tells_keys_apart};
use snapshot::{Snapshot, SnapshotRequest};
use state::{Screen, ScreenState};
use tasks::Follower;

pub(crate) use visit::{Left, Visit};

/// How often ages and times on the screen are brought up to date.
const TICK: Duration = Duration::from_millis(250);
/// How long leaving waits for what was asked for.
const LEAVING: Duration = Duration::from_secs(5);

/// Shows the screens until the person leaves.
///
/// # Errors
///
/// If there is no terminal, or the backend cannot be read.
pub(crate) fn watch(
    arguments: &WatchArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    if arguments.json || arguments.plain {
        return crate::commands::watch_lines(arguments, store, global);
    }
    if arguments.run.is_some() || arguments.after.is_some() {
        let text = "--run and --after are for lines";
        return Err(Failure::new(Exit::Usage, text)
            .hint("say --plain or --json too")
            .into());
    }
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        let hint = "`irq ps` and `irq review` print what can be read by programs; so does `irq watch --json` of a server";
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
struct WatchTasks {
    backend: Arc<dyn Backend>,
    done: mpsc::UnboundedSender<Done>,
    /// Who continues a run once its pause was decided.
    follower: Follower,
    /// How many actions have not come to their end.
    under_way: Cell<usize>,
}

impl WatchTasks {
    /// Works on another backend from now on.
    fn turn_to(&mut self, backend: Arc<dyn Backend>) -> BackgroundReading {
        self.backend = backend;
        BackgroundReading::of(Arc::clone(&self.backend), None)
    }

    /// Begins an action; its outcome is reported later.
    fn begin(&self, action: Action) {
        let (backend, done) = (Arc::clone(&self.backend), self.done.clone());
        let follower = self.follower;
        self.under_way.set(self.under_way.get() + 1);
        tokio::task::spawn_local(async move {
            let became = tasks::perform(&*backend, action, follower).await;
            // No one waits for it if the screens were left.
            let _ = done.send(became);
        });
    }
}

async fn perform(
    arguments: &WatchArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    let backend = backend::open(store).await?;
    let mut state = ScreenState::new(first_screen(arguments), Timestamp::now());
    let mut screens = Screens::of(backend, Follower::Somebody, None);
    let snapshot = screens.reading.next().await?;
    let _nothing_is_open = state.refresh(snapshot);
    screens.store = Some(store);
    screens.is_silent = arguments.silent;
    screens.look = Theme::new(Palette::for_stream(&io::stdout(), global.no_color));
    screens.show(&mut state).await
}

/// The screens, before and while they have the terminal.
struct Screens<'store> {
    tasks: WatchTasks,
    reading: BackgroundReading,
    became: mpsc::UnboundedReceiver<Done>,
    /// The store that may appear while it is watched.
    store: Option<&'store StoreArguments>,
    is_silent: bool,
    look: Theme,
}

impl Screens<'_> {
    fn of(backend: Arc<dyn Backend>, follower: Follower, only: Option<RunId>) -> Self {
        let (done, became) = mpsc::unbounded_channel();
        let reading = BackgroundReading::of(Arc::clone(&backend), only);
        Self {
            tasks: WatchTasks {
                backend,
                done,
                follower,
                under_way: Cell::new(0),
            },
            reading,
            became,
            store: None,
            is_silent: true,
            look: Theme::new(Palette::for_stream(&io::stdout(), true)),
        }
    }

    /// Takes the terminal until the person leaves.
    async fn show(mut self, state: &mut ScreenState) -> anyhow::Result<Exit> {
        // From here on no signal ends the process by itself: the terminal is restored first.
        let mut ends = Ends::listen()?;
        let mut taken = TakenScreen::take(tells_keys_apart().await)?;
        let mut keys = TerminalEvents::listen();
        let mut clock = tokio::time::interval(TICK);
        let mut picture = Picture::new();
        loop {
            picture.draw(&mut taken, state, self.look)?;
            let actions = tokio::select! {
                () = taken.ready(), if picture.waits() => continue,
                event = keys.next() => typed(state, &mut taken, event)?,
                Some(done) = self.became.recv() => {
                    self.tasks.under_way.set(self.tasks.under_way.get().saturating_sub(1));
                    state.done(done);
                    self.reading.look_again();
                    Vec::new()
                }
                end = ends.next() => match end {
                    End::Leave(exit) => return Ok(exit),
                    End::Aside => {
                        (taken, keys, ()) = lend(taken, keys, ends::stand_aside)?;
                        Vec::new()
                    }
                },
                read = self.reading.next() => refreshed(state, read),
                _ = clock.tick() => {
                    state.tick(Timestamp::now());
                    if let Some(opened) = self.appeared().await {
                        self.reading = self.tasks.turn_to(opened);
                    }
                    Vec::new()
                }
            };
            picture.is_old();
            self.reading.look_at(SnapshotRequest {
                run: state.looked_at(),
                followed: state.followed(),
            });
            state.notifies &= !self.is_silent;
            notify(state, &mut taken.beside())?;
            for action in actions {
                if let Action::Edit { interrupt } = action {
                    let edited;
                    (taken, keys, edited) = lend(taken, keys, || editing::edit(state, interrupt))?;
                    if let Some(action) = after_editing(state, edited) {
                        self.tasks.begin(action);
                    }
                } else if action == Action::Quit {
                    drop(taken);
                    self.see_through().await;
                    return Ok(Exit::Success);
                } else {
                    self.tasks.begin(action);
                }
            }
            if self.tasks.under_way.get() == 0 && state.visit_is_over() {
                return Ok(Exit::Success);
            }
        }
    }

    /// Waits for what was asked for and is not recorded yet: a user who leaves a moment after Esc has interrupted the
    /// run.
    async fn see_through(&mut self) {
        let waits = tokio::time::sleep(LEAVING);
        tokio::pin!(waits);
        while self.tasks.under_way.get() > 0 {
            tokio::select! {
                Some(_told) = self.became.recv() => {
                    self.tasks.under_way.set(self.tasks.under_way.get().saturating_sub(1));
                }
                () = &mut waits => return,
            }
        }
    }

    /// The store that did not exist when the screens were opened, once a process has created it. That process may not
    /// be done: then it is tried again.
    async fn appeared(&self) -> Option<Arc<dyn Backend>> {
        let store = self
            .store
            .filter(|_store| self.tasks.backend.has_appeared())?;
        backend::open(store).await.ok()
    }
}

/// Gives the terminal and its keys away while something is done, and takes them again.
fn lend<T>(
    taken: TakenScreen,
    keys: TerminalEvents,
    act: impl FnOnce() -> T,
) -> io::Result<(TakenScreen, TerminalEvents, T)> {
    drop(keys);
    let tells_keys_apart = taken.tells_keys_apart();
    drop(taken);
    let done = act();
    Ok((
        TakenScreen::take(tells_keys_apart)?,
        TerminalEvents::listen(),
        done,
    ))
}

/// What a terminal's event asks for; if there are no more, it is gone.
fn typed(
    state: &mut ScreenState,
    taken: &mut TakenScreen,
    event: Option<io::Result<Event>>,
) -> io::Result<Vec<Action>> {
    let Some(event) = event.transpose()? else {
        return Ok(vec![Action::Quit]);
    };
    if let Event::Resize(..) = event {
        // What it showed may be gone, even if it has its old size again by now.
        taken.forget()?;
    }
    state.tick(Timestamp::now());
    Ok(key::pressed(state, &event))
}

const fn first_screen(arguments: &WatchArguments) -> Screen {
    if arguments.inbox {
        Screen::Inbox
    } else {
        Screen::Agents
    }
}

/// The edited answer, after another program had the terminal.
fn after_editing(
    state: &mut ScreenState,
    edited: Result<Option<Action>, Failure>,
) -> Option<Action> {
    match edited {
        Ok(Some(action)) => return Some(action),
        Ok(None) => state.tell("Nothing was changed, nothing decided."),
        Err(failure) => state.warn(failure.to_string()),
    }
    None
}

/// Takes in what was read; if the backend could not be read, that is shown, and it is tried again.
fn refreshed(state: &mut ScreenState, read: Result<Snapshot, Failure>) -> Vec<Action> {
    match read {
        Ok(snapshot) => state.refresh(snapshot),
        Err(failure) => {
            state.warn(failure.to_string());
            Vec::new()
        }
    }
}

/// Rings the terminal's bell: something waits for a person.
fn notify(state: &mut ScreenState, terminal: &mut impl Write) -> io::Result<()> {
    if std::mem::take(&mut state.notifies) {
        terminal.write_all(b"\x07")?;
    }
    Ok(())
}
