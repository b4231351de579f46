//! What observers learn of a question about a tool.

use interrupt_router::InterruptId;
use interrupt_router::handler::{FilledBy, LifecycleEvent};
use interrupts::life::Interrupt;

use super::{AskingNode, CallAnswer, ToolQuestions, question};
use crate::run::{InterruptRecord, InterruptResult, RunEvent};
use journal::error::KeepError;
use journal::tool::ToolQuestionContent;

impl ToolQuestions {
    /// The question has ended: its dispatch is done, because the call follows at once, and observers are notified.
    pub(super) fn ended(
        &self,
        asker: &AskingNode,
        row: Interrupt,
    ) -> Result<CallAnswer, KeepError> {
        let unreadable = |source| KeepError::Unreadable {
            place: format!("the decision of {}", row.id),
            source,
        };
        let Some(decision) = &row.decision else {
            return Ok(CallAnswer::Ended(Box::new(row)));
        };
        let (answer, _confidence) = decision.answer().map_err(unreadable)?;
        let decided_by = decision.by.decided_by(None);
        self.observe_event(row.id, LifecycleEvent::Answered(&answer));
        let origin = self
            .stored_interrupts
            .record
            .kinds
            .origin_of(asker.agent_type);
        let end = InterruptResult::Routed {
            target: origin.to_owned(),
            decided_by,
            filled_by: FilledBy::Unchanged,
            answer,
            reroute: None,
        };
        self.open_interrupts.ended(row.id, end);
        self.recorder.record(RunEvent::InterruptResolved {
            interrupt: row.id,
            origin: origin.to_owned(),
            target: origin.to_owned(),
            decided_by,
            filled_by: FilledBy::Unchanged,
            reroute: None,
        });
        Ok(CallAnswer::Ended(Box::new(row)))
    }

    /// Records that the decision about a call was carried out.
    pub(in crate::tools) async fn carried_out(&self, row: &Interrupt) -> Result<(), KeepError> {
        let Some(decision) = &row.decision else {
            return Ok(());
        };
        let record = &self.stored_interrupts.record;
        let finished = record
            .store()
            .finish(record.epoch()?, decision.effect, "{}".to_owned());
        finished.await?;
        Ok(())
    }

    pub(super) fn told_raised(
        &self,
        asker: &AskingNode,
        matter: &ToolQuestionContent,
        id: InterruptId,
    ) -> Result<(), KeepError> {
        let kind = asker.agent_type;
        let details = matter
            .shown_in(question(&self.stored_interrupts.record, asker, matter, id))
            .details;
        let record = InterruptRecord {
            interrupt: id,
            node: asker.node.clone(),
            origin: kind,
            interrupt_type: details.r#type,
            reason: details.reason.clone(),
            outcome: InterruptResult::Open,
        };
        // After those of the agents' steps.
        self.open_interrupts.raised(u32::MAX, record);
        self.recorder.record(RunEvent::InterruptRaised {
            interrupt: id,
            node: asker.node.clone(),
            kind,
            details,
            payload: serde_json::to_value(matter)?,
        });
        Ok(())
    }

    pub(super) fn observe_event(&self, id: InterruptId, moment: LifecycleEvent<'_>) {
        self.open_interrupts.observe(id, moment);
    }
}
