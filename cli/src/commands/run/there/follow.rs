//! Following a run on a server: its events as they come, its questions, and what a person here does about them.
//!
//! An event only says that something changed; the state of the run is read each time, so that a lost or repeated event does
//! no harm.

mod asking;
mod status;
mod stopping;

use std::collections::HashSet;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use client::{Feed, FeedItem};
use control::{AskProgress, DecisionParts};
use engine::run::RunOccurrence;
use interrupt_router::{InterruptId, RunId};
use interrupts::life::{Interrupt, RunState};
use interrupts::signals::{Escalation, OsSignals, SignalSource};
use interrupts::store::Filter;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::RemoteServer;
use super::ending::{RemoteEnding, Standstill, standstill};
use super::occurrences::FeedOccurrences;
use super::rendering::FeedEntry;
use crate::arguments::Global;
use crate::backend::{Backend, ServerLocation};
use crate::commands::run::escape::{Escape, Where};
use crate::commands::run::talk::Talk;
use crate::exit::{Exit, Failure};
use crate::keyboard::Keyboard;
use crate::layout::screen_size;
use crate::listing;
use crate::palette::Palette;
use crate::report::{Detail, EventPrinter, Steps};
use crate::reviewer::Reply;
use crate::visible::visible_json;

use status::{Readings, RunReading, RunStatusSnapshot};

/// How long a run that was told to go on may stay paused before it counts as paused.
const GETTING_UP: Duration = Duration::from_secs(15);

/// Waits for Esc, if it is heard.
async fn escaped(keys: Option<&Keyboard>) {
    match keys {
        Some(keys) => keys.escape().await,
        None => std::future::pending().await,
    }
}

/// Results of the tasks that run beside the following.
enum Beside {
    /// The person's reply to this question.
    Answered(Box<Interrupt>, anyhow::Result<Reply<DecisionParts>>),
    /// No one was asked: the question was decided before it could be shown.
    Decided,
    /// The person's answer was sent; what to print of it.
    Sent(Result<Option<String>, Failure>),
    /// The state of the run, and the count of actions here when it was read.
    Seen(u64, Box<Result<RunStatusSnapshot, Failure>>),
    /// The person left the window of the run; what to print then.
    Visited(Vec<String>),
    /// The server was asked to stop the run.
    Stopped(Result<(), Failure>),
}

/// A run on a server that is followed.
pub(super) struct FollowedRun {
    remote: Arc<dyn Backend>,
    feed: Feed,
    run: RunId,
    url: String,
    detail: Detail,
    json: bool,
    /// Events up to this position were printed before.
    after: u64,
    printer: EventPrinter,
    occurrences: FeedOccurrences,
    /// The run state printed last; `None` if none was printed since the following began.
    told: Option<String>,
    /// Whether there is a person here to ask.
    asks: bool,
    palette: Palette,
    global: Global,
    /// How far the signals so far have escalated.
    heard: Escalation,
    signal: Option<Exit>,
    /// The question that is being asked.
    asking: Option<InterruptId>,
    /// Whether the person is still typing the answer to it.
    is_typing: bool,
    /// The window that Esc opens.
    escape: Escape,
    place: ServerLocation,
    /// Lines to print once the person has answered: no one can type below moving lines.
    held: Vec<String>,
    /// Until when the run may still be resuming.
    getting_up: Instant,
    /// The questions that the person left open.
    left: HashSet<InterruptId>,
    beside: (
        mpsc::UnboundedSender<Beside>,
        mpsc::UnboundedReceiver<Beside>,
    ),
    readings: Readings,
    /// Whether the window of the run has the terminal.
    is_visited: bool,
}

impl FollowedRun {
    /// Follows a run from a position of the feed.
    ///
    /// # Errors
    ///
    /// If the terminal cannot be read. Nothing is requested from the server before [`FollowedRun::until_its_end`].
    pub(super) fn of(
        server: RemoteServer,
        run: RunId,
        after: String,
        talk: Talk,
        global: Global,
    ) -> Result<Self, Failure> {
        let RemoteServer {
            client,
            remote,
            url,
            place,
        } = server;
        let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
        let palette = Palette::for_stream(&io::stderr(), global.no_color);
        let detail = match (global.quiet, global.verbose) {
            (true, _) => Detail::Little,
            (false, 0) => Detail::Usual,
            (false, _) => Detail::Much,
        };
        let escape = Escape::of(talk, global, None)
            .map_err(|error| Failure::new(Exit::Failure, format!("the terminal: {error}")))?;
        Ok(Self {
            escape,
            place,
            // The feed is read from the run's beginning, to know its agents, even if the following starts later.
            feed: Feed::of(client, Some(run), "0".to_owned()),
            after: after.parse().unwrap_or_default(),
            occurrences: FeedOccurrences::default(),
            printer: EventPrinter::new(palette, detail, Steps::Told),
            remote,
            run,
            url,
            detail,
            json: talk.json,
            told: None,
            asks: is_terminal && talk.input_is_free && !talk.no_input,
            palette,
            global,
            heard: Escalation::default(),
            signal: None,
            asking: None,
            is_typing: false,
            held: Vec::new(),
            getting_up: Instant::now() + GETTING_UP,
            left: HashSet::new(),
            beside: mpsc::unbounded_channel(),
            readings: Readings::default(),
            is_visited: false,
        })
    }

    /// Follows the run until it has ended, is paused, or asks something that no person here answers.
    ///
    /// # Errors
    ///
    /// As for a run in the foreground; or if the server stays unreachable.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the run goes on there.
    pub(super) async fn until_its_end(mut self) -> anyhow::Result<Exit> {
        // From here on no signal ends the process by itself.
        let mut signals = OsSignals::listen()?;
        self.say(&format!("{} on {}", self.run, self.url));
        let keys = self.escape.keys();
        if let Some(keys) = &keys {
            keys.listen(true);
        }
        self.look();
        loop {
            tokio::select! {
                biased; // A stop does not wait for an event.
                signal = signals.next() => {
                    if let Some(signal) = signal {
                        self.stop(signal)?;
                    }
                }
                () = escaped(keys.as_deref()) => self.visit(),
                () = tokio::time::sleep_until(self.getting_up), if Instant::now() < self.getting_up => self.look(),
                Some(came) = self.beside.1.recv() => if let Some(seen) = self.came(came)? {
                    // A paused or waiting run has no more events: the newest reading decides.
                    if seen.is_newest && self.is_over(&seen.standing) && self.has_told(&seen.standing) {
                        self.take_down(&mut signals).await?;
                        return self.end(&seen.standing).await;
                    }
                    self.withdraw(&seen.standing);
                    self.ask_next(&seen.standing);
                },
                next = self.feed.next() => match next? {
                    FeedItem::Event(told) => if self.tell(&told.json)? {
                        self.look();
                    },
                    FeedItem::Away => self.interject("The server is away; it is looked for. The run is kept."),
                    FeedItem::Back => {
                        self.interject("The server is back.");
                        self.look();
                    }
                    FeedItem::End => {
                        self.take_down(&mut signals).await?;
                        return self.end(&RunStatusSnapshot::of(&*self.remote, self.run).await?).await;
                    }
                },
            }
        }
    }

    /// Whether programs have the event that it is paused or waiting: it is the last event, and may still be on its way.
    fn has_told(&self, standing: &RunStatusSnapshot) -> bool {
        let state = standing.run.state;
        let state_words = matches!(state, RunState::Paused | RunState::Waiting);
        let is_told = |told: &String| *told == state.to_string();
        !self.json || !state_words || self.told.as_ref().is_none_or(is_told)
    }

    /// Whether there is nothing left to wait for here, though the run has not ended.
    fn is_over(&self, standing: &RunStatusSnapshot) -> bool {
        if self.is_visited {
            return false;
        }
        if standing.run.state.is_final() {
            // Its remaining events end the following.
            return false;
        }
        match standstill(&standing.run, &standing.waiting) {
            Standstill::None | Standstill::Shutdown => {}
            // Its pause was lifted, and no process has taken it up yet.
            Standstill::Lifted if Instant::now() < self.getting_up => {}
            Standstill::Lifted
            | Standstill::Limit(_)
            | Standstill::Trouble
            | Standstill::Paused => {
                return true;
            }
        }
        // Questions that the person here left open are for another reviewer.
        let mut questions = standing.questions().peekable();
        let is_asked = questions.peek().is_some();
        let is_left = questions.all(|question| self.left.contains(&question.id));
        is_asked && self.asking.is_none() && (!self.asks || is_left)
    }

    /// Handles the result of a task beside the following; returns the state of the run if that is what came.
    fn came(&mut self, came: Beside) -> anyhow::Result<Option<RunReading>> {
        match came {
            Beside::Seen(done, standing) => return Ok(self.seen(done, *standing)?),
            Beside::Answered(seen, reply) => self.answered(*seen, reply)?,
            Beside::Decided => {
                (self.asking, self.is_typing) = (None, false);
                self.say_held();
            }
            Beside::Sent(sent) => self.sent(sent)?,
            Beside::Visited(said) => {
                self.is_visited = false;
                if let Some(keys) = self.escape.keys() {
                    keys.back();
                }
                self.say_held();
                for text in said {
                    self.say(&text);
                }
                self.getting_up = Instant::now() + GETTING_UP;
            }
            Beside::Stopped(stopped) => stopped?,
        }
        self.look_anew();
        Ok(None)
    }

    /// Prints what could not be printed before.
    fn say_held(&mut self) {
        for line in std::mem::take(&mut self.held) {
            self.say(&line);
        }
    }

    /// The person has pressed Esc: the run is interrupted, and goes on there if that is decided in its window. Signals are
    /// heard meanwhile.
    fn visit(&mut self) {
        if self.signal.is_some() {
            // After a signal no window opens.
            if let Some(keys) = self.escape.keys() {
                keys.back();
            }
            return;
        }
        self.interject("Esc: asking the server to pause it... (Ctrl+C stops the run)");
        self.is_visited = true;
        let (escape, run) = (self.escape.clone(), self.run);
        let (at, sender) = (Where::There(self.place.clone()), self.beside.0.clone());
        tokio::task::spawn_local(async move {
            let said = escape.visit(run, at).await;
            // The receiver is gone if the following has ended.
            let _ = sender.send(Beside::Visited(said));
        });
    }

    /// Prints an event; returns whether the state of the run may have changed.
    fn tell(&mut self, json: &str) -> anyhow::Result<bool> {
        let Some(event) = FeedEntry::read(json) else {
            return Ok(false);
        };
        let lines = self.lines_of(&event);
        if event.position <= self.after {
            return Ok(false);
        }
        if let Some(state) = event.topic.strip_prefix("run.") {
            self.told = Some(state.to_owned());
        } else if event.topic == "stream.reset" {
            self.told = None;
        }
        if self.json {
            let mut output = io::stdout().lock();
            writeln!(output, "{}", visible_json(json))?;
            output.flush()?;
        } else if self.asking.is_some() || self.is_visited {
            self.held.extend(lines);
        } else {
            for line in lines {
                self.say(&line);
            }
        }
        Ok(event.changes_the_run())
    }

    /// The lines for an event, in the words of a run of this process.
    fn lines_of(&mut self, event: &FeedEntry) -> Vec<String> {
        let columns = io::stderr().is_terminal().then(|| screen_size().0 - 1);
        let at = event.at.unwrap_or_default();
        let mut lines = Vec::new();
        for event in self.occurrences.of(event) {
            let occurrence = RunOccurrence {
                run: self.run,
                sequence: 0,
                at,
                replayed: false,
                event,
            };
            lines.extend(self.printer.tell(&occurrence, columns));
        }
        if self.detail > Detail::Little
            && let Some((tone, symbol, what)) = event.aside(self.detail)
        {
            let about = (at, event.node());
            let about = (about.0, about.1.as_ref());
            lines.extend(self.printer.tell_of(about, (symbol, tone), what, columns));
        }
        lines
    }

    /// Prints something without waiting for the person to finish typing.
    fn interject(&mut self, text: &str) {
        if self.is_visited {
            self.held.push(text.to_owned());
            return;
        }
        let gap = if self.asking.is_some() { "\n" } else { "" };
        self.say(&format!("{gap}{text}"));
    }

    /// Prints something for people.
    fn say(&self, text: &str) {
        if self.detail == Detail::Little && self.signal.is_none() {
            return;
        }
        // Progress that can no longer be read is no reason to fail.
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    async fn end(&self, standing: &RunStatusSnapshot) -> anyhow::Result<Exit> {
        let progress = self.remote.ask(AskProgress { run: self.run }).await?;
        let questions: Vec<Interrupt> = standing.questions().cloned().collect();
        let all = Filter {
            run: Some(self.run),
            ..Filter::default()
        };
        let all = listing::interrupts(&*self.remote as &dyn Backend, &all).await?;
        let ending = RemoteEnding {
            run: &standing.run,
            usage: self.occurrences.usage(),
            interrupts: &all,
            progress: progress.as_ref(),
            standstill: standstill(&standing.run, &standing.waiting),
            questions: &questions,
            signal: self.signal,
            url: &self.url,
        };
        let exit = ending.exit();
        if !self.json {
            if exit == Exit::Success {
                let palette = Palette::for_stream(&io::stdout(), self.global.no_color);
                crate::commands::print(&ending.summary(palette))?;
            } else {
                let _ = write!(io::stderr().lock(), "\n{}", ending.summary(self.palette));
                let waiting = if exit == Exit::Asking {
                    &standing.waiting
                } else {
                    &questions
                };
                for interrupt in waiting {
                    crate::commands::print(&format!("{}\n", interrupt.id))?;
                }
            }
        }
        match ending.failure() {
            Some(failure) => Err(failure.into()),
            None => Ok(exit),
        }
    }
}
