//! The questions of a run on a server, asked of the person here.

use std::sync::Arc;

use interrupts::life::{Interrupt, State};

use super::{Beside, Following, Standing};
use crate::commands::review::{Chosen, of_person};
use crate::exit::Exit;
use crate::installation::{Installation, NewDecision};
use crate::refused::{decided, no_interrupt};
use crate::reviewer::{Alone, Reply};

impl Following {
    /// Asks the person here the first question that he was not asked.
    pub(super) fn ask_next(&mut self, standing: &Standing) {
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
        let (id, sender) = (question.id, self.beside.0.clone());
        let Some(keyboard) = self.escape.keyboard() else {
            return;
        };
        let remote = Arc::clone(&self.remote);
        let alone = Alone::new(self.palette);
        self.asking = Some(id);
        tokio::task::spawn_local(async move {
            // The terminal may be the window's; the question may be answered there.
            let asking = keyboard.ask().await;
            let now = remote.interrupt(id).await.ok().flatten();
            let open = now.filter(|now| now.state == State::AwaitingReview);
            let Some(question) = open else {
                // Nobody waits for it where the run was left.
                let _ = sender.send(Beside::Decided(id));
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

    /// Decides what the person has chosen about what was shown.
    pub(super) async fn answered(
        &mut self,
        seen: &Interrupt,
        reply: anyhow::Result<Reply<Chosen>>,
    ) -> anyhow::Result<()> {
        let id = seen.id;
        self.asking = None;
        if !self.is_visited {
            self.say_held();
        }
        let chosen = match reply? {
            Reply::Given(chosen) => chosen,
            Reply::Left => {
                self.left.insert(id);
                self.say(&format!("{id} stays open."));
                return Ok(());
            }
            Reply::Escaped(begun) => {
                // Asked again once the window is left.
                if let Some(keyboard) = self.escape.keyboard() {
                    keyboard.keep(id, begun);
                }
                return Ok(());
            }
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
        let (Some(review), Some(before)) = (&now.review, &seen.review) else {
            return Ok(());
        };
        if review.shown != before.shown {
            // It is asked again, as it is now.
            self.say(&format!("{id} has changed meanwhile; nothing was decided."));
            return Ok(());
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
}
