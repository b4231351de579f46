//! What is tried again, how often, and what is not.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use interrupt_router::model::{LanguageModel, ModelCall, ModelError, ModelReply, TokenUsage};
use interrupt_router::schema::Dialect;
use interrupt_router::{Outcome, StopScope};
use llm::{RetryPolicy, Retrying};
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
async fn of_what_may_cost_something_each_time_three_tries_are_all() {
    let double = double(WireForm::OpenAi, [Behaviour::BreaksAfter(3)]).await;
    let error = retried(&double, quick()).await.unwrap_err();
    assert!(matches!(error, ModelError::BrokenOff { .. }), "{error:?}");
    assert_eq!(double.received().len(), 3);
}

#[tokio::test]
async fn a_server_that_has_never_answered_is_tried_three_times() {
    let away = Away::for_calls(usize::MAX, Duration::ZERO);
    let model = Retrying::new(&away, quick());
    let ending = model
        .call(call(Dialect::JsonSchema), &StopScope::new())
        .await;
    assert!(matches!(ending, Err(ModelError::Unreachable { .. })));
    assert_eq!(away.calls.load(Ordering::Relaxed), 3);
}

#[tokio::test(start_paused = true)]
async fn an_outage_of_three_minutes_is_survived() {
    for status in [500, 503, 529] {
        let away = Away::failing(status, Duration::from_secs(180));
        let model = Retrying::new(&away, RetryPolicy::default());
        let outcome = model
            .call(call(Dialect::JsonSchema), &StopScope::new())
            .await;
        assert!(outcome.is_ok(), "{status}: {outcome:?}");
    }
    // A server that is away altogether, once it has answered.
    let away = Away::for_calls(usize::MAX, Duration::from_secs(180));
    away.answers_first.store(true, Ordering::Relaxed);
    let model = Retrying::new(&away, RetryPolicy::default());
    for _before_and_after in 0..2 {
        let outcome = model
            .call(call(Dialect::JsonSchema), &StopScope::new())
            .await;
        assert!(outcome.is_ok(), "{outcome:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_outage_beyond_the_budget_is_an_error_within_it() {
    let away = Away::failing(503, Duration::from_secs(3_600));
    let model = Retrying::new(&away, RetryPolicy::default());
    let start = tokio::time::Instant::now();
    let ending = model
        .call(call(Dialect::JsonSchema), &StopScope::new())
        .await;
    assert!(matches!(
        ending,
        Err(ModelError::ProviderFailed { status: 503, .. })
    ));
    let took = start.elapsed().as_secs();
    assert!((250..=300).contains(&took), "{took}");
}

#[tokio::test]
async fn a_wait_is_kept_to_whatever_status_asks_for_it() {
    for status in [408, 409, 425, 429, 403, 500, 503, 529] {
        let refusal = Behaviour::Refuses {
            status,
            headers: vec![("retry-after", "0.2".to_owned())],
        };
        let double = double(WireForm::OpenAi, [refusal, Behaviour::Answers]).await;
        let start = std::time::Instant::now();
        let outcome = retried(&double, quick()).await;
        assert!(outcome.is_ok(), "{status}: {outcome:?}");
        assert!(start.elapsed() >= Duration::from_millis(200), "{status}");
    }
}

#[tokio::test]
async fn a_wait_is_told_with_its_end() {
    let double = double(
        WireForm::OpenAi,
        [Behaviour::asks_to_wait("0.6"), Behaviour::Answers],
    )
    .await;
    let pieces = Pieces::new();
    let model = Retrying::new(model(&double, WireForm::OpenAi), quick());
    let call = ModelCall {
        chunks: Some(pieces.clone()),
        ..call(model.dialect())
    };
    model.call(call, &StopScope::new()).await.unwrap();
    assert_eq!(pieces.notes(), ["rate limited, goes on in 1 s", "goes on"]);
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
    let double = double(WireForm::OpenAi, [Behaviour::asks_to_wait("301")]).await;
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
        budget: Duration::from_secs(60),
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

/// Away, or failing, until some time has passed since it was first called in vain.
struct Away {
    status: Option<u16>,
    lasts: Duration,
    since: std::sync::Mutex<Option<tokio::time::Instant>>,
    calls: AtomicUsize,
    most: usize,
    answers_first: std::sync::atomic::AtomicBool,
}

impl Away {
    fn failing(status: u16, lasts: Duration) -> Self {
        Self {
            status: Some(status),
            ..Self::for_calls(0, lasts)
        }
    }

    fn for_calls(most: usize, lasts: Duration) -> Self {
        Self {
            status: None,
            lasts,
            since: std::sync::Mutex::default(),
            calls: AtomicUsize::new(0),
            most,
            answers_first: std::sync::atomic::AtomicBool::new(false),
        }
    }

    fn is_over(&self) -> bool {
        let mut since = self.since.lock().unwrap();
        let since = since.get_or_insert_with(tokio::time::Instant::now);
        since.elapsed() >= self.lasts && (self.most == 0 || !self.lasts.is_zero())
    }
}

#[async_trait]
impl LanguageModel for &Away {
    fn name(&self) -> &'static str {
        "away"
    }

    fn dialect(&self) -> Dialect {
        Dialect::JsonSchema
    }

    async fn call(&self, _call: ModelCall, _scope: &StopScope) -> Ending {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if self.answers_first.swap(false, Ordering::Relaxed) || self.is_over() {
            return Ok(Outcome::Completed(ModelReply {
                tool_requests: Vec::new(),
                text: ANSWER.to_owned(),
                usage: TokenUsage::default(),
                cut_off: false,
            }));
        }
        Err(match self.status {
            Some(status) => ModelError::ProviderFailed {
                status,
                retry_after: None,
                detail: "down".to_owned(),
                begun: false,
            },
            None => ModelError::Unreachable {
                endpoint: "http://127.0.0.1:1/".to_owned(),
                source: "refused".into(),
            },
        })
    }
}
