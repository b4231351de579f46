//! The end of a question about a tool: waited for, brought about, or given up.

use interrupts::Digest;
use interrupts::life::{Actor, Choosing, Interrupt, Judge, Refusal, Role, Verdict, WithdrawCause};
use interrupts::store::ChangeError;
use routing_core::review::{Answer, Answerer};
use routing_core::{DecisionId, InterruptId};

use super::{AskingNode, ToolDesk};
use crate::durable::decisions::name_of;
use crate::durable::run_interrupts::{machinery, missing};
use journal::error::KeepError;
use journal::tool::ToolMatter;

/// How many interrupts a look at the deadlines ends at most.
const MOST_AT_ONCE: u32 = 100;

impl ToolDesk {
    /// Ends the question, where somebody may still answer it.
    pub(in crate::tools) async fn withdraw(
        &self,
        asker: &AskingNode,
        name: &str,
        matter: &ToolMatter,
    ) -> Result<(), KeepError> {
        let record = &self.desk.record;
        let place = format!("{}/{name}", matter.tool_call.place);
        let row = self.row(record.interrupt_at(&place, asker.at)).await?;
        let by = machinery()?;
        let withdrawn = record
            .store()
            .withdraw(row.id, by, WithdrawCause::Withdrawn);
        match withdrawn.await {
            Ok(_) | Err(ChangeError::Refused(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) async fn row(&self, id: InterruptId) -> Result<Interrupt, KeepError> {
        let row = self.desk.record.store().interrupt(id).await?;
        row.ok_or_else(|| missing(id))
    }

    /// Waits until somebody, in whatever process, has ended the question.
    pub(super) async fn ended_elsewhere(&self, id: InterruptId) -> Result<Interrupt, KeepError> {
        loop {
            let row = self.row(id).await?;
            if !row.state.is_live() {
                return Ok(row);
            }
            self.look_again().await;
            if row.deadline.is_some() {
                self.desk.record.store().sweep(MOST_AT_ONCE).await?;
            }
        }
    }

    /// Waits until something may have changed.
    async fn look_again(&self) {
        let kept = &self.desk.record.kept;
        tokio::select! {
            () = kept.bell.heard() => {}
            () = tokio::time::sleep(kept.poll) => {}
        }
    }

    /// Records an answer that was given here; another one may have been faster, and stands then.
    pub(super) async fn decide(
        &self,
        id: InterruptId,
        verdict: Verdict,
        answer: &Answer,
    ) -> Result<Interrupt, KeepError> {
        let store = self.desk.record.store();
        let answerer: Answerer = self.reviewer.answerer(id);
        let choosing = Choosing {
            id: DecisionId::generate(),
            verdict,
            target: None,
            content: Some(serde_json::to_string(answer)?),
        };
        loop {
            let row = self.row(id).await?;
            if !row.state.is_live() {
                return Ok(row);
            }
            let judge = Judge::Person {
                actor: Actor {
                    name: name_of(Some(&answerer))?,
                    role: Role::Reviewer,
                },
                version: row.version,
                shown: row.review.map_or(Digest::ZERO, |review| review.shown),
            };
            match store.decide(id, judge, choosing.clone()).await {
                Ok(_)
                | Err(ChangeError::Refused(Refusal::Ended { .. } | Refusal::StaleVersion { .. })) =>
                    {}
                // Somebody else has it in hand, or goes first: what he does is waited for.
                Err(ChangeError::Refused(Refusal::Claimed { .. } | Refusal::Held { .. })) => {
                    self.look_again().await;
                }
                Err(ChangeError::Refused(Refusal::DeadlinePassed { .. })) => {
                    store.sweep(MOST_AT_ONCE).await?;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}
