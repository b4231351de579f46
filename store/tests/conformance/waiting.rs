//! What waits for a person: counted, and listed in the order of an inbox.

use interrupt_router::{InterruptId, StopSource};
use interrupts::ActorName;
use interrupts::life::{Actor, Admission, Interrupt, ReviewChange, Role};
use interrupts::store::{Interrupts as _, Store, WaitingPosition};
use jiff::SignedDuration;
use rusqlite::Connection;

use crate::holding::{paused, stop};
use crate::scene::{Scene, actor, choosing, delivery, person, question, shown};

const START: WaitingPosition = WaitingPosition {
    priority: 0,
    admitted: 0,
};

/// What waits, read in parts of so many.
async fn listed<S: Store>(
    scene: &Scene<S>,
    of: Option<&ActorName>,
    limit: u32,
) -> Vec<(WaitingPosition, InterruptId)> {
    let (mut listed, mut after) = (Vec::new(), START);
    loop {
        let part = scene.store.waiting(of, after, limit).await.unwrap();
        let Some((last, _interrupt)) = part.last() else {
            return listed;
        };
        assert!(part.len() <= limit as usize, "{part:?}");
        after = *last;
        listed.extend(part.into_iter().map(|(position, it)| (position, it.id)));
    }
}

/// A pause by limits, or another program of the system.
async fn paused_by_system<S: Store>(scene: &Scene<S>, admission: Admission) -> Interrupt {
    let by_system = Admission {
        source: StopSource::System,
        requested_by: actor(Role::System),
        ..admission
    };
    let admitted = scene.admitted(by_system).await;
    let taken = scene.store.deliver(admitted.id, delivery("worker", 60));
    let epoch = taken.await.unwrap().epoch;
    let cancelled = interrupts::life::Evidence::Cancelled;
    let acknowledged = scene.store.acknowledge(admitted.id, epoch, cancelled);
    acknowledged.await.unwrap();
    let opened = scene.store.require_review(admitted.id, epoch, shown());
    opened.await.unwrap()
}

pub(crate) async fn what_waits_is_counted_and_listed_in_the_order_of_an_inbox<S: Store>(
    scene: Scene<S>,
) {
    assert_eq!(scene.store.count_waiting(None).await, Ok(0));
    let (first, second) = (scene.run().await, scene.run().await);
    let system = paused_by_system(&scene, stop(&first, "system")).await;
    let mut asked = Vec::new();
    for number in 0..5 {
        asked.push(scene.awaiting(question(&first, format!("{number}"))).await);
    }
    let by_person = paused(&scene, &second, "person").await;
    // These do not wait for a person: one not yet, one not any more.
    scene.raised(question(&first, "raised")).await;
    let over = asked.remove(2);
    let decided = scene
        .store
        .decide(over.id, person(&over), choosing(None))
        .await;
    decided.unwrap();

    assert_eq!(scene.store.count_waiting(None).await, Ok(6));
    let mut expected = vec![by_person.id];
    expected.extend(asked.iter().map(|one| one.id));
    expected.push(system.id);
    for limit in [1, 2, 100] {
        let listed = listed(&scene, None, limit).await;
        let ids: Vec<_> = listed.iter().map(|(_position, id)| *id).collect();
        assert_eq!(ids, expected, "{limit} at a time");
        let priorities: Vec<_> = listed.iter().map(|(at, _id)| at.priority).collect();
        assert_eq!(priorities, [0, 10, 10, 10, 10, 20]);
    }
    // A part goes on where it was, also after the interrupt that it ended with is gone.
    let part = scene.store.waiting(None, START, 2).await.unwrap();
    let (after, last) = part.last().unwrap();
    let decided = scene
        .store
        .decide(last.id, person(last), choosing(None))
        .await;
    decided.unwrap();
    let rest = scene.store.waiting(None, *after, 100).await.unwrap();
    let rest: Vec<_> = rest.iter().map(|(_position, one)| one.id).collect();
    assert_eq!(rest, expected[2..]);
}

pub(crate) async fn what_waits_for_one_person_is_what_they_claimed_or_shall_look_at<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let mut asked = Vec::new();
    for number in 0..4 {
        asked.push(scene.awaiting(question(&run, format!("{number}"))).await);
    }
    let ada = actor(Role::Supervisor);
    let eve = Actor {
        name: ActorName::new("e\"v%e\\").unwrap(),
        role: Role::Supervisor,
    };
    let until = scene.now() + SignedDuration::from_millis(1_500);
    let (claim, to) = (ReviewChange::Claim { until }, ada.name.clone());
    for (number, by, change) in [
        (0, &ada, claim.clone()),
        (1, &eve, claim),
        (2, &eve, ReviewChange::Assign { to }),
    ] {
        let (id, version) = (asked[number].id, asked[number].version);
        let changed = scene.store.review(id, by.clone(), version, change).await;
        changed.unwrap();
    }
    let nobody = ActorName::new("ad").unwrap();
    // The claims end between two whole seconds.
    for of_ada in [&[0, 2][..], &[0, 2], &[2]] {
        let of_eve: &[usize] = if of_ada.len() == 2 { &[1] } else { &[] };
        for (name, theirs) in [(&ada.name, of_ada), (&eve.name, of_eve), (&nobody, &[])] {
            let of = Some(name);
            let count = scene.store.count_waiting(of).await;
            assert_eq!(count, Ok(theirs.len() as u64), "{name}");
            let listed = listed(&scene, of, 1).await;
            let ids: Vec<_> = listed.iter().map(|(_position, id)| *id).collect();
            let theirs: Vec<_> = theirs.iter().map(|number| asked[*number].id).collect();
            assert_eq!(ids, theirs, "{name}");
        }
        assert_eq!(scene.store.count_waiting(None).await, Ok(4));
        scene.wait(1);
    }
}

/// The rows are copies of one, which is cheap: a count does not read them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_than_10_000_that_wait_are_counted() {
    let scene = Scene::in_sqlite().await;
    let run = scene.run().await;
    scene.awaiting(question(&run, "k")).await;
    let file = scene.folder.as_ref().unwrap().path().join("store.sqlite");
    let copies = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 12345) \
         INSERT INTO interrupts (position, id, key, digest, run, node, state, live, deadline, body) \
         SELECT position + n, id || n, key || n, digest, run, node, state, live, deadline, body FROM interrupts, numbers";
    let beside = Connection::open(file).unwrap();
    assert_eq!(beside.execute(copies, []).unwrap(), 12_345);
    assert_eq!(scene.store.count_waiting(None).await, Ok(12_346));
}
