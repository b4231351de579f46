//! What is written is read back, whatever it is.

use std::fmt::Debug;

use agents::AgentKind;
use agents::records::{
    Caller, ContextManagerRequest, ContextManagerResultRouting, DiscoveryAgentRouting,
    DiscoveryCollectorRouting, DiscoveryDispatchRouting, DiscoveryOrchestratorRouting, Draft,
    FullRequest, InterruptRouting, MergerRouting, OrchestratorCollectorRouting,
    OrchestratorRequest, OrchestratorRouting, PlanningAgentRouting, PlanningCollectorRouting,
    PlanningDispatchRouting, PlanningOrchestratorRequest, PlanningOrchestratorRouting,
    ReviewRequest, ReviewRouting, Summaries, TicketAgentRouting, TicketCollectorRequest,
    TicketCollectorRouting, TicketDispatchRouting, TicketOrchestratorRouting,
};
use interrupt_router::answer::{read_narrowed, read_within};
use interrupt_router::schema::Dialect;
use interrupt_router::{NodeId, Route, RouteId, RouteSet, Routing};
use proptest::prelude::ProptestConfig;
use proptest::test_runner::{TestCaseError, TestRunner};
use serde_json::{Value, json};

use crate::sample::{any_of_property, one_of_property};

/// How many values of each route.
const CASES: u32 = 32;

#[test]
fn every_record_is_read_back_as_it_was_written() {
    read_back::<InterruptRouting>();
    read_back::<OrchestratorRouting>();
    read_back::<DiscoveryOrchestratorRouting>();
    read_back::<DiscoveryDispatchRouting>();
    read_back::<DiscoveryAgentRouting>();
    read_back::<DiscoveryCollectorRouting>();
    read_back::<PlanningOrchestratorRouting>();
    read_back::<PlanningDispatchRouting>();
    read_back::<PlanningAgentRouting>();
    read_back::<PlanningCollectorRouting>();
    read_back::<TicketOrchestratorRouting>();
    read_back::<TicketDispatchRouting>();
    read_back::<TicketAgentRouting>();
    read_back::<TicketCollectorRouting>();
    read_back::<OrchestratorCollectorRouting>();
    read_back::<ReviewRouting>();
    read_back::<MergerRouting>();
    read_back::<ContextManagerResultRouting>();
}

fn read_back<R: Routing + PartialEq>() {
    let schema = R::schemas().full(Dialect::JsonSchema).value();
    for route in RouteSet::<R>::ALL.iter() {
        let field = route.field();
        let mut runner = TestRunner::new(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(CASES)
        });
        let result = runner.run(&any_of_property(schema, field), |request| {
            check_read_back(route, &json!({ (field): request }))
        });
        if let Err(failure) = result {
            panic!("{route:?}: {failure}");
        }
    }
}

/// Reads an answer, writes what was read, and reads it again: with all routes, and with its own alone.
fn check_read_back<R: Routing + PartialEq>(
    route: RouteId<R>,
    answer: &Value,
) -> Result<(), TestCaseError> {
    let failed = |error: &dyn std::error::Error| TestCaseError::fail(error.to_string());
    let record: R = serde_json::from_value(answer.clone()).map_err(|error| failed(&error))?;
    let written = serde_json::to_vec(&record).map_err(|error| failed(&error))?;
    for allowed in [RouteSet::ALL, RouteSet::only(route)] {
        let read = read_within::<R>(&written, allowed).map_err(|error| failed(&error))?;
        if read != record {
            return Err(TestCaseError::fail(format!("{read:?} was {record:?}")));
        }
    }
    Ok(())
}

fn summaries() -> Summaries {
    Summaries {
        discovery: Some("found".to_owned()),
        planning: Some("planned".to_owned()),
        ticket: Some("done".to_owned()),
    }
}

fn one<M: Route<Routing = InterruptRouting>>() -> M::Request {
    let schema = M::schema(Dialect::JsonSchema).value();
    let answer = json!({ (M::FIELD): one_of_property(schema, M::FIELD) });
    read_narrowed::<M>(answer.to_string().as_bytes())
        .unwrap()
        .into_request()
}

/// The full record as it stands in a journal, after it was read back and found to be the same.
fn journalled<D: Draft + PartialEq + Debug>(full: &FullRequest<D>) -> Value {
    let written = serde_json::to_value(full).unwrap();
    let read: FullRequest<D> = serde_json::from_value(written.clone()).unwrap();
    assert_eq!(read, *full);
    written
}

fn summary_fields(written: &Value) -> Vec<&str> {
    ["discoverySummary", "planningSummary", "ticketSummary"]
        .into_iter()
        .filter(|field| written.get(field).is_some())
        .collect()
}

#[test]
fn a_full_request_carries_what_its_draft_may_not_set() {
    let node = NodeId::new("root/orchestrator-1").unwrap();
    let all = summaries();

    let draft: OrchestratorRequest = one::<agents::records::OrchestratorRoute>();
    let written = journalled(&FullRequest::new(node.clone(), draft, &all));
    assert_eq!(written["contextId"], "root/orchestrator-1");
    assert_eq!(
        summary_fields(&written),
        ["discoverySummary", "planningSummary", "ticketSummary"]
    );

    let draft: PlanningOrchestratorRequest = one::<agents::records::PlanningRoute>();
    let written = journalled(&FullRequest::new(node.clone(), draft, &all));
    assert_eq!(summary_fields(&written), ["discoverySummary"]);

    let draft: TicketCollectorRequest = one::<agents::records::TicketCollectorRoute>();
    let written = journalled(&FullRequest::new(node.clone(), draft, &all));
    assert_eq!(
        summary_fields(&written),
        ["discoverySummary", "planningSummary"]
    );

    let draft: ReviewRequest = one::<agents::records::ReviewRoute>();
    let written = journalled(&FullRequest::new(node, draft, &all));
    assert_eq!(summary_fields(&written), Vec::<&str>::new());
}

#[test]
fn the_context_managers_own_request_says_who_called() {
    let node = NodeId::new("root/context-1").unwrap();
    let draft = one::<agents::records::ContextManagerRoute>();
    let full = ContextManagerRequest::new(node, draft, AgentKind::TicketAgent);
    assert_eq!(
        full.carried,
        Caller {
            caller: AgentKind::TicketAgent
        }
    );
    assert_eq!(journalled(&full)["caller"], "TICKET_AGENT");
}
