//! The store that the askers of this process use, and the notifier with which other processes wake it.

use std::sync::Arc;

use interrupts::policy::Policy;
use interrupts::{OwnerName, WorkflowName};
use store::notifier_at;
use tokio::sync::watch;
use workers::{KindDraft, Protocol, WorkflowDraft};

use super::by_work;
use crate::arguments::StoreArguments;
use crate::exit::{Exit, Failure};
use crate::policy;
use crate::run_owner::{RunOwner, own_name};
use crate::storage::Storage;
use crate::workflows;

/// The kind of the one agent of each run.
pub(super) const KIND: &str = "ASSISTANT";

/// What all askers of this process share.
pub(crate) struct AskerStore {
    pub(super) storage: Storage,
    workflow: WorkflowName,
    policy: Arc<Policy>,
    /// This process, as the owner of runs: its name shows whether it is alive.
    pub(super) owner: OwnerName,
    /// Carries out stops once nothing of a run works any more.
    pub(super) run_owner: RunOwner,
    news: watch::Sender<u64>,
}

impl AskerStore {
    /// Opens the store, creating it if it does not exist, and registers the workflow in it.
    ///
    /// # Errors
    ///
    /// If the store cannot be opened, or no other process could see it.
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
            run_owner: RunOwner::beside(storage.clone()).map_err(failed)?,
            owner: own_name().map_err(failed)?,
            policy: Arc::new(policy::of_environment()?),
            storage,
            workflow,
            news,
        });
        opened.register().await?;
        Ok(opened)
    }

    /// Registers one kind, whose answers only go back to it.
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

    /// Listens for other processes, for as long as it is polled: each notification wakes all tasks that wait here.
    ///
    /// # Cancel safety
    ///
    /// Safe: waiting tasks look by themselves, a little later.
    pub(crate) async fn hear(&self) {
        let notifier = notifier_at(self.storage.location(), &self.owner);
        loop {
            notifier.heard().await;
            self.changed();
        }
    }

    /// Something may have changed: wakes all waiting tasks.
    pub(super) fn changed(&self) {
        self.news
            .send_modify(|count| *count = count.wrapping_add(1));
    }

    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }
}
