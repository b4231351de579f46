//! The questions of a run on a server, asked of the person here.

use std::sync::Arc;

use control::{DecisionParts, NewDecision};
use interrupt_router::InterruptId;
use interrupts::life::{Interrupt, State};
use interrupts::signals::{OsSignals, SignalSource as _};

use super::status::RunStatusSnapshot;
use super::{Beside, FollowedRun};
use crate::backend::Backend;
use crate::commands::review::of_person;
use crate::exit::{Exit, Failure};
use crate::refused::{decided, no_interrupt};
use crate::reviewer::{Alone, Reply};
use crate::state_words::state_words;

impl FollowedRun {
    /// Asks the person here the first question that they have not been asked yet.
    pub(super) fn ask_next(&mut self, standing: &RunStatusSnapshot) {
        if !self.asks || self.asking.is_some() || self.signal.is_some() {
            return;
        }
        let left = &self.left;
        let Some(question) = standing
            .questions()
            .find(|question| !left.contains(&question.id))
        else {
            return;
        };
        let (id, sender) = (question.id, self.beside.0.clone());
        let Some(keyboard) = self.escape.keyboard() else {
            return;
        };
        let remote = Arc::clone(&self.remote);
        let alone = Alone::new(self.palette);
        self.asking = Some(id);
        self.is_typing = true;
        tokio::task::spawn_local(async move {
            // The window may have the terminal; the question may be answered there.
            let asking = keyboard.ask().await;
            let now = remote.interrupt(id).await.ok().flatten();
            let open =
                now.filter(|now| now.state == State::AwaitingReview && now.held_by.is_none());
            let Some(question) = open else {
                // The receiver is gone if the following has ended.
                let _ = sender.send(Beside::Decided);
                return;
            };
            // A thread that reads the terminal cannot be joined: the runtime drops it.
            std::thread::spawn(move || {
                let reply = of_person(&question, alone, (&asking, keyboard.kept(id)));
                drop(asking);
                // The receiver is gone if the following has ended.
                let _ = sender.send(Beside::Answered(Box::new(question), reply));
            });
        });
    }

    /// Withdraws the question that is asked here if it can no longer be answered. A person who has just finished a line
    /// learns it from the result of sending it.
    pub(super) fn withdraw(&self, standing: &RunStatusSnapshot) {
        // The window itself shows the question, and the person is asked here after leaving it.
        let Some(id) = self.asking.filter(|_id| self.is_typing && !self.is_visited) else {
            return;
        };
        if standing.questions().any(|question| question.id == id) {
            return;
        }
        if let Some(keyboard) = self.escape.keyboard() {
            keyboard.withdraw();
        }
    }

    /// Takes down the question that is still asked here, and waits until the terminal is released: a half-typed answer must
    /// not reach the next reader of the terminal.
    pub(super) async fn take_down(&mut self, signals: &mut OsSignals) -> anyhow::Result<()> {
        if self.is_typing
            && let Some(keyboard) = self.escape.keyboard()
        {
            keyboard.withdraw();
        }
        while self.asking.is_some() {
            tokio::select! {
                biased; // A signal does not wait for the terminal.
                signal = signals.next() => {
                    if let Some(signal) = signal {
                        self.stop(signal)?;
                    }
                }
                Some(came) = self.beside.1.recv() => {
                    self.came(came)?;
                }
            }
        }
        Ok(())
    }

    /// Handles the person's reply to a question, and sends what they chose.
    pub(super) fn answered(
        &mut self,
        seen: Interrupt,
        reply: anyhow::Result<Reply<DecisionParts>>,
    ) -> anyhow::Result<()> {
        let id = seen.id;
        self.is_typing = false;
        match reply? {
            Reply::Given(chosen) => {
                let (remote, sender) = (Arc::clone(&self.remote), self.beside.0.clone());
                // No other question is asked until it is sent; a slow connection does not delay a signal.
                tokio::task::spawn_local(async move {
                    let sent = send(&*remote, &seen, chosen).await;
                    // The receiver is gone if the following has ended.
                    let _ = sender.send(Beside::Sent(sent));
                });
            }
            Reply::Withdrawn => {
                let (remote, sender) = (Arc::clone(&self.remote), self.beside.0.clone());
                tokio::task::spawn_local(async move {
                    let came = came_of(&*remote, id).await;
                    // The receiver is gone if the following has ended.
                    let _ = sender.send(Beside::Sent(came.map(Some)));
                });
            }
            Reply::Left => {
                self.left.insert(id);
                self.finish_asking(Some(format!("{id} stays open.")));
            }
            Reply::Escaped(begun) => {
                // Asked again once the window is closed.
                if let Some(keyboard) = self.escape.keyboard() {
                    keyboard.keep(id, begun);
                }
                self.finish_asking(None);
            }
        }
        Ok(())
    }

    /// Handles the result of an answer.
    pub(super) fn sent(&mut self, sent: Result<Option<String>, Failure>) -> Result<(), Failure> {
        self.finish_asking(sent?);
        Ok(())
    }

    /// No question is being asked any more: prints the held lines and the result of the question.
    fn finish_asking(&mut self, came: Option<String>) {
        self.asking = None;
        if self.is_visited {
            self.held.extend(came);
            return;
        }
        self.say_held();
        if let Some(text) = came {
            self.say(&text);
        }
    }
}

/// Decides what was chosen about the shown interrupt; returns what to print.
async fn send(
    remote: &dyn Backend,
    seen: &Interrupt,
    chosen: DecisionParts,
) -> Result<Option<String>, Failure> {
    let id = seen.id;
    let now = remote.interrupt(id).await?;
    let now = now.ok_or_else(|| no_interrupt(id))?;
    if now.decision.is_some() {
        return Ok(Some(ended_meanwhile(&now)));
    }
    let (Some(review), Some(before)) = (&now.review, &seen.review) else {
        return Ok(None);
    };
    if review.shown != before.shown {
        // It is asked again, as it is now.
        let text = format!("{id} has changed meanwhile; nothing was decided.");
        return Ok(Some(text));
    }
    let decision = NewDecision {
        version: Some(now.version),
        shown: Some(review.shown),
        parts: chosen,
        remember: None,
    };
    match remote.decide(id, decision).await {
        Ok(_decided) => Ok(None),
        // Another reviewer was first: the run goes on all the same.
        Err(failure) if failure.exit == Exit::Conflict => Ok(Some(failure.to_string())),
        Err(failure) => Err(failure),
    }
}

/// The outcome of a question that was withdrawn.
async fn came_of(remote: &dyn Backend, id: InterruptId) -> Result<String, Failure> {
    let now = remote.interrupt(id).await?;
    Ok(ended_meanwhile(&now.ok_or_else(|| no_interrupt(id))?))
}

/// The state of a question that no person here has answered.
fn ended_meanwhile(now: &Interrupt) -> String {
    let id = now.id;
    match &now.decision {
        Some(decision) => format!("{id} was decided meanwhile: {}", decided(decision)),
        None if now.held_by.is_some() => format!("{id} waits: another interrupt goes first."),
        None => format!(
            "{id} is {}: it takes no answer any more.",
            state_words(now.state)
        ),
    }
}
