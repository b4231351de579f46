//! The port of standing rules.

use async_trait::async_trait;
use interrupts::life::{Actor, Interrupt, State};
use interrupts::rules::{StandingRule, matter_of};
use interrupts::store::{
    ChangeError, Deciders, NewRule, Page, RuleError, StandingRules, StoreError,
};
use routing_core::{InterruptId, RuleId};

use super::Adapter;
use crate::operation::{Consult, ExpireRule, PutRule, RevokeRule};
use crate::relational::{Reads, Relational};

#[async_trait]
impl<B: Relational> StandingRules for Adapter<B> {
    async fn put_rule(&self, new: NewRule) -> Result<StandingRule, RuleError> {
        self.backend.submit(PutRule { new }).await
    }

    async fn consult(
        &self,
        interrupt: InterruptId,
        epoch: u64,
        deciders: Deciders,
    ) -> Result<Interrupt, ChangeError> {
        // Most questions have no rule: nothing is written for them, so they need not queue behind what is.
        if deciders.policy.is_none() && deciders.shown.is_none() {
            let Some(row) = self.backend.interrupt(interrupt).await? else {
                return Err(ChangeError::Unknown { interrupt });
            };
            let matter = matter_of(&row).ok().filter(|_matter| deciders.rules);
            match matter {
                Some(matter)
                    if row.state == State::Acknowledged
                        && self.backend.has_rules(matter).await? => {}
                Some(_) | None => return Ok(row),
            }
        }
        let consult = Consult {
            interrupt,
            epoch,
            deciders,
        };
        self.backend.submit(consult).await
    }

    async fn revoke_rule(&self, rule: RuleId, by: Actor) -> Result<StandingRule, RuleError> {
        self.backend.submit(RevokeRule { rule, by }).await
    }

    async fn expire_rules(&self, limit: u32) -> Result<Vec<RuleId>, StoreError> {
        let mut ended = Vec::new();
        for rule in self.backend.due_rules(self.backend.time(), limit).await? {
            ended.extend(self.backend.submit(ExpireRule { rule }).await?);
        }
        Ok(ended)
    }

    async fn rule(&self, rule: RuleId) -> Result<Option<StandingRule>, StoreError> {
        self.backend.rule(rule).await
    }

    async fn rules(&self, page: Page) -> Result<Vec<(u64, StandingRule)>, StoreError> {
        self.backend.rules(page).await
    }
}
