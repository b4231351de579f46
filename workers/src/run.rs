//! A run of a worker, from outside.

use interrupt_router::{NodeId, RunId};
use interrupts::Labels;
use interrupts::life::{Family, Interrupt, RunState, State};
use interrupts::store::{NewRun, RootNode, Run, RunError};
use jiff::Timestamp;
use journal::{Workflow, executed_by_worker};
use serde::Serialize;
use serde_json::Value;

use crate::error::WorkError;
use crate::lease::Taking;
use crate::protocol::Protocol;
use crate::question_status::QuestionStatus;

/// The version of the form in which a run's order is stored.
const VERSION: u32 = 4;

/// The most bytes of a run's input.
const LARGEST_INPUT: usize = 1 << 20;

/// The most characters of an input that are shown as the goal.
const LONGEST_GOAL: usize = 200;

/// A run that is to be created.
#[derive(Debug, Clone, PartialEq)]
pub struct NewWork {
    /// Its id.
    pub id: RunId,
    /// The worker's own name for it.
    pub alias: Option<String>,
    /// What it works on: anything.
    pub input: Value,
    /// The labels that a worker must have to take it.
    pub needs: Labels,
}

/// A run of a worker, as it is now.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    /// Its row.
    pub run: Run,
    /// What it works on.
    pub input: Value,
    /// Its result, once it is completed.
    pub result: Option<Value>,
}

/// What the store keeps of a run that has not begun.
#[derive(Serialize)]
struct Order<'a> {
    version: u32,
    workflow: &'a str,
    executor: &'static str,
    goal: String,
    input: &'a Value,
    #[serde(skip_serializing_if = "Labels::is_empty")]
    needs: &'a Labels,
}

impl Protocol<'_> {
    /// Creates a run. Creating it again with the same id or alias, input and needs returns the existing run.
    ///
    /// # Errors
    ///
    /// [`WorkError::Taken`] if its id or alias belongs to another run; [`WorkError::UnknownWorkflow`].
    ///
    /// # Cancel safety
    ///
    /// Dropped, it was created or not. Create it again to be sure.
    pub async fn create(&self, new: NewWork) -> Result<(Work, bool), WorkError> {
        let (catalogue, _version) = self.newest().await?;
        let content = self.order(&new)?;
        if let Some(known) = self.known(&new, &content).await? {
            return Ok((self.with_input(known).await?, false));
        }
        let kind = catalogue.kinds().first().map(|kind| kind.name.clone());
        let root = kind.map(|kind| RootNode {
            node: NodeId::root(),
            kind,
        });
        let created = self.store.create_run(NewRun {
            id: new.id,
            alias: new.alias.clone(),
            content: content.clone(),
            root,
        });
        match created.await {
            Ok(run) => {
                let is_new = run.state == RunState::Created;
                Ok((self.with_input(run).await?, is_new))
            }
            // The same request may have been faster.
            Err(RunError::Taken { run }) => match self.known(&new, &content).await? {
                Some(known) => Ok((self.with_input(known).await?, false)),
                None => Err(WorkError::Taken { run }),
            },
            Err(error) => Err(error.into()),
        }
    }

    /// The run that the same order created before.
    async fn known(&self, new: &NewWork, content: &str) -> Result<Option<Run>, WorkError> {
        let mut known = self.store.run(new.id).await?;
        if let (None, Some(alias)) = (&known, &new.alias) {
            known = self.store.run_of(alias).await?;
        }
        match known {
            Some(run) if run.content == content => Ok(Some(run)),
            Some(run) => Err(WorkError::Taken { run: run.id }),
            None => Ok(None),
        }
    }

    fn order(&self, new: &NewWork) -> Result<String, WorkError> {
        let input = &new.input;
        let text = input.to_string();
        if text.len() > LARGEST_INPUT {
            let reason = format!("it has {} bytes, and may have {LARGEST_INPUT}", text.len());
            return Err(WorkError::field("/input", reason));
        }
        let goal = input.as_str().map_or(text, str::to_owned);
        let goal: String = goal.chars().take(LONGEST_GOAL).collect();
        Ok(serde_json::to_string(&Order {
            version: VERSION,
            workflow: self.workflow.as_str(),
            executor: "worker",
            goal,
            input,
            needs: &new.needs,
        })?)
    }

    /// A run of the workflow.
    ///
    /// # Errors
    ///
    /// [`WorkError::UnknownRun`], also if it is of another workflow.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn work(&self, run: RunId) -> Result<Work, WorkError> {
        let row = self.row(run).await?;
        self.with_input(row).await
    }

    pub(crate) async fn row(&self, run: RunId) -> Result<Run, WorkError> {
        let row = self.store.run(run).await?;
        let row = row.filter(|row| self.is_of_workflow(row));
        row.ok_or(WorkError::UnknownRun { run })
    }

    /// Whether a run is one of the workflow, and workers execute it.
    pub(crate) fn is_of_workflow(&self, run: &Run) -> bool {
        let is_named = || match Workflow::in_content(&run.content) {
            Workflow::Embedded(name) => name == *self.workflow,
            Workflow::Agents | Workflow::PlanExecute => false,
        };
        executed_by_worker(&run.content) && is_named()
    }

    pub(crate) async fn with_input(&self, run: Run) -> Result<Work, WorkError> {
        let input = input_of(&run)?;
        let result = match run.state {
            RunState::Completed => self.result_of(&run).await?,
            RunState::Created
            | RunState::Running
            | RunState::Stopping
            | RunState::Paused
            | RunState::Waiting
            | RunState::Failed
            | RunState::Cancelled => None,
        };
        Ok(Work { run, input, result })
    }

    /// Whether a worker may take a run now.
    pub(crate) async fn can_go_on(
        &self,
        run: &Run,
        taking: &Taking,
        now: Timestamp,
    ) -> Result<bool, WorkError> {
        if !self.is_of_workflow(run) {
            return Ok(false);
        }
        if run.is_owned(now) {
            // The same try may have taken it this very moment.
            return Ok(run.lease.as_ref().is_some_and(|lease| taking.has(lease)));
        }
        match run.state {
            RunState::Created | RunState::Running => Ok(true),
            // No worker owns the run, so a server applies its stops.
            RunState::Stopping | RunState::Paused => Ok(false),
            RunState::Waiting => self.has_news(run).await,
            RunState::Completed | RunState::Failed | RunState::Cancelled => Ok(false),
        }
    }

    /// Whether a waiting run has something to do: a question of it is over, a stop or an event has come for it, or it
    /// waits for nothing.
    async fn has_news(&self, run: &Run) -> Result<bool, WorkError> {
        // An event that was delivered to a worker is no news: the next question of its agent takes it.
        let is_news = |it: &Interrupt| it.family() == Family::Stop || it.state == State::Requested;
        if self.under_way(run.id).await?.iter().any(is_news) {
            return Ok(true);
        }
        let questions = self.unsettled(run).await?;
        Ok(questions.is_empty() || questions.iter().any(QuestionStatus::is_over))
    }
}

/// What a run works on.
pub(crate) fn input_of(run: &Run) -> Result<Value, WorkError> {
    let mut order: Value = serde_json::from_str(&run.content)?;
    Ok(order.get_mut("input").map(Value::take).unwrap_or_default())
}
