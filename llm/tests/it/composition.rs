//! What wraps a model.

use std::sync::Arc;
use std::time::Duration;

use interrupt_router::model::LanguageModel;
use interrupt_router::{Outcome, StopScope};
use interrupts::SystemClock;
use interrupts::limits::{LimitReached, StopSink};
use interrupts::money::{
    Budget, BudgetConfig, BudgetedModel, CallBound, ModelPrice, Money, PriceTable,
};
use llm::{Fallback, RetryPolicy, Retrying};
use tests::providers::{Behaviour, WireForm};

use crate::calls::{call, double, model};

#[tokio::test]
async fn a_chain_of_models_that_take_other_schemas_is_refused() {
    let one = double(WireForm::OpenAi, [Behaviour::Answers]).await;
    let first: Arc<dyn LanguageModel> = Arc::new(model(&one, WireForm::OpenAi));
    let other: Arc<dyn LanguageModel> = Arc::new(model(&one, WireForm::Gemini));
    let error = Fallback::new(Arc::clone(&first), vec![first, other]).unwrap_err();
    assert_eq!(error.other, "gemini:some-model");
}

/// The refused call says so.
struct Silent;

impl StopSink for Silent {
    fn stop(&self, _reached: LimitReached) {}
}

#[tokio::test]
async fn each_try_is_paid_for_and_what_is_not_paid_for_is_not_made() {
    let form = WireForm::OpenAi;
    let double = double(form, [Behaviour::BreaksAfter(2)]).await;
    let price = ModelPrice::for_million("0", "0", "1000").unwrap();
    // A try that breaks off is charged all that was reserved: 8.192 dollars, so that two can be paid.
    let budget = Budget::new(BudgetConfig {
        limit: "17".parse().unwrap(),
        spent: Money::ZERO,
        warn_at: 80,
        prices: PriceTable::new("USD").with("openai:some-model", price),
        sink: Arc::new(Silent),
        clock: Arc::new(SystemClock),
    });
    let policy = RetryPolicy {
        tries: 5,
        first_wait: Duration::from_millis(1),
        ..RetryPolicy::default()
    };
    let paid = BudgetedModel::new(
        Arc::new(model(&double, form)),
        budget.clone(),
        CallBound::default(),
    );
    let model = Retrying::new(paid.unwrap(), policy);
    let ending = model.call(call(model.dialect()), &StopScope::new()).await;
    let Ok(Outcome::Interrupted { reason, .. }) = ending else {
        panic!("{ending:?}");
    };
    assert!(reason.message.contains("budget"), "{reason:?}");
    assert_eq!(double.received_count(), 2);
    assert!(budget.state().assumed > Money::ZERO, "{:?}", budget.state());
}
