//! A question about a tool on its way into the store, and the older ones that it replaces.

use interrupts::life::{Admission, Interrupt, State, WithdrawCause};
use interrupts::store::{Filter, Pages};
use routing_core::review::Question;
use routing_core::{InterruptId, InterruptType, StopSource};

use super::{AskingNode, CallQuestion, ToolQuestions};
use crate::durable::stored_interrupts::{NewQuestion, decide_by_rule};
use journal::error::KeepError;
use journal::tool::{AllowedBefore, ToolQuestionContent, ToolQuestionKind};

/// How many questions of a node are looked at together.
const PAGE: u32 = 100;

impl ToolQuestions {
    /// Withdraws older questions about the same call: they are outdated, and an answer to them is void. Returns who
    /// has allowed the call last, in its earlier form.
    pub(super) async fn withdraw_others(
        &self,
        asker: &AskingNode,
        matter: &ToolQuestionContent,
        id: InterruptId,
    ) -> Result<Option<AllowedBefore>, KeepError> {
        let mut last = None;
        for other in self.of_node(asker).await? {
            if other.id != id && is_superseded(&other, matter) {
                last = AllowedBefore::of(&other, &matter.tool_call).or(last);
                self.make_void(&other, id).await?;
            }
        }
        Ok(last)
    }

    /// What the call at a place has asked while it ran, in this process or in an earlier one.
    pub(in crate::tools) async fn inputs_of(
        &self,
        asker: &AskingNode,
        place: &str,
    ) -> Result<Vec<Interrupt>, KeepError> {
        let mut asked = self.of_node(asker).await?;
        asked.retain(|other| {
            let about = ToolQuestionContent::of(&other.content).map(|it| it.tool_call);
            about.is_some_and(|it| it.place == place && it.asks == ToolQuestionKind::Input)
        });
        Ok(asked)
    }

    /// The call has ended: what it asked is over, answered or not.
    pub(in crate::tools) async fn end_inputs(
        &self,
        asker: &AskingNode,
        place: &str,
    ) -> Result<(), KeepError> {
        for asked in self.inputs_of(asker, place).await? {
            if !asked.state.is_live() {
                self.carried_out(&asked).await?;
                continue;
            }
            self.stored_interrupts
                .withdraw(asked.id, WithdrawCause::Withdrawn)
                .await?;
        }
        Ok(())
    }

    /// The interrupts of the node that asks.
    async fn of_node(&self, asker: &AskingNode) -> Result<Vec<Interrupt>, KeepError> {
        let filter = Filter {
            run: Some(self.stored_interrupts.record.run),
            node: Some(asker.node.clone()),
            states: Vec::new(),
        };
        let store = self.stored_interrupts.record.store();
        let found = Pages::of(PAGE).values(|page| store.interrupts(&filter, page));
        Ok(found.await?)
    }

    /// Ends a question that was replaced by another one. A decision about it has no effect.
    async fn make_void(&self, old: &Interrupt, by: InterruptId) -> Result<(), KeepError> {
        if !old.state.is_live() {
            return self.carried_out(old).await;
        }
        let cause = WithdrawCause::Superseded { by };
        self.stored_interrupts.withdraw(old.id, cause).await
    }

    /// The question in the store, shown to people: as it is there, or as it is put there now.
    pub(super) async fn raise(
        &self,
        id: InterruptId,
        place: &str,
        asker: &AskingNode,
        asking: CallQuestion<'_>,
        question: &Question,
    ) -> Result<Interrupt, KeepError> {
        let store = self.stored_interrupts.record.store();
        let row = match store.interrupt(id).await? {
            Some(row) => row,
            None => {
                let admission = self.admission(id, place, asker, asking)?;
                self.stored_interrupts.put(admission).await?
            }
        };
        if row.state == State::Acknowledged && decide_by_rule(store, &row).await? {
            return self.stored_interrupts.row(id).await;
        }
        self.stored_interrupts.show(row, question).await
    }

    fn admission(
        &self,
        id: InterruptId,
        place: &str,
        asker: &AskingNode,
        asking: CallQuestion<'_>,
    ) -> Result<Admission, KeepError> {
        let (matter, record) = (asking.matter, &self.stored_interrupts.record);
        let mut admission = self.stored_interrupts.admission(NewQuestion {
            interrupt: id,
            node: &asker.node,
            kind: asker.agent_type,
            origin: record.kinds.origin_of(asker.agent_type),
            interrupt_type: InterruptType::HumanReview,
            source: StopSource::Programmatic,
            reason: &matter.reason,
            content: serde_json::to_string(matter)?,
            key: place,
            allowed: matter.allowed(),
            recurrence: asking.recurrence,
        })?;
        // The policy sets how long it waits; whether a call may be made has rules of its own.
        record.kept.policy.apply(&mut admission);
        Ok(admission)
    }
}

/// Whether an interrupt asks about the same call in its earlier form. Questions that the call itself asked stay: a
/// server may ask for several things within one call, and the same again when the call is repeated.
fn is_superseded(other: &Interrupt, matter: &ToolQuestionContent) -> bool {
    let about = ToolQuestionContent::of(&other.content).map(|it| it.tool_call);
    about.is_some_and(|about| {
        about.place == matter.tool_call.place && about.asks != ToolQuestionKind::Input
    })
}
