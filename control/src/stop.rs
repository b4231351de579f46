//! A stop of an agent or a run.

use interrupt_router::{InterruptId, InterruptType, NodeId, RunId, StopMode};
use interrupts::IdempotencyKey;
use interrupts::life::{Admission, ExpiryOutcome, Family, Recurrence, Scope, USUAL_ATTEMPTS};
use interrupts::manager::{AgentRoutes, StopNote};
use interrupts::store::Admitted;
use journal::Workflow;
use planning::plan_kind;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::address::{AgentAddress, FoundAgent};
use crate::caller::Caller;
use crate::command::Command;
use crate::control::Control;
use crate::refusal::{NotDone, no_agent};
use crate::request::{InvalidRequest, Target, Terms};
use crate::right::Right;

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

/// Asks for a stop of an agent, or at its first agent of a whole run. While the same stop is under way, that one is returned, as
/// hard as the hardest request.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestStop {
    /// The run.
    pub run: RunId,
    /// The agent. The first one of a run need not have begun.
    pub node: NodeId,
    /// What is asked for.
    pub order: StopOrder,
    /// The same key of the same caller is the same request; it is a new one if absent.
    pub key: Option<String>,
}

impl RequestStop {
    /// A stop of an agent that was found.
    pub fn of(agent: &FoundAgent, order: StopOrder, key: Option<String>) -> Self {
        let AgentAddress { run, node } = agent.address();
        Self {
            run,
            node,
            order,
            key,
        }
    }
}

impl Command for RequestStop {
    type Done = Admitted;

    const NAME: &'static str = "request_stop";

    const RIGHT: Right = Right::Request;

    fn is_repeatable(&self) -> bool {
        self.key.is_some()
    }

    fn run_of(done: &Admitted) -> Option<RunId> {
        let (Admitted::New(interrupt) | Admitted::Known(interrupt)) = done;
        Some(interrupt.run)
    }

    async fn carry_out(self, at: &Control<'_>, by: &Caller) -> Result<Admitted, NotDone> {
        let Self {
            node, order, key, ..
        } = &self;
        let run = by.reach.run(at.store, &self.run.to_string()).await?;
        let catalogue = at.catalogue_of(&run).await?;
        let row = at.store.node(run.id, node).await.map_err(NotDone::Store)?;
        let first = || match node.parent() {
            Some(_) => None,
            None => Some(catalogue.as_ref()?.agent_routes(None)?.kind),
        };
        let kind = row.map(|row| row.kind).or_else(first);
        let kind = kind.ok_or_else(|| no_agent(&format!("{}/{node}", run.id)))?;
        let of = Target {
            run: &run,
            node,
            kind: &kind,
            catalogue: catalogue.as_deref(),
        };
        let key = by.request_key("stop", key.as_deref());
        let key = key.map_err(|error| NotDone::Failed(error.into()))?;
        at.stop(&of, order, by, key).await
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
        by: &Caller,
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
            requested_by: by.actor.clone(),
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
            cause: by.cause(),
            limit_ms: terms.set(&mut admission, self.limit_ms),
            metadata,
        };
        admission.content = serde_json::to_string(&note)?;
        Ok(admission)
    }
}
