//! Executes runs of workflows in code so that other processes reach them: with a manager over their store.

use std::sync::Arc;

use interrupt_router::{AgentType as _, NodeId, RunId};
use interrupts::catalogue::SharedCatalogue;
use interrupts::life::Actor;
use interrupts::manager::{
    AgentRoutes, InterruptManager, KeepError, KindRoutes, ManagerSettings, OwnedRun, RunEnd, Taking,
};
use interrupts::store::{NewRun, RootNode, RunError, Store, StoreError};
use interrupts::{KindName, Notifier, OwnerName, RouteName};
use tokio::runtime::Handle;

use super::control::Control;
use super::inbox::LateInbox;
use super::manager_notifier::ManagerNotifier;
use super::owner::{gone_owner, own_name};
use crate::run::RunSettings;
use crate::run::{Hold, RunStatus, RunStore, WorkError, Working};
use crate::workflow::{Executed, Execution, Workflow, WorkflowMistake, catalogue_of};

/// Executes runs of workflows in code, as many as you like at once, so that other processes reach them: `irq stop`, `pause`,
/// `send`, `reroute` and `review`, the page and REST work on them as on any other run of the store.
#[derive(Clone)]
pub struct RunHost {
    manager: InterruptManager,
    store: Arc<dyn Store>,
    owner: OwnerName,
}

/// Why a run could not be executed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// It could not be created.
    #[error("the run cannot be created")]
    Create(#[source] RunError),
    /// It could not be taken: another process has it, or it has ended.
    #[error("{run} cannot be taken")]
    Take {
        /// The run.
        run: RunId,
        /// Why.
        #[source]
        source: Box<KeepError>,
    },
    /// There is none.
    #[error("there is no {run} in the store")]
    NoRun {
        /// The run.
        run: RunId,
    },
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// That this process works on it cannot be recorded.
    #[error(transparent)]
    Work(#[from] WorkError),
    /// The workflow, or its input, is none that a store keeps.
    #[error(transparent)]
    Workflow(#[from] WorkflowMistake),
}

/// Whom stops of a workflow's agents concern, as its catalogue says.
struct OfWorkflow {
    catalogue: SharedCatalogue,
    first: AgentRoutes,
}

impl OfWorkflow {
    fn of<W: Workflow>() -> Result<Self, WorkflowMistake> {
        let catalogue = catalogue_of::<W>()?;
        let first = AgentRoutes {
            kind: KindName::new(W::FIRST.name())?,
            origin: RouteName::new(W::FIRST.origin_route().name())?,
            routes: catalogue
                .routes()
                .iter()
                .map(|it| it.name.clone())
                .collect(),
        };
        Ok(Self { catalogue, first })
    }
}

impl KindRoutes for OfWorkflow {
    fn agent_routes(&self, _run: RunId, _node: &NodeId, kind: Option<&KindName>) -> AgentRoutes {
        let known = kind.and_then(|kind| self.catalogue.agent_routes(Some(kind)));
        known.unwrap_or_else(|| self.first.clone())
    }
}

impl RunHost {
    /// A host over a store, for runs of a workflow. The notifier reaches the owners of other runs, and hears
    /// theirs: `store::notifier_at` makes that of a file.
    ///
    /// # Errors
    ///
    /// [`WorkflowMistake`] if this process can be given no name, or the workflow cannot be described.
    pub fn new<W: Workflow>(
        store: Arc<dyn Store>,
        notifier: Arc<dyn Notifier>,
    ) -> Result<Self, WorkflowMistake> {
        Self::named::<W>(store, notifier, own_name()?)
    }

    /// The same, with a name for the owner that no other process and no other host has.
    ///
    /// # Errors
    ///
    /// [`WorkflowMistake`] if the workflow cannot be described.
    pub fn named<W: Workflow>(
        store: Arc<dyn Store>,
        notifier: Arc<dyn Notifier>,
        owner: OwnerName,
    ) -> Result<Self, WorkflowMistake> {
        let kind_routes = Arc::new(OfWorkflow::of::<W>()?);
        let mut settings = ManagerSettings::new(Arc::clone(&store), owner.clone(), kind_routes);
        settings.notifier = notifier;
        Ok(Self {
            manager: InterruptManager::new(settings, Handle::current()),
            store,
            owner,
        })
    }

    /// Stops and pauses the runs that are executed here.
    pub const fn manager(&self) -> &InterruptManager {
        &self.manager
    }

    /// This process, as an actor.
    pub fn actor(&self) -> Actor {
        self.manager.settings().actor()
    }

    /// Begins a run with this input, or continues it with the input that it began with, to its end or until it rests.
    /// This overrides the owner, notifier and control of the store in the settings.
    ///
    /// # Errors
    ///
    /// [`HostError`] if the run cannot be created or taken. Nothing of it was executed then.
    ///
    /// # Cancel safety
    ///
    /// Dropped, all work of the run ends at once; what was recorded is kept, and its lease runs out.
    pub async fn begin<W: Workflow>(
        &self,
        workflow: Arc<W>,
        settings: RunSettings,
        input: &W::Input,
    ) -> Result<Executed<W::Output>, HostError> {
        if self.store.run(settings.run).await?.is_none() {
            self.create::<W>(settings.run, input).await?;
        }
        self.execute(workflow, settings, None).await
    }

    /// Continues a run in the store on a caller's request, which lifts any pause, by a person or anything else.
    /// Otherwise as [`RunHost::begin`], which leaves a paused run paused.
    ///
    /// # Errors
    ///
    /// [`HostError`] if the run is not there, or cannot be taken. Nothing of it was executed then.
    ///
    /// # Cancel safety
    ///
    /// As [`RunHost::begin`].
    pub async fn resume<W: Workflow>(
        &self,
        workflow: Arc<W>,
        settings: RunSettings,
        by: &Actor,
    ) -> Result<Executed<W::Output>, HostError> {
        self.execute(workflow, settings, Some(by)).await
    }

    async fn execute<W: Workflow>(
        &self,
        workflow: Arc<W>,
        mut settings: RunSettings,
        by: Option<&Actor>,
    ) -> Result<Executed<W::Output>, HostError> {
        let run = settings.run;
        let row = self.store.run(run).await?;
        let row = row.ok_or(HostError::NoRun { run })?;
        let inbox = Arc::new(LateInbox::closed_yet());
        let taking = Taking {
            run,
            node: NodeId::root(),
            lost: gone_owner(&row),
            outlasted: None,
            deliveries: Arc::clone(&inbox) as Arc<_>,
            messages_after: 0,
            leaves_agents_out: false,
        };
        let taken = self.manager.take(taking).await;
        let kept = Arc::new(taken.map_err(|error| not_taken(run, error))?);
        if let Some(by) = by {
            let lifted = kept.resume(by, None).await;
            lifted.map_err(|error| not_taken(run, error))?;
        }
        let control = Arc::new(Control::new(&kept, self.manager.clone()));
        let begun = Working::begin(&*self.store, run, kept.epoch(), &NodeId::root(), None).await?;
        control.works(begun);
        settings.store = self.kept_by(settings.store, &kept, &control);
        let execution = Execution::resume(workflow, settings)?;
        inbox.open(execution.run().inbox());
        let executed = execution.execute(&kept.scope()).await;
        inbox.close();
        control.work_ends().await;
        if let Ok(kept) = Arc::<OwnedRun>::try_unwrap(kept) {
            let settled = kept.settle(end_of(&executed.report.status)).await;
            settled.map_err(|error| not_taken(run, error))?;
        }
        Ok(executed)
    }

    async fn create<W: Workflow>(&self, run: RunId, input: &W::Input) -> Result<(), HostError> {
        let new = NewRun {
            root: Some(RootNode {
                node: NodeId::root(),
                kind: KindName::new(W::FIRST.name()).map_err(WorkflowMistake::from)?,
            }),
            id: run,
            alias: None,
            content: Execution::<W>::order(input)?,
        };
        let created = self.store.create_run(new).await;
        created.map(drop).map_err(HostError::Create)
    }

    fn kept_by(&self, store: RunStore, kept: &Arc<OwnedRun>, control: &Arc<Control>) -> RunStore {
        RunStore {
            store: Arc::clone(&self.store),
            owner: self.owner.clone(),
            hold: Hold::Kept {
                epoch: kept.epoch(),
            },
            notifier: Arc::new(ManagerNotifier::new(kept.pulse())),
            control: Some(Arc::clone(control) as Arc<_>),
            ..store
        }
    }
}

fn not_taken(run: RunId, error: KeepError) -> HostError {
    let source = Box::new(error);
    HostError::Take { run, source }
}

/// How a run rests or ends, for the manager.
fn end_of(status: &RunStatus) -> RunEnd {
    match status {
        RunStatus::Completed { .. } => RunEnd::Completed,
        RunStatus::Waiting { .. } => RunEnd::Waiting {
            reason: "it waits for an answer".to_owned(),
        },
        RunStatus::Cancelled { reason, .. } => RunEnd::Cancelled {
            reason: reason.clone(),
        },
        RunStatus::Failed {
            resumable: false,
            error,
            ..
        } => RunEnd::Failed {
            reason: error.clone(),
        },
        RunStatus::Paused { .. }
        | RunStatus::Failed {
            resumable: true, ..
        } => RunEnd::Stopped,
    }
}
