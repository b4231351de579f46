//! Your own model, reviewer and handler: an interrupt on its way to the one action it may reach.
//!
//! Run it with `cargo run -p interrupt-router-agents --example own_handler`.

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use interrupt_router::answer::TypesOnly;
use interrupt_router::ask::{Asker, DEFAULT_CORRECTIONS};
use interrupt_router::context::{DecoratorChain, FilterPropertiesDecorator};
use interrupt_router::handler::{
    HandlerConfig, HandlerPolicy, InMemoryDecisions, OperationContext,
};
use interrupt_router::handler::{Resolution, UnifiedInterruptHandler, Unobserved};
use interrupt_router::model::{
    Dialect, LanguageModel, ModelCall, ModelError, ModelReply, PartialReply,
};
use interrupt_router::model::{Message, TokenUsage};
use interrupt_router::planner::{ActionInfo, BlackboardRoutingPlanner, Next};
use interrupt_router::reroute::{InMemoryReroutes, RerouteLimits};
use interrupt_router::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use interrupt_router::{
    AgentType, AnswerForm, Blackboard, InterruptDetails, InterruptRequest, InterruptType, Outcome,
};
use interrupt_router::{InterruptId, NodeId, Routing, RunId, StopScope, SystemClock};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
enum Desk {
    Writer,
    Editor,
    Publisher,
}

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Draft {
    topic: String,
}

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Edit {
    notes: Vec<String>,
}

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Issue {
    title: String,
}

/// Where an article goes after an interrupt.
#[derive(Debug, Clone, Routing)]
#[routing(agent_types = Desk)]
struct AfterInterrupt {
    /// Write it again.
    #[route(marker = WriterRoute, agent_type = Writer)]
    draft: Option<Draft>,
    /// Edit what is there.
    #[route(marker = EditorRoute, agent_type = Editor)]
    edit: Option<Edit>,
    /// Publish it.
    #[route(marker = PublisherRoute, agent_type = Publisher)]
    publish: Option<Issue>,
}

#[derive(Debug, Clone, InterruptRequest)]
#[interrupt(kind = Desk)]
enum Interrupt {
    Writer(InterruptDetails),
    Editor(InterruptDetails),
    Publisher(InterruptDetails),
}

/// A fake provider: it wants to publish, and gives way when it is corrected.
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
            0 => r#"{"publish": {"title": "Too early"}}"#,
            _ => r#"{"edit": {"notes": ["the second paragraph"]}}"#,
        };
        println!("the model answers {text}");
        Ok(Outcome::Completed(ModelReply {
            tool_requests: Vec::new(),
            text: text.to_owned(),
            usage: TokenUsage::default(),
            cut_off: false,
        }))
    }
}

/// A fake person: approves, and leaves the target as it is.
struct Chief;

#[async_trait]
impl Reviewer for Chief {
    async fn answer(
        &self,
        question: &Question,
        _scope: &StopScope,
    ) -> Result<Outcome<Answer>, ReviewError> {
        println!("{} asks: {}", question.agent_type, question.details.reason);
        Ok(Outcome::Completed(Answer {
            text: Some("Shorten it.".to_owned()),
            ..Answer::default()
        }))
    }

    async fn resume(
        &self,
        _pause: &Pause,
        _scope: &StopScope,
    ) -> Result<Outcome<Resume>, ReviewError> {
        Err(ReviewError::NobodyThere)
    }
}

fn handler() -> UnifiedInterruptHandler<Interrupt, AfterInterrupt> {
    let asker = Asker {
        model: Arc::new(EagerModel),
        constraints: Arc::new(TypesOnly),
        corrections: DEFAULT_CORRECTIONS,
    };
    let reroutes = Arc::new(InMemoryReroutes::new(RerouteLimits::default()));
    UnifiedInterruptHandler::new(HandlerConfig {
        reviewing_model: asker.clone(),
        asker,
        reviewer: Arc::new(Chief),
        decisions: Arc::new(InMemoryDecisions::new(Arc::clone(&reroutes) as _)),
        reroutes,
        decorators: DecoratorChain::empty().then(FilterPropertiesDecorator),
        observer: Arc::new(Unobserved),
        clock: Arc::new(SystemClock),
        policy: HandlerPolicy::default(),
    })
}

fn planner()
-> Result<BlackboardRoutingPlanner<(), String, std::convert::Infallible>, Box<dyn Error>> {
    let info = |name| ActionInfo {
        name,
        rerunnable: true,
        cost: 1,
    };
    let mut planner = BlackboardRoutingPlanner::new();
    planner.add(info("write"), |draft: Draft, (): &()| {
        Box::pin(async move { Ok(Next::Finished(format!("writes about {}", draft.topic))) })
    })?;
    planner.add(info("edit"), |edit: Edit, (): &()| {
        Box::pin(async move { Ok(Next::Finished(format!("edits {}", edit.notes.join(", ")))) })
    })?;
    planner.add(info("publish"), |issue: Issue, (): &()| {
        Box::pin(async move { Ok(Next::Finished(format!("publishes `{}`", issue.title))) })
    })?;
    Ok(planner)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let raised = Interrupt::Editor(InterruptDetails {
        answer_form: Some(AnswerForm::Words),
        ..InterruptDetails::new(InterruptType::HumanReview, "the article is too long")
    });
    let node = NodeId::new("newsroom/editor")?;
    let blackboard = Blackboard::new();
    let conversation = [Message::user("Edit the article.")];
    let scope = StopScope::new();
    let context = OperationContext {
        interrupt: InterruptId::generate(),
        run: RunId::generate(),
        node: &node,
        turn: 1,
        blackboard: &blackboard,
        conversation: &conversation,
        scope: &scope,
    };
    let outcome = handler().handle_unified_interrupt(raised, context).await?;
    if let Some(Resolution::Routed(routed)) = outcome.completed() {
        println!("goes to {}, {:?}", routed.target.field(), routed.filled_by);
        if let Next::Finished(done) = planner()?.dispatch(Box::new(routed.routing), &()).await? {
            println!("the action {done}");
        }
    }
    Ok(())
}
