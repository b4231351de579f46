//! When a user's stop meets open questions: the stop has priority, and nothing is dropped.
//!
//! The stop puts a question that waits for a person on hold. The question stays live and listed, and can be decided
//! again when the stop has ended: a stop that has ended holds no question.

use interrupt_router::{InterruptId, StopSource};

use super::owned_run_state::{KeepError, OwnedRunState};
use super::registry::ActiveStop;
use super::tree::Reach;
use crate::life::{Family, Interrupt, ReviewChange, State};
use crate::store::ChangeError;

impl OwnedRunState {
    /// Puts questions on hold that a user's stop reaches, and releases those whose stop has ended.
    pub(crate) async fn settle_clashes(&self, live: &[Interrupt]) -> Result<(), KeepError> {
        let active = self.shared.registry.active_stops(self.run);
        let stops: Vec<_> = active
            .iter()
            .filter(|stop| stop.reason.source == StopSource::User)
            .collect();
        for question in live.iter().filter(|interrupt| is_open_question(interrupt)) {
            match question.held_by {
                None => {
                    if let Some(stop) = stops.iter().find(|stop| reaches(stop, question))
                        && self.is_live(stop.id).await?
                    {
                        tracing::info!(question = %question.id, stop = %stop.id,
                            "a user's stop meets an open question, which is held");
                        let change = ReviewChange::Hold { by: stop.id };
                        self.change_review(question, change).await?;
                    }
                }
                Some(holder) => {
                    if !self.is_live(holder).await? {
                        tracing::info!(question = %question.id, stop = %holder,
                            "the question is shown again");
                        let change = ReviewChange::Unhold { by: holder };
                        self.change_review(question, change).await?;
                    }
                }
            }
        }
        Ok(())
    }

    async fn is_live(&self, id: InterruptId) -> Result<bool, KeepError> {
        let settings = &self.shared.settings;
        let found = self.read(|| settings.store.interrupt(id)).await?;
        Ok(found.is_some_and(|interrupt| interrupt.state.is_live()))
    }

    async fn change_review(
        &self,
        question: &Interrupt,
        change: ReviewChange,
    ) -> Result<(), KeepError> {
        let settings = &self.shared.settings;
        let actor = settings.actor();
        let changed = self
            .write(|| {
                settings
                    .store
                    .review(question.id, actor.clone(), question.version, change.clone())
            })
            .await;
        match changed {
            // If the question has changed meanwhile, a notice wakes this run, which checks it again.
            Ok(_) | Err(ChangeError::Refused(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn is_open_question(interrupt: &Interrupt) -> bool {
    interrupt.family() == Family::Question && interrupt.state == State::AwaitingReview
}

fn reaches(stop: &ActiveStop, question: &Interrupt) -> bool {
    match &stop.reach {
        Reach::Run => true,
        Reach::Node(node) => question.node.is_within(node),
    }
}
