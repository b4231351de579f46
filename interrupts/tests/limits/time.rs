//! The limit of time.

use std::sync::Arc;
use std::time::Duration;

use interrupt_router::{StopMode, StopScope};
use interrupts::limits::{LimitGuard, LimitKind, StopSink, TimeLimit};
use tokio::runtime::Handle;
use tokio::time::advance;

use crate::scene::{Heard, Still};

const MINUTE: Duration = Duration::from_secs(60);

fn start(limit: TimeLimit, sink: Arc<dyn StopSink>) -> LimitGuard {
    limit.start(sink, Arc::new(Still), &Handle::current())
}

/// Lets the tasks that are due run.
async fn settle() {
    for _turn in 0..10 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_is_asked_for_when_the_time_is_up_and_a_warning_comes_before() {
    let heard = Arc::new(Heard::default());
    let limit = TimeLimit {
        used: MINUTE,
        warn_before: Some(Duration::from_secs(10)),
        ..TimeLimit::of(3 * MINUTE)
    };
    let guard = start(limit, Arc::<Heard>::clone(&heard));
    settle().await;
    advance(Duration::from_secs(109)).await;
    settle().await;
    assert!(heard.warnings().is_empty());
    advance(Duration::from_secs(1)).await;
    settle().await;
    assert_eq!(
        heard.warnings()[0].message,
        "10s of the time limit of 180s are left"
    );
    assert!(heard.stops().is_empty());
    advance(Duration::from_secs(10)).await;
    settle().await;
    let stops = heard.stops();
    assert_eq!(stops.len(), 1);
    assert_eq!(
        (stops[0].limit, stops[0].mode),
        (LimitKind::Time, StopMode::Graceful)
    );
    assert!(guard.is_finished());
}

#[tokio::test(start_paused = true)]
async fn a_scope_alone_is_a_sink() {
    let scope = StopScope::new();
    let limit = TimeLimit {
        mode: StopMode::Immediate,
        ..TimeLimit::of(MINUTE)
    };
    let _guard = start(limit, Arc::new(scope.clone()));
    let reason = scope.stopped_now().await;
    assert_eq!(reason.message, "the time limit of 60s is reached");
}

#[tokio::test(start_paused = true)]
async fn a_guard_that_is_stopped_or_dropped_asks_for_nothing_and_leaves_no_task() {
    let heard = Arc::new(Heard::default());
    let metrics = Handle::current().metrics();
    let before = metrics.num_alive_tasks();
    let stopped = start(TimeLimit::of(MINUTE), Arc::<Heard>::clone(&heard));
    let dropped = start(TimeLimit::of(MINUTE), Arc::<Heard>::clone(&heard));
    assert_eq!(metrics.num_alive_tasks(), before + 2);
    stopped.stop().await;
    assert_eq!(metrics.num_alive_tasks(), before + 1);
    drop(dropped);
    settle().await;
    assert_eq!(metrics.num_alive_tasks(), before);
    advance(2 * MINUTE).await;
    settle().await;
    assert!(heard.stops().is_empty());
    assert_eq!(Arc::strong_count(&heard), 1);
}

#[tokio::test(start_paused = true)]
async fn a_limit_that_was_used_up_before_stops_at_once() {
    let heard = Arc::new(Heard::default());
    let limit = TimeLimit {
        used: 2 * MINUTE,
        ..TimeLimit::of(MINUTE)
    };
    let _guard = start(limit, Arc::<Heard>::clone(&heard));
    advance(Duration::from_millis(1)).await;
    settle().await;
    assert_eq!(heard.stops().len(), 1);
}
