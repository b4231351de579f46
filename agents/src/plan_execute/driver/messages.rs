//! Messages to a plan. They are read before the next work begins, and go to the replan.

use std::sync::Arc;

use interrupts::store::Pages;

use super::Driver;
use super::begin::is_recorded;
use crate::workflow::failure::FlowError;
use journal::error::KeepError;
use planning::{FactKind, PlanEffect, PlanEnd, PlanEvent, PlanningCall};

/// How many messages are read at a time.
const PAGE: u32 = 500;

impl Driver {
    /// Applies an event; the messages that have come are read before anything follows from it.
    pub(super) async fn happens(&mut self, event: PlanEvent) -> Result<Vec<PlanEffect>, FlowError> {
        let effects = self.apply(&event)?;
        self.with_messages(effects).await
    }

    /// Returns these effects, unless a message has come that goes before what they begin.
    pub(super) async fn with_messages(
        &mut self,
        effects: Vec<PlanEffect>,
    ) -> Result<Vec<PlanEffect>, FlowError> {
        if effects.iter().any(hands_over) {
            return self.before_the_end(effects).await;
        }
        // An agent that continues with the answer to its question is in the middle of its step.
        let is_midway = !self.snapshot.state.answers().is_empty();
        if is_midway || !effects.iter().any(begins) {
            return Ok(effects);
        }
        let messages = self.unread_messages().await?;
        if messages.is_empty() {
            return Ok(effects);
        }
        let mut before: Vec<PlanEffect> = effects.into_iter().filter(is_recorded).collect();
        before.extend(self.apply(&PlanEvent::Told { messages })?);
        Ok(before)
    }

    /// Returns these effects, which end the run, unless a message has come: the goal is not reached if a person has
    /// more to say. This includes an answer that was ready when the plan was paused.
    async fn before_the_end(
        &mut self,
        effects: Vec<PlanEffect>,
    ) -> Result<Vec<PlanEffect>, FlowError> {
        // No message is accepted from here on, so none can come between the last look and the end.
        self.take_messages(false).await?;
        let messages = self.unread_messages().await?;
        if messages.is_empty() {
            return Ok(effects);
        }
        self.take_messages(true).await?;
        let happens = |effect: &PlanEffect| is_recorded(effect) && !is_completion(effect);
        let mut before: Vec<PlanEffect> = effects.into_iter().filter(happens).collect();
        before.extend(self.apply(&PlanEvent::Told { messages })?);
        Ok(before)
    }

    /// The unread messages' texts. They count as read with the next checkpoint.
    async fn unread_messages(&mut self) -> Result<Vec<String>, KeepError> {
        let (mut texts, mut pages) = (Vec::new(), Pages::after(self.snapshot.read, PAGE));
        let live = Arc::clone(&self.live);
        let record = &live.journal.record;
        let store = record.store();
        while let Some(found) = pages.next(|page| store.messages(live.run, page)).await? {
            self.snapshot.read = pages.position();
            // From here on they cannot be taken back. Messages that were taken back before are not read.
            let places: Vec<u64> = found.iter().map(|stored| stored.position).collect();
            let epoch = record.epoch()?;
            let read = store.read_messages(live.run, epoch, &places).await?;
            let found = found.into_iter();
            let read = found.filter(|stored| read.contains(&stored.position));
            texts.extend(read.map(|stored| stored.message.text));
        }
        Ok(texts)
    }
}

/// Whether it hands the answer over. A plan that a person has cancelled reads no more messages.
const fn hands_over(effect: &PlanEffect) -> bool {
    matches!(effect, PlanEffect::End(PlanEnd::Completed { .. }))
}

/// Whether it says that the answer was handed over.
fn is_completion(effect: &PlanEffect) -> bool {
    matches!(effect, PlanEffect::Record(fact) if fact.kind == FactKind::Completed)
}

/// Whether it begins what a message goes before: a step, or the check whether the goal is reached.
const fn begins(effect: &PlanEffect) -> bool {
    match effect {
        PlanEffect::RunStep(_) | PlanEffect::AskModel(PlanningCall::Replan) => true,
        PlanEffect::AskModel(
            PlanningCall::Plan
            | PlanningCall::ForcedReplan { .. }
            | PlanningCall::Suggestion { .. },
        )
        | PlanEffect::Record(_)
        | PlanEffect::Checkpoint { .. }
        | PlanEffect::AskPerson(_)
        | PlanEffect::HoldQuestion
        | PlanEffect::WithdrawQuestion
        | PlanEffect::Wait(_)
        | PlanEffect::End(_) => false,
    }
}
