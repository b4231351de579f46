//! What is tried again, how often, and what is not.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use llm::{RetryPolicy, Retrying};
use routing_core::model::{LanguageModel, ModelCall, ModelError, ModelReply, TokenUsage};
use routing_core::schema::Dialect;
use routing_core::{Outcome, StopScope};
use tests::providers::{Behaviour, ProviderDouble, WireForm};

use crate::calls::{ANSWER, Ending, Pieces, call, double, model, stop_now};

fn quick() -> RetryPolicy {
    RetryPolicy {
        first_wait: Duration::from_millis(1),
        ..RetryPolicy::default()
    }
}

async fn retried(double: &ProviderDouble, policy: RetryPolicy) -> Ending {
    let model = Retrying::new(model(double, WireForm::OpenAi), policy);
    model.call(call(model.dialect()), &StopScope::new()).await
}

#[tokio::test]
async fn a_transient_failure_is_tried_again() {
    for behaviour in [
        Behaviour::refuses(500),
        Behaviour::refuses(429),
        Behaviour::BreaksAfter(3),
        Behaviour::FailsAfter(2),
    ] {
        let double = double(WireForm::OpenAi, [behaviour.clone(), Behaviour::Answers]).await;
        let outcome = retried(&double, quick()).await.unwrap();
        assert_eq!(outcome.completed().unwrap().text, ANSWER, "{behaviour:?}");
        assert_eq!(double.received().len(), 2);
    }
}

#[tokio::test]
async fn three_tries_are_all() {
    let double = double(WireForm::OpenAi, [Behaviour::refuses(500)]).await;
    let error = retried(&double, quick()).await.unwrap_err();
    assert!(matches!(
        error,
        ModelError::ProviderFailed { status: 500, .. }
    ));
    assert_eq!(double.received().len(), 3);
}

#[tokio::test]
async fn what_cannot_succeed_is_tried_once() {
    for behaviour in [
        Behaviour::refuses(400),
        Behaviour::refuses(401),
        Behaviour::Garbage,
    ] {
        let double = double(WireForm::OpenAi, [behaviour]).await;
        retried(&double, quick()).await.unwrap_err();
        assert_eq!(double.received().len(), 1);
    }
}

#[tokio::test]
async fn a_wait_that_is_longer_than_allowed_is_not_begun() {
    let double = double(WireForm::OpenAi, [Behaviour::asks_to_wait("61")]).await;
    let error = retried(&double, quick()).await.unwrap_err();
    assert!(matches!(error, ModelError::RateLimited { .. }));
    assert_eq!(double.received().len(), 1);
}

#[tokio::test]
async fn the_wait_that_the_provider_asks_for_is_kept_to() {
    let double = double(
        WireForm::OpenAi,
        [Behaviour::asks_to_wait("0.2"), Behaviour::Answers],
    )
    .await;
    let start = std::time::Instant::now();
    retried(&double, quick()).await.unwrap();
    assert!(start.elapsed() >= Duration::from_millis(200));
}

#[tokio::test]
async fn a_stop_ends_the_wait_at_once() {
    let double = double(WireForm::OpenAi, [Behaviour::asks_to_wait("50")]).await;
    let model = Retrying::new(model(&double, WireForm::OpenAi), quick());
    let scope = StopScope::new();
    let (ending, ()) = tokio::join!(model.call(call(model.dialect()), &scope), async {
        while double.received().is_empty() {
            tokio::task::yield_now().await;
        }
        stop_now(&scope);
    });
    assert!(matches!(ending.unwrap(), Outcome::Interrupted { .. }));
    assert_eq!(double.received().len(), 1, "an interruption is not retried");
}

#[tokio::test]
async fn the_sink_is_told_that_an_answer_starts_again() {
    let double = double(
        WireForm::OpenAi,
        [Behaviour::BreaksAfter(3), Behaviour::Answers],
    )
    .await;
    let model = Retrying::new(model(&double, WireForm::OpenAi), quick());
    let pieces = Pieces::new();
    let call = ModelCall {
        chunks: Some(pieces.clone()),
        ..call(model.dialect())
    };
    let outcome = model.call(call, &StopScope::new()).await.unwrap();
    assert_eq!(outcome.completed().unwrap().text, ANSWER);
    assert_eq!(
        pieces.text(),
        format!("{}<restarted>{ANSWER}", &ANSWER[..10])
    );
}

/// Asks for the same wait each time, until it has nothing left to refuse with; says nothing before.
struct Busy {
    refusals: AtomicUsize,
    calls: AtomicUsize,
    wait: Duration,
}

impl Busy {
    fn refusing(refusals: usize, seconds: u64) -> Self {
        Self {
            refusals: AtomicUsize::new(refusals),
            calls: AtomicUsize::new(0),
            wait: Duration::from_secs(seconds),
        }
    }
}

#[async_trait]
impl LanguageModel for &Busy {
    fn name(&self) -> &'static str {
        "busy"
    }

    fn dialect(&self) -> Dialect {
        Dialect::JsonSchema
    }

    async fn call(&self, call: ModelCall, _scope: &StopScope) -> Ending {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if self.refusals.load(Ordering::Relaxed) > 0 {
            self.refusals.fetch_sub(1, Ordering::Relaxed);
            return Err(ModelError::RateLimited {
                retry_after: Some(self.wait),
                detail: "later".to_owned(),
            });
        }
        if let Some(chunks) = &call.chunks {
            chunks.chunk(ANSWER);
        }
        Ok(Outcome::Completed(ModelReply {
            tool_requests: Vec::new(),
            text: ANSWER.to_owned(),
            usage: TokenUsage::default(),
            cut_off: false,
        }))
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_in_the_middle_of_a_wait_is_not_slept_through() {
    let busy = Busy::refusing(1, 50);
    let model = Retrying::new(&busy, quick());
    let (scope, start) = (StopScope::new(), tokio::time::Instant::now());
    let (ending, ()) = tokio::join!(model.call(call(Dialect::JsonSchema), &scope), async {
        tokio::time::sleep(Duration::from_secs(10)).await;
        stop_now(&scope);
    });
    assert!(matches!(ending.unwrap(), Outcome::Interrupted { .. }));
    assert_eq!(start.elapsed().as_secs(), 10);
    assert_eq!(busy.calls.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn the_waits_of_a_call_are_bounded_together() {
    let busy = Busy::refusing(100, 25);
    let policy = RetryPolicy {
        tries: 100,
        waits_in_all: Duration::from_secs(60),
        ..quick()
    };
    let model = Retrying::new(&busy, policy);
    let start = tokio::time::Instant::now();
    let scope = StopScope::new();
    let ending = model.call(call(Dialect::JsonSchema), &scope).await;
    assert!(matches!(ending, Err(ModelError::RateLimited { .. })));
    assert_eq!(start.elapsed().as_secs(), 50, "a third wait is too much");
    assert_eq!(busy.calls.load(Ordering::Relaxed), 3);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_never_began_does_not_start_again() {
    let busy = Busy::refusing(2, 1);
    let pieces = Pieces::new();
    let call = ModelCall {
        chunks: Some(pieces.clone()),
        ..call(Dialect::JsonSchema)
    };
    let model = Retrying::new(&busy, quick());
    model.call(call, &StopScope::new()).await.unwrap();
    assert_eq!(pieces.text(), ANSWER);
}
