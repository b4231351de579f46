//! The ports of interrupts and reroutes.

use async_trait::async_trait;
use interrupts::life::{
    Actor, Admission, Choosing, Evidence, Interrupt, Judge, NewAsking, ReviewChange, WithdrawCause,
};
use interrupts::store::{
    AdmitError, Admitted, ChangeError, Deciding, Delivery, Filter, Interrupts, Page, PutQuestion,
    PutQuestionError, RaisedQuestion, RerouteRow, Reroutes, StandingRules, StoreError, Swept,
    TogetherError, WaitingPosition,
};
use interrupts::{ActorName, Digest, IdempotencyKey};
use jiff::SignedDuration;
use routing_core::{EventId, InterruptId, NodeId, RunId, StopMode};

use super::Adapter;
use crate::operation::{
    Admit, Change, ChangeInterrupt, DecideTogether, ExpireReroute, Join, NodeEnded, Put, Raise,
    TurnIgnored,
};
use crate::relational::{Reads, Relational};

#[async_trait]
impl<B: Relational> Interrupts for Adapter<B> {
    async fn admit(&self, admission: Admission) -> Result<Admitted, AdmitError> {
        self.backend.submit(Admit::new(admission)).await
    }

    async fn join(&self, admission: Admission) -> Result<Admitted, AdmitError> {
        self.backend.submit(Join::new(admission)).await
    }

    async fn raise(&self, raised: RaisedQuestion) -> Result<Admitted, AdmitError> {
        self.backend.submit(Raise { raised }).await
    }

    async fn put_question(&self, question: PutQuestion) -> Result<Interrupt, PutQuestionError> {
        self.backend.submit(Put { question }).await
    }

    async fn deliver(&self, id: InterruptId, delivery: Delivery) -> Result<Interrupt, ChangeError> {
        apply(&self.backend, id, Change::Deliver(delivery)).await
    }

    async fn renew(
        &self,
        id: InterruptId,
        epoch: u64,
        lease: SignedDuration,
    ) -> Result<Interrupt, ChangeError> {
        apply(&self.backend, id, Change::Renew { epoch, lease }).await
    }

    async fn acknowledge(
        &self,
        id: InterruptId,
        epoch: u64,
        evidence: Evidence,
    ) -> Result<Interrupt, ChangeError> {
        apply(&self.backend, id, Change::Acknowledge { epoch, evidence }).await
    }

    async fn require_review(
        &self,
        id: InterruptId,
        epoch: u64,
        shown: Digest,
    ) -> Result<Interrupt, ChangeError> {
        apply(&self.backend, id, Change::RequireReview { epoch, shown }).await
    }

    async fn review(
        &self,
        id: InterruptId,
        actor: Actor,
        version: u64,
        change: ReviewChange,
    ) -> Result<Interrupt, ChangeError> {
        let reviewed = Change::Review {
            actor,
            version,
            change,
        };
        apply(&self.backend, id, reviewed).await
    }

    async fn decide(
        &self,
        id: InterruptId,
        judge: Judge,
        choosing: Choosing,
    ) -> Result<Interrupt, ChangeError> {
        apply(&self.backend, id, Change::Decide { judge, choosing }).await
    }

    async fn decide_together(
        &self,
        decisions: Vec<Deciding>,
    ) -> Result<Vec<Interrupt>, TogetherError> {
        self.backend.submit(DecideTogether { decisions }).await
    }

    async fn withdraw(
        &self,
        id: InterruptId,
        actor: Actor,
        cause: WithdrawCause,
    ) -> Result<Interrupt, ChangeError> {
        apply(&self.backend, id, Change::Withdraw { actor, cause }).await
    }

    async fn fail_delivery(
        &self,
        id: InterruptId,
        epoch: Option<u64>,
        error: String,
    ) -> Result<Interrupt, ChangeError> {
        apply(&self.backend, id, Change::FailDelivery { epoch, error }).await
    }

    async fn redrive(&self, id: InterruptId, actor: Actor) -> Result<Interrupt, ChangeError> {
        apply(&self.backend, id, Change::Redrive { actor }).await
    }

    async fn ask(&self, id: InterruptId, asking: NewAsking) -> Result<Interrupt, ChangeError> {
        apply(&self.backend, id, Change::Ask(asking)).await
    }

    async fn raise_mode(
        &self,
        id: InterruptId,
        actor: Actor,
        mode: StopMode,
    ) -> Result<Interrupt, ChangeError> {
        apply(&self.backend, id, Change::RaiseMode { actor, mode }).await
    }

    async fn sweep(&self, limit: u32) -> Result<Swept, StoreError> {
        let mut swept = Swept::default();
        for id in self.backend.due(self.backend.time(), limit).await? {
            // Another process may have been faster since the list was made: then there is nothing left to do.
            match apply(&self.backend, id, Change::Expire).await {
                Ok(_expired) => swept.expired.push(id),
                Err(ChangeError::Store(error)) => return Err(error),
                Err(_faster) => {}
            }
        }
        swept.rules = self.expire_rules(limit).await?;
        Ok(swept)
    }

    async fn interrupt(&self, id: InterruptId) -> Result<Option<Interrupt>, StoreError> {
        self.backend.interrupt(id).await
    }

    async fn interrupt_of(&self, key: &IdempotencyKey) -> Result<Option<Interrupt>, StoreError> {
        self.backend.interrupt_of(key).await
    }

    async fn interrupts(
        &self,
        filter: &Filter,
        page: Page,
    ) -> Result<Vec<(u64, Interrupt)>, StoreError> {
        self.backend.interrupts(filter, page).await
    }

    async fn count_waiting(&self, of: Option<&ActorName>) -> Result<u64, StoreError> {
        self.backend.count_waiting(of, self.backend.time()).await
    }

    async fn waiting(
        &self,
        of: Option<&ActorName>,
        after: WaitingPosition,
        limit: u32,
    ) -> Result<Vec<(WaitingPosition, Interrupt)>, StoreError> {
        let now = self.backend.time();
        self.backend.waiting(of, now, after, limit).await
    }
}

#[async_trait]
impl<B: Relational> Reroutes for Adapter<B> {
    async fn reroute(&self, event: &EventId) -> Result<Option<RerouteRow>, StoreError> {
        self.backend.reroute(event).await
    }

    async fn turn_ignored(
        &self,
        run: RunId,
        node: &NodeId,
    ) -> Result<Option<RerouteRow>, StoreError> {
        let node = node.clone();
        self.backend.submit(TurnIgnored { run, node }).await
    }

    async fn node_ended(
        &self,
        run: RunId,
        node: &NodeId,
    ) -> Result<Option<RerouteRow>, StoreError> {
        let node = node.clone();
        self.backend.submit(NodeEnded { run, node }).await
    }

    async fn expire_reroutes(&self, limit: u32) -> Result<Vec<RerouteRow>, StoreError> {
        let mut expired = Vec::new();
        for event in self
            .backend
            .due_reroutes(self.backend.time(), limit)
            .await?
        {
            expired.extend(self.backend.submit(ExpireReroute { event }).await?);
        }
        Ok(expired)
    }
}

/// Runs one change of one interrupt.
async fn apply<B: Relational>(
    backend: &B,
    id: InterruptId,
    change: Change,
) -> Result<Interrupt, ChangeError> {
    backend.submit(ChangeInterrupt { id, change }).await
}
