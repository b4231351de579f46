//! The event of a hook, and the answer in the form that its agent expects.

use clap::ValueEnum;
use serde::Deserialize;
use serde_json::{Value, json};

use super::CodingAgent;

/// The events in which an agent asks whether it may use a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ValueEnum)]
pub(crate) enum EventName {
    /// Where the agent would ask its user.
    PermissionRequest,
    /// Before each use of a tool, whether the agent would ask or not.
    PreToolUse,
}

impl EventName {
    /// All of them.
    pub(crate) const ALL: [Self; 2] = [Self::PermissionRequest, Self::PreToolUse];

    /// As agents name it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::PermissionRequest => "PermissionRequest",
            Self::PreToolUse => "PreToolUse",
        }
    }
}

/// What an agent sends. What else it sends is of no use here.
#[derive(Debug, Deserialize)]
pub(crate) struct HookEvent {
    /// Which event it is.
    #[serde(rename = "hook_event_name")]
    pub(super) name: EventName,
    /// The agent's session.
    #[serde(rename = "session_id")]
    pub(super) session: String,
    /// Where the agent works.
    #[serde(default)]
    pub(super) cwd: Option<String>,
    /// The tool.
    #[serde(rename = "tool_name")]
    pub(super) tool: String,
    /// Its arguments.
    #[serde(rename = "tool_input", default)]
    pub(super) input: Value,
    /// The use of the tool: the same one asked about again is the same question.
    #[serde(rename = "tool_use_id", default)]
    pub(super) tool_use: Option<String>,
}

/// What the agent is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HookAnswer {
    /// It may.
    Allow(String),
    /// It may not.
    Deny(String),
    /// The person leaves it to the agent's own user.
    Ask(String),
}

impl HookEvent {
    /// Reads the event.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let event: Self = serde_json::from_str(text)
            .map_err(|error| format!("this is no event in which an agent asks: {error}"))?;
        if event.tool.trim().is_empty() {
            return Err("this is no event in which an agent asks: it names no tool".to_owned());
        }
        Ok(event)
    }

    /// What is printed for an answer.
    pub(crate) fn output(&self, agent: CodingAgent, answer: &HookAnswer) -> String {
        match (agent, self.name, answer) {
            // Its plugin allows only what is said explicitly, and uses the words of opencode.
            (CodingAgent::Opencode, name, answer) => of_plugin(name, answer),
            // Codex takes only a refusal before a tool is used. It would take an `ask` for a mistake, and use the tool.
            (CodingAgent::Codex, EventName::PreToolUse, HookAnswer::Allow(_)) => String::new(),
            (CodingAgent::Codex, EventName::PreToolUse, HookAnswer::Ask(reason)) => self.told(
                &HookAnswer::Deny(format!("{reason}, and Codex cannot ask you here")),
            ),
            (CodingAgent::Codex | CodingAgent::ClaudeCode, _, answer) => self.told(answer),
        }
    }

    fn told(&self, answer: &HookAnswer) -> String {
        let specific = match (self.name, answer) {
            (EventName::PreToolUse, answer) => {
                let (decision, reason) = match answer {
                    HookAnswer::Allow(reason) => ("allow", reason),
                    HookAnswer::Deny(reason) => ("deny", reason),
                    HookAnswer::Ask(reason) => ("ask", reason),
                };
                json!({"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": reason})
            }
            (EventName::PermissionRequest, HookAnswer::Allow(_)) => {
                json!({"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}})
            }
            (EventName::PermissionRequest, HookAnswer::Deny(message)) => {
                let decision = json!({"behavior": "deny", "message": message});
                json!({"hookEventName": "PermissionRequest", "decision": decision})
            }
            // Without a decision the agent asks its user, as it was about to.
            (EventName::PermissionRequest, HookAnswer::Ask(_)) => return String::new(),
        };
        format!("{}\n", json!({"hookSpecificOutput": specific}))
    }
}

/// What the plugin of opencode reads.
fn of_plugin(name: EventName, answer: &HookAnswer) -> String {
    let (status, reason) = match (name, answer) {
        (_, HookAnswer::Allow(reason)) => ("allow", reason.clone()),
        (_, HookAnswer::Deny(reason)) => ("deny", reason.clone()),
        (EventName::PermissionRequest, HookAnswer::Ask(reason)) => ("ask", reason.clone()),
        // Otherwise its own rules would apply, which may allow it.
        (EventName::PreToolUse, HookAnswer::Ask(reason)) => (
            "deny",
            format!("{reason}, and opencode cannot ask you here"),
        ),
    };
    format!("{}\n", json!({"status": status, "reason": reason}))
}
