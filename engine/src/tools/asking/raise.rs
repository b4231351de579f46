//! A question about a tool on its way into the store, and the older ones that it takes the place of.

use interrupts::life::{
    Actor, Admission, ExpiryOutcome, Interrupt, Refusal, Role, Scope, State, USUAL_ATTEMPTS,
    WithdrawCause,
};
use interrupts::store::{ChangeError, Filter, Pages, RaisedQuestion};
use interrupts::{ActorName, Digest, KindName, RouteName};
use routing_core::review::Question;
use routing_core::{InterruptId, InterruptType, StopMode, StopSource};

use super::{AskingNode, CallQuestion, ToolDesk};
use crate::durable::run_interrupts::{decide_by_rule, machinery, shortened};
use journal::error::KeepError;
use journal::tool::{ToolMatter, ToolQuestionKind};

/// How many questions of a node are looked at together.
const PAGE: u32 = 100;

impl ToolDesk {
    /// An older question about the same call asks about something that is not so any more, and an answer to it is void.
    pub(super) async fn withdraw_others(
        &self,
        asker: &AskingNode,
        matter: &ToolMatter,
        id: InterruptId,
    ) -> Result<(), KeepError> {
        for other in self.of_node(asker).await? {
            if other.id != id && is_superseded(&other, matter) {
                self.make_void(&other, id).await?;
            }
        }
        Ok(())
    }

    /// What the call at a place has asked while it ran, in this process or in an earlier one.
    pub(in crate::tools) async fn inputs_of(
        &self,
        asker: &AskingNode,
        place: &str,
    ) -> Result<Vec<Interrupt>, KeepError> {
        let mut asked = self.of_node(asker).await?;
        asked.retain(|other| {
            let about = ToolMatter::of(&other.content).map(|it| it.tool_call);
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
            let (store, cause) = (self.desk.record.store(), WithdrawCause::Withdrawn);
            match store.withdraw(asked.id, machinery()?, cause).await {
                Ok(_) | Err(ChangeError::Refused(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// The interrupts of the node that asks.
    async fn of_node(&self, asker: &AskingNode) -> Result<Vec<Interrupt>, KeepError> {
        let filter = Filter {
            run: Some(self.desk.record.run),
            node: Some(asker.node.clone()),
            states: Vec::new(),
        };
        let store = self.desk.record.store();
        let found = Pages::of(PAGE).values(|page| store.interrupts(&filter, page));
        Ok(found.await?)
    }

    /// Ends a question in whose place another one stands. Nothing follows from what was decided about it.
    async fn make_void(&self, old: &Interrupt, by: InterruptId) -> Result<(), KeepError> {
        if !old.state.is_live() {
            return self.carried_out(old).await;
        }
        let cause = WithdrawCause::Superseded { by };
        let withdrawn = self
            .desk
            .record
            .store()
            .withdraw(old.id, machinery()?, cause);
        match withdrawn.await {
            Ok(_) | Err(ChangeError::Refused(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
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
        let store = self.desk.record.store();
        let mut row = match store.interrupt(id).await? {
            Some(row) => row,
            None => {
                let raised = RaisedQuestion {
                    admission: self.admission(id, place, asker, asking)?,
                    delivery: self.desk.record.delivery(None),
                };
                store.raise(raised).await?.into_interrupt()
            }
        };
        if row.state == State::Acknowledged && decide_by_rule(store, &row).await? {
            return self.row(id).await;
        }
        let shown = Digest::of(&serde_json::to_vec(question)?);
        while row.state == State::Acknowledged {
            row = match store.require_review(id, row.epoch, shown).await {
                Ok(row) => row,
                // It was decided or withdrawn meanwhile.
                Err(ChangeError::Refused(Refusal::Ended { .. } | Refusal::Illegal { .. })) => {
                    self.row(id).await?
                }
                Err(ChangeError::Refused(refusal)) => self.desk.taken_by_us(id, refusal).await?,
                Err(error) => return Err(error.into()),
            };
        }
        Ok(row)
    }

    fn admission(
        &self,
        id: InterruptId,
        place: &str,
        asker: &AskingNode,
        asking: CallQuestion<'_>,
    ) -> Result<Admission, KeepError> {
        let matter = asking.matter;
        let origin = RouteName::new(self.desk.record.kinds.origin_of(asker.agent_type))?;
        let mut admission = Admission {
            id,
            run: self.desk.record.run,
            node: asker.node.clone(),
            kind: KindName::new(asker.agent_type)?,
            origin: origin.clone(),
            routes: vec![origin],
            interrupt_type: InterruptType::HumanReview,
            source: StopSource::Programmatic,
            requested_by: Actor {
                name: ActorName::new(asker.node.as_str())?,
                role: Role::Requester,
            },
            mode: StopMode::Graceful,
            scope: Scope::Agent,
            reason: shortened(&matter.reason),
            content: serde_json::to_string(matter)?,
            key: self.desk.record.key(place)?,
            allowed: matter.allowed().to_vec(),
            patience: None,
            on_expiry: ExpiryOutcome::Reject,
            most_attempts: USUAL_ATTEMPTS,
            recurrence: asking.recurrence,
            reroute: None,
        };
        // How long it waits is the policy's to say; whether a call may be made never is: that has rules of its own.
        self.desk.record.kept.policy.apply(&mut admission);
        Ok(admission)
    }
}

/// Whether an interrupt asks about the same call, as it was. What the call itself wanted to know stays a question: a
/// server may ask for several things within one call, and the same again when the call is repeated.
fn is_superseded(other: &Interrupt, matter: &ToolMatter) -> bool {
    let about = ToolMatter::of(&other.content).map(|it| it.tool_call);
    about.is_some_and(|about| {
        about.place == matter.tool_call.place && about.asks != ToolQuestionKind::Input
    })
}
