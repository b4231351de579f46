//! The store that the askers of this process use, and the notifier with which other processes wake it.

use std::sync::Arc;

use interrupts::policy::Policy;
use interrupts::{OwnerName, WorkflowName};
use store::bell_at;
use tokio::sync::watch;
use workers::{KindDraft, Protocol, WorkflowDraft};

use super::by_work;
use crate::arguments::StoreArguments;
use crate::exit::{Exit, Failure};
use crate::keep::{Keeping, own_name};
use crate::policy;
use crate::storage::Storage;
use crate::workflows;

/// The kind of the one agent of each run.
pub(super) const KIND: &str = "ASSISTANT";

/// What all askers of this process share.
pub(crate) struct AskerStore {
    pub(super) storage: Storage,
    workflow: WorkflowName,
    policy: Policy,
    /// This process, as the owner of runs: whether it lives can be seen by its name.
    pub(super) owner: OwnerName,
    /// Lets stops take hold once nothing of a run works any more.
    pub(super) keeping: Keeping,
    news: watch::Sender<u64>,
}

impl AskerStore {
    /// Opens the store, which is made where it is not there, and registers the workflow in it.
    ///
    /// # Errors
    ///
    /// Where the store cannot be opened, or no other process could see it.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub(crate) async fn open(
        arguments: &StoreArguments,
        workflow: &str,
    ) -> Result<Arc<Self>, Failure> {
        let storage = Storage::create(arguments).await?;
        if storage.location().path().is_none() {
            let text = "a store in memory has no people who could answer";
            return Err(Failure::new(Exit::Usage, text).hint("name a file: --store PATH"));
        }
        let failed = |error: interrupts::NameError| Failure::new(Exit::Failure, error.to_string());
        let workflow = WorkflowName::new(workflow).map_err(failed)?;
        let (news, _) = watch::channel(0);
        let opened = Arc::new(Self {
            keeping: Keeping::beside(storage.clone()).map_err(failed)?,
            owner: own_name().map_err(failed)?,
            policy: policy::of_environment()?,
            storage,
            workflow,
            news,
        });
        opened.register().await?;
        Ok(opened)
    }

    /// One kind, whose answers only come back to it.
    async fn register(&self) -> Result<(), Failure> {
        let draft = WorkflowDraft {
            kinds: vec![KindDraft {
                name: KIND.to_owned(),
                origin: None,
                fields: None,
            }],
            routes: Vec::new(),
        };
        let catalogue = draft.check(&self.workflow).map_err(|errors| {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            Failure::new(Exit::Failure, errors.join("; "))
        })?;
        let registered = self.protocol().register(catalogue).await;
        registered.map_err(|error| by_work(&error))?;
        Ok(())
    }

    pub(super) fn protocol(&self) -> Protocol<'_> {
        Protocol {
            store: &*self.storage.store,
            catalogues: workflows::book(),
            policy: &self.policy,
            workflow: &self.workflow,
        }
    }

    /// Hears other processes, for as long as it is polled: each ring wakes all that wait here.
    ///
    /// # Cancel safety
    ///
    /// Safe: what waits looks by itself, a little later.
    pub(crate) async fn hear(&self) {
        let bell = bell_at(self.storage.location(), &self.owner);
        loop {
            bell.heard().await;
            self.changed();
        }
    }

    /// Something may have changed: whatever waits looks now.
    pub(super) fn changed(&self) {
        self.news
            .send_modify(|count| *count = count.wrapping_add(1));
    }

    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }
}
