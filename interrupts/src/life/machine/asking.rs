//! Who asks for a stop: one more, or one less.

use interrupt_router::{InterruptType, StopSource};
use jiff::Timestamp;

use super::Draft;
use crate::life::asking::{Asking, AskingOutcome, MOST_ASKINGS, NewAsking};
use crate::life::effect::Notice;
use crate::life::event::{Actor, Role};
use crate::life::interrupt::Interrupt;
use crate::life::lane::Family;
use crate::life::refusal::Refusal;
use crate::life::state::State;

impl Interrupt {
    /// Adds a request for the stop. `None` if the same was asked before, at least as hard.
    pub(super) fn ask(&self, new: &NewAsking, now: Timestamp) -> Result<Option<Draft>, Refusal> {
        if self.family() != Family::Stop {
            return Err(Refusal::NotAStop);
        }
        if matches!(new.by.role, Role::Observer | Role::Worker) {
            return Err(Refusal::Role {
                role: new.by.role,
                event: "ask",
            });
        }
        let mut draft = Draft::of(self, self.state);
        let asking = match draft.next.note_asking(new, now) {
            AskingOutcome::Known => return Ok(None),
            AskingOutcome::TooMany => return Err(Refusal::TooManyAskings { most: MOST_ASKINGS }),
            AskingOutcome::Asked(asking) => asking,
        };
        let id = self.asking_id(asking.number);
        draft.detail = Some(format!("{id}, {}", asking.in_words()));
        draft.tell(Notice::Asked { asking });
        if draft.next.mode > self.mode {
            draft.tell(Notice::ModeRaised);
        }
        Ok(Some(draft))
    }

    /// An actor no longer asks for the stop: takes back one asking, or all of the actor's own. If no one else asks for
    /// it, the stop ends, unless it was delivered to its run: then it takes effect first.
    pub(super) fn take_back(
        &self,
        actor: &Actor,
        number: Option<u32>,
        now: Timestamp,
    ) -> Result<Draft, Refusal> {
        let askings = self.askings();
        let taken = match number {
            Some(number) => vec![self.named(&askings, actor, number)?],
            None => self.own(&askings, actor)?,
        };
        self.check_cancelable()?;
        let numbers: Vec<u32> = taken.iter().map(|asking| asking.number).collect();
        let mut draft = Draft::of(self, self.state);
        draft.next.note_withdrawn(&numbers, actor, now);
        let words = taken.iter().map(|asking| {
            let id = self.asking_id(asking.number);
            format!("{id} of {}, {}", asking.by.name, asking.in_words())
        });
        draft.detail = Some(words.collect::<Vec<_>>().join("; "));
        draft.tell(Notice::TakenBack {
            askings: numbers,
            by: actor.clone(),
        });
        if !draft.next.is_asked_for() && self.state != State::Delivered {
            draft.ends_unasked();
        }
        Ok(draft)
    }

    /// The stop has taken effect, and no one asks for it any more.
    pub(super) fn end_unasked(&self, actor: &Actor) -> Result<Draft, Refusal> {
        if actor.role != Role::System {
            return Err(Refusal::Role {
                role: actor.role,
                event: "withdraw",
            });
        }
        if self.state != State::Acknowledged {
            return Err(Refusal::Illegal {
                state: self.state,
                event: "withdraw",
            });
        }
        if self.is_asked_for() {
            return Err(Refusal::StillAsked);
        }
        let mut draft = Draft::of(self, self.state);
        draft.detail = Some("all requests for it were withdrawn".to_owned());
        draft.ends_unasked();
        Ok(draft)
    }

    /// The asking with a number, where the actor may take it back.
    fn named<'all>(
        &self,
        askings: &'all [Asking],
        actor: &Actor,
        number: u32,
    ) -> Result<&'all Asking, Refusal> {
        let id = self.asking_id(number);
        let found = askings.iter().find(|asking| asking.number == number);
        let asking = found.ok_or(Refusal::NoSuchAsking { asking: id })?;
        if !asking.is_in_force() {
            return Err(Refusal::AlreadyTakenBack { asking: id });
        }
        if asking.by != *actor {
            check_above(actor, asking)?;
        }
        Ok(asking)
    }

    /// All that the actor asks for. If that is nothing and only one asking is in force, it is that one, for an actor
    /// who may take back what others ask for: no other can be meant.
    fn own<'all>(
        &self,
        askings: &'all [Asking],
        actor: &Actor,
    ) -> Result<Vec<&'all Asking>, Refusal> {
        let in_force: Vec<&Asking> = askings
            .iter()
            .filter(|asking| asking.is_in_force())
            .collect();
        let own: Vec<&Asking> = in_force
            .iter()
            .copied()
            .filter(|asking| asking.by == *actor)
            .collect();
        if !own.is_empty() {
            return Ok(own);
        }
        if in_force.is_empty() {
            return Err(Refusal::NobodyAsks);
        }
        for asking in &in_force {
            check_above(actor, asking)?;
        }
        match in_force.as_slice() {
            [only] => Ok(vec![only]),
            several => Err(Refusal::AskedByOthers {
                askings: several.iter().map(|it| self.asking_id(it.number)).collect(),
            }),
        }
    }

    /// Whether a request for the stop can still be taken back.
    pub fn is_cancelable(&self) -> bool {
        self.check_cancelable().is_ok()
    }

    /// A stop that ends something cannot be taken back once its run was told, nor can a fork that is being made.
    fn check_cancelable(&self) -> Result<(), Refusal> {
        let is_told = matches!(
            self.state,
            State::Delivered | State::Acknowledged | State::AwaitingReview
        );
        let is_late = match self.interrupt_type {
            InterruptType::Stop | InterruptType::Prune => is_told,
            InterruptType::Branch => is_told && self.state != State::Delivered,
            InterruptType::Pause | InterruptType::HumanReview | InterruptType::AgentReview => false,
        };
        if is_late {
            let interrupt_type = self.interrupt_type;
            return Err(Refusal::NotCancelable { interrupt_type });
        }
        Ok(())
    }
}

/// Refuses an actor who may not take back what others ask; for what a person asks, that includes the machinery.
fn check_above(actor: &Actor, asking: &Asking) -> Result<(), Refusal> {
    match actor.role {
        Role::Supervisor | Role::Operator => Ok(()),
        Role::System if asking.source == StopSource::User => Err(Refusal::AskedByPerson),
        Role::System => Ok(()),
        Role::Observer | Role::Requester | Role::Worker | Role::Reviewer => Err(Refusal::Role {
            role: actor.role,
            event: "withdraw",
        }),
    }
}

impl Draft {
    fn ends_unasked(&mut self) {
        self.to = State::Cancelled;
        self.release_reroute();
        self.tell(Notice::Ended);
    }
}
