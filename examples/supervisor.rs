//! A supervisor that sends a running agent elsewhere.
//!
//! It waits until the discovery orchestrator works, publishes one event for it, and observes the result: the agent
//! interrupts itself, a reviewer answers, and the run continues where the supervisor wanted.
//!
//! Run it with `cargo run -p interrupt-router-agents --example supervisor`.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use agents::run::{AgentsWorkflow, Goal};
use agents::workspace::Workspace;
use agents::{AgentKind, RouteType};
use async_trait::async_trait;
use engine::run::{RunSettings, RunStore};
use interrupt_router::event::InterruptRequestEvent;
use interrupt_router::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use interrupt_router::{
    AnswerForm, Choice, EventId, InterruptType, NodeId, Outcome, RunId, StopScope,
};
use interrupts::OwnerName;
use interrupts::store::NodeActivity;
use interrupts::{Clock, SystemClock};
use llm::{JsonSchemaConstraints, Pace, RehearsalConfig, RehearsalModel};
use store::{MemoryStore, StoreSettings};

/// Takes the first choice of every question.
struct FirstChoice;

#[async_trait]
impl Reviewer for FirstChoice {
    async fn answer(
        &self,
        question: &Question,
        _scope: &StopScope,
    ) -> Result<Outcome<Answer>, ReviewError> {
        let first = question.details.choices.first();
        println!(
            "reviewer    {} -> {}",
            question.details.reason, question.target
        );
        Ok(Outcome::Completed(Answer {
            selected_choices: first
                .map(|choice| choice.value.clone())
                .into_iter()
                .collect(),
            ..Answer::default()
        }))
    }

    async fn resume(
        &self,
        _pause: &Pause,
        _scope: &StopScope,
    ) -> Result<Outcome<Resume>, ReviewError> {
        Ok(Outcome::Completed(Resume::default()))
    }
}

/// The event: ask discovery to stop, and go straight to planning.
fn event(node: NodeId) -> InterruptRequestEvent<AgentKind> {
    InterruptRequestEvent {
        event_id: EventId::generate(),
        timestamp: SystemClock.now(),
        node_id: node,
        source_agent_type: AgentKind::DiscoveryOrchestrator,
        reroute_to_agent_type: Some(RouteType::PlanningOrchestrator),
        interrupt_type: InterruptType::HumanReview,
        reason: "The folder is known already; plan with what there is".to_owned(),
        choices: vec![Choice {
            label: "Plan now".to_owned(),
            value: "plan".to_owned(),
            description: "Skip the rest of discovery.".to_owned(),
        }],
        confirmation_items: Vec::new(),
        context_for_decision: String::new(),
        answer_form: Some(AnswerForm::OneOf),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let workspace = Workspace::open(".")?;
    let model = RehearsalModel::new(RehearsalConfig {
        seed: 7,
        pace: Pace::from_tokens_per_second(400),
        facts: workspace.facts(),
        script: None,
    });
    let store = RunStore::new(
        Arc::new(MemoryStore::new(StoreSettings::default())),
        OwnerName::new("example")?,
        "{}",
    );
    let mut settings = RunSettings::new(RunId::generate(), Arc::new(model), store);
    settings.constraints = Arc::new(JsonSchemaConstraints::new());
    settings.reviewer = Arc::new(FirstChoice);
    let agents = AgentsWorkflow::new(Goal::new("Describe this project")?, workspace);
    let run = agents.run(settings);
    let (bus, nodes, reroutes) = (run.bus(), run.nodes(), run.reroutes());
    let running = tokio::spawn(async move { run.execute(&StopScope::new()).await });

    let node = loop {
        let works = |state| state == NodeActivity::Running;
        let found = nodes
            .all()
            .into_iter()
            .find(|node| node.kind == "DISCOVERY_ORCHESTRATOR" && works(node.state));
        if let Some(found) = found {
            break found.node;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    let event = event(node);
    let id = event.event_id.clone();
    bus.publish(event).await?;
    println!("supervisor  published {id}");

    let report = running.await?;
    let fate = reroutes.state_of(&id).await?.ok_or("the event is gone")?;
    println!("event       {:?}", fate.state);
    for interrupt in &report.interrupts {
        println!(
            "interrupt   {} of {}: {:?}",
            interrupt.interrupt, interrupt.origin, interrupt.outcome
        );
    }
    println!(
        "run         {:?} after {} steps",
        report.status, report.steps
    );
    Ok(())
}
