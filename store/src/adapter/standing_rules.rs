//! The port of standing rules.

use async_trait::async_trait;
use interrupt_router::{InterruptId, RuleId};
use interrupts::Digest;
use interrupts::life::{Actor, Interrupt, State};
use interrupts::rules::{StandingRule, matter_of};
use interrupts::store::{
    ChangeError, Deciders, NewRule, Page, RuleError, StandingRules, StoreError,
};

use super::Adapter;
use crate::operation::{Consult, ExpireRule, PutRule, RevokeRule};
use crate::relational::{
    Cell, Found, Relational, Rows as _, columns, count, numbered, rule_id, sealed,
};
use crate::tables::{InterruptRow, PlacedRule};

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
            let Some(row) = self.backend.record::<InterruptRow>(&interrupt).await? else {
                return Err(ChangeError::Unknown { interrupt });
            };
            let matter = matter_of(&row).ok().filter(|_matter| deciders.rules);
            match matter {
                Some(matter)
                    if row.state == State::Acknowledged && self.has_rules(matter).await? => {}
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
        for rule in self.due_rules(limit).await? {
            ended.extend(self.backend.submit(ExpireRule { rule }).await?);
        }
        Ok(ended)
    }

    async fn rule(&self, rule: RuleId) -> Result<Option<StandingRule>, StoreError> {
        self.backend.record::<PlacedRule>(&rule).await
    }

    async fn rules(&self, page: Page) -> Result<Vec<(u64, StandingRule)>, StoreError> {
        let sql = concat!(
            "SELECT ",
            columns!(rules),
            " FROM rules WHERE position > ? ORDER BY position LIMIT ?"
        );
        self.backend
            .rows(
                sql,
                [Cell::position(page.after)?, Cell::limit(page.limit)],
                |row| numbered(row, &sealed::RULES),
            )
            .await
    }
}

impl<B: Relational> Adapter<B> {
    /// Whether there are rules about a matter that have not ended.
    async fn has_rules(&self, matter: Digest) -> Found<bool> {
        let sql = "SELECT COUNT(*) FROM (SELECT 1 FROM rules WHERE matter = ? AND live = 1 LIMIT 1) AS found";
        let found = self
            .backend
            .point(sql, [Cell::made(&matter)], |row| count(row, 0));
        Ok(found.await?.unwrap_or(0) > 0)
    }

    /// Rules that have not ended and whose time is over.
    async fn due_rules(&self, limit: u32) -> Found<Vec<RuleId>> {
        let now = self.backend.time();
        let sql =
            "SELECT id FROM rules WHERE live = 1 AND expires_at <= ? ORDER BY expires_at LIMIT ?";
        self.backend
            .rows(
                sql,
                [Cell::Number(now.as_microsecond()), Cell::limit(limit)],
                rule_id,
            )
            .await
    }
}
