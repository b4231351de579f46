//! A run whose order was checked: it has what it needs and can be executed, with or without a person watching.

use std::path::Path;
use std::sync::Arc;

use agents::plan_execute::PlanWorkflow;
use agents::run::{AgentsWorkflow, Goal, RunOrder};
use agents::workspace::Workspace;
use engine::run::{RunObserver, RunReport, RunUse};
use engine::{ErasedWorkflow, RunSettings};
use interrupt_router::review::Reviewer;
use interrupts::manager::{OwnedRun, RunEnd};
use journal::Workflow;
use llm::{JsonSchemaConstraints, Pace, RehearsalConfig, Script};
use tools::ToolCounts;

use super::limits::OuterLimits;
use crate::exit::{Exit, Failure, causes};
use crate::model::{Manner, ModelChoice, ModelWatch, OpenedModel};
use crate::run_owner::{LocalRun, RunOwner, not_taken};
use crate::tooling::{OpenedTools, PreparedTools};
use crate::workflows;

/// Everything that was checked before a run is taken.
pub(in crate::commands) struct Prepared {
    order: RunOrder,
    workflow: Executable,
    workspace: Workspace,
    model: OpenedModel,
    script: Option<Script>,
    limits: OuterLimits,
    is_deaf: bool,
    /// What its agents may use.
    tools: Option<PreparedTools>,
}

/// The participants of a run besides its agents.
pub(in crate::commands) struct Beside {
    /// Watches the calls to its model.
    pub(in crate::commands) watch: Option<Arc<ModelWatch>>,
    /// Who answers questions here.
    pub(in crate::commands) reviewer: Arc<dyn Reviewer>,
    /// Receives the events.
    pub(in crate::commands) observer: Arc<dyn RunObserver>,
    /// Receives notes about its agents' tools.
    pub(in crate::commands) note: Box<dyn Fn(String) + Send + Sync>,
}

impl Prepared {
    /// Checks all that an order needs.
    ///
    /// # Errors
    ///
    /// If the folder, the model, its price or the script cannot be had.
    pub(in crate::commands) fn of(
        order: RunOrder,
        limits: OuterLimits,
        pace: u32,
    ) -> Result<Self, Failure> {
        let usage = |text: String| Failure::new(Exit::Usage, text);
        // Before anything else of a run is looked at that another program has.
        workflows::demand(&order.workflow)?;
        let choice = ModelChoice::parse(&order.model, order.base_url.clone())?;
        let script = order
            .script
            .as_ref()
            .map(|text| workflows::script(&order.workflow, text))
            .transpose()
            .map_err(|error| usage(format!("the script: {error}")))?;
        let workspace = Workspace::open(Path::new(&order.workspace)).map_err(|error| {
            let exit = Exit::NotFound.unless_lacking(&error);
            Failure::new(exit, causes(&error)).hint(error.hint())
        })?;
        let workflow = Executable::of(&order, &workspace, script.as_ref())?;
        let steers = script.as_ref().is_some_and(Script::steers_the_model);
        let is_deaf = choice != ModelChoice::Rehearsal && steers;
        let rehearsal = RehearsalConfig {
            seed: order.seed,
            pace: Pace::from_tokens_per_second(pace),
            facts: workspace.facts(),
            script: script.clone(),
        };
        let manner = Manner {
            tools: order.tools.is_some(),
            ..Manner::default()
        };
        let model = choice.open(rehearsal, &manner)?;
        limits.check(&model)?;
        let tools = order.tools.as_ref().map(PreparedTools::of).transpose()?;
        Ok(Self {
            order,
            workflow,
            workspace,
            model,
            script,
            limits,
            is_deaf,
            tools,
        })
    }

    /// Which workflow it is.
    pub(in crate::commands) const fn workflow(&self) -> &Workflow {
        &self.order.workflow
    }

    /// Its order.
    pub(super) const fn order(&self) -> &RunOrder {
        &self.order
    }

    /// The folder that its agents work on.
    pub(super) const fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Whether its agents work on the folder: those of an embedded workflow choose their own subject.
    pub(super) const fn speaks_of_a_folder(&self) -> bool {
        !matches!(self.workflow, Executable::Embedded(_))
    }

    /// The script, if it has one.
    pub(super) const fn script(&self) -> Option<&Script> {
        self.script.as_ref()
    }

    /// The limits that pause it from outside.
    pub(super) const fn limits(&self) -> &OuterLimits {
        &self.limits
    }

    /// Whether its agents have tools.
    pub(super) const fn has_tools(&self) -> bool {
        self.tools.is_some()
    }

    /// Counts events of its tools in these counts.
    pub(in crate::commands) fn count_with(&mut self, counts: &Arc<ToolCounts>) {
        if let Some(tools) = &mut self.tools {
            tools.count_with(counts);
        }
    }

    /// Whether part of the script is for a rehearsal, and the model is none.
    pub(super) const fn is_deaf(&self) -> bool {
        self.is_deaf
    }

    /// Executes a run until it ends or stops. [`settle`] releases it.
    ///
    /// # Errors
    ///
    /// If a limit cannot be watched, or the tools cannot be opened.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the run is left in the store as if this process had died.
    pub(in crate::commands) async fn execute(
        self,
        run_owner: &RunOwner,
        kept: &LocalRun,
        beside: Beside,
    ) -> Result<RunReport, Failure> {
        let Beside {
            watch,
            reviewer,
            observer,
            note,
        } = beside;
        let used = RunUse::of(run_owner.store(), kept.run.run()).await?;
        run_owner
            .work_begins(kept, &self.order.workflow, self.limits.changed())
            .await?;
        let tools = match self.tools {
            Some(prepared) => {
                let prepared = prepared.with_edits_in(run_owner.edits_of(kept.run.run()));
                Some(prepared.open(&*note).await?)
            }
            None => None,
        };
        let budget = self.limits.budget(&self.model, kept, &used)?;
        let paid = self.model.paid(budget.as_ref())?;
        let model = match watch {
            Some(watch) => watch.over(paid),
            None => paid,
        };
        let store = run_owner.run_store(kept, self.limits.policy());
        let mut settings = RunSettings::new(kept.run.run(), model, store);
        settings.constraints = Arc::new(JsonSchemaConstraints::new());
        settings.reviewer = reviewer;
        settings.observer = observer;
        settings.limits = self.order.limits;
        settings.tools = tools.as_ref().map(OpenedTools::agents);
        let watched = self.limits.watch(kept, &used)?;
        let report = self.workflow.execute(settings, kept).await;
        drop(watched);
        kept.control.work_ends().await;
        if let Some(tools) = tools {
            tools.close(&*note).await;
        }
        report
    }
}

/// The workflow of a run, with what it works on.
enum Executable {
    Agents(AgentsWorkflow),
    Plan(PlanWorkflow),
    /// Its input is in the store.
    Embedded(Arc<dyn ErasedWorkflow>),
}

impl Executable {
    fn of(
        order: &RunOrder,
        workspace: &Workspace,
        script: Option<&Script>,
    ) -> Result<Self, Failure> {
        let goal = Goal::new(order.goal.clone());
        let goal = goal.map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
        let workspace = workspace.clone();
        Ok(match &order.workflow {
            Workflow::Agents => Self::Agents(AgentsWorkflow {
                goal,
                workspace,
                supervisor_steps: script.map_or_else(Vec::new, Script::supervisor_steps),
            }),
            Workflow::PlanExecute => Self::Plan(PlanWorkflow { goal, workspace }),
            Workflow::Embedded(name) => Self::Embedded(workflows::embedded(name)?),
        })
    }

    /// Executes a run until it ends or stops.
    async fn execute(self, settings: RunSettings, kept: &LocalRun) -> Result<RunReport, Failure> {
        let scope = kept.run.scope();
        let report = match self {
            Self::Agents(agents) => {
                let run = agents.run(settings);
                kept.inbox.open(run.inbox());
                Ok(run.execute(&scope).await)
            }
            // It reads what comes for it from the store.
            Self::Plan(plan) => return Ok(plan.execute(settings, &scope).await),
            Self::Embedded(workflow) => {
                let reached = |inbox| kept.inbox.open(inbox);
                let executed = workflow.execute_stored(settings, &reached, &scope);
                let failed = |error| Failure::new(Exit::Failure, causes(&error));
                executed.await.map_err(failed)
            }
        };
        kept.inbox.close();
        report
    }
}

/// Releases the run: requests made until now are recorded first, and those made meanwhile take effect.
///
/// # Errors
///
/// If its end cannot be recorded; the lease runs out then.
///
/// # Cancel safety
///
/// If dropped, the end is recorded or the lease runs out.
pub(in crate::commands) async fn settle(
    run_owner: &RunOwner,
    kept: LocalRun,
    report: &RunReport,
) -> anyhow::Result<()> {
    use engine::run::RunStatus;
    let LocalRun { run, .. } = kept;
    let id = run.run();
    let end = match &report.status {
        RunStatus::Completed { .. } => RunEnd::Completed,
        RunStatus::Waiting { .. } => RunEnd::Waiting {
            reason: "it waits for an answer".to_owned(),
        },
        RunStatus::Paused { .. } => RunEnd::Stopped,
        RunStatus::Cancelled { reason, .. } => RunEnd::Cancelled {
            reason: reason.clone(),
        },
        RunStatus::Failed {
            resumable: true, ..
        } => RunEnd::Stopped,
        RunStatus::Failed { error, .. } => RunEnd::Failed {
            reason: error.clone(),
        },
    };
    // If something else still holds a reference for a moment: the run is released when dropped, and its lease runs out.
    if let Ok(run) = Arc::<OwnedRun>::try_unwrap(run) {
        let settled = run.settle(end).await;
        settled.map_err(|error| not_taken(id, &error))?;
    }
    run_owner.carry_out_late(id).await?;
    run_owner.forget(id);
    Ok(())
}
