//! Workers that tell of themselves.

use interrupts::store::{Store, WorkerState};
use interrupts::{Label, Labels, OwnerName};
use jiff::SignedDuration;

use crate::scene::Scene;

const LEASE: SignedDuration = SignedDuration::from_secs(10);

fn name(text: &str) -> OwnerName {
    OwnerName::new(text).unwrap()
}

fn state(taken: u32, labels: &[&str]) -> WorkerState {
    let labels = labels.iter().map(|label| Label::new(*label).unwrap());
    WorkerState {
        slots: 8,
        taken,
        labels: Labels::new(labels).unwrap(),
    }
}

async fn told<S: Store>(scene: &Scene<S>) -> Vec<(String, WorkerState)> {
    let workers = scene.store.workers().await.unwrap();
    let told = workers
        .into_iter()
        .map(|it| (it.name.to_string(), it.state));
    told.collect()
}

pub(crate) async fn a_worker_is_known_as_it_said_last_until_its_time_is_over<S: Store>(
    scene: Scene<S>,
) {
    let store = &scene.store;
    assert_eq!(told(&scene).await, []);
    let (first, second) = (name("a"), name("b"));
    store
        .tell_worker(&second, state(1, &["gpu", "region=eu"]), LEASE)
        .await
        .unwrap();
    scene.wait(9);
    store
        .tell_worker(&first, state(0, &[]), LEASE)
        .await
        .unwrap();
    store
        .tell_worker(&first, state(3, &[]), LEASE)
        .await
        .unwrap();
    let both = [
        ("a".to_owned(), state(3, &[])),
        ("b".to_owned(), state(1, &["gpu", "region=eu"])),
    ];
    assert_eq!(told(&scene).await, both);
    scene.wait(1);
    assert_eq!(told(&scene).await, both[..1], "the other's time is over");
    let back = state(2, &[]);
    store
        .tell_worker(&second, back.clone(), LEASE)
        .await
        .unwrap();
    let ended = SignedDuration::ZERO;
    store
        .tell_worker(&first, state(3, &[]), ended)
        .await
        .unwrap();
    assert_eq!(told(&scene).await, [("b".to_owned(), back)]);
}
