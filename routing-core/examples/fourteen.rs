//! Fourteen agents, one handler, one planner: an interrupt leaves along the one route that it may take.
//!
//! Run it with `cargo run -p interrupt-router --example fourteen`. The model, the person and the supervisor are made up;
//! everything else is what an orchestrator uses.

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;

use interrupt_router::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who takes part, and where an interrupt may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
enum AgentKind {
    Orchestrator,
    DiscoveryOrchestrator,
    PlanningOrchestrator,
    TicketOrchestrator,
    ReviewAgent,
    MergerAgent,
    ContextManager,
    OrchestratorCollector,
    DiscoveryCollector,
    PlanningCollector,
    TicketCollector,
    DiscoveryDispatch,
    PlanningDispatch,
    TicketDispatch,
}

/// What an agent says when it interrupts: sealed, one variant for each of them.
#[derive(Debug, Clone, InterruptRequest)]
#[interrupt(kind = AgentKind)]
enum Interrupt {
    Orchestrator(InterruptDetails),
    DiscoveryOrchestrator(InterruptDetails),
    PlanningOrchestrator(InterruptDetails),
    TicketOrchestrator(InterruptDetails),
    ReviewAgent(InterruptDetails),
    MergerAgent(InterruptDetails),
    ContextManager(InterruptDetails),
    OrchestratorCollector(InterruptDetails),
    DiscoveryCollector(InterruptDetails),
    PlanningCollector(InterruptDetails),
    TicketCollector(InterruptDetails),
    DiscoveryDispatch(InterruptDetails),
    PlanningDispatch(InterruptDetails),
    TicketDispatch(InterruptDetails),
}

/// Each route carries a request of its own.
macro_rules! requests {
    ($($name:ident)*) => {$(
        #[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
        struct $name {
            goal: String,
        }
    )*};
}

requests! {
    OrchestratorRequest DiscoveryRequest PlanningRequest TicketRequest ReviewRequest MergerRequest ContextRequest
    SummaryRequest FindingsRequest PlanRequest TicketsRequest DiscoveryBatch PlanningBatch TicketBatch
}

/// Where the work goes on after an interrupt: exactly one field is set.
#[derive(Debug, Clone, Routing)]
#[routing(agent_types = AgentKind)]
struct InterruptRouting {
    #[route(agent_type = Orchestrator)]
    orchestrator_request: Option<OrchestratorRequest>,
    #[route(marker = DiscoveryRoute, agent_type = DiscoveryOrchestrator)]
    discovery_orchestrator_request: Option<DiscoveryRequest>,
    #[route(marker = PlanningRoute, agent_type = PlanningOrchestrator)]
    planning_orchestrator_request: Option<PlanningRequest>,
    #[route(agent_type = TicketOrchestrator)]
    ticket_orchestrator_request: Option<TicketRequest>,
    #[route(agent_type = ReviewAgent)]
    review_request: Option<ReviewRequest>,
    #[route(agent_type = MergerAgent)]
    merger_request: Option<MergerRequest>,
    #[route(agent_type = ContextManager)]
    context_manager_request: Option<ContextRequest>,
    #[route(agent_type = OrchestratorCollector)]
    orchestrator_collector_request: Option<SummaryRequest>,
    #[route(agent_type = DiscoveryCollector)]
    discovery_collector_request: Option<FindingsRequest>,
    #[route(agent_type = PlanningCollector)]
    planning_collector_request: Option<PlanRequest>,
    #[route(agent_type = TicketCollector)]
    ticket_collector_request: Option<TicketsRequest>,
    #[route(agent_type = DiscoveryDispatch)]
    discovery_agent_requests: Option<DiscoveryBatch>,
    #[route(agent_type = PlanningDispatch)]
    planning_agent_requests: Option<PlanningBatch>,
    #[route(agent_type = TicketDispatch)]
    ticket_agent_requests: Option<TicketBatch>,
}

/// A model that wants to go where it was not sent, and gives way when it is corrected.
struct EagerModel;

#[async_trait]
impl LanguageModel for EagerModel {
    fn name(&self) -> &str {
        "eager"
    }

    fn dialect(&self) -> Dialect {
        Dialect::JsonSchema
    }

    async fn call(
        &self,
        call: ModelCall,
        _scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        let text = match call.caller.correction {
            0 => r#"{"ticketOrchestratorRequest": {"goal": "Skip the plan"}}"#,
            _ => r#"{"planningOrchestratorRequest": {"goal": "Plan with what is known"}}"#,
        };
        println!("model      answers {text}");
        Ok(Outcome::Completed(ModelReply {
            text: text.to_owned(),
            ..ModelReply::default()
        }))
    }
}

/// A person who approves.
struct Person;

#[async_trait]
impl Reviewer for Person {
    async fn answer(
        &self,
        question: &Question,
        _scope: &StopScope,
    ) -> Result<Outcome<Answer>, ReviewError> {
        println!(
            "person     {} asks: {}",
            question.agent_type, question.details.reason
        );
        Ok(Outcome::Completed(Answer::default()))
    }
}

/// The agents at work: here, discovery alone.
struct AtWork(RunId);

#[async_trait]
impl RunningAgents<AgentKind> for AtWork {
    fn find(&self, node: &NodeId) -> Option<NodeStatus<AgentKind>> {
        (node.as_str() == "orchestrator/discovery").then_some(NodeStatus {
            run: self.0,
            kind: AgentKind::DiscoveryOrchestrator,
            running: true,
            status: "running",
        })
    }

    async fn send(&self, _run: RunId, node: &NodeId, message: Message) -> bool {
        println!(
            "message    for {node}: {}",
            message.text.lines().last().unwrap_or_default()
        );
        true
    }
}

fn planner() -> Result<BlackboardRoutingPlanner<(), String, Infallible>, Box<dyn Error>> {
    let info = |name| ActionInfo {
        name,
        rerunnable: true,
        cost: 1,
    };
    let mut planner = BlackboardRoutingPlanner::new();
    planner.add(info("plan"), |request: PlanningRequest, (): &()| {
        Box::pin(async move { Ok(Next::Finished(format!("plans: {}", request.goal))) })
    })?;
    planner.add(info("discover"), |request: DiscoveryRequest, (): &()| {
        Box::pin(async move { Ok(Next::Finished(format!("discovers: {}", request.goal))) })
    })?;
    Ok(planner)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (run, node) = (RunId::generate(), NodeId::new("orchestrator/discovery")?);
    let router = Arc::new(InMemoryRouter::new(Arc::new(AtWork(run))));
    let bus = EventBus::new(Arc::clone(&router) as _, DEFAULT_BACKLOG);
    let handler = UnifiedInterruptHandler::<Interrupt, InterruptRouting>::new(EagerModel, Person)
        .with_decisions(router);

    // A supervisor: the answer to discovery's next interrupt goes to planning. Without it, it would come back.
    bus.publish(InterruptRequestEvent {
        event_id: EventId::generate(),
        timestamp: jiff::Timestamp::UNIX_EPOCH,
        node_id: node.clone(),
        source_agent_type: AgentKind::DiscoveryOrchestrator,
        reroute_to_agent_type: Some(AgentKind::PlanningOrchestrator),
        interrupt_type: InterruptType::HumanReview,
        reason: "The folder is known; plan with what there is".to_owned(),
        choices: Vec::new(),
        confirmation_items: Vec::new(),
        context_for_decision: String::new(),
        answer_form: None,
    })
    .await?;

    // Discovery interrupts. The model is shown the one route, and its first answer is refused.
    let raised = Interrupt::DiscoveryOrchestrator(InterruptDetails::new(
        InterruptType::HumanReview,
        "two sources disagree",
    ));
    let context = OperationContext {
        interrupt: InterruptId::generate(),
        run,
        node: &node,
        turn: 1,
        blackboard: &Blackboard::new(),
        conversation: &[Message::user("Find out what is there.")],
        scope: &StopScope::new(),
    };
    let outcome = handler.handle_unified_interrupt(raised, context).await?;
    let Some(Resolution::Routed(routed)) = outcome.completed() else {
        return Err("the interrupt went nowhere".into());
    };
    println!(
        "route      {} -> {}",
        routed.origin.field(),
        routed.target.field()
    );

    // The planner dispatches the one set field.
    if let Next::Finished(done) = planner()?.dispatch(Step::of(routed.routing), &()).await? {
        println!("action     {done}");
    }
    Ok(())
}
