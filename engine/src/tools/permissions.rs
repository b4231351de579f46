//! What is configured about tools: which calls are allowed, and which agents are offered what.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tools::{
    CallLimits, PathRuleConfig, Permission, PolicyConfig, PolicyError, RuleConfig, ToolName,
};

use super::access::ToolAccess;
use super::tooling::LAUNCH;

/// The configuration of tools. Omitted fields have their defaults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolPermissions {
    /// What is done if no rule fits.
    pub otherwise: Permission,
    /// The rules, in any order: the strictest that fits a call decides. They take the place of the usual ones.
    pub rules: Vec<RuleConfig>,
    /// Paths that no file tool opens, no matter what the rules allow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathRuleConfig>,
    /// For types of agents, the tools that they are offered.
    pub agents: BTreeMap<String, Vec<String>>,
    /// How long a call may take, in seconds, without the time in which a person is asked; 0 for no limit.
    pub seconds: u64,
    /// The same for some tools, by their names.
    pub seconds_of: BTreeMap<String, u64>,
    /// How many calls of an agent run at once.
    pub at_once: NonZeroUsize,
    /// After so many rounds of tools in one answer an agent is told to answer.
    pub rounds: u32,
    /// How deep agents may launch agents; 0 for not at all.
    pub launch_depth: u32,
}

/// Tools that change nothing by themselves.
const HARMLESS: &str = "list_files|read_file|search_files|launch_agent";

impl Default for ToolPermissions {
    /// Looking is allowed, and so is launching agents, whose own calls are asked about like any others; a person is
    /// asked about everything else. Ten minutes a call, four calls at once, sixteen rounds, two levels of agents.
    fn default() -> Self {
        Self {
            otherwise: Permission::Ask,
            rules: vec![RuleConfig {
                tool: HARMLESS.to_owned(),
                arguments: BTreeMap::new(),
                then: Permission::Allow,
                reason: None,
                uninterruptible: false,
            }],
            paths: Vec::new(),
            agents: BTreeMap::new(),
            seconds: 600,
            seconds_of: BTreeMap::new(),
            at_once: NonZeroUsize::MIN.saturating_add(3),
            rounds: 16,
            launch_depth: 2,
        }
    }
}

/// Permissions that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PermissionsError {
    /// It is no TOML, or says what permissions do not have.
    #[error("{0}")]
    Unreadable(String),
    /// A rule has a pattern that is none.
    #[error(transparent)]
    Rule(#[from] PolicyError),
    /// There is no such type of agent.
    #[error("`agents` names `{given}`, and there is no such type of agent; there are: {}", known.join(", "))]
    UnknownAgentType {
        /// What was given.
        given: String,
        /// The types that there are.
        known: Vec<&'static str>,
    },
    /// An agent of a plan would launch others.
    #[error(
        "`agents` gives `{LAUNCH}` to `{given}`, and agents of a plan launch none: take it out, or use the workflow \
         `agents`"
    )]
    PlanLaunches {
        /// The type of the agent.
        given: &'static str,
    },
    /// No tool can be called so.
    #[error("`seconds_of` names `{given}`, and no tool can be called so")]
    UnknownTool {
        /// What was given.
        given: String,
    },
}

impl ToolPermissions {
    /// Reads what a TOML file says, for agents that are usually offered this.
    ///
    /// # Errors
    ///
    /// [`PermissionsError`] names the line or the field.
    pub fn from_toml(text: &str, usual: &ToolAccess) -> Result<Self, PermissionsError> {
        let permissions: Self = toml::from_str(text)
            .map_err(|error| PermissionsError::Unreadable(error.to_string()))?;
        permissions.check(usual)?;
        Ok(permissions)
    }

    /// Whether they can be used for agents that are usually offered this.
    ///
    /// # Errors
    ///
    /// [`PermissionsError`] of the first thing that is wrong.
    pub fn check(&self, usual: &ToolAccess) -> Result<(), PermissionsError> {
        let known = usual.kinds();
        if let Some(given) = self
            .agents
            .keys()
            .find(|given| !known.contains(&given.as_str()))
        {
            let given = given.clone();
            let known = known.to_vec();
            return Err(PermissionsError::UnknownAgentType { given, known });
        }
        let launches = |kind: &&&'static str| {
            let row = self.agents.get(**kind);
            row.is_some_and(|row| row.iter().any(|tool| tool == LAUNCH))
        };
        if let Some(given) = usual.cannot_launch().iter().find(launches) {
            return Err(PermissionsError::PlanLaunches { given });
        }
        let is_name = |given: &&String| ToolName::new((*given).clone()).is_ok();
        if let Some(given) = self.seconds_of.keys().find(|given| !is_name(given)) {
            let given = given.clone();
            return Err(PermissionsError::UnknownTool { given });
        }
        tools::PermissionPolicy::new(&self.policy())?;
        Ok(())
    }

    pub(super) fn policy(&self) -> PolicyConfig {
        PolicyConfig {
            rules: self.rules.clone(),
            paths: self.paths.clone(),
            otherwise: self.otherwise,
        }
    }

    pub(super) fn limits(&self) -> CallLimits {
        let limit = |seconds: u64| (seconds > 0).then(|| Duration::from_secs(seconds));
        let named = self.seconds_of.iter();
        CallLimits {
            others: limit(self.seconds),
            by_tool: named
                .filter_map(|(name, seconds)| {
                    Some((ToolName::new(name.clone()).ok()?, limit(*seconds)))
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ToolAccess, ToolPermissions};

    fn usual() -> ToolAccess {
        ToolAccess::of(["DISCOVERY_AGENT", "TICKET_AGENT"])
    }

    #[test]
    fn what_is_left_out_is_as_usual() {
        let permissions: ToolPermissions = serde_json::from_value(json!({"seconds": 5})).unwrap();
        let as_usual = ToolPermissions {
            seconds: 5,
            ..ToolPermissions::default()
        };
        assert_eq!(permissions, as_usual);
        assert_eq!(permissions.check(&usual()), Ok(()));
    }

    #[test]
    fn a_file_says_what_is_allowed() {
        let permissions = ToolPermissions::from_toml(
            r#"
            otherwise = "deny"
            seconds_of = { shell = 5 }
            [[rules]]
            tool = "shell"
            arguments = { "/command" = "cargo (check|test)" }
            then = "allow"
            [agents]
            DISCOVERY_AGENT = ["read_file", "docs__*"]
            "#,
            &usual(),
        )
        .unwrap();
        assert_eq!(permissions.rules.len(), 1);
        assert_eq!(permissions.seconds_of["shell"], 5);
        let error = ToolPermissions::from_toml("otherwhise = \"deny\"", &usual()).unwrap_err();
        assert!(error.to_string().contains("otherwhise"), "{error}");
    }

    #[test]
    fn a_mistake_is_named() {
        for (wrong, said) in [
            (json!({"agents": {"TICKET": ["*"]}}), "`TICKET`"),
            (json!({"seconds_of": {"a tool": 3}}), "`a tool`"),
            (
                json!({"rules": [{"tool": "(", "then": "allow"}]}),
                "rule 1 ",
            ),
        ] {
            let permissions: ToolPermissions = serde_json::from_value(wrong).unwrap();
            let error = permissions.check(&usual()).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
