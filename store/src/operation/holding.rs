//! What follows from the end of a stop. An ended stop holds no questions: those that it held are shown again in the
//! transaction that ends it, or the next stop holds them.

use interrupts::ActorName;
use interrupts::life::{Actor, Event, Interrupt, Refusal, ReviewChange, Role};
use interrupts::store::ChangeError;
use routing_core::InterruptId;

use super::paused_run::{self, PausedRun};
use super::{Halt, Operation};
use crate::tables::{Failed, Tables, damaged};

/// The actor that holds questions and lets go of them.
const HOLDER: &str = "holder";

/// A question that was seen to be held.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeldQuestion {
    pub(crate) question: InterruptId,
    /// The stop that goes before it next.
    pub(crate) next: Option<InterruptId>,
}

/// What was seen of a stop that ends: what follows from its end is done in the same transaction.
#[derive(Debug, Default)]
pub(crate) struct EndedStop {
    /// The questions that it holds.
    pub(crate) held: Vec<HeldQuestion>,
    /// Its run, where that may come to wait.
    pub(crate) resting: Option<PausedRun>,
}

impl EndedStop {
    pub(super) fn want(&self, tables: &mut Tables) {
        for HeldQuestion { question, next } in &self.held {
            tables.interrupts.want(question);
            if let Some(next) = next {
                tables.interrupts.want(next);
            }
        }
        if let Some(resting) = &self.resting {
            paused_run::want(resting, tables);
        }
    }

    /// Does what follows, where the stop has ended.
    pub(super) fn follow(&self, stop: InterruptId, tables: &mut Tables) -> Result<(), Failed> {
        let_go(stop, &self.held, tables)?;
        match &self.resting {
            Some(resting) => paused_run::wait(stop, resting, tables),
            None => Ok(()),
        }
    }
}

/// Does what follows from the end of a stop, and was not there to be seen just before it.
pub(crate) struct LetGo {
    pub(crate) stop: InterruptId,
    pub(crate) ending: EndedStop,
}

impl Operation for LetGo {
    type Output = ();
    type Error = ChangeError;

    fn want(&self, tables: &mut Tables) {
        tables.heads.want(&());
        tables.interrupts.want(&self.stop);
        self.ending.want(tables);
    }

    fn run(&self, tables: &mut Tables) -> Result<(), Halt<Self::Error>> {
        Ok(self.ending.follow(self.stop, tables)?)
    }
}

/// Shows the questions again that an ended stop holds, or lets the next stop hold them.
fn let_go(stop: InterruptId, held: &[HeldQuestion], tables: &mut Tables) -> Result<(), Failed> {
    if is_live(stop, tables)? != Some(false) {
        return Ok(());
    }
    for held in held {
        let Some(question) = found(held.question, tables)? else {
            continue;
        };
        // It has changed since it was seen.
        if question.held_by != Some(stop) || !question.state.is_live() {
            continue;
        }
        let Ok(shown) = change(&question, ReviewChange::Unhold { by: stop }, tables)? else {
            continue;
        };
        if let Some(next) = held.next
            && is_live(next, tables)? == Some(true)
        {
            // One that cannot be held waits for a person as before.
            let _held = change(&shown, ReviewChange::Hold { by: next }, tables)?;
        }
    }
    Ok(())
}

fn change(
    question: &Interrupt,
    change: ReviewChange,
    tables: &mut Tables,
) -> Result<Result<Interrupt, Refusal>, Failed> {
    let event = Event::Review {
        actor: Actor {
            name: ActorName::new(HOLDER).map_err(|error| damaged(&error))?,
            role: Role::System,
        },
        version: question.version,
        change,
    };
    match question.after(&event, tables.now) {
        Ok(step) => Ok(Ok(tables.perform(step)?)),
        Err(refusal) => {
            tracing::warn!(question = %question.id, %refusal, "what held the question has ended");
            Ok(Err(refusal))
        }
    }
}

/// Refuses to let an ended stop hold a question.
pub(super) fn check_holder(
    change: &ReviewChange,
    tables: &mut Tables,
) -> Result<(), Halt<ChangeError>> {
    if let ReviewChange::Hold { by } = change
        && is_live(*by, tables)? == Some(false)
    {
        let refusal = Refusal::NotHeld { by: *by };
        return Err(Halt::Refused(refusal.into()));
    }
    Ok(())
}

/// The question as the person who decides sees it: earlier versions left some held by stops that had ended.
pub(super) fn free(mut question: Interrupt, tables: &mut Tables) -> Result<Interrupt, Failed> {
    if let Some(by) = question.held_by
        && is_live(by, tables)? == Some(false)
    {
        question.held_by = None;
    }
    Ok(question)
}

/// Whether a stop is live; `None` if it is unknown.
pub(super) fn is_live(stop: InterruptId, tables: &mut Tables) -> Result<Option<bool>, Failed> {
    Ok(found(stop, tables)?.map(|stop| stop.state.is_live()))
}

pub(super) fn found(id: InterruptId, tables: &mut Tables) -> Result<Option<Interrupt>, Failed> {
    let row = tables.interrupts.get(&id)?;
    Ok(row.map(|row| row.interrupt.clone()))
}
