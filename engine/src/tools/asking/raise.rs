//! A question about a tool on its way into the store, and the older ones that it replaces.

use interrupt_router::review::Question;
use interrupt_router::{InterruptId, InterruptType, StopSource};
use interrupts::life::{Admission, Decision, Interrupt, WithdrawCause};
use interrupts::store::Deciders;

use super::{AskingNode, CallQuestion, ToolQuestions};
use crate::durable::stored_interrupts::{NewQuestion, digest_of};
use journal::error::KeepError;
use journal::tool::{AllowedBefore, ToolQuestion, ToolQuestionContent, ToolQuestionKind};

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
        for (other, about) in self.about(asker, &matter.tool_call.place).await? {
            // Questions that the call itself asked stay: a server may ask for several things within one call, and the
            // same again when the call is repeated.
            if other.id != id && about.asks != ToolQuestionKind::Input {
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
        let asked = self.about(asker, place).await?.into_iter();
        let inputs = asked.filter(|(_row, about)| about.asks == ToolQuestionKind::Input);
        Ok(inputs.map(|(row, _about)| row).collect())
    }

    /// What people have said along with their answers to what a call asked, or to whether it is run again.
    pub(in crate::tools) async fn said(
        &self,
        asker: &AskingNode,
        place: &str,
    ) -> Result<Option<String>, KeepError> {
        let mut said = Vec::new();
        for (row, about) in self.about(asker, place).await? {
            let decision = row
                .decision
                .as_ref()
                .filter(|_| about.asks != ToolQuestionKind::Permission);
            let Some(Ok((answer, _confidence))) = decision.map(Decision::answer) else {
                continue;
            };
            said.extend(answer.text.filter(|text| !text.trim().is_empty()));
        }
        Ok((!said.is_empty()).then(|| said.join("\n")))
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

    /// The questions about the call at a place, in their order.
    async fn about(
        &self,
        asker: &AskingNode,
        place: &str,
    ) -> Result<Vec<(Interrupt, ToolQuestion)>, KeepError> {
        let store = self.stored_interrupts.record.store();
        let mut about = Vec::new();
        let node = (self.stored_interrupts.record.run, &asker.node);
        for id in self.asked.about(store, node, place).await? {
            let row = self.stored_interrupts.row(id).await?;
            let matter = ToolQuestionContent::of(&row.content);
            about.extend(matter.map(|matter| (row, matter.tool_call)));
        }
        Ok(about)
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
        // Whether a call may be made is not the policy's.
        let deciders = Deciders {
            shown: Some(digest_of(question)?),
            ..Deciders::rules()
        };
        if let Some(row) = store.interrupt(id).await? {
            return self.stored_interrupts.consult(row, deciders).await;
        }
        let admission = self.admission(id, place, asker, asking)?;
        let row = self.stored_interrupts.put(admission, deciders).await?;
        let call = &asking.matter.tool_call.place;
        self.asked.add(&asker.node, call, id).await;
        Ok(row)
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
