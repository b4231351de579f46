//! Delivery: leases, epochs, attempts, and what shows that an interrupt took effect.

use interrupt_router::StopMode;
use jiff::Timestamp;

use super::{Draft, Step};
use crate::digest::Digest;
use crate::life::effect::{Effect, Notice};
use crate::life::event::Evidence;
use crate::life::interrupt::{BoundReroute, Interrupt, Lease};
use crate::life::lane::{Family, narrow};
use crate::life::refusal::Refusal;
use crate::life::review::Review;
use crate::life::state::State;
use crate::names::OwnerName;

impl Interrupt {
    pub(super) fn take(
        &self,
        owner: &OwnerName,
        until: Timestamp,
        lost: Option<&OwnerName>,
        now: Timestamp,
    ) -> Result<Draft, Refusal> {
        if let Some(lease) = self.lease_at(now)
            && lost != Some(&lease.owner)
        {
            return Err(Refusal::Leased {
                owner: lease.owner.clone(),
                until: lease.until,
            });
        }
        // The delivery did not fail; its owner ended. However often that happens, the interrupt is not given up.
        let is_taken_over = self
            .lease
            .as_ref()
            .is_some_and(|lease| lost == Some(&lease.owner));
        if !is_taken_over && self.attempts >= self.most_attempts {
            return Err(Refusal::AttemptsSpent {
                attempts: self.attempts,
            });
        }
        let to = if self.state == State::Acknowledged {
            State::Acknowledged
        } else {
            State::Delivered
        };
        let mut draft = Draft::of(self, to);
        draft.next.epoch += 1;
        draft.next.attempts += u32::from(!is_taken_over);
        draft.next.lease = Some(Lease {
            owner: owner.clone(),
            until,
        });
        draft.detail = Some(format!("delivered to {owner}"));
        draft.effects.push(Effect::NewEpoch {
            epoch: draft.next.epoch,
            owner: owner.clone(),
        });
        draft.tell(Notice::Delivered);
        Ok(draft)
    }

    /// A renewed lease is not history: it makes neither a version nor an audit row.
    pub(super) fn renew(&self, epoch: u64, until: Timestamp) -> Result<Step, Refusal> {
        self.check_epoch(epoch)?;
        let mut interrupt = self.clone();
        match &mut interrupt.lease {
            Some(lease) => lease.until = lease.until.max(until),
            None => {
                return Err(Refusal::Illegal {
                    state: self.state,
                    event: "renew",
                });
            }
        }
        Ok(interrupt.unchanged())
    }

    pub(super) fn acknowledge(
        &self,
        epoch: u64,
        evidence: &Evidence,
        pending: Option<&BoundReroute>,
        now: Timestamp,
    ) -> Result<Draft, Refusal> {
        self.check_epoch(epoch)?;
        let mut draft = Draft::of(self, State::Acknowledged);
        match (self.family(), evidence) {
            (Family::Stop, Evidence::Cancelled) => {}
            (Family::Stop, Evidence::Boundary) if self.mode == StopMode::Graceful => {}
            (Family::Question, Evidence::Request { content, form }) => {
                draft.next.content.clone_from(content);
                let form = form.or_else(|| draft.next.details().form());
                narrow(&mut draft.next.allowed, form);
            }
            (Family::Stop, Evidence::Boundary | Evidence::Request { .. })
            | (Family::Question, Evidence::Boundary | Evidence::Cancelled) => {
                return Err(Refusal::EvidenceInsufficient);
            }
        }
        draft.next.acknowledged_at = Some(now);
        if let Some(reroute) = pending.filter(|reroute| self.answers(reroute)) {
            draft.next.bound = Some(reroute.clone());
            draft.effects.push(Effect::BindReroute {
                event: reroute.event.clone(),
            });
        }
        draft.tell(Notice::Acknowledged);
        Ok(draft)
    }

    /// A question answers any reroute that waits for its node. A stop answers only its own event's: a person's Ctrl+C
    /// must not use up what a supervisor meant for the agent's next question.
    fn answers(&self, reroute: &BoundReroute) -> bool {
        self.allows_target(&reroute.target)
            && match self.family() {
                Family::Question => true,
                Family::Stop => reroute.event.as_str() == self.key.as_str(),
            }
    }

    pub(super) fn require_review(&self, epoch: u64, shown: Digest) -> Result<Draft, Refusal> {
        self.check_epoch(epoch)?;
        if self.family() == Family::Stop && !self.is_asked_for() {
            return Err(Refusal::NobodyAsks);
        }
        let mut draft = Draft::of(self, State::AwaitingReview);
        draft.next.review = Some(Review::of(shown));
        draft.effects.push(Effect::OpenReview { shown });
        draft.tell(Notice::ReviewOpened);
        Ok(draft)
    }

    pub(super) fn fail_delivery(
        &self,
        epoch: Option<u64>,
        error: &str,
        now: Timestamp,
    ) -> Result<Draft, Refusal> {
        match (epoch, self.lease_at(now)) {
            (Some(epoch), _) => {
                self.check_epoch(epoch)?;
                // A repeated report counts once: the first one took the lease away.
                if self.state != State::Requested && self.lease.is_none() {
                    return Err(Refusal::Illegal {
                        state: self.state,
                        event: "delivery_failed",
                    });
                }
            }
            (None, None) => {}
            (None, Some(lease)) => {
                return Err(Refusal::Leased {
                    owner: lease.owner.clone(),
                    until: lease.until,
                });
            }
        }
        // A delivery that no worker took was not counted when it began.
        let attempts = match self.state {
            State::Requested => self.attempts.saturating_add(1),
            State::Delivered
            | State::Acknowledged
            | State::AwaitingReview
            | State::Resolved
            | State::Rerouted
            | State::Expired
            | State::Cancelled
            | State::DeadLettered => self.attempts,
        };
        let spent = attempts >= self.most_attempts;
        let to = if spent {
            State::DeadLettered
        } else {
            self.state
        };
        let mut draft = Draft::of(self, to);
        draft.next.attempts = attempts;
        draft.next.lease = None;
        draft.next.last_error = Some(error.to_owned());
        draft.detail = Some(error.to_owned());
        if spent {
            draft.release_reroute();
            draft.effects.push(Effect::Alert {
                error: error.to_owned(),
            });
            draft.tell(Notice::DeadLettered);
        }
        Ok(draft)
    }
}
