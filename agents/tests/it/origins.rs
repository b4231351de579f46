//! Where an interrupt comes from, and that asking for one changes nothing for the agent.

use agents::catalogue::{RecordKind, SchemaQuery, records, schema};
use agents::records::{
    ContextManagerResultRouting, DiscoveryAgentRouting, DiscoveryCollectorRouting,
    DiscoveryDispatchRouting, DiscoveryOrchestratorRouting, InterruptRequest, InterruptRouting,
    MergerRouting, OrchestratorCollectorRouting, OrchestratorRouting, PlanningAgentRouting,
    PlanningCollectorRouting, PlanningDispatchRouting, PlanningOrchestratorRouting, ReviewRouting,
    TicketAgentRouting, TicketCollectorRouting, TicketDispatchRouting, TicketOrchestratorRouting,
};
use agents::{AgentKind, RouteType};
use interrupt_router::context::{
    Decorator as _, FilterPropertiesDecorator, LlmCallContext, RouteSnapshot,
};
use interrupt_router::model::{ModelCaller, Purpose};
use interrupt_router::schema::Dialect;
use interrupt_router::{AgentType, NodeId, RouteSet, Routing, RunId, SealedInterrupt};
use serde_json::json;

use crate::sample::one_of_property;

#[test]
fn every_kinds_interrupt_goes_back_to_its_own_node() {
    for kind in AgentKind::ALL {
        let own_node = match kind.name() {
            "DISCOVERY_AGENT" => "DISCOVERY_DISPATCH",
            "PLANNING_AGENT" => "PLANNING_DISPATCH",
            "TICKET_AGENT" => "TICKET_DISPATCH",
            node => node,
        };
        let routes = agents::catalogue::routes();
        let own_node: RouteType = own_node.parse().unwrap();
        let row = routes.iter().find(|row| row.agent_type == own_node);
        let expected = row.unwrap().field;
        let query = SchemaQuery {
            origin: Some(*kind),
            ..SchemaQuery::new(Dialect::JsonSchema)
        };
        let schema = schema(InterruptRouting::NAME, &query).unwrap().value();
        let left: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(left, [expected], "{kind}");
    }
}

#[test]
fn the_sealed_request_knows_who_raised_it() {
    let mut raised = 0;
    for record in records() {
        let RecordKind::AgentAnswer(kind) = record.kind else {
            continue;
        };
        let full = schema(record.name, &SchemaQuery::new(Dialect::JsonSchema)).unwrap();
        let payload = one_of_property(full.value(), "interruptRequest");
        let sealed = json!({ "kind": kind, "request": payload });
        let request: InterruptRequest = serde_json::from_value(sealed).unwrap();
        assert_eq!(request.kind(), kind);
        assert_eq!(request.details().reason, payload["reason"]);
        let again: InterruptRequest =
            serde_json::from_str(&serde_json::to_string(&request).unwrap()).unwrap();
        assert_eq!(again, request);
        raised += 1;
    }
    assert_eq!(raised, AgentKind::ALL.len());
}

#[test]
fn an_event_for_a_running_agent_leaves_its_schema_as_it_is() {
    unchanged::<OrchestratorRouting>();
    unchanged::<DiscoveryOrchestratorRouting>();
    unchanged::<DiscoveryDispatchRouting>();
    unchanged::<DiscoveryAgentRouting>();
    unchanged::<DiscoveryCollectorRouting>();
    unchanged::<PlanningOrchestratorRouting>();
    unchanged::<PlanningDispatchRouting>();
    unchanged::<PlanningAgentRouting>();
    unchanged::<PlanningCollectorRouting>();
    unchanged::<TicketOrchestratorRouting>();
    unchanged::<TicketDispatchRouting>();
    unchanged::<TicketAgentRouting>();
    unchanged::<TicketCollectorRouting>();
    unchanged::<OrchestratorCollectorRouting>();
    unchanged::<ReviewRouting>();
    unchanged::<MergerRouting>();
    unchanged::<ContextManagerResultRouting>();
}

/// The agent is called, an event is bound to it for each of its routes, and it is called again.
fn unchanged<R: Routing>() {
    for dialect in Dialect::ALL {
        let before = shown::<R>(RouteSnapshot::default(), dialect);
        for target in RouteSet::<R>::ALL.iter() {
            let rerouted = RouteSnapshot {
                reroute: Some(target),
                origin: Some(target),
                ..RouteSnapshot::default()
            };
            assert_eq!(shown::<R>(rerouted, dialect), before, "{target:?}");
        }
    }
}

fn shown<R: Routing>(snapshot: RouteSnapshot<R>, dialect: Dialect) -> String {
    let caller = ModelCaller {
        run: RunId::generate(),
        node: NodeId::root(),
        agent_type: "AGENT",
        purpose: Purpose::Step,
        turn: 1,
        correction: 0,
    };
    let context = LlmCallContext::<R>::new(caller, Vec::new(), snapshot);
    let decorated = FilterPropertiesDecorator.decorate(context);
    decorated.selection.schema(dialect).text().to_owned()
}
