//! Nothing is left of interrupted calls. Alone in its binary, for it counts what the process has open.
//!
//! The long run: `INTERRUPTED_CALLS=10000 cargo test -p interrupt-router-llm --test leaks -- --nocapture`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::time::Duration;

use interrupt_router::model::{LanguageModel, Message, ModelCall, ModelCaller};
use interrupt_router::{Outcome, RunId, StopMode, StopReason, StopScope, StopSource};
use llm::{CallLimits, Provider, ProviderConfig, ProviderModel, Secret};
use tests::providers::{Behaviour, ProviderDouble, RIGHT_KEY, Received, Transport, WireForm};

/// Calls that are interrupted over each transport, unless the environment says otherwise.
const CALLS: usize = 1_000;

/// Calls under way at once.
const AT_ONCE: usize = 20;

/// The memory that the process may have more of at the end: allocators keep some of what is freed.
const GROWTH: usize = 16 * 1024;

/// What the process has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Held {
    sockets: usize,
    tasks: usize,
    threads: usize,
}

impl Held {
    fn now() -> Self {
        let open = std::fs::read_dir("/proc/self/fd").unwrap();
        let sockets = open
            .filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok())
            .filter(|target| target.to_string_lossy().starts_with("socket:"))
            .count();
        let metrics = tokio::runtime::Handle::current().metrics();
        Self {
            sockets,
            tasks: metrics.num_alive_tasks(),
            threads: std::fs::read_dir("/proc/self/task").unwrap().count(),
        }
    }

    fn is_within(self, other: Self) -> bool {
        self.sockets <= other.sockets && self.tasks <= other.tasks && self.threads <= other.threads
    }

    /// What there is when nothing changes any more.
    async fn settled() -> Self {
        let mut before = Self::now();
        loop {
            for _ in 0..1_000 {
                tokio::task::yield_now().await;
            }
            let now = Self::now();
            if now == before {
                return now;
            }
            before = now;
        }
    }
}

/// The memory of the process, in KiB.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    line.unwrap()
        .split_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap()
}

fn calls() -> usize {
    let given = std::env::var("INTERRUPTED_CALLS").ok();
    given.map_or(CALLS, |calls| calls.parse().unwrap())
}

fn model_of(double: &ProviderDouble) -> ProviderModel {
    let model = ProviderModel::new(ProviderConfig {
        provider: Provider::OPENAI,
        model: "some-model".to_owned(),
        base_url: Some(double.address().to_owned()),
        key: Some(Secret::new(RIGHT_KEY)),
        limits: CallLimits::default(),
    })
    .unwrap();
    match double.authority() {
        None => model,
        Some(authority) => model.trusting(authority.as_bytes()).unwrap(),
    }
}

async fn interrupted(model: &ProviderModel, double: &ProviderDouble) {
    let scope = StopScope::new();
    let conversation = ModelCaller::conversation(RunId::generate());
    let call = || ModelCall::new(conversation.clone(), vec![Message::user("Hello")]);
    let before = double.received_count();
    let calls = (0..AT_ONCE).map(|_| model.call(call(), &scope));
    let (outcomes, ()) = tokio::join!(futures_util::future::join_all(calls), async {
        while double.received_count() < before + AT_ONCE {
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
    double.hang_ups().reached(double.received_count()).await;
    double.forget_received();
}

#[tokio::test]
async fn sockets_tasks_threads_and_memory_are_those_of_before_after_all_interrupted_calls() {
    for transport in [Transport::Http1, Transport::Http2OverTls] {
        let answer = |_: &Received| "forty-two".to_owned();
        let stalls = [Behaviour::StallsAfter(3)];
        let double = ProviderDouble::over(transport, WireForm::OpenAi, stalls, answer);
        let double = double.await.unwrap();
        let model = model_of(&double);
        // What the first calls open and allocate for good is there now.
        for _ in 0..10 {
            interrupted(&model, &double).await;
        }
        let limit = Duration::from_secs(30);
        let before = tokio::time::timeout(limit, Held::settled()).await.unwrap();
        let memory = resident();
        let warmed = double.received_count();
        for _ in 0..calls() / AT_ONCE {
            interrupted(&model, &double).await;
        }
        let closed = tokio::time::timeout(limit, async {
            while !Held::now().is_within(before) {
                tokio::task::yield_now().await;
            }
        });
        let closed = closed.await;
        let (now, grown) = (Held::now(), resident().saturating_sub(memory));
        let count = double.received_count() - warmed;
        println!(
            "{transport:?}: {count} interrupted; {before:?} before, {now:?} after; {grown} KiB more"
        );
        assert!(
            closed.is_ok(),
            "{transport:?}: {before:?} before, {now:?} now"
        );
        assert!(
            grown <= GROWTH,
            "{transport:?}: {grown} KiB more than {memory}"
        );
        assert_eq!(count, calls() / AT_ONCE * AT_ONCE, "no further request");
    }
}
