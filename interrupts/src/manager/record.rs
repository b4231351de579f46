//! Recording requests: for runs that this process owns, and for others.

use std::sync::Arc;

use interrupt_router::{InterruptId, NodeId, RunId};

use super::owned_run_state::{KeepError, OwnedRunState};
use super::request::Target;
use super::retry_budget::RetryBudget;
use super::shared::{Shared, StopJob};
use super::ticket::{RecordingProgress, RequestError};
use super::tree::Reach;
use crate::life::{
    Admission, Decision, ExpiryOutcome, Recurrence, Refusal, Scope, USUAL_ATTEMPTS, Verdict,
};
use crate::names::{IdempotencyKey, KindName};
use crate::store::{ChangeError, Page, StoreError};

impl OwnedRunState {
    /// Records all requests for the run that were made in this process.
    pub(crate) async fn record_all(&self) -> Result<(), KeepError> {
        while let Some(job) = self.shared.registry.next_job(self.run) {
            let mut under_way = UnderWay {
                shared: &self.shared,
                job: Some(job.clone()),
            };
            self.shared.record(&job, &self.node, &self.patience).await;
            under_way.job = None;
            self.shared.registry.job_done(self.run);
            self.check_owned()?;
        }
        Ok(())
    }
}

/// A job that is being recorded. If its task ends before that is done, another task records it: its id makes it the same.
struct UnderWay<'shared> {
    shared: &'shared Shared,
    job: Option<StopJob>,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if let Some(job) = self.job.take() {
            let run = job.run;
            self.shared.registry.give_back(run, job);
            // The run's current recorder may have checked the queue before.
            self.shared.outside.notify_one();
            self.shared.wake(run);
        }
    }
}

impl Shared {
    /// Records requests for runs that this process does not own, until the manager ends.
    pub(crate) async fn record_outside(self: Arc<Self>) {
        loop {
            while let Some((run, job)) = self.registry.next_outside() {
                self.record_for_others(&job).await;
                if self.registry.job_done(run) {
                    self.wake(run);
                }
                self.beat();
            }
            tokio::select! {
                () = self.outside.notified() => {}
                () = self.closed.cancelled() => return,
            }
        }
    }

    async fn record_for_others(&self, job: &StopJob) {
        match self.first_node(job.run).await {
            Ok(node) => {
                let patience = RetryBudget::of_unkept(job.run, &self.settings);
                self.record(job, &node, &patience).await;
            }
            Err(error) => job.ticket.report(RecordingProgress::Failed(error.into())),
        }
        self.notify_for(job.run).await;
    }

    /// Rings for the owner of a run, if it is another process.
    async fn notify_for(&self, run: RunId) {
        let settings = &self.settings;
        match settings.store.run(run).await {
            Ok(Some(run)) => {
                if let Some(lease) = run.lease
                    && lease.owner != settings.owner
                {
                    settings.notifier.notify(&lease.owner).await;
                }
            }
            Ok(None) => {}
            // A notification is only a hint: without it, the owner reads the store at its next poll.
            Err(error) => tracing::warn!(%run, %error, "the run's owner could not be notified"),
        }
    }

    /// The node that represents a run: its first one.
    async fn first_node(&self, run: RunId) -> Result<NodeId, StoreError> {
        let settings = &self.settings;
        let page = Page { after: 0, limit: 1 };
        let nodes = settings
            .backoff
            .recover(|| settings.store.nodes(Some(run), page))
            .await?;
        let first = nodes.into_iter().next();
        Ok(first.map_or_else(NodeId::root, |(_position, row)| row.node))
    }

    /// Records a request, and reports that to its caller.
    pub(crate) async fn record(&self, job: &StopJob, main: &NodeId, patience: &RetryBudget) {
        let recorded = if job.joins && job.hardens {
            self.raise(job, job.id, patience).await
        } else if job.joins {
            self.ask(job, main, patience).await
        } else {
            self.admit(job, main, patience).await
        };
        match &recorded {
            Ok(id) => {
                if *id != job.id {
                    self.registry.rename(job.run, job.id, *id);
                }
                tracing::debug!(run = %job.run, interrupt = %id, "the request is recorded");
            }
            Err(error) if error.came_after_the_end() => {
                // It stops nothing, so nothing in the run is to wait for it.
                self.registry.lift(job.run, &[job.id]);
                tracing::debug!(run = %job.run, %error, "the request came too late");
            }
            Err(error) => tracing::error!(run = %job.run, %error, "the request is not recorded"),
        }
        job.ticket.report(match recorded {
            Ok(id) => RecordingProgress::Recorded(id),
            Err(error) => RecordingProgress::Failed(error),
        });
    }

    async fn admit(
        &self,
        job: &StopJob,
        main: &NodeId,
        patience: &RetryBudget,
    ) -> Result<InterruptId, RequestError> {
        let admission = self.admission(job, main, patience).await?;
        let settings = &self.settings;
        // A request with a key is admitted on its own; any other joins a stop that is under way.
        let request = || {
            if job.request.key.is_some() {
                settings.store.admit(admission.clone())
            } else {
                settings.store.join(admission.clone())
            }
        };
        let admitted = patience.write(self, request).await?;
        Ok(admitted.into_interrupt().id)
    }

    /// Records a further request for a stop that is under way. If that has ended meanwhile without being carried out, its
    /// end concerned only the other requests, and this one becomes a stop of its own.
    async fn ask(
        &self,
        job: &StopJob,
        main: &NodeId,
        patience: &RetryBudget,
    ) -> Result<InterruptId, RequestError> {
        let settings = &self.settings;
        let (id, asking) = (job.id, job.request.asking());
        let asked = patience
            .write(self, || settings.store.ask(id, asking.clone()))
            .await;
        match asked {
            Ok(_) => Ok(id),
            // It was carried out: there is nothing left to request.
            Err(ChangeError::Refused(Refusal::Ended { decision, .. }))
                if is_applied(decision.as_deref()) =>
            {
                Ok(id)
            }
            Err(ChangeError::Refused(Refusal::Ended { .. } | Refusal::Illegal { .. })) => {
                self.registry.stands_anew(job.run, id);
                let anew = StopJob {
                    id: InterruptId::generate(),
                    joins: false,
                    ..job.clone()
                };
                self.admit(&anew, main, patience).await
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn raise(
        &self,
        job: &StopJob,
        id: InterruptId,
        patience: &RetryBudget,
    ) -> Result<InterruptId, RequestError> {
        let settings = &self.settings;
        let (by, mode) = (&job.request.by, job.request.mode);
        let raised = patience
            .write(self, || settings.store.raise_mode(id, by.clone(), mode))
            .await;
        match raised {
            // A stop that has ended meanwhile has taken effect: there is nothing left to raise.
            Ok(_) | Err(ChangeError::Refused(_)) => Ok(id),
            Err(error) => Err(error.into()),
        }
    }

    async fn admission(
        &self,
        job: &StopJob,
        main: &NodeId,
        patience: &RetryBudget,
    ) -> Result<Admission, RequestError> {
        let request = &job.request;
        let node = match &job.reach {
            Reach::Run => main,
            Reach::Node(node) => node,
        };
        let kind = self.kind_of(job.run, node, patience).await?;
        let agent_routes = self
            .settings
            .kind_routes
            .agent_routes(job.run, node, kind.as_ref());
        let content =
            serde_json::to_string(&request.note()).map_err(|error| RequestError::Unwritable {
                detail: error.to_string(),
            })?;
        Ok(Admission {
            id: job.id,
            run: job.run,
            node: node.clone(),
            kind: agent_routes.kind,
            origin: agent_routes.origin,
            routes: agent_routes.routes,
            interrupt_type: request.kind.into(),
            source: request.source,
            requested_by: request.by.clone(),
            mode: request.mode,
            scope: Scope::from(&job.reach),
            reason: request.message.clone(),
            content,
            key: key_of(job),
            allowed: Vec::new(),
            patience: None,
            on_expiry: ExpiryOutcome::Cancel,
            most_attempts: USUAL_ATTEMPTS,
            recurrence: Recurrence::Verbatim,
            reroute: None,
        })
    }

    async fn kind_of(
        &self,
        run: RunId,
        node: &NodeId,
        patience: &RetryBudget,
    ) -> Result<Option<KindName>, StoreError> {
        let settings = &self.settings;
        let row = patience
            .read(self, || settings.store.node(run, node))
            .await?;
        Ok(row.map(|row| row.kind))
    }
}

/// The key of a request; a request to stop everything has its own key in each run.
fn key_of(job: &StopJob) -> IdempotencyKey {
    let key = job.request.key.as_ref();
    let given = match job.request.target {
        Target::Everything => {
            key.and_then(|key| IdempotencyKey::new(format!("{key}/{}", job.run)).ok())
        }
        Target::Run(_) | Target::Node(..) => key.cloned(),
    };
    given.unwrap_or_else(|| IdempotencyKey::from(job.id))
}

fn is_applied(decision: Option<&Decision>) -> bool {
    decision.is_some_and(|decision| decision.verdict == Verdict::Applied)
}
