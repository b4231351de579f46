//! Several mistakes of one record, each reported once.
use interrupt_router::{AgentType, InterruptRoutes, Routing};

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Request {
    goal: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
enum RouteType {
    Orchestrator,
    ReviewAgent,
    TicketDispatch,
}

#[derive(Debug, Clone, Routing)]
#[routing(agent_types = RouteType, colour = "red")]
struct Record {
    #[route(agent_type = ReviewAgent)]
    review_request: Option<Request>,
    #[route(agent_type = TicketDispatch, marker = TicketRoute)]
    ticket_request: Request,
    #[route(agent_typ = Orchestrator, marker = TicketRoute)]
    orchestrator_request: Option<Request>,
}

fn main() {
    let record: Record = serde_json::from_str("{}").unwrap();
    println!(
        "{:?} {:?}",
        record.set_routes(),
        Record::route_to(RouteType::ReviewAgent)
    );
}
