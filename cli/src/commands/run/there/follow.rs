//! Following a run on a server: its events as they come, its questions, and what a person here does about it.
//!
//! Events say that there is something to look at; how the run stands is read each time, so that nothing depends
//! on an event that was lost or came twice.

use std::collections::HashSet;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use interrupts::life::{Family, Interrupt, Scope, State};
use interrupts::signals::{OsSignals, Signal, SignalSource};
use interrupts::store::{Filter, Run};
use routing_core::{InterruptId, InterruptType, RunId, StopMode};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::ending::{Ending, Standstill, standstill};
use super::story::Event;
use super::{Remote, Server};
use crate::arguments::Global;
use crate::commands::review::{Chosen, of_person};
use crate::commands::run::escape::{Escape, Where};
use crate::commands::run::talk::Talk;
use crate::exit::{Exit, Failure};
use crate::installation::{Feed, Installation, NewDecision, NewStop, Next, ServerPlace};
use crate::keep::{FIRST_WORDS, SECOND_WORDS, TERMINATED_WORDS};
use crate::keyboard::{Asking, Keyboard};
use crate::listing;
use crate::palette::Palette;
use crate::refused::{decided, no_interrupt};
use crate::report::Detail;
use crate::request::Addressee;
use crate::reviewer::Alone;
use crate::visible::visible_json;

/// How long a run that was told to go on may stand still before that counts as its standstill.
const GETTING_UP: Duration = Duration::from_secs(15);

/// Why a run was asked to stop.
const REASON: &str = "interrupted from the terminal";

/// How the run stands.
struct Standing {
    run: Run,
    waiting: Vec<Interrupt>,
}

impl Standing {
    /// The questions that somebody can answer now.
    fn questions(&self) -> impl Iterator<Item = &Interrupt> {
        self.waiting.iter().filter(|interrupt| {
            interrupt.family() == Family::Question && interrupt.held_by.is_none()
        })
    }
}

/// Waits for Esc, where it is heard.
async fn escaped(keys: Option<&Keyboard>) {
    match keys {
        Some(keys) => keys.escape().await,
        None => std::future::pending().await,
    }
}

/// What a person answered, in his own time.
type Answered = (InterruptId, anyhow::Result<Option<Chosen>>);

/// A run on a server that is followed.
pub(super) struct Following {
    remote: Arc<Remote>,
    feed: Feed,
    run: RunId,
    url: String,
    detail: Detail,
    json: bool,
    /// Whether there is somebody here to ask.
    asks: bool,
    palette: Palette,
    global: Global,
    /// The signals that were heard.
    heard: u32,
    signal: Option<Exit>,
    /// The question that is asked now.
    asking: Option<InterruptId>,
    /// The terminal, while something is asked there.
    asked: Option<Asking>,
    /// The window that Esc opens.
    escape: Escape,
    place: ServerPlace,
    /// What is told when the person has answered: nobody can type below lines that move.
    held: Vec<String>,
    /// Until when the run may still get up.
    getting_up: Instant,
    /// The questions that the person has left open.
    left: HashSet<InterruptId>,
    answers: (
        mpsc::UnboundedSender<Answered>,
        mpsc::UnboundedReceiver<Answered>,
    ),
}

impl Following {
    /// Follows a run from a position of the feed.
    ///
    /// # Errors
    ///
    /// Where the terminal cannot be read. Nothing is asked of the server before [`Following::until_its_end`].
    pub(super) fn of(
        server: Server,
        run: RunId,
        after: String,
        talk: Talk,
        global: Global,
    ) -> Result<Self, Failure> {
        let Server {
            client,
            remote,
            url,
            place,
        } = server;
        let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
        let escape = Escape::of(talk, global)
            .map_err(|error| Failure::new(Exit::Failure, format!("the terminal: {error}")))?;
        Ok(Self {
            escape,
            place,
            asked: None,
            feed: Feed::of(client, Some(run), after),
            remote,
            run,
            url,
            detail: match (global.quiet, global.verbose) {
                (true, _) => Detail::Little,
                (false, 0) => Detail::Usual,
                (false, _) => Detail::Much,
            },
            json: talk.json,
            asks: is_terminal && talk.input_is_free && !talk.no_input,
            palette: Palette::for_stream(&io::stderr(), global.no_color),
            global,
            heard: 0,
            signal: None,
            asking: None,
            held: Vec::new(),
            getting_up: Instant::now() + GETTING_UP,
            left: HashSet::new(),
            answers: mpsc::unbounded_channel(),
        })
    }

    /// Follows it until it has ended, stands still, or asks something that nobody here answers.
    ///
    /// # Errors
    ///
    /// As a run in the foreground fails; where the server stays away.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the run goes on there.
    pub(super) async fn until_its_end(mut self) -> anyhow::Result<Exit> {
        // From here on no signal ends the process by itself.
        let mut signals = OsSignals::listen()?;
        self.say(&format!("{} on {}", self.run, self.url));
        let keys = self.escape.keys();
        if let Some(keys) = &keys {
            keys.listen(true);
        }
        let mut standing = self.look().await?;
        loop {
            if self.is_over(&standing) {
                return self.end(&standing).await;
            }
            self.ask_next(&standing).await;
            tokio::select! {
                biased; // Whoever stops it waits for no event.
                signal = signals.next() => {
                    if let Some(signal) = signal {
                        self.stop(signal).await?;
                    }
                }
                () = escaped(keys.as_deref()) => {
                    self.visit().await;
                    standing = self.look().await?;
                }
                () = tokio::time::sleep_until(self.getting_up), if Instant::now() < self.getting_up => {
                    standing = self.look().await?;
                }
                answered = self.answers.1.recv() => {
                    if let Some((id, answered)) = answered {
                        self.answered(id, answered).await?;
                        standing = self.look().await?;
                    }
                }
                next = self.feed.next() => match next? {
                    Next::Event(told) => if self.tell(&told.json)? {
                        standing = self.look().await?;
                    },
                    Next::Away => self.interject("The server is away; it is looked for. The run is kept."),
                    Next::Back => {
                        self.interject("The server is back.");
                        standing = self.look().await?;
                    }
                    Next::End => {
                        standing = self.look().await?;
                        return self.end(&standing).await;
                    }
                },
            }
        }
    }

    async fn look(&self) -> Result<Standing, Failure> {
        let filter = Filter {
            run: Some(self.run),
            node: None,
            states: vec![State::AwaitingReview],
        };
        let remote: &dyn Installation = &*self.remote;
        let waiting = listing::interrupts(remote, &filter).await?;
        let run = remote.run(self.run).await?;
        let gone = || Failure::new(Exit::NotFound, format!("there is no run {}", self.run));
        Ok(Standing {
            run: run.ok_or_else(gone)?,
            waiting,
        })
    }

    /// Whether there is nothing to wait for here, though the run has not ended.
    fn is_over(&self, standing: &Standing) -> bool {
        if standing.run.state.is_final() {
            // What is left of its events ends by itself.
            return false;
        }
        match standstill(&standing.run, &standing.waiting) {
            Standstill::None | Standstill::Shutdown => {}
            // Its pause was lifted, and nobody has taken it up yet.
            Standstill::Lifted if Instant::now() < self.getting_up => {}
            Standstill::Lifted | Standstill::Limit | Standstill::Trouble | Standstill::Paused => {
                return true;
            }
        }
        // What the person here was asked and left open is for somebody else.
        let mut questions = standing.questions().peekable();
        let is_asked = questions.peek().is_some();
        let is_left = questions.all(|question| self.left.contains(&question.id));
        is_asked && self.asking.is_none() && (!self.asks || is_left)
    }

    /// Asks the person here the first question that he was not asked.
    async fn ask_next(&mut self, standing: &Standing) {
        if !self.asks || self.asking.is_some() || self.heard > 0 {
            return;
        }
        let left = &self.left;
        let Some(question) = standing
            .questions()
            .find(|question| !left.contains(&question.id))
        else {
            return;
        };
        self.asking = Some(question.id);
        if let Some(keyboard) = self.escape.keyboard() {
            self.asked = Some(keyboard.ask().await);
        }
        let (question, answers) = (question.clone(), self.answers.0.clone());
        let alone = Alone::new(self.palette);
        // A thread that reads the terminal cannot be joined: the runtime is let go with it.
        std::thread::spawn(move || {
            let chosen = of_person(&question, alone);
            // Nobody waits for it where the run was left.
            let _ = answers.send((question.id, chosen));
        });
    }

    /// Decides what the person has chosen.
    async fn answered(
        &mut self,
        id: InterruptId,
        answered: anyhow::Result<Option<Chosen>>,
    ) -> anyhow::Result<()> {
        self.asking = None;
        self.asked = None;
        for line in std::mem::take(&mut self.held) {
            self.say(&line);
        }
        let Some(chosen) = answered? else {
            self.left.insert(id);
            self.say(&format!("{id} stays open."));
            return Ok(());
        };
        let now = self.remote.interrupt(id).await?;
        let now = now.ok_or_else(|| no_interrupt(id))?;
        if let Some(decision) = &now.decision {
            self.say(&format!(
                "{id} was decided meanwhile: {}",
                decided(decision)
            ));
            return Ok(());
        }
        let Some(review) = &now.review else {
            return Ok(());
        };
        let decision = NewDecision {
            interrupt: id,
            version: now.version,
            shown: review.shown,
            verdict: chosen.verdict,
            target: chosen.target,
            content: chosen.content,
            remember: None,
        };
        match self.remote.decide(decision).await {
            Ok(_decided) => Ok(()),
            // Somebody was first: the run goes on all the same.
            Err(failure) if failure.exit == Exit::Conflict => {
                self.say(&failure.to_string());
                Ok(())
            }
            Err(failure) => Err(failure.into()),
        }
    }

    /// Somebody has pressed Esc: the run is interrupted, and goes on there where that is decided in its window.
    async fn visit(&mut self) {
        let at = Where::There(self.place.clone());
        for text in self.escape.visit(self.run, at).await {
            self.say(&text);
        }
        if let Some(keys) = self.escape.keys() {
            keys.back();
        }
        self.getting_up = Instant::now() + GETTING_UP;
    }

    /// What a signal does: the first one asks for a graceful stop, the second for one at once, the third leaves.
    async fn stop(&mut self, signal: Signal) -> anyhow::Result<()> {
        self.heard += 1;
        let exit = Exit::by(signal);
        self.signal.get_or_insert(exit);
        let mode = match (self.heard, signal) {
            (1, Signal::Interrupt) => {
                self.say(FIRST_WORDS);
                StopMode::Graceful
            }
            (1, Signal::Terminate) => {
                self.say(TERMINATED_WORDS);
                StopMode::Graceful
            }
            (2, _) => {
                self.say(SECOND_WORDS);
                StopMode::Immediate
            }
            _ => {
                let text = format!(
                    "Left at once. The run is told to stop and goes on doing so there: irq ps {} --server {}",
                    self.run, self.url
                );
                return Err(Failure::new(exit, text).into());
            }
        };
        let remote: &dyn Installation = &*self.remote;
        let run = remote.run(self.run).await?;
        let Some(run) = run.filter(|run| !run.state.is_final()) else {
            return Ok(());
        };
        let to = Addressee::whole(remote, run).await?;
        let stop = NewStop {
            interrupt_type: InterruptType::Pause,
            mode,
            scope: Scope::Run,
            reason: REASON.to_owned(),
        };
        match remote.stop(&to, &stop).await {
            Ok(_requested) => Ok(()),
            // It has ended meanwhile: the feed tells how.
            Err(failure) if failure.exit == Exit::Conflict => Ok(()),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Tells an event; whether the run may stand otherwise after it.
    fn tell(&mut self, json: &str) -> anyhow::Result<bool> {
        if self.json {
            let mut output = io::stdout().lock();
            writeln!(output, "{}", visible_json(json))?;
            output.flush()?;
        }
        let Some(event) = Event::read(json) else {
            return Ok(false);
        };
        if !self.json
            && let Some(line) = event.line(self.detail, self.palette)
        {
            if self.asking.is_some() {
                self.held.push(line);
            } else {
                self.say(&line);
            }
        }
        Ok(event.changes_the_run())
    }

    /// Says something that does not wait for the person to have typed.
    fn interject(&self, text: &str) {
        let gap = if self.asking.is_some() { "\n" } else { "" };
        self.say(&format!("{gap}{text}"));
    }

    /// Says something to people.
    fn say(&self, text: &str) {
        if self.detail == Detail::Little && self.heard == 0 {
            return;
        }
        // Progress that nobody can read any more is no reason to fail.
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    async fn end(&self, standing: &Standing) -> anyhow::Result<Exit> {
        let progress = self.remote.progress(self.run).await?;
        let questions: Vec<Interrupt> = standing.questions().cloned().collect();
        let ending = Ending {
            run: &standing.run,
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
