//! Where requests are carried out: a store, under a policy. REST, the socket, the page and the program beside its store
//! differ in who asks and in what wakes the run.

use interrupts::IdempotencyKey;
use interrupts::catalogue::{CatalogueBook, NamedEvent, SharedCatalogue};
use interrupts::life::{Interrupt, Scope};
use interrupts::policy::Policy;
use interrupts::store::{Admitted, Deciding, RefusedDecision, Run, Store, TogetherError};
use jiff::Timestamp;

use crate::caller::Caller;
use crate::event::{event_admission, event_key};
use crate::refusal::{Code, NotDone, Refusal, not_admitted, not_asked, not_changed, refuse_ended};
use crate::request::{Target, Terms};
use crate::right::Right;
use crate::stop::StopOrder;

/// A store, the catalogues of its workflows, the policy that sets the terms of what is requested of it, and the time.
#[derive(Clone, Copy)]
pub struct Control<'a> {
    /// The store.
    pub store: &'a dyn Store,
    /// The catalogues that are known here; others are in the store.
    pub catalogues: &'a CatalogueBook,
    /// The policy.
    pub policy: &'a Policy,
    /// When it is carried out.
    pub now: Timestamp,
}

impl std::fmt::Debug for Control<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut fields = formatter.debug_struct("Control");
        fields.field("now", &self.now).finish_non_exhaustive()
    }
}

impl Control<'_> {
    /// Requests a stop: it is recorded when this returns, and not applied yet. It joins the same one that is under way, and
    /// raises it if it is harder. A request that was made before with this key gets the same result, whatever became of its
    /// run since.
    ///
    /// # Errors
    ///
    /// It cannot be requested so, its run has ended, or the store failed.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it was requested or not; with the same key it is safe to repeat.
    pub async fn stop(
        &self,
        of: &Target<'_>,
        order: &StopOrder,
        by: &Caller,
        key: IdempotencyKey,
    ) -> Result<Admitted, NotDone> {
        Right::Request.demand(by)?;
        by.reach.demand(of)?;
        order.check(of).map_err(not_asked)?;
        if order.scope == Scope::Run {
            by.reach.demand_whole_run()?;
        }
        if order.ends_run(of) {
            Right::Direct.demand(by)?;
        }
        let known = self.known(&key).await?;
        if known.is_none() {
            refuse_ended(of.run)?;
        }
        let terms = self.terms(known.as_ref());
        let admission = order.admission(of, by, key, terms).map_err(not_asked)?;
        // Its key is stored with the stop that it joins, so that a repeated request gets the same answer.
        let admitted = self.store.join(admission).await;
        admitted.map_err(|error| not_admitted(error, self.now))
    }

    /// Publishes a supervisor's event. Its id is its key: what was published before is answered again.
    ///
    /// # Errors
    ///
    /// As of [`Control::stop`].
    ///
    /// # Cancel safety
    ///
    /// Dropped, it was published or not; safe to repeat.
    pub async fn publish(
        &self,
        to: &Target<'_>,
        event: &NamedEvent,
        by: &Caller,
    ) -> Result<Admitted, NotDone> {
        Right::to_publish(event).demand(by)?;
        by.reach.demand(to)?;
        let key = event_key(event).map_err(not_asked)?;
        let known = self.known(&key).await?;
        let reach = &by.reach;
        if known
            .as_ref()
            .is_some_and(|it| !reach.covers(it.run, &it.node))
        {
            let refusal = Refusal::new(
                Code::IdempotencyConflict,
                "$.eventId: the id belongs to another event",
                "use another id for another event",
            );
            return Err(refusal.into());
        }
        let terms = self.terms(known.as_ref());
        let admission = event_admission(event, to, by, terms).map_err(not_asked)?;
        if known.is_none() {
            refuse_ended(to.run)?;
        }
        let admitted = self.store.admit(admission).await;
        admitted.map_err(|error| not_admitted(error, self.now))
    }

    /// Makes decisions, all together or none: then it says why each one that is refused is, with its place. Who was too late
    /// is told which decision won.
    ///
    /// # Errors
    ///
    /// The store failed: all were made or none.
    ///
    /// # Cancel safety
    ///
    /// Dropped, all were made or none: read one of them to see.
    pub async fn decide(
        &self,
        deciding: Vec<Deciding>,
    ) -> Result<Result<Vec<Interrupt>, Vec<(usize, NotDone)>>, NotDone> {
        match self.store.decide_together(deciding).await {
            Ok(decided) => Ok(Ok(decided)),
            Err(TogetherError::Refused(lost)) => {
                let why = |one: RefusedDecision| {
                    let why = not_changed(Some(one.interrupt), one.error, self.now);
                    (one.place, why)
                };
                Ok(Err(lost.into_iter().map(why).collect()))
            }
            Err(TogetherError::Store(error)) => Err(NotDone::Store(error)),
            Err(other) => Err(NotDone::Failed(other.into())),
        }
    }

    /// The catalogue that a run goes on under, if it is known.
    pub(crate) async fn catalogue_of(&self, run: &Run) -> Result<Option<SharedCatalogue>, NotDone> {
        let found = self.catalogues.of_run(self.store, run).await;
        found.map_err(NotDone::Store)
    }

    fn terms<'a>(&'a self, known: Option<&'a Interrupt>) -> Terms<'a> {
        Terms {
            policy: self.policy,
            known,
        }
    }

    /// The interrupt of the same request, if it was made before.
    async fn known(&self, key: &IdempotencyKey) -> Result<Option<Interrupt>, NotDone> {
        let known = self.store.interrupt_of(key).await;
        known.map_err(NotDone::Store)
    }
}
