//! The chat port over the wire forms: whole answers, and interrupts in every phase of a call.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use interrupt_router::model::{Message, ModelError};
use interrupt_router::{Outcome, StopScope};
use llm::{
    AtProvider, ChatCall, ChatModel, ChatOutcome, ChatPartial, ChatUsage, Fallback, ModelRegistry,
    RetryPolicy, Retrying, TokenCount,
};
use tests::providers::{Behaviour, ProviderDouble, WireForm};

use crate::calls::{ANSWER, Pieces, double, model, reason, stop_now};

/// How often each phase is interrupted in each form: 8 phases, 4 forms, more than 1,000 in all.
const TIMES: usize = 45;

/// Events before the first piece of text.
pub(crate) fn opening(form: WireForm) -> usize {
    match form {
        WireForm::OpenAi => 1,
        WireForm::OpenAiResponses => 4,
        WireForm::Anthropic => 3,
        WireForm::Gemini => 0,
    }
}

fn call() -> ChatCall {
    ChatCall::new(vec![Message::system("Be brief."), Message::user("Hello")])
}

fn partial(outcome: Result<ChatOutcome, ModelError>) -> ChatPartial {
    match outcome.unwrap() {
        Outcome::Interrupted { partial, .. } => partial,
        Outcome::Completed(reply) => panic!("{reply:?}"),
    }
}

async fn received(double: &ProviderDouble, count: usize) {
    while double.received_count() < count {
        tokio::task::yield_now().await;
    }
}

/// Stops a call once so many requests have come in.
async fn stopped_when_received(
    model: &dyn ChatModel,
    double: &ProviderDouble,
    count: usize,
) -> ChatPartial {
    let scope = StopScope::new();
    let (outcome, ()) = tokio::join!(model.chat(call(), &scope), async {
        received(double, count).await;
        stop_now(&scope);
    });
    partial(outcome)
}

/// Stops a call once so many pieces have come.
async fn stopped_after(model: &dyn ChatModel, count: usize) -> (ChatPartial, String) {
    let pieces = Pieces::new();
    let call = ChatCall {
        chunks: Some(pieces.clone()),
        ..call()
    };
    let scope = StopScope::new();
    let (outcome, ()) = tokio::join!(model.chat(call, &scope), async {
        pieces.reached(count).await;
        stop_now(&scope);
    });
    (partial(outcome), pieces.text())
}

#[tokio::test]
async fn a_whole_answer_has_its_reported_usage_and_the_request_no_schema() {
    for form in WireForm::ALL {
        let double = double(form, [Behaviour::Answers]).await;
        let model = model(&double, form);
        let outcome = model.chat(call(), &StopScope::new()).await.unwrap();
        let reply = outcome.completed().unwrap();
        assert_eq!(reply.text, ANSWER);
        assert_eq!(reply.usage.input, TokenCount::Reported(11));
        assert_eq!(reply.usage.output, TokenCount::Reported(7));
        assert!(
            form.schema(&double.received()[0].body).is_none(),
            "{form:?}"
        );
    }
}

#[tokio::test]
async fn a_call_that_is_stopped_before_it_begins_sends_nothing_and_costs_nothing() {
    for form in WireForm::ALL {
        let double = double(form, [Behaviour::Answers]).await;
        let model = model(&double, form);
        let scope = StopScope::new();
        stop_now(&scope);
        for _ in 0..TIMES {
            let partial = partial(model.chat(call(), &scope).await);
            assert_eq!(partial, ChatPartial::nothing_sent());
            assert!(!partial.may_be_billed());
        }
        assert_eq!(double.received_count(), 0);
    }
}

#[tokio::test]
async fn an_interrupt_while_it_connects_leaves_nothing_behind() {
    for form in WireForm::ALL {
        let double = double(form, [Behaviour::StallsBeforeHeaders]).await;
        let model = model(&double, form);
        for _ in 0..TIMES {
            let scope = StopScope::new();
            let (outcome, ()) = tokio::join!(model.chat(call(), &scope), async {
                stop_now(&scope);
            });
            assert_eq!(partial(outcome).text, "");
        }
        // Whatever had got through was hung up on.
        double.hang_ups().reached(double.received_count()).await;
    }
}

#[tokio::test]
async fn an_interrupt_before_headers_closes_the_connection() {
    for form in WireForm::ALL {
        let double = double(form, [Behaviour::StallsBeforeHeaders]).await;
        let model = model(&double, form);
        let mut seen_to_close = 0;
        for time in 1..=TIMES {
            let partial = stopped_when_received(&model, &double, time).await;
            assert_ne!(partial.at_provider, AtProvider::NothingUnderWay);
            seen_to_close += usize::from(partial.at_provider == AtProvider::ConnectionClosed);
            assert!(partial.may_be_billed());
            assert!(matches!(partial.usage.input, TokenCount::Estimated { .. }));
            double.hang_ups().reached(time).await;
        }
        assert_eq!(double.received_count(), TIMES, "no further request");
        // A busy machine may take longer than a call waits for it.
        assert!(seen_to_close > TIMES / 2, "{seen_to_close}");
    }
}

#[tokio::test]
async fn an_interrupt_between_pieces_or_within_one_keeps_what_had_arrived() {
    for form in WireForm::ALL {
        let stalls: [fn(usize) -> Behaviour; 2] = [Behaviour::StallsAfter, Behaviour::StallsWithin];
        for stall in stalls {
            let double = double(form, [stall(opening(form) + 2)]).await;
            let model = model(&double, form);
            for time in 1..=TIMES {
                let (partial, shown) = stopped_after(&model, 2).await;
                assert_eq!(partial.text, ANSWER[..10]);
                assert_eq!(partial.text, shown, "what is kept is what was shown");
                assert_ne!(partial.at_provider, AtProvider::NothingUnderWay);
                assert_ne!(partial.usage.output.tokens(), None);
                assert_ne!(partial.usage.output.tokens(), Some(0));
                double.hang_ups().reached(time).await;
            }
            assert_eq!(double.received_count(), TIMES, "no further request");
        }
    }
}

#[tokio::test]
async fn an_interrupt_at_every_event_of_a_stream_keeps_the_pieces_before_it() {
    let pieces = ANSWER.len().div_ceil(5);
    for form in WireForm::ALL {
        for count in 0..=pieces {
            for behaviour in [
                Behaviour::StallsAfter(opening(form) + count),
                Behaviour::StallsWithin(opening(form) + count),
            ] {
                let double = double(form, [behaviour]).await;
                let model = model(&double, form);
                let partial = if count == 0 {
                    stopped_when_received(&model, &double, 1).await
                } else {
                    stopped_after(&model, count).await.0
                };
                assert_eq!(partial.text, ANSWER[..ANSWER.len().min(count * 5)]);
                double.hang_ups().reached(1).await;
            }
        }
    }
}

#[tokio::test]
async fn an_interrupt_during_a_wait_between_tries_ends_the_call_whole() {
    let policy = RetryPolicy {
        first_wait: Duration::from_secs(30),
        ..RetryPolicy::default()
    };
    for form in WireForm::ALL {
        for behaviour in [Behaviour::refuses(500), Behaviour::asks_to_wait("50")] {
            let double = double(form, [behaviour]).await;
            let model = Retrying::new(model(&double, form), policy);
            for time in 1..=TIMES {
                let partial = stopped_when_received(&model, &double, time).await;
                // Never silently nothing: nobody said what the failed try cost.
                assert_ne!(partial.usage, ChatUsage::NOTHING_SENT);
            }
            assert_eq!(double.received_count(), TIMES, "no further request");
        }
    }
}

#[tokio::test]
async fn pieces_of_a_try_that_broke_off_are_kept_by_an_interrupt_of_the_wait() {
    let double = double(WireForm::OpenAi, [Behaviour::BreaksAfter(3)]).await;
    let policy = RetryPolicy {
        first_wait: Duration::from_secs(30),
        ..RetryPolicy::default()
    };
    let model = Retrying::new(model(&double, WireForm::OpenAi), policy);
    let (partial, shown) = stopped_after(&model, 2).await;
    assert_eq!(partial.text, ANSWER[..10]);
    assert_eq!(partial.text, shown);
}

/// Fails every call, and stops its scope first.
struct FailsAndStops;

#[async_trait]
impl ChatModel for FailsAndStops {
    fn name(&self) -> &str {
        "fails"
    }

    async fn chat(&self, _call: ChatCall, scope: &StopScope) -> Result<ChatOutcome, ModelError> {
        stop_now(scope);
        Err(ModelError::BrokenOff { received: 0 })
    }
}

#[tokio::test]
async fn an_interrupt_between_two_models_of_a_chain_ends_it_whole() {
    for form in WireForm::ALL {
        let double = double(form, [Behaviour::Answers]).await;
        let second: Arc<dyn ChatModel> = Arc::new(model(&double, form));
        let chain = Fallback::new(Arc::new(FailsAndStops), vec![second]);
        for _ in 0..TIMES {
            let partial = partial(chain.chat(call(), &StopScope::new()).await);
            assert_eq!(partial.usage.output, TokenCount::Unknown);
        }
        assert_eq!(double.received_count(), 0, "no later model is asked");
    }
}

#[tokio::test]
async fn a_chain_asks_the_next_model_and_an_interrupt_there_ends_it_too() {
    let form = WireForm::Anthropic;
    let failing = double(form, [Behaviour::BreaksAfter(opening(form) + 1)]).await;
    let stalling = double(form, [Behaviour::StallsAfter(opening(form) + 2)]).await;
    let never = double(form, [Behaviour::Answers]).await;
    let chain = Fallback::new(
        Arc::new(model(&failing, form)),
        vec![
            Arc::new(model(&stalling, form)),
            Arc::new(model(&never, form)),
        ],
    );
    let (partial, shown) = stopped_after(&chain, 3).await;
    assert_eq!(partial.text, ANSWER[..10]);
    assert_eq!(
        shown,
        format!("{}<restarted>{}", &ANSWER[..5], &ANSWER[..10])
    );
    assert_eq!(never.received_count(), 0);
}

#[tokio::test]
async fn the_registry_interrupts_every_model_and_later_calls_are_free() {
    let form = WireForm::OpenAi;
    let double = double(form, [Behaviour::Endless]).await;
    let registry = ModelRegistry::new();
    let main = registry.register("main", Arc::new(model(&double, form)));
    let spare = registry.register("spare", Arc::new(model(&double, form)));
    assert_eq!(registry.names(), ["main", "spare"]);
    let scope = StopScope::new();
    let (first, second, ()) = tokio::join!(
        main.chat(call(), &scope),
        spare.chat(call(), &scope),
        async {
            received(&double, 2).await;
            registry.interrupt(reason());
        }
    );
    partial(first);
    partial(second);
    assert!(!scope.is_stopping(), "the caller's scope is its own");
    double.hang_ups().reached(2).await;
    let (later, ()) = tokio::join!(main.chat(call(), &scope), async {
        received(&double, 3).await;
        stop_now(&scope);
    });
    partial(later);
}
