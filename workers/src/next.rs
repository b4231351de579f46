//! Which run a worker takes next.

use interrupts::life::RunState;
use interrupts::store::{Pages, Run};
use jiff::Timestamp;
use journal::executed_by_worker;
use routing_core::RunId;

use crate::error::WorkError;
use crate::lease::Taking;
use crate::owned::Owned;
use crate::protocol::Protocol;
use crate::waiting::WaitingRuns;

/// How many runs are read together.
const PAGE: u32 = 200;

/// What taking the next run came to.
pub enum NextRun<'a> {
    /// It is owned.
    Taken(Box<Owned<'a>>),
    /// None can go on now.
    NoneYet {
        /// When the first lease of another worker runs out, unless that renews it.
        until: Option<Timestamp>,
    },
}

/// When the first of the leases seen runs out.
#[derive(Default)]
struct FirstEnd(Option<Timestamp>);

impl FirstEnd {
    /// A worker that died releases nothing: its lease runs out without an event.
    fn see(&mut self, run: &Run, now: Timestamp) {
        let until = run.lease.as_ref().map(|lease| lease.until);
        let until = until.filter(|until| now < *until);
        self.0 = self.0.into_iter().chain(until).min();
    }
}

impl<'a> Protocol<'a> {
    /// Takes the oldest run that can continue, needs nothing that the worker lacks and has no owner, or the one that this very try took before. Of the waiting
    /// runs it checks those that `waiting` names; the caller notes there what the outbox mentions.
    ///
    /// # Errors
    ///
    /// [`WorkError`].
    ///
    /// # Cancel safety
    ///
    /// As [`Protocol::take`].
    pub async fn take_next(
        &self,
        taking: &Taking,
        waiting: &WaitingRuns,
        now: Timestamp,
    ) -> Result<NextRun<'a>, WorkError> {
        // An older run may have become free since this very try took one.
        if let Some(run) = self.taken_before(taking).await?
            && let Some(owned) = self.take_if_free(run.id, taking).await?
        {
            return Ok(NextRun::Taken(Box::new(owned)));
        }
        let mut first_end = FirstEnd::default();
        let news = self.with_news(taking, waiting, now, &mut first_end).await?;
        let mut news = news.into_iter().peekable();
        let states = [RunState::Created, RunState::Running];
        let mut pages = Pages::of(PAGE);
        while let Some(runs) = pages.next(|page| self.store.runs(&states, page)).await? {
            for (_position, run) in runs {
                if !taking.covers(&run) {
                    continue;
                }
                if !self.can_go_on(&run, taking, now).await? {
                    first_end.see(&run, now);
                    continue;
                }
                while let Some(older) = news.next_if(|it| it.created_at < run.created_at) {
                    if let Some(owned) = self.take_if_free(older.id, taking).await? {
                        return Ok(NextRun::Taken(Box::new(owned)));
                    }
                }
                if let Some(owned) = self.take_if_free(run.id, taking).await? {
                    return Ok(NextRun::Taken(Box::new(owned)));
                }
            }
        }
        for run in news {
            if let Some(owned) = self.take_if_free(run.id, taking).await? {
                return Ok(NextRun::Taken(Box::new(owned)));
            }
        }
        Ok(NextRun::NoneYet { until: first_end.0 })
    }

    /// The waiting runs that can continue, oldest first.
    async fn with_news(
        &self,
        taking: &Taking,
        waiting: &WaitingRuns,
        now: Timestamp,
        first_end: &mut FirstEnd,
    ) -> Result<Vec<Run>, WorkError> {
        waiting.look(self.store).await?;
        let mut news = Vec::new();
        for (id, number) in waiting.of(self.workflow) {
            let run = self.store.run(id).await?;
            let waits =
                |run: &Run| run.state == RunState::Waiting && executed_by_worker(&run.content);
            let Some(run) = run.filter(waits) else {
                // A run at work is found below. When it waits again, it is noted.
                waiting.rests(id, number);
                continue;
            };
            waiting.is_known(&run);
            if !taking.covers(&run) {
                // It stays noted for a worker that has what it needs.
                continue;
            }
            if self.can_go_on(&run, taking, now).await? {
                news.push(run);
            } else if run.is_owned(now) {
                first_end.see(&run, now);
            } else if self.is_of_workflow(&run) {
                waiting.rests(id, number);
            }
        }
        news.sort_by_key(|run| run.created_at);
        Ok(news)
    }

    /// Takes a run, unless another worker was faster, or a person stopped it.
    async fn take_if_free(
        &self,
        run: RunId,
        taking: &Taking,
    ) -> Result<Option<Owned<'a>>, WorkError> {
        match self.take(run, taking).await {
            Ok(owned) => Ok(Some(owned)),
            Err(WorkError::Owned { .. } | WorkError::Paused { .. } | WorkError::Ended { .. }) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The run that a try has: sent again because its answer was lost, it has no other.
    async fn taken_before(&self, taking: &Taking) -> Result<Option<Run>, WorkError> {
        if !taking.names_try {
            return Ok(None);
        }
        let mut pages = Pages::of(PAGE);
        while let Some(runs) = pages
            .next(|page| self.store.runs(&[RunState::Running], page))
            .await?
        {
            let has = |run: &Run| run.lease.as_ref().is_some_and(|lease| taking.has(lease));
            if let Some((_position, run)) = runs.into_iter().find(|(_position, run)| has(run)) {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }
}
