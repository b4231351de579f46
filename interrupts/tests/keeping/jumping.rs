//! A clock that jumps: what it says alone takes no run from whoever works on it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use interrupt_router::{RunId, StopMode};
use interrupts::Clock;
use interrupts::life::{Evidence, RunState};
use interrupts::manager::{InterruptManager, KeepError, ManagerSettings, RunEnd, Taking, Target};
use interrupts::store::{RunError, Runs};
use jiff::{SignedDuration, Timestamp};
use store::{MemoryStore, StoreSettings};
use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::scene::{Scene, pause, taken, taking};

/// The machine's clock, as far off as it was set.
#[derive(Default)]
struct Jumping(Mutex<SignedDuration>);

impl Jumping {
    fn jump(&self, by: SignedDuration) {
        *self.0.lock().unwrap() += by;
    }
}

impl Clock for Jumping {
    fn now(&self) -> Timestamp {
        Timestamp::now() + *self.0.lock().unwrap()
    }
}

/// Two processes whose machine has this clock.
fn two_by(clock: &Arc<Jumping>) -> (Scene, InterruptManager, InterruptManager) {
    let settings = StoreSettings {
        clock: Some(Arc::clone(clock) as Arc<dyn Clock>),
        ..StoreSettings::default()
    };
    let scene = Scene {
        store: Arc::new(MemoryStore::new(settings)),
    };
    let process = |owner: &str| {
        let settings = ManagerSettings {
            clock: Arc::clone(clock) as Arc<dyn Clock>,
            ..scene.settings(owner)
        };
        InterruptManager::new(settings, Handle::current())
    };
    let (one, two) = (process("one"), process("two"));
    (scene, one, two)
}

#[tokio::test(start_paused = true)]
async fn a_run_that_a_process_works_on_is_not_taken_from_it_when_the_clock_jumps() {
    for hours in [1, 24 * 365] {
        let clock = Arc::new(Jumping::default());
        let (scene, one, two) = two_by(&clock);
        let run = scene.run().await;
        let kept = taken(&one, run).await;
        kept.begin().await.unwrap();
        tokio::time::sleep(Duration::from_secs(3)).await;
        clock.jump(SignedDuration::from_hours(hours));
        let refused = two.take(taking(run)).await.err().unwrap();
        assert!(
            matches!(refused, KeepError::Run(RunError::Owned { .. })),
            "{refused}"
        );
        let node = taking(run).node;
        let refused = two.carry_out(run, node, None, true).await.unwrap_err();
        assert!(
            matches!(refused, KeepError::Run(RunError::Owned { .. })),
            "{refused}"
        );
        assert!(!kept.is_lost());
        kept.settle(RunEnd::Completed).await.unwrap();
        assert_eq!(scene.state(run).await, RunState::Completed);
    }
}

/// A run whose process has died, longer ago than its lease lasts, and a process that may take it.
async fn left_behind() -> (Scene, InterruptManager, RunId) {
    let clock = Arc::new(Jumping::default());
    let (scene, one, two) = two_by(&clock);
    let run = scene.run().await;
    let kept = taken(&one, run).await;
    kept.begin().await.unwrap();
    drop(kept);
    drop(one);
    clock.jump(SignedDuration::from_secs(16));
    (scene, two, run)
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_lease_nobody_renews_is_taken_over_after_a_beat() {
    let (_scene, two, run) = left_behind().await;
    let began = Instant::now();
    let kept = two.take(taking(run)).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(7));
    kept.settle(RunEnd::Completed).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_was_watched_before_is_not_watched_again_unless_it_is_another() {
    for is_same in [true, false] {
        let (scene, two, run) = left_behind().await;
        let row = scene.store.run(run).await.unwrap().unwrap();
        let mut lease = row.lease.unwrap();
        if !is_same {
            lease.until -= SignedDuration::from_secs(1);
        }
        let began = Instant::now();
        let watched = Taking {
            outlasted: Some(lease),
            ..taking(run)
        };
        let kept = two.take(watched).await.unwrap();
        let watches = began.elapsed() > Duration::from_secs(6);
        assert_eq!(watches, !is_same);
        kept.settle(RunEnd::Completed).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_let_go_meanwhile_is_not_waited_for() {
    let clock = Arc::new(Jumping::default());
    let (scene, one, two) = two_by(&clock);
    let run = scene.run().await;
    let kept = taken(&one, run).await;
    kept.begin().await.unwrap();
    clock.jump(SignedDuration::from_secs(16));
    let began = Instant::now();
    let (new, ()) = tokio::join!(two.take(taking(run)), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        one.request(pause(Target::Run(run), StopMode::Graceful));
        kept.acknowledge_stops(Evidence::Boundary, None)
            .await
            .unwrap();
        kept.settle(RunEnd::Stopped).await.unwrap();
    });
    assert!(began.elapsed() < Duration::from_secs(3));
    new.unwrap().settle(RunEnd::Stopped).await.unwrap();
}
