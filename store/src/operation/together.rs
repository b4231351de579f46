//! Several decisions in one transaction.

use interrupts::life::{Event, Interrupt, Judge, Refusal};
use interrupts::rules::{RuleRefusal, StandingRule};
use interrupts::store::{ChangeError, Deciding, RefusedDecision, StoreError, TogetherError};

use super::change::{is_decided_by, read};
use super::holding;
use super::rule::keep_new;
use super::{Halt, Operation};
use crate::tables::Tables;

/// Decides all or none.
pub(crate) struct DecideTogether {
    pub(crate) decisions: Vec<Deciding>,
}

impl Operation for DecideTogether {
    type Output = Vec<Interrupt>;
    type Error = TogetherError;

    fn want(&self, tables: &mut Tables) {
        tables.heads.want(&());
        for deciding in &self.decisions {
            tables.interrupts.want(&deciding.interrupt);
        }
    }

    fn run(&self, tables: &mut Tables) -> Result<Vec<Interrupt>, Halt<TogetherError>> {
        let (mut decided, mut refused) = (Vec::new(), Vec::new());
        for (place, deciding) in self.decisions.iter().enumerate() {
            match decide(deciding, tables) {
                Ok(interrupt) => decided.push(interrupt),
                Err(Halt::Absent) => return Err(Halt::Absent),
                Err(Halt::Refused(ChangeError::Store(error))) => {
                    return Err(Halt::Refused(error.into()));
                }
                Err(Halt::Refused(error)) => refused.push(RefusedDecision {
                    place,
                    interrupt: deciding.interrupt,
                    error,
                }),
            }
        }
        if refused.is_empty() {
            for one in &decided {
                holding::follow(one, tables)?;
            }
            Ok(decided)
        } else {
            Err(Halt::Refused(TogetherError::Refused(refused)))
        }
    }
}

fn decide(deciding: &Deciding, tables: &mut Tables) -> Result<Interrupt, Halt<ChangeError>> {
    let Deciding {
        interrupt,
        judge,
        choosing,
        remember,
    } = deciding;
    let before = holding::free(read(*interrupt, tables)?, tables)?;
    let event = Event::Decide {
        judge: judge.clone(),
        choosing: choosing.clone(),
    };
    let after = match before.after(&event, tables.now) {
        Ok(step) => tables.perform(step)?,
        Err(Refusal::Ended { .. }) if is_decided_by(&before, choosing) => return Ok(before),
        Err(refusal) => return Err(Halt::Refused(refusal.into())),
    };
    if let Some(remember) = remember {
        let Judge::Person { actor, .. } = judge else {
            // A decision that no person made cannot become a rule of a person.
            let refusal = RuleRefusal::NotShown;
            return Err(Halt::Refused(refusal.into()));
        };
        // Of the interrupt as it was decided: its matter is what was shown.
        let rule = StandingRule::made(&before, choosing, remember, actor, tables.now);
        let rule = rule.map_err(|refusal| Halt::Refused(ChangeError::from(refusal)))?;
        let id = rule.id;
        if !keep_new(rule, tables)? {
            let detail = format!("{id} is another rule already");
            return Err(Halt::Refused(StoreError::Corrupt { detail }.into()));
        }
    }
    Ok(after)
}
