//! Which run a worker takes next.

use interrupt_router::RunId;
use interrupts::life::RunState;
use interrupts::store::{Pages, Run};
use jiff::Timestamp;

use crate::candidates::Candidates;
use crate::error::WorkError;
use crate::lease::Taking;
use crate::owned::Owned;
use crate::protocol::Protocol;

/// How many runs are read at a time.
const PAGE: u32 = 200;

/// The result of taking the next run.
pub enum NextRun<'a> {
    /// It is owned.
    Taken(Box<Owned<'a>>),
    /// None can go on now.
    NoneYet {
        /// When to look again, even without news.
        until: Option<Timestamp>,
    },
}

impl<'a> Protocol<'a> {
    /// Takes the oldest run that can continue, needs nothing that the worker lacks and has no owner. The caller notes among
    /// the candidates what the outbox mentions.
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
        candidates: &Candidates,
        now: Timestamp,
    ) -> Result<NextRun<'a>, WorkError> {
        candidates.look(self.store, now).await?;
        for (id, number) in candidates.of(self.workflow, taking, now) {
            let Some(run) = self.store.run(id).await? else {
                candidates.rests(id, number);
                continue;
            };
            if self.can_go_on(&run, taking, now).await? {
                if let Some(owned) = self.take_if_free(id, taking).await? {
                    return Ok(NextRun::Taken(Box::new(owned)));
                }
                // Another worker, or a person, was faster.
                if let Some(run) = self.store.run(id).await? {
                    candidates.is_kept(&run, number, now);
                }
            } else if run.is_owned(now) {
                candidates.is_kept(&run, number, now);
            } else {
                candidates.rests(id, number);
            }
        }
        Ok(NextRun::NoneYet {
            until: candidates.first_end(self.workflow, taking, now),
        })
    }

    /// Takes the run that this very try took before: a request that is sent again because its answer was lost gets no other.
    ///
    /// # Errors
    ///
    /// [`WorkError`].
    ///
    /// # Cancel safety
    ///
    /// As [`Protocol::take`].
    pub async fn take_again(&self, taking: &Taking) -> Result<Option<Box<Owned<'a>>>, WorkError> {
        let taken = match self.taken_before(taking).await? {
            Some(run) => self.take_if_free(run.id, taking).await?,
            None => None,
        };
        Ok(taken.map(Box::new))
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

    /// The run that a try owns: a request that is sent again because its answer was lost gets no other.
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
