//! A stop of an agent or a run.

use interrupts::IdempotencyKey;
use interrupts::life::{Admission, ExpiryOutcome, Family, Recurrence, Scope, USUAL_ATTEMPTS};
use interrupts::manager::{AgentRoutes, StopNote};
use journal::Workflow;
use planning::plan_kind;
use routing_core::{InterruptId, InterruptType, StopMode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::request::{InvalidRequest, Requester, Target, Terms};

/// A stop to ask for, in its one form on the wire too. What it leaves out is that of a pause which lets the agent finish
/// its step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StopOrder {
    /// What it does.
    #[serde(rename = "type")]
    pub interrupt_type: InterruptType,
    /// How.
    pub mode: StopMode,
    /// How far it reaches.
    pub scope: Scope,
    /// Why.
    pub reason: String,
    /// Words beside the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// After how many milliseconds a graceful stop becomes immediate; 24 days is the longest limit on the wire.
    #[serde(
        rename = "deadline_ms",
        with = "limit",
        skip_serializing_if = "Option::is_none"
    )]
    pub limit_ms: Option<u64>,
    /// Data that the caller wants to keep with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

impl Default for StopOrder {
    fn default() -> Self {
        Self::new(
            InterruptType::Pause,
            StopMode::Graceful,
            Scope::Agent,
            String::new(),
        )
    }
}

/// The end of a whole run to ask for, in its one form on the wire too.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CancelOrder {
    /// How to stop.
    pub mode: StopMode,
    /// Why.
    pub reason: String,
}

impl Default for CancelOrder {
    fn default() -> Self {
        Self {
            mode: StopMode::Graceful,
            reason: String::new(),
        }
    }
}

impl From<CancelOrder> for StopOrder {
    fn from(CancelOrder { mode, reason }: CancelOrder) -> Self {
        Self::new(InterruptType::Stop, mode, Scope::Run, reason)
    }
}

/// The limit of a stop on the wire: a positive 32-bit integer.
mod limit {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    const LONGEST_MS: u64 = 2_147_483_647;

    #[expect(clippy::ref_option, reason = "serde calls it so")]
    pub(super) fn serialize<S: Serializer>(ms: &Option<u64>, to: S) -> Result<S::Ok, S::Error> {
        ms.map(|ms| ms.clamp(1, LONGEST_MS)).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
        let ms = Option::<u64>::deserialize(from)?;
        if ms.is_some_and(|ms| !(1..=LONGEST_MS).contains(&ms)) {
            let text = format!("`deadline_ms` is 1 to {LONGEST_MS} milliseconds");
            return Err(D::Error::custom(text));
        }
        Ok(ms)
    }
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
    pub(crate) fn admission(
        &self,
        of: &Target<'_>,
        by: Requester<'_>,
        key: IdempotencyKey,
        terms: Terms<'_>,
    ) -> Result<Admission, InvalidRequest> {
        self.check(of)?;
        let AgentRoutes { origin, routes, .. } = of.agent_routes();
        let metadata = match &self.message {
            Some(message) => Some(json!({"message": message, "metadata": self.metadata})),
            None => self.metadata.clone(),
        };
        let mut admission = Admission {
            id: InterruptId::generate(),
            run: of.run.id,
            node: of.node.clone(),
            kind: of.kind.clone(),
            origin,
            routes,
            interrupt_type: self.interrupt_type,
            source: by.source(),
            requested_by: by.caller.actor.clone(),
            mode: self.mode,
            scope: self.scope,
            reason: self.reason.clone(),
            content: String::new(),
            key,
            allowed: Vec::new(),
            patience: None,
            on_expiry: ExpiryOutcome::Cancel,
            most_attempts: USUAL_ATTEMPTS,
            recurrence: Recurrence::Verbatim,
            reroute: None,
        };
        let note = StopNote {
            cause: by.cause,
            limit_ms: terms.set(&mut admission, self.limit_ms),
            metadata,
        };
        admission.content = serde_json::to_string(&note)?;
        Ok(admission)
    }
}
