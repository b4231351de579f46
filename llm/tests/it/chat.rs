//! Conversations over the wire forms: whole answers, and interrupts in every phase of a call.

use interrupt_router::schema::Dialect;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use interrupt_router::model::{
    AtProvider, LanguageModel, Message, ModelCall, ModelError, PartialReply, TokenUsage,
};
use interrupt_router::{Outcome, StopScope};
use llm::{Fallback, RetryPolicy, Retrying};
use tests::providers::{Behaviour, ProviderDouble, WireForm};

use crate::calls::{ANSWER, Ending, Pieces, double, model, stop_now, talk};

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

fn call() -> ModelCall {
    talk(vec![Message::system("Be brief."), Message::user("Hello")])
}

fn partial(outcome: Ending) -> PartialReply {
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
    model: &dyn LanguageModel,
    double: &ProviderDouble,
    count: usize,
) -> PartialReply {
    let scope = StopScope::new();
    let (outcome, ()) = tokio::join!(model.call(call(), &scope), async {
        received(double, count).await;
        stop_now(&scope);
    });
    partial(outcome)
}

/// Stops a call once so many pieces have come.
async fn stopped_after(model: &dyn LanguageModel, count: usize) -> (PartialReply, String) {
    let pieces = Pieces::new();
    let call = ModelCall {
        chunks: Some(pieces.clone()),
        ..call()
    };
    let scope = StopScope::new();
    let (outcome, ()) = tokio::join!(model.call(call, &scope), async {
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
        let outcome = model.call(call(), &StopScope::new()).await.unwrap();
        let reply = outcome.completed().unwrap();
        assert_eq!(reply.text, ANSWER);
        assert_eq!(reply.usage.input, Some(11));
        assert_eq!(reply.usage.output, Some(7));
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
            let partial = partial(model.call(call(), &scope).await);
            assert_eq!(partial, PartialReply::never_made());
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
            let (outcome, ()) = tokio::join!(model.call(call(), &scope), async {
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
                assert!(partial.may_be_billed(), "never silently nothing");
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
                assert_ne!(partial.usage, TokenUsage::NOTHING);
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
struct FailsAndStops(Dialect);

#[async_trait]
impl LanguageModel for FailsAndStops {
    fn name(&self) -> &str {
        "fails"
    }

    fn dialect(&self) -> Dialect {
        self.0
    }

    async fn call(&self, _call: ModelCall, scope: &StopScope) -> Ending {
        stop_now(scope);
        Err(ModelError::BrokenOff { received: 0 })
    }
}

#[tokio::test]
async fn an_interrupt_between_two_models_of_a_chain_ends_it_whole() {
    for form in WireForm::ALL {
        let double = double(form, [Behaviour::Answers]).await;
        let second: Arc<dyn LanguageModel> = Arc::new(model(&double, form));
        let first = Arc::new(FailsAndStops(second.dialect()));
        let chain = Fallback::new(first, vec![second]).unwrap();
        for _ in 0..TIMES {
            let partial = partial(chain.call(call(), &StopScope::new()).await);
            assert_eq!(partial.usage.output, None);
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
    )
    .unwrap();
    let (partial, shown) = stopped_after(&chain, 3).await;
    assert_eq!(partial.text, ANSWER[..10]);
    assert_eq!(
        shown,
        format!("{}<restarted>{}", &ANSWER[..5], &ANSWER[..10])
    );
    assert_eq!(never.received_count(), 0);
}

#[tokio::test]
async fn one_stop_ends_the_calls_of_all_models_of_an_agent() {
    let form = WireForm::OpenAi;
    let double = double(form, [Behaviour::Endless]).await;
    let main = model(&double, form);
    let chain = Fallback::new(
        Arc::new(model(&double, form)),
        vec![Arc::new(model(&double, form))],
    );
    let (agent, spare) = (StopScope::new(), chain.unwrap());
    let (of_main, of_spare) = (agent.child(), agent.child());
    let (first, second, ()) = tokio::join!(
        main.call(call(), &of_main),
        spare.call(call(), &of_spare),
        async {
            received(&double, 2).await;
            stop_now(&agent);
        }
    );
    partial(first);
    partial(second);
    double.hang_ups().reached(2).await;
    assert_eq!(double.received_count(), 2, "no later model is asked");
}
