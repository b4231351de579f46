//! An agent uses the run's tools: its model does in a turn, or the workflow's code does.

use std::sync::Arc;

use interrupt_router::ask::AskError;
use interrupt_router::model::ToolRequest;
use serde_json::Value;
use tools::ToolMessage;

use super::Agent;
use crate::run::RunError;
use crate::tools::{Parked, Round, RoundEnd, Tooling};
use crate::workflow::Workflow;
use crate::workflow::exit::Exit;
use crate::workflow::ground::OfRun;

impl<W: Workflow> Agent<W> {
    /// Why the step ended within its tools, if it did.
    pub(super) fn parked(&self, parked: Option<Parked>) -> Option<Exit> {
        match parked? {
            Parked::Waiting(questions) => {
                for question in questions {
                    self.live().open_interrupts.unanswered(question);
                }
                Some(Exit::waiting())
            }
            Parked::Launched => None,
        }
    }

    pub(super) fn stand(&self) -> Option<&Arc<Tooling>> {
        let live = &self.run.shared.live;
        let tooling = live.tooling.as_ref()?;
        tooling.stand(&self.id, Arc::new(OfRun(Arc::downgrade(live))));
        Some(tooling)
    }

    /// Uses a tool of the run's, under its permissions: once, and its outcome is recorded. If a process died during the
    /// call and its outcome is unknown, a person is asked, unless the call may be made again.
    ///
    /// # Errors
    ///
    /// If the run has no tools, or the call waits for a person.
    ///
    /// # Cancel safety
    ///
    /// Safe: the call ends with its run, and what was not recorded is settled when the run goes on.
    pub async fn tool(&mut self, name: &str, arguments: &Value) -> Result<ToolMessage, Exit> {
        self.turn += 1;
        let Some(tooling) = self.stand() else {
            return Err(RunError::of_workflow(NoTools).into());
        };
        let caller = self.caller();
        let request = ToolRequest::new("call", name, arguments.to_string());
        let scope = self.scope();
        let round = Round {
            caller: &caller,
            number: 0,
            requests: &[request],
            scope: &scope,
        };
        let ended = tooling
            .round(round)
            .await
            .map_err(|source| RunError::Model {
                node: self.id.to_string(),
                source: AskError::Model(source),
            })?;
        match ended {
            RoundEnd::Done(mut messages) => Ok(messages.pop().ok_or(RunError::Lost {
                detail: "a call of a tool has no message",
            })?),
            RoundEnd::Ends(reason) => {
                let parked = tooling.take_parked(&self.id);
                Err(self.parked(parked).unwrap_or(Exit::interrupted(reason)))
            }
        }
    }
}

/// The run was given no tools.
#[derive(Debug, thiserror::Error)]
#[error("the run has no tools; give its settings some")]
struct NoTools;
