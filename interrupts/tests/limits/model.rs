//! A model whose calls are paid from a budget.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use interrupt_router::model::{
    AnswerSchemaRef, Dialect, LanguageModel, Message, ModelCall, ModelCaller, ModelError,
    ModelReply, PartialReply, Purpose, TokenUsage, ToolOffer, ToolRequest,
};
use interrupt_router::schema::AnswerSchema;
use interrupt_router::{NodeId, Outcome, RunId, StopScope};
use interrupts::money::{Amount, BudgetedModel, CallBound, Money};

use crate::scene::{Heard, budget, money};

type Answer = Result<Outcome<ModelReply, PartialReply>, ModelError>;

/// Answers what it was given, once.
struct Once {
    name: &'static str,
    answer: Mutex<Option<Answer>>,
    calls: AtomicU64,
}

impl Once {
    fn named(name: &'static str, answer: Answer) -> Arc<Self> {
        Arc::new(Self {
            name,
            answer: Mutex::new(Some(answer)),
            calls: AtomicU64::new(0),
        })
    }
}

#[async_trait]
impl LanguageModel for Once {
    fn name(&self) -> &str {
        self.name
    }

    fn dialect(&self) -> Dialect {
        Dialect::JsonSchema
    }

    async fn call(&self, _call: ModelCall, _scope: &StopScope) -> Answer {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.answer.lock().unwrap().take().unwrap()
    }
}

fn reply(text: &str, input: Option<u64>, output: Option<u64>) -> Answer {
    Ok(Outcome::Completed(ModelReply {
        tool_requests: Vec::new(),
        text: text.to_owned(),
        usage: TokenUsage { input, output },
        cut_off: false,
    }))
}

fn call() -> ModelCall {
    let run = RunId::generate();
    ModelCall {
        caller: ModelCaller {
            run,
            node: NodeId::try_from("main".to_owned()).unwrap(),
            agent_type: "MAIN",
            purpose: Purpose::Step,
            turn: 1,
            correction: 0,
        },
        messages: vec![Message::user("x".repeat(300))],
        schema: Some(AnswerSchemaRef::Shared(Arc::new(
            AnswerSchema::from_type::<bool>("answer", Dialect::JsonSchema),
        ))),
        tools: std::sync::Arc::default(),
        forward: None,
        chunks: None,
    }
}

async fn charged(answer: Answer) -> (Money, Option<Amount>) {
    charged_for(call(), answer).await
}

async fn charged_for(call: ModelCall, answer: Answer) -> (Money, Option<Amount>) {
    let heard = Arc::new(Heard::default());
    let budget = budget("1", &heard);
    let model = Once::named("fine", answer);
    let model = BudgetedModel::new(model, budget.clone(), CallBound::default()).unwrap();
    let _answered = model.call(call, &StopScope::new()).await;
    let state = budget.state();
    assert_eq!(state.reserved, Money::ZERO);
    let known = [
        (state.reported, Amount::Reported),
        (state.estimated, Amount::Estimated),
        (state.assumed, Amount::Assumed),
    ];
    let known = known.into_iter().find(|(sum, _known)| *sum > Money::ZERO);
    (state.spent, known.map(|(_sum, known)| known))
}

#[tokio::test]
async fn a_call_is_charged_what_the_provider_said_and_guesses_where_it_said_nothing() {
    let said = charged(reply("true", Some(100), Some(2))).await;
    assert_eq!(said, (money("0.000108"), Some(Amount::Reported)));
    let half = charged(reply("123456", Some(100), None)).await;
    assert_eq!(half, (money("0.000108"), Some(Amount::Estimated)));
}

#[tokio::test]
async fn what_tools_read_and_write_is_estimated_too() {
    let (plain, _known) = charged(reply("", None, None)).await;
    let request = ToolRequest::new("1", "list", "x".repeat(300));
    let mut asked = call();
    asked.messages[0].tool_requests.push(request.clone());
    let (read, known) = charged_for(asked, reply("", None, None)).await;
    assert!(read > plain, "{read} {plain}");
    assert_eq!(known, Some(Amount::Estimated));
    let mut offering = call();
    offering.tools = Arc::new([ToolOffer {
        name: "list".to_owned(),
        description: "x".repeat(300),
        arguments: serde_json::json!({}),
    }]);
    let (offered, _known) = charged_for(offering, reply("", None, None)).await;
    assert!(offered > plain, "{offered} {plain}");
    let wrote = Ok(Outcome::Completed(ModelReply {
        tool_requests: vec![request],
        ..ModelReply::default()
    }));
    let (written, _known) = charged(wrote).await;
    assert!(written > plain, "{written} {plain}");
}

#[tokio::test]
async fn a_failure_that_no_provider_bills_costs_nothing_and_another_one_all_that_was_reserved() {
    let refused = charged(Err(ModelError::Unauthorized {
        status: 401,
        detail: String::new(),
    }));
    assert_eq!(refused.await, (Money::ZERO, None));
    let (cost, known) = charged(Err(ModelError::BrokenOff { received: 3 })).await;
    assert!(
        cost >= money("0.032768"),
        "a whole answer may have been written: {cost}"
    );
    assert_eq!(known, Some(Amount::Assumed));
}

#[tokio::test]
async fn a_call_that_the_budget_does_not_allow_is_not_made() {
    let heard = Arc::new(Heard::default());
    let inner = Once::named("fine", reply("true", None, None));
    let model = Arc::<Once>::clone(&inner);
    let model = BudgetedModel::new(model, budget("0.0001", &heard), CallBound::default()).unwrap();
    let answered = model.call(call(), &StopScope::new()).await.unwrap();
    let Outcome::Interrupted { reason, .. } = answered else {
        panic!("a call was made: {answered:?}");
    };
    assert_eq!(reason.message, heard.stops()[0].message);
    assert_eq!(inner.calls.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_model_without_a_price_is_refused() {
    let heard = Arc::new(Heard::default());
    let inner = Once::named("unheard-of", reply("true", None, None));
    let refused = BudgetedModel::new(inner, budget("1", &heard), CallBound::default());
    assert_eq!(
        refused.err().map(|refused| refused.model),
        Some("unheard-of".to_owned())
    );
}
