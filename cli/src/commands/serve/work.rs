//! A run that a server executes: nobody watches it here, and who answers does so through the store.

use std::path::Path;
use std::sync::Arc;

use agents::catalogue;
use agents::plan_execute::execute_plan;
use agents::run::{
    Goal, Run, RunConfig, RunObserver, RunOccurrence, RunOrder, RunReport, Workflow,
};
use agents::workspace::Workspace;
use interrupts::policy::Policy;
use llm::{JsonSchemaConstraints, Pace, Script};
use routing_core::SystemClock;
use routing_core::handler::HandlerPolicy;
use routing_core::model::LanguageModel;

use super::awaiting::Awaiting;
use crate::commands::run::settle;
use crate::exit::{Exit, Failure, causes};
use crate::keep::{Keeping, Kept};
use crate::model::{ModelChoice, Rehearsal};
use crate::tooling::{Opened, Prepared};

/// Everything that was checked before a run is taken.
pub(super) struct Work {
    order: RunOrder,
    goal: Goal,
    workspace: Workspace,
    model: Arc<dyn LanguageModel>,
    script: Option<Script>,
    /// What its agents may use.
    tools: Option<Prepared>,
    /// A letter for the agent that has the turn.
    input: Option<String>,
}

impl Work {
    /// Checks all that an order needs.
    ///
    /// # Errors
    ///
    /// Where the folder, the model or the script cannot be had.
    pub(super) fn prepare(order: RunOrder, pace: u32) -> Result<Self, Failure> {
        let usage = |text: String| Failure::new(Exit::Usage, text);
        let choice = ModelChoice::parse(&order.model, order.base_url.clone())?;
        let goal = Goal::new(order.goal.clone()).map_err(|error| usage(error.to_string()))?;
        let script = order
            .script
            .as_ref()
            .map(|text| Script::parse(text, &catalogue::script_vocabulary()))
            .transpose()
            .map_err(|error| usage(format!("the script: {error}")))?;
        let workspace = Workspace::open(Path::new(&order.workspace))
            .map_err(|error| Failure::new(Exit::NotFound, causes(&error)).hint(error.hint()))?;
        let model = choice.open(Rehearsal {
            seed: order.seed,
            pace: Pace::from_tokens_per_second(pace),
            material: workspace.material(),
            script: script.clone(),
        })?;
        let tools = order.tools.as_ref().map(Prepared::of).transpose()?;
        Ok(Self {
            order,
            tools,
            goal,
            workspace,
            model,
            script,
            input: None,
        })
    }

    /// Which workflow it is.
    pub(super) const fn workflow(&self) -> Workflow {
        self.order.workflow
    }

    /// With new input for the agent that has the turn.
    pub(super) fn with_input(self, input: Option<String>) -> Self {
        Self { input, ..self }
    }

    /// Executes a run to its end, or to where it stops, and gives it back.
    ///
    /// # Errors
    ///
    /// Where its end cannot be recorded; the lease runs out then.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the run stands in the store as if this process had died.
    pub(super) async fn execute(self, keeping: &Keeping, kept: Kept) -> anyhow::Result<RunReport> {
        kept.run.begin().await?;
        let steps = self
            .script
            .as_ref()
            .map(|it| it.supervisor_steps().to_vec());
        let tools = match self.tools {
            Some(prepared) => Some(prepared.open(logged).await?),
            None => None,
        };
        let config = RunConfig {
            run: kept.run.run(),
            goal: self.goal,
            workspace: self.workspace,
            model: self.model,
            constraints: Arc::new(JsonSchemaConstraints::new()),
            reviewer: Arc::new(Awaiting),
            observer: Arc::new(Unwatched),
            supervisor_steps: steps.unwrap_or_default(),
            limits: self.order.limits,
            policy: HandlerPolicy::default(),
            clock: Arc::new(SystemClock),
            tools: tools.as_ref().map(Opened::agents),
            store: keeping.run_store(&kept, self.input, Arc::new(Policy::default())),
        };
        let scope = kept.run.scope();
        let report = match self.order.workflow {
            Workflow::Agents => {
                let run = Run::new(config);
                kept.inbox.open(run.inbox());
                let report = run.execute(&scope).await;
                kept.inbox.close();
                report
            }
            Workflow::PlanExecute => execute_plan(config, &scope).await,
        };
        if let Some(tools) = tools {
            tools.close(logged).await;
        }
        settle(kept, &report).await?;
        Ok(report)
    }
}

/// What should be known of a run's tools, where nobody watches it.
fn logged(note: String) {
    tracing::warn!(%note, "of the tools of a run");
}

/// What happens is in the store; here it is only logged.
struct Unwatched;

impl RunObserver for Unwatched {
    fn observe(&self, occurrence: &RunOccurrence) {
        tracing::trace!(event = ?occurrence.event, "a run went on");
    }
}
