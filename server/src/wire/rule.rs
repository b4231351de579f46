//! A standing rule as callers see it.

use control::{AgentAddress, RememberOrder};
use interrupts::rules::{Reach, RuleEnding, RuleScope, StandingRule};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::problem::{Code, Problem};

/// The longest life of a rule, in seconds: 30 days.
const LONGEST: u32 = 2_592_000;
/// The most uses of a rule.
const MOST_USES: u32 = 1_000;

/// How far a rule reaches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReachName {
    /// The agent that asked, in its run.
    Agent,
    /// Agents of that kind in the same run.
    #[default]
    Run,
    /// Agents of that kind in every run. Only supervisors and admins may say so.
    Everywhere,
}

impl From<ReachName> for Reach {
    fn from(name: ReachName) -> Self {
        match name {
            ReachName::Agent => Self::Agent,
            ReachName::Run => Self::Run,
            ReachName::Everywhere => Self::Everywhere,
        }
    }
}

/// That a decision shall hold for the same question when it is asked again: `approve`, `respond`, `reject` or
/// `reroute`.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RememberBody {
    /// How far it reaches.
    #[serde(default)]
    pub(crate) scope: ReachName,
    /// How long it holds, in seconds: at most 30 days.
    #[serde(default = "an_hour")]
    #[schema(minimum = 1, maximum = 2592000, default = 3600)]
    pub(crate) ttl_s: u32,
    /// How often it may be used.
    #[serde(default = "ten")]
    #[schema(minimum = 1, maximum = 1000, default = 10)]
    pub(crate) max_uses: u32,
}

const fn an_hour() -> u32 {
    3_600
}

const fn ten() -> u32 {
    10
}

impl RememberBody {
    /// The order for this request, if it is possible.
    pub(crate) fn order(self, place: &str) -> Result<RememberOrder, Problem> {
        for (name, given, most) in [
            ("ttl_s", self.ttl_s, LONGEST),
            ("max_uses", self.max_uses, MOST_USES),
        ] {
            if !(1..=most).contains(&given) {
                return Err(Problem::new(
                    Code::Shape,
                    format!("$.{place}{name}: 1 to {most} are possible"),
                    "correct the field",
                ));
            }
        }
        Ok(RememberOrder {
            reach: self.scope.into(),
            seconds: self.ttl_s,
            most_uses: self.max_uses,
        })
    }
}

/// What a rule was made of.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct RuleOriginView {
    /// The interrupt that was shown.
    pub(crate) interrupt_id: String,
    /// The digest of what was shown.
    pub(crate) shown_digest: String,
    /// The kind of the agent that asked.
    pub(crate) agent_type: String,
    /// Why it asked, in words.
    pub(crate) reason: String,
}

/// A standing rule.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct RuleView {
    /// Its id.
    pub(crate) rule_id: String,
    /// Whether it still answers anything.
    pub(crate) holds: bool,
    /// The digest of what it answers: the type, the words, choices, confirmations and context of the question, the
    /// kind of the agent, its origin, its routes and the decisions that it allows. What differs in any of it is
    /// asked as usual.
    pub(crate) matter: String,
    /// What it was made of.
    pub(crate) made_of: RuleOriginView,
    /// How far it reaches: `agent`, `run` or `everywhere`.
    pub(crate) scope: String,
    /// The run that it is confined to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run_id: Option<String>,
    /// The agent that it is confined to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_id: Option<String>,
    /// What it decides.
    pub(crate) decision: String,
    /// Where to, where it reroutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<String>,
    /// The answer that it gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) payload: Option<Value>,
    /// Who made it.
    pub(crate) created_by: String,
    /// When.
    pub(crate) created_at: String,
    /// When it ends at the latest.
    pub(crate) expires_at: String,
    /// How often it may be used.
    pub(crate) max_uses: u32,
    /// How often it was.
    pub(crate) uses: u32,
    /// When it was used last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_used_at: Option<String>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended_at: Option<String>,
    /// Why: `time`, `uses` or `revoked`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended_by: Option<String>,
    /// Who revoked it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) revoked_by: Option<String>,
}

/// A part of the rules.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct RulePage {
    /// The rules, in the order in which they were made.
    pub(crate) rules: Vec<RuleView>,
    /// Where the next part begins; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
}

impl RuleView {
    /// A rule at a time.
    pub(crate) fn of(rule: &StandingRule, now: Timestamp) -> Self {
        let (scope, agent) = match &rule.scope {
            RuleScope::Agent { run, node } => {
                let (run, node) = (*run, node.clone());
                ("agent", Some(AgentAddress { run, node }.to_string()))
            }
            RuleScope::Run { .. } => ("run", None),
            RuleScope::Everywhere => ("everywhere", None),
        };
        let revoked_by = rule.end.as_ref().and_then(|end| match &end.ending {
            RuleEnding::Revoked { by } => Some(by.name.as_str().to_owned()),
            RuleEnding::Time | RuleEnding::Uses => None,
        });
        let content = rule.content.as_deref();
        Self {
            rule_id: rule.id.to_string(),
            holds: rule.holds_at(now),
            matter: rule.matter.to_string(),
            made_of: RuleOriginView {
                interrupt_id: rule.of.interrupt.to_string(),
                shown_digest: rule.of.shown.to_string(),
                agent_type: rule.of.kind.as_str().to_owned(),
                reason: rule.of.reason.clone(),
            },
            scope: scope.to_owned(),
            run_id: rule.scope.run().map(|run| run.to_string()),
            agent_id: agent,
            decision: rule.verdict.name().to_owned(),
            target: rule
                .target
                .as_ref()
                .map(|target| target.as_str().to_owned()),
            payload: content.and_then(|content| serde_json::from_str(content).ok()),
            created_by: rule.created_by.name.as_str().to_owned(),
            created_at: rule.created_at.to_string(),
            expires_at: rule.expires_at.to_string(),
            max_uses: rule.most_uses,
            uses: rule.uses,
            last_used_at: rule.last_used_at.map(|at| at.to_string()),
            ended_at: rule.end.as_ref().map(|end| end.at.to_string()),
            ended_by: rule.end.as_ref().map(|end| end.ending.name().to_owned()),
            revoked_by,
        }
    }
}
