//! Rules: which calls are allowed, which denied, and which a person is asked about.

use std::collections::BTreeMap;

use interrupts::canonical_json;
use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::paths::{PathRuleConfig, PathRules};
use crate::registry::ToolRegistry;
use crate::tool::ToolCall;

/// What is done about a call. Ordered: the strictest of all rules that fit decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// It may be made.
    Allow,
    /// A person is asked.
    Ask,
    /// It may not be made.
    Deny,
    /// It may not be made, and the run is paused, so that a person looks at what its agent is up to.
    Pause,
}

/// A rule as it is written in a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleConfig {
    /// A pattern that the whole name of the tool must fit.
    pub tool: String,
    /// For each of these places in the arguments, as a JSON pointer, a pattern that the whole value must fit. Text is
    /// taken as it is, any other value as JSON. A value that is not there fits nothing.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, String>,
    /// What is done about calls that fit.
    pub then: Permission,
    /// What is said of it to the model, where the call is denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether a call that fits is a section that must not be interrupted: an interrupt waits until it has ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uninterruptible: bool,
}

/// A policy as it is written in a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyConfig {
    /// The rules, in any order.
    #[serde(default)]
    pub rules: Vec<RuleConfig>,
    /// What no file tool opens, even if the rules allow it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathRuleConfig>,
    /// What is done where no rule fits.
    pub otherwise: Permission,
}

impl Default for PolicyConfig {
    /// No rules, and a person is asked about everything.
    fn default() -> Self {
        Self {
            rules: Vec::new(),
            paths: Vec::new(),
            otherwise: Permission::Ask,
        }
    }
}

/// A rule that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("rule {number}{about} has a pattern that cannot be used: {reason}")]
pub struct PolicyError {
    number: usize,
    about: &'static str,
    reason: String,
}

impl PolicyError {
    fn of(index: usize, error: &regex::Error) -> Self {
        Self {
            number: index + 1,
            about: "",
            reason: error.to_string(),
        }
    }

    pub(super) fn of_path(index: usize, error: &regex::Error) -> Self {
        let about = " about paths";
        Self {
            about,
            ..Self::of(index, error)
        }
    }
}

/// Rules that are ready for use.
#[derive(Debug, Clone)]
pub struct PermissionPolicy {
    rules: Vec<Rule>,
    paths: PathRules,
    otherwise: Permission,
}

#[derive(Debug, Clone)]
struct Rule {
    tool: Regex,
    arguments: Vec<(String, Regex)>,
    then: Permission,
    reason: Option<String>,
    uninterruptible: bool,
}

impl PermissionPolicy {
    /// A policy without rules.
    pub fn always(permission: Permission) -> Self {
        Self {
            rules: Vec::new(),
            paths: PathRules::default(),
            otherwise: permission,
        }
    }

    /// Makes a configured policy ready.
    ///
    /// # Errors
    ///
    /// [`PolicyError`] of the first rule that cannot be used.
    pub fn new(config: &PolicyConfig) -> Result<Self, PolicyError> {
        let rules =
            config.rules.iter().enumerate().map(|(index, rule)| {
                Rule::new(rule).map_err(|error| PolicyError::of(index, &error))
            });
        Ok(Self {
            rules: rules.collect::<Result<_, _>>()?,
            paths: PathRules::new(&config.paths)?,
            otherwise: config.otherwise,
        })
    }

    /// What is done about a call, and what is said of it.
    pub fn decide(&self, call: &ToolCall) -> (Permission, Option<&str>) {
        let fitting = self.rules.iter().filter(|rule| rule.fits(call));
        let strictest =
            fitting.reduce(|one, other| if other.then > one.then { other } else { one });
        strictest.map_or((self.otherwise, None), |rule| {
            (rule.then, rule.reason.as_deref())
        })
    }

    /// What no file tool opens.
    pub fn paths(&self) -> &PathRules {
        &self.paths
    }

    /// The tools that may be used and that the rules about paths do not reach: what they open cannot be seen from here.
    /// None where there are no such rules.
    pub fn beyond_paths<'tools>(&self, tools: &'tools ToolRegistry) -> Vec<&'tools str> {
        if self.paths.is_empty() {
            return Vec::new();
        }
        let unseen = tools.tools().filter(|tool| !tool.keeps_to_paths());
        let names = unseen.map(|tool| tool.spec().name.as_str());
        names.filter(|name| !self.never_allows(name)).collect()
    }

    /// Whether a tool is denied for all arguments.
    fn never_allows(&self, tool: &str) -> bool {
        let mut named = self.rules.iter().filter(|rule| rule.tool.is_match(tool));
        let is_denied = named
            .clone()
            .any(|rule| rule.then >= Permission::Deny && rule.arguments.is_empty());
        is_denied
            || self.otherwise >= Permission::Deny && named.all(|rule| rule.then >= Permission::Deny)
    }

    /// Whether a call is a section that must not be interrupted: any rule that fits says so.
    pub fn is_uninterruptible(&self, call: &ToolCall) -> bool {
        let mut fitting = self.rules.iter().filter(|rule| rule.fits(call));
        fitting.any(|rule| rule.uninterruptible)
    }
}

impl Rule {
    fn new(config: &RuleConfig) -> Result<Self, regex::Error> {
        let arguments = config.arguments.iter();
        let arguments = arguments.map(|(place, pattern)| Ok((place.clone(), whole(pattern)?)));
        Ok(Self {
            tool: whole(&config.tool)?,
            arguments: arguments.collect::<Result<_, regex::Error>>()?,
            then: config.then,
            reason: config.reason.clone(),
            uninterruptible: config.uninterruptible,
        })
    }

    fn fits(&self, call: &ToolCall) -> bool {
        let named = self.tool.is_match(call.tool.as_str());
        named
            && self
                .arguments
                .iter()
                .all(|(place, pattern)| match call.arguments.pointer(place) {
                    Some(Value::String(text)) => pattern.is_match(text),
                    Some(other) => pattern.is_match(&canonical_json(other)),
                    None => false,
                })
    }
}

/// A pattern that must fit the whole of a text, lines and all: one that is meant for `git status` must not fit
/// `git status; rm -rf /`.
pub(super) fn whole(pattern: &str) -> Result<Regex, regex::Error> {
    Regex::new(&format!(r"\A(?s:{pattern})\z"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Permission, PermissionPolicy, PolicyConfig};
    use crate::tool::{CallId, ToolCall, ToolName};

    fn policy() -> PermissionPolicy {
        let config: PolicyConfig = serde_json::from_value(json!({
            "rules": [
                {"tool": "read_file|list_files", "then": "allow"},
                {"tool": "shell", "arguments": {"/command": "git (status|diff)"}, "then": "allow"},
                {"tool": "shell", "arguments": {"/command": ".*"}, "then": "ask"},
                {"tool": ".*", "arguments": {"/path": r".*\.env"}, "then": "deny", "reason": "secrets"},
            ],
            "otherwise": "deny",
        }))
        .unwrap();
        PermissionPolicy::new(&config).unwrap()
    }

    fn decide(tool: &str, arguments: serde_json::Value) -> (Permission, Option<String>) {
        let call = ToolCall {
            id: CallId::new(""),
            tool: ToolName::new(tool).unwrap(),
            arguments,
        };
        let policy = policy();
        let (permission, reason) = policy.decide(&call);
        (permission, reason.map(str::to_owned))
    }

    #[test]
    fn the_strictest_of_the_rules_that_fit_decides() {
        assert_eq!(
            decide("read_file", json!({"path": "a.rs"})).0,
            Permission::Allow
        );
        let secret = decide("read_file", json!({"path": "a/.env"}));
        assert_eq!(secret, (Permission::Deny, Some("secrets".to_owned())));
        assert_eq!(
            decide("shell", json!({"command": "git status"})).0,
            Permission::Ask
        );
    }

    #[test]
    fn any_rule_that_fits_makes_a_call_uninterruptible() {
        let config: PolicyConfig = serde_json::from_value(json!({
            "rules": [
                {"tool": "shell", "arguments": {"/command": "make release"}, "then": "ask", "uninterruptible": true},
                {"tool": "shell", "then": "deny"},
            ],
            "otherwise": "ask",
        }))
        .unwrap();
        let policy = PermissionPolicy::new(&config).unwrap();
        let call = |command: &str| ToolCall {
            id: CallId::new(""),
            tool: ToolName::new("shell").unwrap(),
            arguments: json!({"command": command}),
        };
        assert!(policy.is_uninterruptible(&call("make release")));
        assert!(!policy.is_uninterruptible(&call("make")));
    }

    #[test]
    fn what_no_rule_fits_is_decided_by_the_default() {
        assert_eq!(decide("launch_agent", json!({})).0, Permission::Deny);
        assert_eq!(decide("shell", json!({"script": "ls"})).0, Permission::Deny);
    }

    #[test]
    fn a_pattern_fits_the_whole_text_or_not_at_all() {
        let config: PolicyConfig = serde_json::from_value(json!({
            "rules": [{"tool": "shell", "arguments": {"/command": "git status|git diff"}, "then": "allow"}],
            "otherwise": "deny",
        }))
        .unwrap();
        let policy = PermissionPolicy::new(&config).unwrap();
        let decide = |command: &str| {
            let call = ToolCall {
                id: CallId::new(""),
                tool: ToolName::new("shell").unwrap(),
                arguments: json!({"command": command}),
            };
            policy.decide(&call).0
        };
        assert_eq!(decide("git status"), Permission::Allow);
        for command in [
            "git status; rm -rf /",
            "rm -rf /; git diff",
            "git status\nrm x",
            "git diff\n",
        ] {
            assert_eq!(decide(command), Permission::Deny, "{command}");
        }
    }

    #[test]
    fn a_pattern_that_is_none_is_refused_with_its_rule() {
        let config = json!({"rules": [{"tool": "a", "then": "allow"}, {"tool": "(", "then": "allow"}], "otherwise": "ask"});
        let config: PolicyConfig = serde_json::from_value(config).unwrap();
        let error = PermissionPolicy::new(&config).unwrap_err();
        assert!(error.to_string().starts_with("rule 2 "), "{error}");
    }
}
