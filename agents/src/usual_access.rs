//! The default tools of each kind of agent.

use engine::tools::ToolAccess;
use interrupt_router::AgentType as _;

use crate::agent_kind::AgentKind;
use planning::PlanRole;

/// Tools that only read.
const READING: [&str; 3] = ["list_files", "read_file", "search_files"];

/// Tools that change the workspace.
const EDITING: [&str; 3] = ["edit_file", "undo_edit", "write_file"];

/// The default tools of each kind: discovery and planning workers and the context manager read; a review also runs
/// programs; a merge also changes files; ticket workers and a plan's executor use every tool. Agents of a plan cannot
/// launch others.
pub fn usual_access() -> ToolAccess {
    let plan = PlanRole::ALL.map(PlanRole::name);
    let all = || vec!["*".to_owned()];
    let and = |more: &[&str]| {
        let tools = READING.iter().chain(more);
        tools.map(|name| (*name).to_owned()).collect::<Vec<_>>()
    };
    let rows = [
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
    let rows = rows.map(|(kind, tools)| (kind.to_owned(), tools));
    ToolAccess::of(AgentKind::NAMES.iter().copied().chain(plan))
        .never_launching(plan)
        .with(rows.into())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::usual_access;

    #[test]
    fn discovery_looks_tickets_do_and_leads_have_no_tools() {
        let access = usual_access();
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
        let access = usual_access().with(rows);
        assert!(access.offers("DISCOVERY_AGENT", "docs_find"));
        assert!(access.offers("DISCOVERY_AGENT", "shell"));
        assert!(!access.offers("DISCOVERY_AGENT", "shell_2"));
        assert!(!access.offers("DISCOVERY_AGENT", "read_file"));
    }
}
