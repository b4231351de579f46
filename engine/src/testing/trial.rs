//! A workflow that is tried: to its end, or killed at a place and taken up again.

use std::sync::Arc;

use interrupt_router::{RunId, StopScope};
use interrupts::catalogue::SharedCatalogue;
use interrupts::life::{Interrupt, RunState};
use interrupts::store::{Filter, Page, Store, StoreError};
use interrupts::{NameError, OwnerName};
use journal::RunSnapshot;
use journal::error::KeepError;
use llm::{Script, ScriptError, ScriptVocabulary};

use super::death::{Death, Mortal};
use super::model::ScriptedModel;
use super::people::{QuestionNumbers, ScriptedPeople};
use crate::run::{Hold, RunReport, RunSettings, RunStore};
use crate::workflow::{Execution, Workflow, WorkflowMistake, catalogue_of};

/// How many interrupts of a run are read.
const INTERRUPTS: u32 = 1_000;

/// Why a trial could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrialError {
    /// The workflow's names or its input.
    #[error(transparent)]
    Workflow(#[from] WorkflowMistake),
    /// The script.
    #[error("the script: {0}")]
    Script(#[from] ScriptError),
    /// A name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What the run has left in the store.
    #[error(transparent)]
    Kept(#[from] KeepError),
    /// Its output is not of the workflow's type.
    #[error("the output of the run cannot be read")]
    Output(#[source] serde_json::Error),
}

/// A workflow whose model and people a script plays, and whose processes die where you say.
pub struct Trial<W: Workflow> {
    store: Arc<dyn Store>,
    catalogue: SharedCatalogue,
    script: Script,
    input: W::Input,
}

/// What became of one run: executed to its end, or until a person is missing; killed in between or not.
#[derive(Debug)]
#[non_exhaustive]
pub struct Tried<W: Workflow> {
    /// Where its first process died.
    pub death: Death,
    /// The workflow, with what its doubles have seen.
    pub workflow: Arc<W>,
    /// The run.
    pub run: RunId,
    /// Its state at the end, in the store.
    pub state: RunState,
    /// Its result, if its work is done.
    pub output: Option<W::Output>,
    /// Its interrupts.
    pub interrupts: Vec<Interrupt>,
    /// The places at which a model was asked again for an answer that was recorded: none, if all is well.
    pub repeated: Vec<String>,
    /// What the process that came last has reported; `None` if the first one died after its last operation.
    pub report: Option<RunReport>,
    /// How many operations of the store its first process has begun: each is a place to die at.
    pub operations: usize,
}

impl<W: Workflow> Trial<W> {
    /// Trials in this store, each a run of its own that begins with this input.
    ///
    /// The script is that of `--script`: `answer` steps play the model, which else answers with what fits; `person`
    /// steps answer the nth question of a kind. A question without a step is left open, and the run waits.
    ///
    /// # Errors
    ///
    /// [`TrialError`] names the step of the script that is wrong, or the name of the workflow that no store keeps.
    pub fn new(store: Arc<dyn Store>, script: &str, input: W::Input) -> Result<Self, TrialError> {
        let catalogue = catalogue_of::<W>()?;
        Ok(Self {
            store,
            script: Script::parse(script, &ScriptVocabulary::of(&catalogue))?,
            catalogue,
            input,
        })
    }

    /// Executes a run whose process does not die.
    ///
    /// # Errors
    ///
    /// [`TrialError`] of the store. A run that fails is no error: its state and its report say so.
    pub async fn undisturbed(&self, workflow: W) -> Result<Tried<W>, TrialError> {
        self.dying(workflow, Death::Never).await
    }

    /// Executes a run whose process dies there, and takes it up in another one.
    ///
    /// # Errors
    ///
    /// [`TrialError`] of the store.
    pub async fn dying(&self, workflow: W, death: Death) -> Result<Tried<W>, TrialError> {
        let (run, workflow) = (RunId::generate(), Arc::new(workflow));
        let model = Arc::new(ScriptedModel::new(&self.script, Arc::clone(&self.store)));
        let numbers = Arc::default();
        let scope = StopScope::new();
        let mortal = Mortal::new(Arc::clone(&self.store), death);
        let process = Process {
            trial: self,
            run,
            model: Arc::clone(&model),
            numbers,
        };
        let first = process.execution(Arc::clone(&workflow), Arc::clone(&mortal) as Arc<_>)?;
        let executed = tokio::select! {
            executed = first.execute(&scope) => Some(executed.report),
            () = mortal.died() => None,
        };
        let report = match executed {
            Some(report) => Some(report),
            None if self.is_over(run).await? => None,
            None => {
                let next = process.execution(Arc::clone(&workflow), Arc::clone(&self.store))?;
                Some(next.execute(&scope).await.report)
            }
        };
        let row = self.store.run(run).await?.ok_or(KeepError::NoRun { run })?;
        let page = Page {
            after: 0,
            limit: INTERRUPTS,
        };
        let of_run = Filter {
            run: Some(run),
            ..Filter::default()
        };
        let interrupts = self.store.interrupts(&of_run, page).await?;
        Ok(Tried {
            death,
            workflow,
            run,
            output: self.output(run).await?,
            state: row.state,
            interrupts: interrupts.into_iter().map(|(_at, row)| row).collect(),
            repeated: model.take_repeated(),
            report,
            operations: mortal.operations(),
        })
    }

    /// Executes an undisturbed run, and then one for each place where the first one could have died: just before and
    /// just after each of its operations of the store. `workflow` makes a fresh one for each, so that its doubles count
    /// what this run has done.
    ///
    /// The undisturbed one comes first; compare the others with it.
    ///
    /// # Errors
    ///
    /// [`TrialError`] of the store.
    pub async fn at_every_place(
        &self,
        mut workflow: impl FnMut() -> W,
    ) -> Result<Vec<Tried<W>>, TrialError> {
        let undisturbed = self.undisturbed(workflow()).await?;
        let operations = undisturbed.operations;
        let mut all = vec![undisturbed];
        for at in 0..operations {
            for death in [Death::Before(at), Death::After(at)] {
                all.push(self.dying(workflow(), death).await?);
            }
        }
        Ok(all)
    }

    /// Whether nothing is left to do: the process died after its last operation.
    async fn is_over(&self, run: RunId) -> Result<bool, TrialError> {
        let row = self.store.run(run).await?;
        Ok(row.is_some_and(|row| row.state.is_final()))
    }

    async fn output(&self, run: RunId) -> Result<Option<W::Output>, TrialError> {
        let Some(checkpoint) = self.store.last_checkpoint(run).await? else {
            return Ok(None);
        };
        let result = RunSnapshot::of(&checkpoint)?.result;
        let output = result.map(|text| serde_json::from_str(&text)).transpose();
        output.map_err(TrialError::Output)
    }
}

/// The processes that execute one run, one after the other.
struct Process<'a, W: Workflow> {
    trial: &'a Trial<W>,
    run: RunId,
    model: Arc<ScriptedModel>,
    numbers: Arc<QuestionNumbers>,
}

impl<W: Workflow> Process<'_, W> {
    /// What the next process does. The one before it has the same name, and is gone.
    fn execution(
        &self,
        workflow: Arc<W>,
        store: Arc<dyn Store>,
    ) -> Result<Execution<W>, TrialError> {
        let owner = OwnerName::new(self.trial.catalogue.name().as_str())?;
        let mut kept = RunStore::new(store, owner.clone(), "");
        if let Hold::Own { lost, .. } = &mut kept.hold {
            *lost = Some(owner);
        }
        let mut settings = RunSettings::new(self.run, Arc::clone(&self.model) as Arc<_>, kept);
        let people = self.trial.script.person_answers();
        settings.reviewer = Arc::new(ScriptedPeople::new(people, Arc::clone(&self.numbers)));
        Ok(Execution::begin(workflow, settings, &self.trial.input)?)
    }
}
