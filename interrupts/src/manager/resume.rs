//! Lifting pauses when a run is resumed.

use std::sync::Arc;

use routing_core::{DecisionId, InterruptType};

use super::keeper::{KeepError, Keeper};
use super::tree::Reach;
use crate::digest::Digest;
use crate::life::{Actor, Choosing, Evidence, Interrupt, Judge, Refusal, State, Verdict};
use crate::store::ChangeError;

impl Keeper {
    /// Decides the pauses that the run was found with, and gives it new scopes. What is said with it goes with the
    /// first one: said once, it is read once.
    pub(crate) async fn resume(
        self: &Arc<Self>,
        by: &Actor,
        content: Option<String>,
    ) -> Result<Vec<Interrupt>, KeepError> {
        let mut lifted = Vec::new();
        {
            // No look into the inbox puts a pause in force again while it is decided.
            let _inbox = self.inbox.lock().await;
            let standing = self.shared.registry.standing(self.run);
            let found = standing
                .iter()
                .filter(|stop| stop.found && stop.interrupt_type == InterruptType::Pause);
            for stop in found {
                let said = content.as_ref().filter(|it| !is_said(&lifted, it));
                if let Some(interrupt) = self.lift(stop.id, by, said).await? {
                    lifted.push(interrupt);
                }
                self.shared.registry.lift(self.run, &[stop.id]);
            }
            self.shared.registry.new_turn(self.run, &Reach::Run);
        }
        // Questions that the pauses held are shown again.
        self.look().await?;
        Ok(lifted)
    }

    /// Decides a pause, from wherever it stands: nothing of the run runs, so it has taken hold.
    async fn lift(
        &self,
        id: routing_core::InterruptId,
        by: &Actor,
        content: Option<&String>,
    ) -> Result<Option<Interrupt>, KeepError> {
        let settings = &self.shared.settings;
        let store = &settings.store;
        loop {
            self.check_owned()?;
            let found = settings.backoff.recover(|| store.interrupt(id)).await?;
            let Some(pause) = found else { return Ok(None) };
            let epoch = pause.epoch;
            let changed = match pause.state {
                State::Delivered => {
                    let evidence = Evidence::Cancelled;
                    settings
                        .backoff
                        .recover(|| store.acknowledge(id, epoch, evidence.clone()))
                        .await
                }
                State::Acknowledged => {
                    let shown = Digest::of(pause.content.as_bytes());
                    settings
                        .backoff
                        .recover(|| store.require_review(id, epoch, shown))
                        .await
                }
                State::AwaitingReview => self.decide_pause(&pause, by, content).await,
                State::Requested
                | State::Resolved
                | State::Rerouted
                | State::Expired
                | State::Cancelled
                | State::DeadLettered => return Ok(Some(pause)),
            };
            match changed {
                Ok(_)
                | Err(ChangeError::Refused(
                    Refusal::StaleVersion { .. } | Refusal::Ended { .. } | Refusal::Illegal { .. },
                )) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn decide_pause(
        &self,
        pause: &Interrupt,
        by: &Actor,
        content: Option<&String>,
    ) -> Result<Interrupt, ChangeError> {
        let settings = &self.shared.settings;
        let review = pause.review.as_ref();
        let judge = Judge::Person {
            actor: by.clone(),
            version: pause.version,
            shown: review.map_or(Digest::ZERO, |review| review.shown),
        };
        let choosing = Choosing {
            // An interrupt has one decision at most, so its own bits name it.
            id: DecisionId::from_uuid(pause.id.uuid()),
            verdict: match content {
                None => Verdict::Resume,
                Some(_) => Verdict::Respond,
            },
            target: None,
            content: content.cloned(),
        };
        settings
            .backoff
            .recover(|| {
                settings
                    .store
                    .decide(pause.id, judge.clone(), choosing.clone())
            })
            .await
    }
}

/// Whether one of these was decided with these words.
fn is_said(lifted: &[Interrupt], words: &str) -> bool {
    let decisions = lifted.iter().filter_map(|it| it.decision.as_ref());
    let mut said = decisions.filter_map(|it| it.content.as_deref());
    said.any(|content| content == words)
}
