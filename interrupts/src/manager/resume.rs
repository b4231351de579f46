//! Lifting pauses when a run is resumed.

use std::sync::Arc;

use interrupt_router::{DecisionId, InterruptId, InterruptType};

use super::owned_run_state::{KeepError, MOST_SWEPT, OwnedRunState};
use super::tree::Reach;
use crate::digest::Digest;
use crate::life::{
    Actor, Choosing, Evidence, Interrupt, Judge, Refusal, State, Verdict, WithdrawCause,
};
use crate::store::{ChangeError, Deciding, TogetherError};

/// On whose authority pauses are lifted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// A person's: it lifts pauses whichever source asks for them.
    Person,
    /// No person's: pauses that a person asks for remain.
    Machinery,
}

impl OwnedRunState {
    /// Decides the pauses that were found when the run was taken, and gives the run new scopes. `content` goes with the
    /// first one: said once, it is read once.
    pub(crate) async fn resume(
        self: &Arc<Self>,
        (by, word): (&Actor, Word),
        content: Option<String>,
    ) -> Result<Vec<Interrupt>, KeepError> {
        let lifted = {
            // The lock keeps an inbox check from putting a pause in force again while it is decided.
            let _inbox = self.inbox.lock().await;
            let active = self.shared.registry.active_stops(self.run);
            let found: Vec<InterruptId> = active
                .iter()
                .filter(|stop| stop.found && stop.interrupt_type == InterruptType::Pause)
                .map(|stop| stop.id)
                .collect();
            let lifted = self.lift(&found, (by, word), content.as_ref()).await?;
            self.shared.registry.lift(self.run, &found);
            self.shared.registry.new_turn(self.run, &Reach::Run);
            lifted
        };
        // Questions that the pauses held are shown again.
        self.look().await?;
        Ok(lifted)
    }

    /// Decides pauses, all in one transaction or none: if the process dies meanwhile, the run is either still paused or
    /// resumed, and nothing in between. A pause that another caller ends meanwhile is left as that caller ended it.
    async fn lift(
        &self,
        found: &[InterruptId],
        by: (&Actor, Word),
        content: Option<&String>,
    ) -> Result<Vec<Interrupt>, KeepError> {
        let settings = &self.shared.settings;
        let store = &settings.store;
        loop {
            let mut pauses = Vec::with_capacity(found.len());
            for id in found {
                pauses.extend(self.reviewed(*id).await?);
            }
            let deciding = lifting(&pauses, by, content);
            if deciding.is_empty() {
                return Ok(pauses);
            }
            let together = || store.decide_together(deciding.clone());
            match settings.backoff.recover(together).await {
                Ok(_decided) => {}
                Err(TogetherError::Store(error)) => return Err(error.into()),
                Err(TogetherError::Refused(refused)) => {
                    for one in refused {
                        self.is_seen_to(one.error).await?;
                    }
                }
            }
        }
    }

    /// Handles a decision that was refused. If another caller was faster, there is nothing to do: that is seen when the
    /// pause is read again.
    async fn is_seen_to(&self, refused: ChangeError) -> Result<(), KeepError> {
        let was_faster = matches!(
            refused,
            ChangeError::Refused(
                Refusal::StaleVersion { .. } | Refusal::Ended { .. } | Refusal::Illegal { .. }
            )
        );
        if was_faster {
            return Ok(());
        }
        if !matches!(
            refused,
            ChangeError::Refused(Refusal::DeadlinePassed { .. })
        ) {
            return Err(refused.into());
        }
        // Its deadline has passed, which is not recorded yet.
        let settings = &self.shared.settings;
        let sweep = || settings.store.sweep(MOST_SWEPT);
        settings.backoff.recover(sweep).await?;
        Ok(())
    }

    /// Brings a pause from its current state to the point where it awaits its review, or returns it as it has ended:
    /// nothing in the run runs, so it has taken effect.
    async fn reviewed(&self, id: InterruptId) -> Result<Option<Interrupt>, KeepError> {
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
                State::Acknowledged if !pause.is_asked_for() => {
                    self.withdraw(id, WithdrawCause::NobodyAsks).await
                }
                State::Acknowledged => {
                    let shown = Digest::of(pause.content.as_bytes());
                    settings
                        .backoff
                        .recover(|| store.require_review(id, epoch, shown))
                        .await
                }
                State::AwaitingReview
                | State::Requested
                | State::Resolved
                | State::Rerouted
                | State::Expired
                | State::Cancelled
                | State::DeadLettered => return Ok(Some(pause)),
            };
            match changed {
                Ok(_)
                | Err(ChangeError::Refused(
                    Refusal::StaleVersion { .. }
                    | Refusal::Ended { .. }
                    | Refusal::NobodyAsks
                    | Refusal::StillAsked
                    | Refusal::Illegal { .. },
                )) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The decisions that lift those of these pauses that await one. `content` goes with the first of them, unless one of
/// the others was decided with it.
fn lifting(
    pauses: &[Interrupt],
    (by, word): (&Actor, Word),
    content: Option<&String>,
) -> Vec<Deciding> {
    let mut said = content.filter(|words| !is_said(pauses, words));
    let open = pauses
        .iter()
        .filter(|pause| pause.state == State::AwaitingReview);
    open.map(|pause| {
        let content = said.take().cloned();
        let review = pause.review.as_ref();
        let (actor, version) = (by.clone(), pause.version);
        let shown = review.map_or(Digest::ZERO, |review| review.shown);
        Deciding {
            interrupt: pause.id,
            judge: match word {
                Word::Person => Judge::Person {
                    actor,
                    version,
                    shown,
                },
                Word::Machinery => Judge::PolicyLater {
                    actor,
                    version,
                    shown,
                },
            },
            choosing: Choosing {
                // An interrupt has at most one decision, so the decision reuses its UUID.
                id: DecisionId::from_uuid(pause.id.uuid()),
                verdict: match content {
                    None => Verdict::Resume,
                    Some(_) => Verdict::Respond,
                },
                target: None,
                content,
            },
            remember: None,
        }
    })
    .collect()
}

/// Whether one of these pauses was decided with these words.
fn is_said(lifted: &[Interrupt], words: &str) -> bool {
    let decisions = lifted.iter().filter_map(|it| it.decision.as_ref());
    let mut said = decisions.filter_map(|it| it.content.as_deref());
    said.any(|content| content == words)
}
