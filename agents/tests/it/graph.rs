//! The tables of the workflow, read from its records.

use agents::AgentKind;
use agents::catalogue::{EdgeEnd, RecordKind, edges, mermaid, records, routes};
use interrupt_router::AgentType;

#[test]
fn the_fourteen_routes_are_those_of_the_mapping_table() {
    let table: Vec<String> = routes()
        .iter()
        .map(|row| {
            format!(
                "{} {} {} {} {}",
                row.field,
                row.agent_type,
                row.last_request,
                row.marker,
                row.level.name()
            )
        })
        .collect();
    let expected = "\
orchestratorRequest ORCHESTRATOR OrchestratorRequest OrchestratorRoute orchestrator
discoveryOrchestratorRequest DISCOVERY_ORCHESTRATOR DiscoveryOrchestratorRequest DiscoveryRoute orchestrator
planningOrchestratorRequest PLANNING_ORCHESTRATOR PlanningOrchestratorRequest PlanningRoute orchestrator
ticketOrchestratorRequest TICKET_ORCHESTRATOR TicketOrchestratorRequest TicketRoute orchestrator
reviewRequest REVIEW_AGENT ReviewRequest ReviewRoute orchestrator
mergerRequest MERGER_AGENT MergerRequest MergerRoute orchestrator
contextManagerRequest CONTEXT_MANAGER ContextManagerRequest ContextManagerRoute orchestrator
orchestratorCollectorRequest ORCHESTRATOR_COLLECTOR OrchestratorCollectorRequest OrchestratorCollectorRoute collector
discoveryCollectorRequest DISCOVERY_COLLECTOR DiscoveryCollectorRequest DiscoveryCollectorRoute collector
planningCollectorRequest PLANNING_COLLECTOR PlanningCollectorRequest PlanningCollectorRoute collector
ticketCollectorRequest TICKET_COLLECTOR TicketCollectorRequest TicketCollectorRoute collector
discoveryAgentRequests DISCOVERY_DISPATCH DiscoveryAgentRequests DiscoveryDispatchRoute dispatch
planningAgentRequests PLANNING_DISPATCH PlanningAgentRequests PlanningDispatchRoute dispatch
ticketAgentRequests TICKET_DISPATCH TicketAgentRequests TicketDispatchRoute dispatch";
    assert_eq!(table.join("\n"), expected);
}

#[test]
fn every_node_returns_the_fields_of_its_table_in_order() {
    let table: Vec<String> = records()
        .iter()
        .filter(|record| record.kind != RecordKind::ReviewDecision)
        .map(|record| {
            let fields: Vec<&str> = record.routes.iter().map(|route| route.field).collect();
            format!("{}: {}", record.name, fields.join(" "))
        })
        .collect();
    let fourteen = "orchestratorRequest discoveryOrchestratorRequest planningOrchestratorRequest \
        ticketOrchestratorRequest reviewRequest mergerRequest contextManagerRequest \
        orchestratorCollectorRequest discoveryCollectorRequest planningCollectorRequest \
        ticketCollectorRequest discoveryAgentRequests planningAgentRequests ticketAgentRequests";
    let thirteen = fourteen.replace("contextManagerRequest ", "");
    let expected = format!(
        "\
InterruptRouting: {fourteen}
OrchestratorRouting: interruptRequest collectorRequest discoveryOrchestratorRequest contextManagerRequest
DiscoveryOrchestratorRouting: interruptRequest agentRequests collectorRequest contextManagerRequest
DiscoveryDispatchRouting: interruptRequest collectorRequest contextManagerRequest
DiscoveryAgentRouting: interruptRequest agentResult contextManagerRequest
DiscoveryCollectorRouting: interruptRequest collectorResult orchestratorRequest reviewRequest mergerRequest contextManagerRequest
PlanningOrchestratorRouting: interruptRequest agentRequests collectorRequest contextManagerRequest
PlanningDispatchRouting: interruptRequest planningCollectorRequest contextManagerRequest
PlanningAgentRouting: interruptRequest agentResult contextManagerRequest
PlanningCollectorRouting: interruptRequest collectorResult orchestratorRequest reviewRequest mergerRequest contextManagerRequest
TicketOrchestratorRouting: interruptRequest agentRequests collectorRequest contextManagerRequest
TicketDispatchRouting: interruptRequest ticketCollectorRequest contextManagerRequest
TicketAgentRouting: interruptRequest agentResult contextManagerRequest
TicketCollectorRouting: interruptRequest collectorResult orchestratorRequest reviewRequest mergerRequest contextManagerRequest
OrchestratorCollectorRouting: interruptRequest collectorResult contextManagerRequest reviewRequest mergerRequest
ReviewRouting: interruptRequest reviewResult orchestratorCollectorRequest discoveryCollectorRequest planningCollectorRequest ticketCollectorRequest contextManagerRequest
MergerRouting: interruptRequest mergerResult orchestratorCollectorRequest discoveryCollectorRequest planningCollectorRequest ticketCollectorRequest contextManagerRequest
ContextManagerResultRouting: interruptRequest {thirteen}"
    );
    assert_eq!(table.join("\n"), expected);
}

/// A way that leads to another kind than its request is for would be a mistake in a record.
#[test]
fn a_request_leads_to_the_same_node_from_everywhere() {
    let routes = routes();
    for record in records() {
        for route in record.routes {
            let row = routes.iter().find(|row| row.request == route.request);
            let leads_to = row.map(|row| row.agent_type.name());
            assert_eq!(
                route.agent_type, leads_to,
                "{} {}",
                record.name, route.field
            );
        }
    }
}

#[test]
fn every_agent_can_raise_an_interrupt_and_every_node_can_be_reached() {
    let edges = edges();
    for kind in AgentKind::ALL {
        let raises = edges
            .iter()
            .any(|edge| edge.from == EdgeEnd::Agent(*kind) && edge.to == EdgeEnd::InterruptHandler);
        assert!(raises, "{kind}");
        let reached = edges
            .iter()
            .any(|edge| edge.from == EdgeEnd::InterruptHandler && edge.to == EdgeEnd::Agent(*kind));
        assert_eq!(reached, !kind.is_worker(), "{kind}");
    }
}

#[test]
fn the_graph_draws_every_way() {
    let graph = mermaid();
    for edge in edges() {
        let of_interrupts = [edge.from, edge.to].contains(&EdgeEnd::InterruptHandler);
        let start = format!("    {} ", edge.from.name());
        let label = format!(">|{}| ", edge.field);
        let drawn = graph
            .lines()
            .any(|line| line.starts_with(&start) && line.contains(&label));
        assert!(drawn || of_interrupts, "{edge:?} in\n{graph}");
    }
    assert!(graph.starts_with("flowchart TD\n"));
    assert!(graph.contains("    DISCOVERY_DISPATCH ==>|starts| DISCOVERY_AGENT\n"));
    assert!(graph.contains("    REVIEW_AGENT -.->|ticketCollectorRequest| TICKET_COLLECTOR\n"));
    assert!(graph.contains("CONTEXT_MANAGER -.->|interruptRequest| INTERRUPT\n"));
}
