//! Changing interrupts.

use interrupt_router::{DecisionId, InterruptId, StopMode};
use interrupts::life::{
    Actor, Choosing, Event, Evidence, Interrupt, Judge, NewAsking, Refusal, ReviewChange, Role,
    WithdrawCause,
};
use interrupts::store::{ChangeError, Delivery};
use interrupts::{ActorName, Digest};
use jiff::SignedDuration;

use super::holding;
use super::join::one_more;
use super::{Halt, Operation};
use crate::tables::{Failed, Tables, damaged};

/// Who ends what outlives its run.
const SWEEPER: &str = "sweeper";

/// What is done to an interrupt. Times are spans here: the tables know what time it is.
pub(crate) enum Change {
    Deliver(Delivery),
    Renew {
        epoch: u64,
        lease: SignedDuration,
    },
    Acknowledge {
        epoch: u64,
        evidence: Evidence,
    },
    RequireReview {
        epoch: u64,
        shown: Digest,
    },
    Review {
        actor: Actor,
        version: u64,
        change: ReviewChange,
    },
    Decide {
        judge: Judge,
        choosing: Choosing,
    },
    Withdraw {
        actor: Actor,
        cause: WithdrawCause,
    },
    FailDelivery {
        epoch: Option<u64>,
        error: String,
    },
    Redrive {
        actor: Actor,
    },
    RaiseMode {
        actor: Actor,
        mode: StopMode,
    },
    Ask(NewAsking),
    Expire,
}

/// Changes an interrupt.
pub(crate) struct ChangeInterrupt {
    pub(crate) id: InterruptId,
    pub(crate) change: Change,
}

impl Operation for ChangeInterrupt {
    type Output = Interrupt;
    type Error = ChangeError;

    fn want(&self, tables: &mut Tables) {
        tables.heads.want(&());
        tables.interrupts.want(&self.id);
    }

    fn run(&self, tables: &mut Tables) -> Result<Interrupt, Halt<ChangeError>> {
        let mut interrupt = read(self.id, tables)?;
        if let Change::Decide { .. } | Change::Expire = &self.change {
            interrupt = holding::free(interrupt, tables)?;
        }
        if let Change::Review { change, .. } = &self.change {
            holding::check_holder(change, tables)?;
        }
        let event = self.event(&interrupt, tables)?;
        let changed = match interrupt.after(&event, tables.now) {
            Ok(step) => {
                let changed = tables.perform(step)?;
                if let Change::Acknowledge { .. } = &self.change {
                    tables.supersede(&changed)?;
                }
                changed
            }
            Err(refusal) => self.recover(&interrupt, refusal, tables)?,
        };
        holding::follow(&changed, tables)?;
        Ok(changed)
    }
}

impl ChangeInterrupt {
    fn event(
        &self,
        interrupt: &Interrupt,
        tables: &mut Tables,
    ) -> Result<Event, Halt<ChangeError>> {
        Ok(match &self.change {
            Change::Deliver(delivery) => Event::Take {
                owner: delivery.owner.clone(),
                until: tables.after(delivery.lease),
                lost: delivery.lost.clone(),
            },
            Change::Renew { epoch, lease } => Event::Renew {
                epoch: *epoch,
                until: tables.after(*lease),
            },
            Change::Acknowledge { epoch, evidence } => Event::Acknowledge {
                epoch: *epoch,
                evidence: evidence.clone(),
                pending: tables.pending_reroute(interrupt.run, &interrupt.node)?,
            },
            Change::RequireReview { epoch, shown } => Event::RequireReview {
                epoch: *epoch,
                shown: *shown,
            },
            Change::Review {
                actor,
                version,
                change,
            } => Event::Review {
                actor: actor.clone(),
                version: *version,
                change: change.clone(),
            },
            Change::Decide { judge, choosing } => Event::Decide {
                judge: judge.clone(),
                choosing: choosing.clone(),
            },
            Change::Withdraw { actor, cause } => Event::Withdraw {
                actor: actor.clone(),
                cause: cause.clone(),
            },
            Change::FailDelivery { epoch, error } => Event::DeliveryFailed {
                epoch: *epoch,
                error: error.clone(),
            },
            Change::Redrive { actor } => Event::Redrive {
                actor: actor.clone(),
            },
            Change::RaiseMode { actor, mode } => Event::RaiseMode {
                actor: actor.clone(),
                mode: *mode,
            },
            Change::Ask(asking) => one_more(asking.clone(), tables)
                .map_err(|refused| Halt::Refused(ChangeError::Refused(refused)))?,
            // An interrupt has one decision at most, so its own bits name the one of its deadline.
            Change::Expire => Event::Deadline {
                id: DecisionId::from_uuid(interrupt.id.uuid()),
            },
        })
    }

    /// What a refusal means for this change: a decision that is submitted again is the same decision, and an
    /// interrupt whose deliveries are spent is dead-lettered.
    fn recover(
        &self,
        interrupt: &Interrupt,
        refusal: Refusal,
        tables: &mut Tables,
    ) -> Result<Interrupt, Halt<ChangeError>> {
        let refused = |refusal: Refusal| Halt::Refused(ChangeError::Refused(refusal));
        match (&self.change, &refusal) {
            (Change::Decide { choosing, .. }, Refusal::Ended { .. })
                if is_decided_by(interrupt, choosing) =>
            {
                Ok(interrupt.clone())
            }
            (Change::Deliver(_), Refusal::AttemptsSpent { .. }) => {
                let error = interrupt
                    .last_error
                    .clone()
                    .unwrap_or_else(|| "every owner was lost".to_owned());
                let event = Event::DeliveryFailed { epoch: None, error };
                let step = interrupt.after(&event, tables.now).map_err(refused)?;
                Ok(tables.perform(step)?)
            }
            _ => Err(refused(refusal)),
        }
    }
}

pub(super) fn is_decided_by(interrupt: &Interrupt, choosing: &Choosing) -> bool {
    interrupt.decision.as_ref().is_some_and(|decision| {
        decision.id == choosing.id
            && decision.verdict == choosing.verdict
            && decision.content == choosing.content
            && choosing
                .target
                .as_ref()
                .is_none_or(|target| *target == decision.target)
    })
}

/// Cancels an interrupt whose run has ended.
pub(super) fn end_with_run(interrupt: &Interrupt, tables: &mut Tables) -> Result<(), Failed> {
    let event = Event::Withdraw {
        actor: Actor {
            name: ActorName::new(SWEEPER).map_err(|error| damaged(&error))?,
            role: Role::System,
        },
        cause: WithdrawCause::RunEnded,
    };
    match interrupt.after(&event, tables.now) {
        Ok(step) => tables.perform(step).map(drop),
        Err(refusal) => {
            // The run has ended all the same.
            tracing::warn!(interrupt = %interrupt.id, %refusal, "an interrupt outlives its run");
            Ok(())
        }
    }
}

pub(super) fn read(id: InterruptId, tables: &mut Tables) -> Result<Interrupt, Halt<ChangeError>> {
    match tables.interrupts.get(&id)? {
        Some(row) => Ok(row.interrupt.clone()),
        None => Err(Halt::Refused(ChangeError::Unknown { interrupt: id })),
    }
}
