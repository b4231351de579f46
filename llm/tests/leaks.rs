//! Nothing is left of interrupted calls. Alone in its binary, for it counts what the process has open.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::time::Duration;

use llm::{CallLimits, ChatCall, ChatModel, Provider, ProviderConfig, ProviderModel, Secret};
use routing_core::model::Message;
use routing_core::{Outcome, StopMode, StopReason, StopScope, StopSource};
use tests::providers::{Behaviour, ProviderDouble, RIGHT_KEY, WireForm};

/// Calls that are interrupted.
const CALLS: usize = 2_000;

/// Calls under way at once.
const AT_ONCE: usize = 20;

fn open_sockets() -> usize {
    std::fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok())
        .filter(|target| target.to_string_lossy().starts_with("socket:"))
        .count()
}

async fn interrupted(model: &ProviderModel, double: &ProviderDouble, count: usize) {
    let scope = StopScope::new();
    let call = || ChatCall::new(vec![Message::user("Hello")]);
    let before = double.received_count();
    let calls = (0..count).map(|_| model.chat(call(), &scope));
    let (outcomes, ()) = tokio::join!(futures_util::future::join_all(calls), async {
        while double.received_count() < before + count {
            tokio::task::yield_now().await;
        }
        scope.stop(StopReason {
            source: StopSource::User,
            mode: StopMode::Immediate,
            message: "enough".to_owned(),
            timestamp: jiff::Timestamp::UNIX_EPOCH,
        });
    });
    for outcome in outcomes {
        assert!(matches!(outcome.unwrap(), Outcome::Interrupted { .. }));
    }
}

#[tokio::test]
async fn sockets_and_tasks_are_those_of_before_after_two_thousand_interrupted_calls() {
    let behaviours = [Behaviour::StallsAfter(3)];
    let double = ProviderDouble::start(WireForm::OpenAi, behaviours)
        .await
        .unwrap();
    let model = ProviderModel::new(ProviderConfig {
        provider: Provider::OPENAI,
        model: "some-model".to_owned(),
        base_url: Some(double.address().to_owned()),
        key: Some(Secret::new(RIGHT_KEY)),
        limits: CallLimits::default(),
    })
    .unwrap();
    // What the first calls open for good is open now.
    interrupted(&model, &double, AT_ONCE).await;
    double.hang_ups().reached(AT_ONCE).await;
    let tasks = || {
        tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks()
    };
    let at_rest = async |sockets: usize, alive: usize| {
        while open_sockets() > sockets || tasks() > alive {
            tokio::task::yield_now().await;
        }
    };
    // The double's listener, and its task.
    let settled = tokio::time::timeout(Duration::from_secs(10), async {
        let mut before = (usize::MAX, usize::MAX);
        while (open_sockets(), tasks()) != before {
            before = (open_sockets(), tasks());
            for _ in 0..1_000 {
                tokio::task::yield_now().await;
            }
        }
        before
    });
    let (sockets, alive) = settled.await.unwrap();
    for _ in 0..CALLS / AT_ONCE {
        interrupted(&model, &double, AT_ONCE).await;
    }
    double.hang_ups().reached(CALLS + AT_ONCE).await;
    let closed = tokio::time::timeout(Duration::from_secs(10), at_rest(sockets, alive)).await;
    assert!(
        closed.is_ok(),
        "sockets: {sockets} before, {} now; tasks: {alive} before, {} now",
        open_sockets(),
        tasks()
    );
    assert_eq!(
        double.received_count(),
        CALLS + AT_ONCE,
        "no further request"
    );
}
