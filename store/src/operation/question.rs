//! Putting a question to those who may decide it: a standing rule, the policy, people.

use interrupt_router::{DecisionId, InterruptId};
use interrupts::life::{Event, Interrupt, Judge, Refusal, State};
use interrupts::policy::{Automatic, Policy};
use interrupts::store::{ChangeError, Deciders, PutQuestion, PutQuestionError};

use super::admit::{self, raise};
use super::change::read;
use super::journal::{begin, check_run};
use super::rule::apply_rule;
use super::{Halt, Operation};
use crate::tables::{Failed, Tables};

/// Records the intent, and raises the question.
pub(crate) struct Put {
    pub(crate) question: PutQuestion,
}

impl Operation for Put {
    type Output = Interrupt;
    type Error = PutQuestionError;

    fn want(&self, tables: &mut Tables) {
        let admission = &self.question.raised.admission;
        admit::want(admission, tables);
        tables.slots.want(&(admission.run, admission.node.clone()));
        tables.journal.want(&self.question.intent.effect);
    }

    fn run(&self, tables: &mut Tables) -> Result<Interrupt, Halt<PutQuestionError>> {
        let PutQuestion {
            raised,
            epoch,
            intent,
        } = &self.question;
        check_run(intent.run, *epoch, tables).map_err(Halt::within)?;
        begin(intent, tables).map_err(Halt::within)?;
        let raised = raise(raised, tables).map_err(Halt::within)?;
        Ok(raised.into_interrupt())
    }
}

/// Asks those who may decide an interrupt.
pub(crate) struct Consult {
    pub(crate) interrupt: InterruptId,
    pub(crate) epoch: u64,
    pub(crate) deciders: Deciders,
}

impl Operation for Consult {
    type Output = Interrupt;
    type Error = ChangeError;

    fn want(&self, tables: &mut Tables) {
        tables.heads.want(&());
        tables.interrupts.want(&self.interrupt);
    }

    fn run(&self, tables: &mut Tables) -> Result<Interrupt, Halt<ChangeError>> {
        let interrupt = read(self.interrupt, tables)?;
        let consulted = consult(interrupt, self.epoch, &self.deciders, tables)?;
        consulted.map_err(|refusal| Halt::Refused(refusal.into()))
    }
}

/// Asks one after the other, until one decides.
pub(super) fn consult(
    interrupt: Interrupt,
    epoch: u64,
    deciders: &Deciders,
    tables: &mut Tables,
) -> Result<Result<Interrupt, Refusal>, Failed> {
    if interrupt.state != State::Acknowledged {
        return Ok(Ok(interrupt));
    }
    if deciders.rules
        && let Some(decided) = apply_rule(&interrupt, epoch, tables)?
    {
        return Ok(Ok(decided));
    }
    if let Some(policy) = &deciders.policy
        && let Some(decided) = apply_policy(&interrupt, epoch, policy, tables)?
    {
        return Ok(Ok(decided));
    }
    let Some(shown) = deciders.shown else {
        return Ok(Ok(interrupt));
    };
    match interrupt.after(&Event::RequireReview { epoch, shown }, tables.now) {
        Ok(step) => Ok(Ok(tables.perform(step)?)),
        Err(refusal) => Ok(Err(refusal)),
    }
}

/// Decides an interrupt as the policy says; `None` where that leaves it to people, or may not decide it.
fn apply_policy(
    interrupt: &Interrupt,
    epoch: u64,
    policy: &Policy,
    tables: &mut Tables,
) -> Result<Option<Interrupt>, Failed> {
    // An interrupt has one decision at most, so its own bits name it.
    let choosing = match policy.decide(interrupt, DecisionId::from_uuid(interrupt.id.uuid())) {
        Automatic::Decide { choosing, after } if after.is_zero() => choosing,
        Automatic::Decide { .. } | Automatic::Ask { why: None } => return Ok(None),
        Automatic::Ask { why: Some(why) } => {
            tracing::warn!(interrupt = %interrupt.id, %why, "the policy does not decide though a rule says so");
            return Ok(None);
        }
    };
    let judge = Judge::Policy { epoch };
    match interrupt.after(&Event::Decide { judge, choosing }, tables.now) {
        Ok(step) => Ok(Some(tables.perform(step)?)),
        Err(_refused) => Ok(None),
    }
}
