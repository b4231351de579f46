//! A stop of an agent or a run.

use interrupts::IdempotencyKey;
use interrupts::life::{Admission, ExpiryOutcome, Family, Recurrence, Scope, USUAL_ATTEMPTS};
use interrupts::manager::{AgentRoutes, StopNote};
use journal::Workflow;
use planning::plan_kind;
use routing_core::{InterruptId, InterruptType, StopMode};
use serde_json::{Value, json};

use crate::request::{InvalidRequest, StopRequester, Target};

/// A stop to ask for.
#[derive(Debug, Clone, PartialEq)]
pub struct StopOrder {
    /// What it does.
    pub interrupt_type: InterruptType,
    /// How.
    pub mode: StopMode,
    /// How far it reaches.
    pub scope: Scope,
    /// Why.
    pub reason: String,
    /// Words beside the reason.
    pub message: Option<String>,
    /// After how many milliseconds a graceful stop becomes immediate.
    pub limit_ms: Option<u64>,
    /// Data that the caller wants to keep with it.
    pub metadata: Option<Value>,
}

impl StopOrder {
    /// A stop with a reason and nothing beside it.
    pub fn new(
        interrupt_type: InterruptType,
        mode: StopMode,
        scope: Scope,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            interrupt_type,
            mode,
            scope,
            reason: reason.into(),
            message: None,
            limit_ms: None,
            metadata: None,
        }
    }

    /// Whether it ends a whole run: it is meant for the run, or concerns the agent that represents the run, or an agent
    /// of a plan, none of which can be left out.
    pub fn ends_run(&self, of: &Target<'_>) -> bool {
        let ends = matches!(
            self.interrupt_type,
            InterruptType::Stop | InterruptType::Prune
        );
        let is_root = of.node.parent().is_none();
        let is_of_a_plan = plan_kind(of.kind.as_str()).is_some();
        ends && (self.scope == Scope::Run || is_root || is_of_a_plan)
    }

    /// Whether it can be asked at all.
    ///
    /// # Errors
    ///
    /// [`InvalidRequest`].
    pub fn check(&self, of: &Target<'_>) -> Result<(), InvalidRequest> {
        if Family::of(self.interrupt_type) == Family::Question {
            return Err(InvalidRequest::Question(self.interrupt_type));
        }
        if self.interrupt_type == InterruptType::Prune && self.scope == Scope::Run {
            return Err(InvalidRequest::PruneOfRun);
        }
        if self.interrupt_type == InterruptType::Branch
            && let Workflow::Embedded(workflow) = Workflow::in_content(&of.run.content)
        {
            return Err(InvalidRequest::Fork { workflow });
        }
        Ok(())
    }

    /// What the store is asked to admit.
    ///
    /// # Errors
    ///
    /// [`InvalidRequest`].
    pub fn admission(
        &self,
        of: &Target<'_>,
        by: StopRequester,
        key: IdempotencyKey,
    ) -> Result<Admission, InvalidRequest> {
        self.check(of)?;
        let AgentRoutes { origin, routes, .. } = of.agent_routes();
        let metadata = match &self.message {
            Some(message) => Some(json!({"message": message, "metadata": self.metadata})),
            None => self.metadata.clone(),
        };
        let note = StopNote {
            cause: by.cause,
            limit_ms: self.limit_ms,
            metadata,
        };
        Ok(Admission {
            id: InterruptId::generate(),
            run: of.run.id,
            node: of.node.clone(),
            kind: of.kind.clone(),
            origin,
            routes,
            interrupt_type: self.interrupt_type,
            source: by.source,
            requested_by: by.actor,
            mode: self.mode,
            scope: self.scope,
            reason: self.reason.clone(),
            content: serde_json::to_string(&note)?,
            key,
            allowed: Vec::new(),
            patience: None,
            on_expiry: ExpiryOutcome::Cancel,
            most_attempts: USUAL_ATTEMPTS,
            recurrence: Recurrence::Verbatim,
            reroute: None,
        })
    }
}
