//! The questions of a run on a server, asked of the person here.

use std::sync::Arc;

use interrupts::life::{Interrupt, State};
use interrupts::signals::{OsSignals, SignalSource as _};
use routing_core::InterruptId;

use super::status::RunStatusSnapshot;
use super::{Beside, Following};
use crate::commands::review::{Chosen, of_person};
use crate::exit::{Exit, Failure};
use crate::installation::{Installation, NewDecision, Remote};
use crate::refused::{decided, no_interrupt};
use crate::reviewer::{Alone, Reply};
use crate::stands::stands;

impl Following {
    /// Asks the person here the first question that he was not asked.
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
            // The terminal may be the window's; the question may be answered there.
            let asking = keyboard.ask().await;
            let now = remote.interrupt(id).await.ok().flatten();
            let open =
                now.filter(|now| now.state == State::AwaitingReview && now.held_by.is_none());
            let Some(question) = open else {
                // Nobody waits for it where the run was left.
                let _ = sender.send(Beside::Decided);
                return;
            };
            // A thread that reads the terminal cannot be joined: the runtime is let go with it.
            std::thread::spawn(move || {
                let reply = of_person(&question, alone, (&asking, keyboard.kept(id)));
                drop(asking);
                // Nobody waits for it where the run was left.
                let _ = sender.send(Beside::Answered(Box::new(question), reply));
            });
        });
    }

    /// Takes the question back that is asked here, where nobody can answer it any more. Who typed the end of a line just
    /// now is told by what is sent.
    pub(super) fn withdraw(&self, standing: &RunStatusSnapshot) {
        // Whoever has the window holds the question himself, and is asked once he has left it.
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

    /// Takes down what is still asked here, and waits until the terminal is nobody's: what was typed of an answer is not
    /// left to whoever reads the terminal next.
    pub(super) async fn take_down(&mut self, signals: &mut OsSignals) -> anyhow::Result<()> {
        if self.is_typing
            && let Some(keyboard) = self.escape.keyboard()
        {
            keyboard.withdraw();
        }
        while self.asking.is_some() {
            tokio::select! {
                biased; // Whoever leaves waits for no terminal.
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

    /// Takes what the person has said to what was shown, and sends what he has chosen.
    pub(super) fn answered(
        &mut self,
        seen: Interrupt,
        reply: anyhow::Result<Reply<Chosen>>,
    ) -> anyhow::Result<()> {
        let id = seen.id;
        self.is_typing = false;
        match reply? {
            Reply::Given(chosen) => {
                let (remote, sender) = (Arc::clone(&self.remote), self.beside.0.clone());
                // Until it is there nothing else is asked; a slow link holds up no signal.
                tokio::task::spawn_local(async move {
                    let sent = send(&remote, &seen, chosen).await;
                    // Nobody waits for it where the run was left.
                    let _ = sender.send(Beside::Sent(sent));
                });
            }
            Reply::Withdrawn => {
                let (remote, sender) = (Arc::clone(&self.remote), self.beside.0.clone());
                tokio::task::spawn_local(async move {
                    let came = came_of(&remote, id).await;
                    // Nobody waits for it where the run was left.
                    let _ = sender.send(Beside::Sent(came.map(Some)));
                });
            }
            Reply::Left => {
                self.left.insert(id);
                self.asked(Some(format!("{id} stays open.")));
            }
            Reply::Escaped(begun) => {
                // Asked again once the window is left.
                if let Some(keyboard) = self.escape.keyboard() {
                    keyboard.keep(id, begun);
                }
                self.asked(None);
            }
        }
        Ok(())
    }

    /// Takes what came of an answer.
    pub(super) fn sent(&mut self, sent: Result<Option<String>, Failure>) -> Result<(), Failure> {
        self.asked(sent?);
        Ok(())
    }

    /// Nobody is asked any more: what was held back is said, and what came of the question.
    fn asked(&mut self, came: Option<String>) {
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

/// Decides what was chosen about what was shown; what is to be said of it.
async fn send(
    remote: &Remote,
    seen: &Interrupt,
    chosen: Chosen,
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
        interrupt: id,
        version: now.version,
        shown: review.shown,
        verdict: chosen.verdict,
        target: chosen.target,
        content: chosen.content,
        remember: None,
    };
    match remote.decide(decision).await {
        Ok(_decided) => Ok(None),
        // Somebody was first: the run goes on all the same.
        Err(failure) if failure.exit == Exit::Conflict => Ok(Some(failure.to_string())),
        Err(failure) => Err(failure),
    }
}

/// What came of a question that was taken back.
async fn came_of(remote: &Remote, id: InterruptId) -> Result<String, Failure> {
    let now = remote.interrupt(id).await?;
    Ok(ended_meanwhile(&now.ok_or_else(|| no_interrupt(id))?))
}

/// How a question stands that nobody here has answered.
fn ended_meanwhile(now: &Interrupt) -> String {
    let id = now.id;
    match &now.decision {
        Some(decision) => format!("{id} was decided meanwhile: {}", decided(decision)),
        None if now.held_by.is_some() => format!("{id} waits: another interrupt goes first."),
        None => format!(
            "{id} is {}: it takes no answer any more.",
            stands(now.state)
        ),
    }
}
