//! Which types of agents are offered which tools.

use std::collections::BTreeMap;

use routing_core::AgentType as _;

use crate::agent_kind::AgentKind;
use crate::plan_execute::PlanRole;

/// Tools that only look.
const READING: [&str; 3] = ["list_files", "read_file", "search_files"];

/// Tools that change the workspace.
const EDITING: [&str; 3] = ["edit_file", "undo_edit", "write_file"];

/// Stands for all tools, or for all whose names begin with what stands before it.
const ANY: char = '*';

/// Which types of agents are offered which tools. A type that is not named is offered none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolAccess {
    by_type: BTreeMap<String, Vec<String>>,
}

impl Default for ToolAccess {
    /// Workers of discovery and planning, and whoever looks for context, may look; a review may run programs too; a
    /// merge may change files too; who works on tickets, or carries out a step of a plan, may use all there is.
    fn default() -> Self {
        let reading = || READING.iter().map(|name| (*name).to_owned());
        let and = |more: &[&str]| {
            let more = more.iter().map(|name| (*name).to_owned());
            reading().chain(more).collect::<Vec<String>>()
        };
        let all = || vec![ANY.to_string()];
        let table = [
            (AgentKind::DiscoveryAgent.name(), and(&[])),
            (AgentKind::PlanningAgent.name(), and(&[])),
            (AgentKind::ContextManager.name(), and(&[])),
            (AgentKind::ReviewAgent.name(), and(&["python", "shell"])),
            (AgentKind::MergerAgent.name(), and(&EDITING)),
            (AgentKind::TicketAgent.name(), all()),
            (PlanRole::Planner.name(), and(&[])),
            (PlanRole::Replanner.name(), and(&[])),
            (PlanRole::Executor.name(), all()),
        ];
        let by_type = table.into_iter();
        Self {
            by_type: by_type
                .map(|(agent_type, tools)| (agent_type.to_owned(), tools))
                .collect(),
        }
    }
}

impl ToolAccess {
    /// The usual table, with the rows of some types replaced. A tool is named by its whole name, by the beginning of
    /// its name followed by `*`, or as `*`, which is all of them.
    #[must_use]
    pub fn with(mut self, rows: BTreeMap<String, Vec<String>>) -> Self {
        self.by_type.extend(rows);
        self
    }

    /// Whether agents of a type are offered a tool.
    pub fn offers(&self, agent_type: &str, tool: &str) -> bool {
        let tools = self.by_type.get(agent_type);
        tools.is_some_and(|tools| tools.iter().any(|pattern| fits(pattern, tool)))
    }

    /// The names of the types of agents that there are.
    pub fn agent_types() -> Vec<&'static str> {
        let plan = PlanRole::ALL.into_iter().map(PlanRole::name);
        AgentKind::NAMES.iter().copied().chain(plan).collect()
    }
}

fn fits(pattern: &str, tool: &str) -> bool {
    match pattern.strip_suffix(ANY) {
        Some(beginning) => tool.starts_with(beginning),
        None => pattern == tool,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::ToolAccess;

    #[test]
    fn discovery_looks_tickets_do_and_leads_have_no_tools() {
        let access = ToolAccess::default();
        assert!(access.offers("DISCOVERY_AGENT", "read_file"));
        assert!(!access.offers("DISCOVERY_AGENT", "shell"));
        assert!(access.offers("TICKET_AGENT", "shell"));
        assert!(access.offers("TICKET_AGENT", "mcp__anything"));
        assert!(!access.offers("ORCHESTRATOR", "read_file"));
    }

    #[test]
    fn a_row_replaces_the_usual_one_and_names_tools_by_their_beginning() {
        let row = vec!["docs_*".to_owned(), "shell".to_owned()];
        let rows = BTreeMap::from([("DISCOVERY_AGENT".to_owned(), row)]);
        let access = ToolAccess::default().with(rows);
        assert!(access.offers("DISCOVERY_AGENT", "docs_find"));
        assert!(access.offers("DISCOVERY_AGENT", "shell"));
        assert!(!access.offers("DISCOVERY_AGENT", "shell_2"));
        assert!(!access.offers("DISCOVERY_AGENT", "read_file"));
    }
}
