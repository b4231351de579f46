//! A workflow among others, for a program that has several and does not know their types.

use std::sync::Arc;

use async_trait::async_trait;
use interrupt_router::answer::{AnswerError, read_strictly};
use interrupt_router::{AgentType as _, NodeId, StopScope};
use interrupts::catalogue::SharedCatalogue;
use interrupts::store::RootNode;
use interrupts::{KindName, NameError};
use serde_json::Value;

use super::{Execution, Workflow, WorkflowMistake, catalogue_of};
use crate::run::{RunInbox, RunReport, RunSettings};

/// Any [`Workflow`], of any types.
#[async_trait]
pub trait ErasedWorkflow: Send + Sync {
    /// The name under which its runs are kept.
    fn workflow_name(&self) -> &'static str;

    /// What it says of itself.
    ///
    /// # Errors
    ///
    /// [`WorkflowMistake`] names what no store keeps.
    fn catalogue(&self) -> Result<SharedCatalogue, WorkflowMistake>;

    /// The agent with which its runs begin.
    ///
    /// # Errors
    ///
    /// [`NameError`] if its kind has a name that no store keeps.
    fn root(&self) -> Result<RootNode, NameError>;

    /// Reads an input: JSON, or plain words if it takes a text.
    ///
    /// # Errors
    ///
    /// [`AnswerError`] with the path of what does not fit.
    fn read_input(&self, text: &str) -> Result<Value, AnswerError>;

    /// Executes a run that is in the store, to its end or until it rests. `reached` gets the run's inbox, before
    /// anything is executed.
    ///
    /// # Errors
    ///
    /// [`WorkflowMistake`]. Nothing was executed then.
    ///
    /// # Cancel safety
    ///
    /// As [`Execution::execute`].
    async fn execute_stored(
        self: Arc<Self>,
        settings: RunSettings,
        reached: &(dyn Fn(RunInbox) + Send + Sync),
        scope: &StopScope,
    ) -> Result<RunReport, WorkflowMistake>;
}

#[async_trait]
impl<W: Workflow> ErasedWorkflow for W {
    fn workflow_name(&self) -> &'static str {
        W::NAME
    }

    fn catalogue(&self) -> Result<SharedCatalogue, WorkflowMistake> {
        catalogue_of::<W>()
    }

    fn root(&self) -> Result<RootNode, NameError> {
        Ok(RootNode {
            node: NodeId::root(),
            kind: KindName::new(W::FIRST.name())?,
        })
    }

    fn read_input(&self, text: &str) -> Result<Value, AnswerError> {
        let read = match read_strictly::<W::Input>(text.as_bytes()) {
            Ok(read) => read,
            Err(error) => {
                let words = Value::String(text.to_owned());
                serde_json::from_value(words).map_err(|_no_text| error)?
            }
        };
        // An input that cannot be written as JSON is kept as it was typed; executing it then reports the error.
        Ok(serde_json::to_value(&read).unwrap_or_else(|_none| Value::String(text.to_owned())))
    }

    async fn execute_stored(
        self: Arc<Self>,
        settings: RunSettings,
        reached: &(dyn Fn(RunInbox) + Send + Sync),
        scope: &StopScope,
    ) -> Result<RunReport, WorkflowMistake> {
        let execution = Execution::resume(self, settings)?;
        reached(execution.run().inbox());
        Ok(execution.execute(scope).await.report)
    }
}
