//! The one interpreter of the table: an event and a time in, a new interrupt and its effects out.

mod asking;
mod decide;
mod deliver;
mod review;

use jiff::Timestamp;

use super::decision::Decision;
use super::effect::{Audited, Effect, Notice};
use super::event::{Actor, Event, Role, WithdrawCause};
use super::interrupt::Interrupt;
use super::lane::Family;
use super::refusal::Refusal;
use super::state::State;
use super::table::Transition;
use interrupt_router::StopMode;

/// What an event did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The interrupt as it is now.
    pub interrupt: Interrupt,
    /// The transition; `None` for an admission, and for what changes no state.
    pub transition: Option<&'static Transition>,
    /// What the store does in the same transaction.
    pub effects: Vec<Effect>,
}

/// The interrupt while a step is worked out: what comes next, and what it causes.
struct Draft {
    next: Interrupt,
    to: State,
    effects: Vec<Effect>,
    detail: Option<String>,
}

impl Draft {
    fn of(interrupt: &Interrupt, to: State) -> Self {
        Self {
            next: interrupt.clone(),
            to,
            effects: Vec::new(),
            detail: None,
        }
    }

    /// The reroute waits again: its interrupt ends without a decision that uses it.
    fn release_reroute(&mut self) {
        if let Some(bound) = self.next.bound.take() {
            let event = bound.event;
            self.effects.push(Effect::ReleaseReroute { event });
        }
    }

    fn tell(&mut self, notice: Notice) {
        self.effects.push(Effect::Tell(notice));
    }
}

impl Interrupt {
    /// The interrupt after an event, with the effects; the interrupt itself stays as it is.
    ///
    /// # Errors
    ///
    /// [`Refusal`] if the table has no such transition or its guard fails. For an interrupt that has ended it names the
    /// decision, if one ended it.
    pub fn after(&self, event: &Event, now: Timestamp) -> Result<Step, Refusal> {
        self.check_state(event)?;
        let draft = match event {
            Event::Take { owner, until, lost } => self.take(owner, *until, lost.as_ref(), now)?,
            Event::Renew { epoch, until } => return self.renew(*epoch, *until),
            Event::Acknowledge {
                epoch,
                evidence,
                pending,
            } => self.acknowledge(*epoch, evidence, pending.as_ref(), now)?,
            Event::RequireReview { epoch, shown } => self.require_review(*epoch, *shown)?,
            Event::Review {
                actor,
                version,
                change,
            } => self.change_review(actor, *version, change, now)?,
            Event::Decide { judge, choosing } => self.decide(judge, choosing, now)?,
            Event::Deadline { id } => self.expire(*id, now)?,
            Event::Withdraw { actor, cause } => self.withdraw(actor, cause, now)?,
            Event::DeliveryFailed { epoch, error } => self.fail_delivery(*epoch, error, now)?,
            Event::Redrive { actor } => self.redrive(actor)?,
            Event::RaiseMode { actor, mode } => self.raise_mode(actor, *mode)?,
            Event::AskAgain {
                actor,
                catalogue,
                routes,
            } => self.ask_again(actor, *catalogue, routes)?,
            Event::Ask { asking } => match self.ask(asking, now)? {
                Some(draft) => draft,
                None => return Ok(self.unchanged()),
            },
        };
        self.finish(event, draft, now)
    }

    /// The table is checked first: a trigger that leads nowhere from here is refused before its guard is checked.
    fn check_state(&self, event: &Event) -> Result<(), Refusal> {
        if self.state.is_final() {
            return Err(Refusal::Ended {
                state: self.state,
                event: event.name(),
                decision: self.decision.clone().map(Box::new),
            });
        }
        let leads_somewhere = match event.trigger() {
            Some(trigger) => Transition::caused(self.state, trigger).next().is_some(),
            None => self.state.is_live(),
        };
        if leads_somewhere {
            Ok(())
        } else {
            Err(self.illegal(event))
        }
    }

    fn illegal(&self, event: &Event) -> Refusal {
        Refusal::Illegal {
            state: self.state,
            event: event.name(),
        }
    }

    /// The table is checked last, too: if the state changes, the pair must be in it.
    fn finish(&self, event: &Event, draft: Draft, now: Timestamp) -> Result<Step, Refusal> {
        let Draft {
            mut next,
            to,
            mut effects,
            detail,
        } = draft;
        // A failed delivery that may be repeated, a raised mode, one asking among several, and another catalogue leave
        // the state as it is.
        let note = to == self.state
            && matches!(
                event,
                Event::DeliveryFailed { .. }
                    | Event::RaiseMode { .. }
                    | Event::Ask { .. }
                    | Event::AskAgain { .. }
                    | Event::Withdraw { .. }
            );
        let transition = if note {
            None
        } else {
            let found = event.trigger().and_then(|trigger| {
                Transition::caused(self.state, trigger).find(|transition| transition.to == to)
            });
            Some(found.ok_or_else(|| self.illegal(event))?)
        };
        next.state = to;
        next.version += 1;
        if to.is_final() {
            next.ended_at = Some(now);
        }
        if !matches!(to, State::Delivered | State::Acknowledged) {
            next.lease = None;
        }
        let made = next.decision.as_ref();
        let made = made.filter(|_made| self.decision.is_none());
        let audited = Audited {
            event: event.name().to_owned(),
            row: transition.map(|transition| transition.row),
            from: Some(self.state),
            to,
            version: next.version,
            epoch: next.epoch,
            actor: event.actor().cloned(),
            detail,
            shown: made.and(self.review.as_ref()).map(|review| review.shown),
            answer: made.map(Decision::digest),
        };
        effects.insert(0, Effect::Audit(audited));
        Ok(Step {
            interrupt: next,
            transition,
            effects,
        })
    }

    /// Nothing happens.
    fn unchanged(&self) -> Step {
        Step {
            interrupt: self.clone(),
            transition: None,
            effects: Vec::new(),
        }
    }

    fn withdraw(
        &self,
        actor: &Actor,
        cause: &WithdrawCause,
        now: Timestamp,
    ) -> Result<Draft, Refusal> {
        if self.state != State::DeadLettered && self.family() == Family::Stop {
            match cause {
                WithdrawCause::Withdrawn => return self.take_back(actor, None, now),
                WithdrawCause::Asking { number } => {
                    return self.take_back(actor, Some(*number), now);
                }
                WithdrawCause::NobodyAsks => return self.end_unasked(actor),
                WithdrawCause::Superseded { .. }
                | WithdrawCause::RunEnded
                | WithdrawCause::NodeEnded => {}
            }
        }
        let may = match actor.role {
            Role::Operator => true,
            Role::Supervisor | Role::System => self.state != State::DeadLettered,
            Role::Requester => self.state != State::DeadLettered && *actor == self.requested_by,
            Role::Observer | Role::Worker | Role::Reviewer => false,
        };
        if !may {
            return Err(Refusal::Role {
                role: actor.role,
                event: "withdraw",
            });
        }
        let mut draft = Draft::of(self, State::Cancelled);
        draft.detail = Some(match cause {
            WithdrawCause::Withdrawn => "withdrawn".to_owned(),
            WithdrawCause::Asking { number } => {
                // Only its agent asks a question, and an undeliverable interrupt is withdrawn as a whole.
                let asking = self.asking_id(*number);
                return Err(Refusal::NoSuchAsking { asking });
            }
            WithdrawCause::NobodyAsks => return Err(Refusal::NotAStop),
            WithdrawCause::Superseded { by } => format!("superseded by {by}"),
            WithdrawCause::RunEnded => "its run has ended".to_owned(),
            WithdrawCause::NodeEnded => "its node has ended".to_owned(),
        });
        draft.release_reroute();
        draft.tell(Notice::Ended);
        Ok(draft)
    }

    fn redrive(&self, actor: &Actor) -> Result<Draft, Refusal> {
        if actor.role != Role::Operator {
            return Err(Refusal::Role {
                role: actor.role,
                event: "redrive",
            });
        }
        let mut draft = Draft::of(self, State::Requested);
        draft.next.attempts = 0;
        draft.tell(Notice::Redriven);
        Ok(draft)
    }

    fn raise_mode(&self, actor: &Actor, mode: StopMode) -> Result<Draft, Refusal> {
        if self.family() != Family::Stop {
            return Err(Refusal::NotAStop);
        }
        if matches!(actor.role, Role::Observer | Role::Worker) {
            return Err(Refusal::Role {
                role: actor.role,
                event: "raise_mode",
            });
        }
        let mut draft = Draft::of(self, self.state);
        draft.next.mode = self.mode.max(mode);
        draft.tell(Notice::ModeRaised);
        Ok(draft)
    }

    fn check_epoch(&self, given: u64) -> Result<(), Refusal> {
        if given == self.epoch {
            Ok(())
        } else {
            Err(Refusal::Fenced {
                given,
                current: self.epoch,
            })
        }
    }

    fn check_version(&self, given: u64) -> Result<(), Refusal> {
        if given == self.version {
            Ok(())
        } else {
            Err(Refusal::StaleVersion {
                given,
                current: self.version,
            })
        }
    }
}
