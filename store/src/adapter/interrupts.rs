//! The ports of interrupts and reroutes.

use async_trait::async_trait;
use interrupt_router::{EventId, InterruptId, NodeId, RunId, StopMode};
use interrupts::life::{
    Actor, Admission, Choosing, Evidence, Interrupt, Judge, NewAsking, ReviewChange, WithdrawCause,
};
use interrupts::store::{
    AdmitError, Admitted, ChangeError, Deciding, Delivery, Filter, Interrupts, Page, PutQuestion,
    PutQuestionError, RaisedQuestion, RerouteRow, Reroutes, StandingRules, StoreError, Swept,
    TogetherError, WaitingPosition,
};
use interrupts::{ActorName, Digest, IdempotencyKey};
use jiff::{SignedDuration, Timestamp};

use super::Adapter;
use crate::operation::{
    Admit, Change, ChangeInterrupt, DecideTogether, ExpireReroute, Join, NodeEnded, Put, Raise,
    TurnIgnored,
};
use crate::relational::{
    Cell, Columns, Found, Relational, Rows as _, body, columns, count, interrupt_id, list,
    numbered, sealed,
};
use crate::tables::InterruptRow;

/// The ended and the open ones each lie in order.
const INTERRUPTS_OF_RUN: &str = concat!(
    "SELECT ",
    columns!(interrupts),
    " FROM (SELECT ",
    columns!(interrupts),
    " FROM interrupts INDEXED BY interrupts_of_run \
     WHERE run = ?1 AND live = 0 AND position > ?2 UNION ALL SELECT ",
    columns!(interrupts),
    " FROM interrupts INDEXED BY interrupts_of_run \
     WHERE run = ?1 AND live = 1 AND position > ?2) AS of_run \
     WHERE (CAST(?3 AS TEXT) IS NULL OR node = ?3) \
     AND (CAST(?4 AS TEXT) IS NULL OR state IN (SELECT value FROM json_each(?4))) \
     ORDER BY position LIMIT ?5"
);
/// What has ended is not looked at, however much of it a run has.
const OPEN_INTERRUPTS_OF_RUN: &str = concat!(
    "SELECT ",
    columns!(interrupts),
    " FROM interrupts INDEXED BY interrupts_of_run \
     WHERE run = ?1 AND live = 1 AND position > ?2 \
     AND (CAST(?3 AS TEXT) IS NULL OR node = ?3) \
     AND state IN (SELECT value FROM json_each(?4)) \
     ORDER BY position LIMIT ?5"
);
const OPEN_INTERRUPTS: &str = concat!(
    "SELECT ",
    columns!(interrupts),
    " FROM interrupts INDEXED BY interrupts_open \
     WHERE live = 1 AND position > ?1 AND (CAST(?2 AS TEXT) IS NULL OR node = ?2) \
     AND state IN (SELECT value FROM json_each(?3)) \
     ORDER BY position LIMIT ?4"
);
const INTERRUPTS: &str = concat!(
    "SELECT ",
    columns!(interrupts),
    " FROM interrupts \
     WHERE position > ?1 AND (CAST(?2 AS TEXT) IS NULL OR node = ?2) \
     AND (CAST(?3 AS TEXT) IS NULL OR state IN (SELECT value FROM json_each(?3))) \
     ORDER BY position LIMIT ?4"
);

/// What waits for a person, from the index alone. A time as text is compared without its `Z`, which comes after the digits
/// of a fraction that the other time may have.
macro_rules! waiting {
    () => {
        " FROM interrupts INDEXED BY interrupts_waiting WHERE state = 'awaiting_review' \
         AND (CAST(?1 AS TEXT) IS NULL OR assignee = ?1 OR (claimed_by = ?1 AND claimed_until > ?2))"
    };
}

/// Whose, and when, in that statement.
fn whose(of: Option<&ActorName>, now: Timestamp) -> [Cell<'static>; 2] {
    let person = Cell::text(of.map(|person| person.as_str().to_owned()));
    [person, Cell::made(&now.to_string().trim_end_matches('Z'))]
}

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
        for id in self.due(limit).await? {
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
        self.backend.record::<InterruptRow>(&id).await
    }

    async fn interrupt_of(&self, key: &IdempotencyKey) -> Result<Option<Interrupt>, StoreError> {
        let sql = concat!(
            "SELECT ",
            columns!(interrupts),
            " FROM interrupts WHERE key = ?1 UNION ALL SELECT ",
            columns!(interrupts),
            " FROM interrupts \
             WHERE id IN (SELECT interrupt FROM joined WHERE key = ?1)"
        );
        self.backend
            .point(sql, [Cell::made(key)], |row| body(row, &sealed::INTERRUPTS))
            .await
    }

    async fn interrupts(
        &self,
        filter: &Filter,
        page: Page,
    ) -> Result<Vec<(u64, Interrupt)>, StoreError> {
        let after = Cell::position(page.after)?;
        let limit = Cell::limit(page.limit);
        let node = Cell::text(filter.node.as_ref().map(ToString::to_string));
        let states = list(filter.states.iter().map(|state| state.name()));
        let only_live = !filter.states.is_empty() && filter.states.iter().all(|it| it.is_live());
        let read = |row: &dyn Columns| numbered(row, &sealed::INTERRUPTS);
        // A statement for each, so that each has its index.
        match filter.run {
            Some(run) => {
                let values = [Cell::made(&run), after, node, states, limit];
                let sql = match only_live {
                    true => OPEN_INTERRUPTS_OF_RUN,
                    false => INTERRUPTS_OF_RUN,
                };
                self.backend.rows(sql, values, read).await
            }
            None => {
                let sql = match only_live {
                    true => OPEN_INTERRUPTS,
                    false => INTERRUPTS,
                };
                self.backend
                    .rows(sql, [after, node, states, limit], read)
                    .await
            }
        }
    }

    async fn count_waiting(&self, of: Option<&ActorName>) -> Result<u64, StoreError> {
        let now = self.backend.time();
        let sql = concat!("SELECT COUNT(*)", waiting!());
        let counted = self.backend.row(sql, whose(of, now), |row| count(row, 0));
        Ok(counted.await?.unwrap_or(0))
    }

    async fn waiting(
        &self,
        of: Option<&ActorName>,
        after: WaitingPosition,
        limit: u32,
    ) -> Result<Vec<(WaitingPosition, Interrupt)>, StoreError> {
        let now = self.backend.time();
        let sql = concat!(
            "SELECT ",
            columns!(interrupts),
            waiting!(),
            " AND (priority, position) > (?3, ?4) ORDER BY priority, position LIMIT ?5"
        );
        let [person, now] = whose(of, now);
        let priority = Cell::Number(i64::from(after.priority));
        let admitted = Cell::position(after.admitted)?;
        let values = [person, now, priority, admitted, Cell::limit(limit)];
        self.backend
            .rows(sql, values, |row| {
                let (admitted, interrupt) = numbered(row, &sealed::INTERRUPTS)?;
                Ok((WaitingPosition::of(admitted, &interrupt), interrupt))
            })
            .await
    }
}

#[async_trait]
impl<B: Relational> Reroutes for Adapter<B> {
    async fn reroute(&self, event: &EventId) -> Result<Option<RerouteRow>, StoreError> {
        self.backend.record::<RerouteRow>(event).await
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
        for event in self.due_reroutes(limit).await? {
            expired.extend(self.backend.submit(ExpireReroute { event }).await?);
        }
        Ok(expired)
    }
}

impl<B: Relational> Adapter<B> {
    /// Live interrupts whose deadlines have passed.
    async fn due(&self, limit: u32) -> Found<Vec<InterruptId>> {
        let now = self.backend.time();
        let sql = "SELECT id FROM interrupts \
             WHERE live = 1 AND deadline <= ? ORDER BY deadline LIMIT ?";
        self.backend
            .rows(
                sql,
                [Cell::Number(now.as_microsecond()), Cell::limit(limit)],
                interrupt_id,
            )
            .await
    }

    /// Pending reroutes whose time has passed.
    async fn due_reroutes(&self, limit: u32) -> Found<Vec<EventId>> {
        let now = self.backend.time();
        let sql = concat!(
            "SELECT ",
            columns!(reroutes),
            " FROM reroutes \
             WHERE pending = 1 AND expires_at <= ? ORDER BY expires_at LIMIT ?"
        );
        let rows = self.backend.rows(
            sql,
            [Cell::Number(now.as_microsecond()), Cell::limit(limit)],
            |row| body::<RerouteRow>(row, &sealed::REROUTES),
        );
        Ok(rows.await?.into_iter().map(|row| row.event).collect())
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
