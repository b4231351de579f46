//! A disk that is full when a run is told to stop: all that is to be recorded of it is tried for one grace together, and
//! what can be saved within it is.

use std::sync::Arc;
use std::time::Duration;

use interrupt_router::{RunId, StopMode};
use interrupts::life::{Evidence, RunState, State};
use interrupts::manager::{Backoff, InterruptManager, ManagerSettings, OwnedRun, RunEnd, Target};
use interrupts::store::StoreError;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep};

use crate::faulty::{Fault, FaultyStore};
use crate::scene::{Scene, pause, taking};

const FULL: Option<Fault> = Some(Fault::Writing {
    error: StoreError::Full,
});

/// A process that waits as the program does.
fn process(scene: &Scene, store: &Arc<FaultyStore>) -> InterruptManager {
    let settings = ManagerSettings {
        store: store.clone(),
        backoff: Backoff::default(),
        ..scene.settings("one")
    };
    InterruptManager::new(settings, Handle::current())
}

/// A process that works on a run.
struct Working {
    scene: Scene,
    store: Arc<FaultyStore>,
    one: InterruptManager,
    run: RunId,
    kept: OwnedRun,
}

async fn working() -> Working {
    let scene = Scene::new();
    let store = FaultyStore::over(scene.store.clone());
    let one = process(&scene, &store);
    let run = scene.run().await;
    let kept = one.take(taking(run)).await.unwrap();
    kept.begin().await.unwrap();
    Working {
        scene,
        store,
        one,
        run,
        kept,
    }
}

/// Lets a run that was told to stop do so, as far as that can be recorded.
async fn stop(kept: OwnedRun) -> bool {
    let stopped = kept.acknowledge_stops(Evidence::Boundary, None).await;
    let settled = kept.settle(RunEnd::Stopped).await;
    stopped.is_ok() && settled.is_ok()
}

#[tokio::test(start_paused = true)]
async fn all_that_a_stop_records_is_tried_for_one_grace_together() {
    let Working {
        scene,
        store,
        one,
        run,
        kept,
    } = working().await;
    store.set(FULL);
    let told = Instant::now();
    let handle = one.request(pause(Target::Run(run), StopMode::Graceful));
    assert!(
        !stop(kept).await,
        "nothing is said to be recorded that is not"
    );
    assert!(handle.recorded().await.is_err());
    let whole = one.settings().times.grace + Duration::from_millis(50);
    assert!(told.elapsed() <= whole, "it took {:?}", told.elapsed());
    assert_eq!(scene.state(run).await, RunState::Running);
}

#[tokio::test(start_paused = true)]
async fn a_disk_with_space_again_within_the_grace_takes_all_of_a_stop() {
    for full in [10, 800, 1_990] {
        let Working {
            scene,
            store,
            one,
            run,
            kept,
        } = working().await;
        store.set(FULL);
        let handle = one.request(pause(Target::Run(run), StopMode::Graceful));
        let stopping = tokio::spawn(stop(kept));
        sleep(Duration::from_millis(full)).await;
        store.set(None);
        assert!(stopping.await.unwrap(), "after {full} ms");
        handle.recorded().await.unwrap();
        assert_eq!(scene.state(run).await, RunState::Paused);
        assert_eq!(scene.states(run).await, [State::AwaitingReview]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_was_full_before_the_stop_has_the_whole_grace_from_then_on() {
    let scene = Scene::new();
    let store = FaultyStore::over(scene.store.clone());
    let one = process(&scene, &store);
    let run = scene.run().await;
    let kept = Arc::new(one.take(taking(run)).await.unwrap());
    store.set(FULL);
    let beginning = tokio::spawn({
        let kept = Arc::clone(&kept);
        async move { kept.begin().await }
    });
    // Its last try but for the stop is 11.35 s after the first one.
    sleep(Duration::from_secs(10)).await;
    let handle = one.request(pause(Target::Run(run), StopMode::Graceful));
    sleep(Duration::from_millis(1_900)).await;
    store.set(None);
    beginning.await.unwrap().unwrap();
    handle.recorded().await.unwrap();
    assert!(stop(Arc::into_inner(kept).unwrap()).await);
    assert_eq!(scene.state(run).await, RunState::Paused);
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_has_had_space_meanwhile_has_a_whole_grace_again() {
    let Working {
        scene,
        store,
        one,
        run,
        kept,
    } = working().await;
    store.set(FULL);
    let handle = one.request(pause(Target::Run(run), StopMode::Graceful));
    sleep(Duration::from_millis(1_500)).await;
    store.set(None);
    handle.recorded().await.unwrap();
    // Its step takes its time, and its end meets a full disk anew.
    kept.look().await.unwrap();
    sleep(Duration::from_secs(60)).await;
    store.set(FULL);
    let stopping = tokio::spawn(stop(kept));
    sleep(Duration::from_millis(1_500)).await;
    store.set(None);
    assert!(stopping.await.unwrap());
    assert_eq!(scene.state(run).await, RunState::Paused);
}
