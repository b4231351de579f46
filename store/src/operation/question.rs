//! Putting a question to people.

use interrupts::Digest;
use interrupts::life::{Event, Interrupt};
use interrupts::store::{Admitted, ChangeError, PutQuestion, PutQuestionError};

use super::admit::{self, raise};
use super::journal::{begin, check_run};
use super::rule::apply_rule;
use super::{Halt, Operation};
use crate::tables::Tables;

/// Records the intent, raises the question, and opens its review unless a standing rule decides it.
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
            opens_review,
        } = &self.question;
        check_run(intent.run, *epoch, tables).map_err(Halt::within)?;
        begin(intent, tables).map_err(Halt::within)?;
        let interrupt = match raise(raised, tables).map_err(Halt::within)? {
            Admitted::New(interrupt) => interrupt,
            // It was put before.
            Admitted::Known(interrupt) => return Ok(interrupt),
        };
        if !opens_review || interrupt.bound.is_some() {
            return Ok(interrupt);
        }
        match apply_rule(&interrupt, interrupt.epoch, tables).map_err(Halt::within)? {
            Some(decided) => Ok(decided),
            None => open_review(&interrupt, tables).map_err(Halt::within),
        }
    }
}

fn open_review(interrupt: &Interrupt, tables: &mut Tables) -> Result<Interrupt, Halt<ChangeError>> {
    let event = Event::RequireReview {
        epoch: interrupt.epoch,
        shown: Digest::of(interrupt.content.as_bytes()),
    };
    let step = interrupt.after(&event, tables.now);
    let step = step.map_err(|refusal| Halt::Refused(refusal.into()))?;
    Ok(tables.perform(step)?)
}
