//! What a store in PostgreSQL promises beside: it outlives its server, its connections and its processes.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use interrupt_router::RunId;
use interrupts::OwnerName;
use interrupts::store::{
    Audit as _, Interrupts as _, NewRun, Outbox as _, Run, Runs as _, StoreError,
};
use rustix::process::{Pid, Signal, kill_process};
use store::{
    CopyError, PostgresLocation, PostgresStore, StoreLocation, StoreSettings, copy_store,
    notifier_at,
};
use tests::postgres::Server;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_postgres::NoTls;

use crate::scene::{ALL, Scene, choosing, delivery, key, own_place, person, question, rerouting};

const CHILD_PLACE: &str = "IRQ_TEST_CHILD_PLACE";
const ACKNOWLEDGED: &str = "acknowledged:";

pub(crate) async fn open(place: &PostgresLocation) -> PostgresStore {
    PostgresStore::open(place, StoreSettings::default())
        .await
        .unwrap()
}

pub(crate) async fn new_run(store: &PostgresStore) -> Run {
    let new = NewRun {
        root: None,
        id: RunId::generate(),
        alias: None,
        content: "{}".to_owned(),
    };
    let run = store.create_run(new).await.unwrap();
    store
        .own_run(run.id, delivery("owner", 100_000))
        .await
        .unwrap()
}

/// The lists have no gaps, the audit is whole, and each key that was acknowledged is there once.
async fn is_whole(store: &PostgresStore, acknowledged: &[String]) {
    for name in acknowledged {
        let found = store.interrupt_of(&key(name.clone())).await.unwrap();
        assert!(found.is_some(), "{name} was acknowledged and is lost");
    }
    let rows = store.interrupts(&Default::default(), ALL).await.unwrap();
    let keys: BTreeSet<_> = rows.iter().map(|row| row.1.key.clone()).collect();
    assert_eq!(keys.len(), rows.len());
    let told = store.outbox(ALL).await.unwrap();
    let places: Vec<u64> = told.iter().map(|row| row.position).collect();
    assert_eq!(places, (1..=places.len() as u64).collect::<Vec<_>>());
    store.verify_audit().await.unwrap();
}

/// Publishes through the store until a time, and returns what was acknowledged.
async fn publish(store: &Arc<PostgresStore>, run: &Run, who: &str, until: Instant) -> Vec<String> {
    let publishers = (0..8).map(|publisher| {
        let store = Arc::clone(store);
        let (run, who) = (run.clone(), who.to_owned());
        tokio::spawn(async move {
            let mut acknowledged = Vec::new();
            for number in 0.. {
                if Instant::now() >= until {
                    break;
                }
                // Owning a run is refused the second time: what was done is not done again.
                new_run(&store).await;
                let name = format!("{who}-{publisher}-{number}");
                store.admit(question(&run, name.clone())).await.unwrap();
                acknowledged.push(name);
            }
            acknowledged
        })
    });
    let acknowledged = join_all(publishers).await;
    acknowledged.into_iter().flat_map(Result::unwrap).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_who_write_the_same_store_leave_no_gap_and_lose_nothing() {
    let Some(place) = own_place() else { return };
    let (one, two) = (Arc::new(open(&place).await), Arc::new(open(&place).await));
    let run = new_run(&one).await;
    let until = Instant::now() + Duration::from_secs(2);
    let (of_one, of_two) = tokio::join!(
        publish(&one, &run, "one", until),
        publish(&two, &run, "two", until)
    );
    assert!(!of_one.is_empty() && !of_two.is_empty());
    is_whole(&one, &[of_one, of_two].concat()).await;
}

/// As many as were acknowledged: none that was told to have failed stands all the same.
async fn has_no_more_than(store: &PostgresStore, acknowledged: &[String]) {
    let rows = store.interrupts(&Default::default(), ALL).await.unwrap();
    assert_eq!(rows.len(), acknowledged.len());
}

/// How a store asks what became of a commit.
const ASKING: &[u8] = b"SELECT number FROM commits WHERE writer";

/// What a proxy has cut.
#[derive(Default)]
struct Cuts {
    sent: AtomicU32,
    /// Connections of which the last thing reached the server, and its answer did not come back: as a rule that is a commit
    /// of which the store cannot know.
    answers: AtomicU32,
    /// Connections that ask what became of a commit, and how many of each four are cut before the server hears of it.
    asking: AtomicU32,
    asking_of_four: u32,
    unasked: AtomicU32,
}

impl Cuts {
    /// Whether these bytes are to be the last that the server gets, and are not to get there themselves.
    fn is_unasked(&self, bytes: &[u8]) -> bool {
        let asks = bytes.windows(ASKING.len()).any(|part| part == ASKING);
        let is_cut = asks && self.asking.fetch_add(1, Ordering::Relaxed) % 4 < self.asking_of_four;
        self.unasked.fetch_add(u32::from(is_cut), Ordering::Relaxed);
        is_cut
    }
}

/// Carries bytes between a store and its server, and cuts connections. Returns the store's place behind it.
async fn cutting_proxy(place: &PostgresLocation, cuts: Arc<Cuts>) -> PostgresLocation {
    let given = place.to_string();
    let address = given.split('@').nth(1).unwrap().split('/').next().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = address.to_owned();
    tokio::spawn(async move {
        loop {
            let (client, _from) = listener.accept().await.unwrap();
            let server = TcpStream::connect(&server).await.unwrap();
            tokio::spawn(carry(client, server, Arc::clone(&cuts)));
        }
    });
    given
        .replace(address, &format!("127.0.0.1:{port}"))
        .parse()
        .unwrap()
}

async fn carry(client: TcpStream, server: TcpStream, cuts: Arc<Cuts>) {
    let ((mut from_client, mut to_client), (mut from_server, mut to_server)) =
        (client.into_split(), server.into_split());
    let back = tokio::spawn(async move {
        let _ended = tokio::io::copy(&mut from_server, &mut to_client).await;
    });
    let mut bytes = vec![0; 1 << 16];
    loop {
        let length = from_client.read(&mut bytes).await.unwrap_or(0);
        if length == 0 || cuts.is_unasked(&bytes[..length]) {
            break;
        }
        let is_cut = cuts.sent.fetch_add(1, Ordering::Relaxed) % 23 == 22;
        if is_cut {
            back.abort();
        }
        if to_server.write_all(&bytes[..length]).await.is_err() {
            break;
        }
        if is_cut {
            cuts.answers.fetch_add(1, Ordering::Relaxed);
            // The server has time to do it.
            tokio::time::sleep(Duration::from_millis(20)).await;
            break;
        }
    }
    back.abort();
}

/// Publishes through a proxy that cuts, until it has cut often.
async fn publish_through(cuts: Cuts) -> Option<Arc<Cuts>> {
    let place = own_place()?;
    let direct = open(&place).await;
    let run = new_run(&direct).await;
    let cuts = Arc::new(cuts);
    let through = cutting_proxy(&place, Arc::clone(&cuts)).await;
    let store = loop {
        // Opening is not tried again where its connection is cut.
        if let Ok(store) = PostgresStore::open(&through, StoreSettings::default()).await {
            break Arc::new(store);
        }
    };
    let (mut acknowledged, mut round) = (Vec::new(), 0);
    while cuts.answers.load(Ordering::Relaxed) < 20 {
        let until = Instant::now() + Duration::from_secs(1);
        acknowledged.extend(publish(&store, &run, &format!("round{round}"), until).await);
        round += 1;
        assert!(round < 60, "too few connections were cut");
    }
    is_whole(&direct, &acknowledged).await;
    has_no_more_than(&direct, &acknowledged).await;
    Some(cuts)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_whose_answer_is_lost_is_found_out_and_done_once() {
    publish_through(Cuts::default()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_is_lost_while_it_asks_for_a_lost_commit_is_no_answer() {
    let cuts = Cuts {
        asking_of_four: 3,
        ..Cuts::default()
    };
    if let Some(cuts) = publish_through(cuts).await {
        let unasked = cuts.unasked.load(Ordering::Relaxed);
        assert!(unasked > 10, "only {unasked} that asked were cut");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_that_is_refused_before_it_has_begun_holds_up_no_other() {
    let Some(place) = own_place() else { return };
    let store = Arc::new(open(&place).await);
    let run = new_run(&store).await;
    let server = std::env::var("IRQ_TEST_POSTGRES").unwrap();
    let (client, connection) = tokio_postgres::connect(&server, NoTls).await.unwrap();
    tokio::spawn(connection);
    let lock = format!(
        "(1769107827, '{}.commits'::regclass::oid::int4)",
        place.schema()
    );
    client
        .batch_execute(&format!("SELECT pg_advisory_lock{lock}"))
        .await
        .unwrap();
    let waiting = Arc::clone(&store);
    let asked = question(&run, "refused".to_owned());
    let waiting = tokio::spawn(async move { waiting.admit(asked).await });
    // An operator ends the statement that waits for the lock.
    let cancel = format!(
        "SELECT pg_cancel_backend(pid) FROM pg_locks WHERE NOT granted AND locktype = 'advisory' \
         AND objid = '{}.commits'::regclass::oid",
        place.schema()
    );
    while client.query(&cancel, &[]).await.unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(waiting.await.unwrap().is_err());
    client
        .batch_execute(&format!("SELECT pg_advisory_unlock{lock}"))
        .await
        .unwrap();
    for number in 0..3 {
        let next = question(&run, format!("next-{number}"));
        store.admit(next).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_dies_and_comes_back_loses_nothing_that_was_acknowledged() {
    let Some(mut server) = Server::start(&[]) else {
        return;
    };
    let place: PostgresLocation = server.address().parse().unwrap();
    let store = Arc::new(open(&place).await);
    let run = new_run(&store).await;
    let until = Instant::now() + Duration::from_secs(8);
    let publishing = {
        let (store, run) = (Arc::clone(&store), run.clone());
        tokio::spawn(async move { publish(&store, &run, "died", until).await })
    };
    let mut deaths = 0;
    while Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(700)).await;
        server = tokio::task::spawn_blocking(|| server.die_and_come_back())
            .await
            .unwrap();
        deaths += 1;
    }
    let acknowledged = publishing.await.unwrap();
    assert!(
        deaths > 2 && acknowledged.len() > 20,
        "{deaths} {}",
        acknowledged.len()
    );
    is_whole(&store, &acknowledged).await;
    has_no_more_than(&store, &acknowledged).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_synchronous_standby_that_takes_over_has_all_that_was_acknowledged() {
    let Some(primary) = Server::start(&["-c", "synchronous_standby_names=*"]) else {
        return;
    };
    let standby = primary.standby();
    let place = format!(
        "postgres://postgres@127.0.0.1:{},127.0.0.1:{}/postgres",
        primary.port(),
        standby.port()
    );
    let store = Arc::new(open(&place.parse().unwrap()).await);
    assert_eq!(store.notice(), None);
    let run = new_run(&store).await;
    let until = Instant::now() + Duration::from_secs(5);
    let publishing = {
        let (store, run) = (Arc::clone(&store), run.clone());
        tokio::spawn(async move { publish(&store, &run, "moved", until).await })
    };
    tokio::time::sleep(Duration::from_secs(2)).await;
    let moved = tokio::task::spawn_blocking(move || {
        primary.die();
        std::thread::sleep(Duration::from_secs(1));
        standby.take_over();
        (primary, standby)
    });
    let _servers = moved.await.unwrap();
    let acknowledged = publishing.await.unwrap();
    assert!(acknowledged.len() > 100, "{}", acknowledged.len());
    is_whole(&store, &acknowledged).await;
    has_no_more_than(&store, &acknowledged).await;
}

/// Waits until a commit waits for the standby.
/// Waits until so many changes wait for a standby: one to be committed, and others behind its locks.
async fn changes_wait(server: &Server, count: usize) {
    let (client, connection) = tokio_postgres::connect(&server.address(), NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    let waits =
        "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' OR wait_event_type = 'Lock'";
    while client.query(waits, &[]).await.unwrap().len() < count {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A server that dies while it waits for its standby has the commit when it is back, and its standby does not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_only_a_server_has_that_may_still_be_lost_is_not_acknowledged() {
    let Some(primary) = Server::start(&["-c", "synchronous_standby_names=*"]) else {
        return;
    };
    let standby = primary.standby();
    let place = format!(
        "postgres://postgres@127.0.0.1:{},127.0.0.1:{}/postgres",
        primary.port(),
        standby.port()
    );
    let place: PostgresLocation = place.parse().unwrap();
    let (store, elsewhere) = (open(&place).await, open(&place).await);
    let run = new_run(&store).await;
    standby.die();
    let admission = question(&run, "published");
    let first = {
        let admission = admission.clone();
        tokio::spawn(async move { store.admit(admission).await })
    };
    changes_wait(&primary, 1).await;
    primary.is_killed();
    primary.comes_back();
    // The publisher asks another process, too, which finds the interrupt there.
    let second = tokio::spawn(async move { elsewhere.admit(admission).await });
    changes_wait(&primary, 2).await;
    let acknowledged = (first.is_finished(), second.is_finished());
    primary.is_killed();
    standby.comes_back();
    standby.take_over();
    assert_eq!(acknowledged, (false, false), "the standby does not have it");
    let (first, second) = (first.await.unwrap(), second.await.unwrap());
    let ids = [first, second].map(|admitted| admitted.unwrap().into_interrupt().id);
    assert_eq!(ids[0], ids[1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_may_lose_what_it_acknowledges_is_refused() {
    let Some(server) = Server::start(&["-c", "fsync=off"]) else {
        return;
    };
    let place: PostgresLocation = server.address().parse().unwrap();
    let refused = PostgresStore::open(&place, StoreSettings::default())
        .await
        .map(drop);
    let Err(StoreError::NotDurable { setting, found }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!((setting, found.as_str()), ("fsync", "off"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_waits_hears_what_another_process_has_committed() {
    let Some(place) = own_place() else { return };
    let store = open(&place).await;
    let owner = OwnerName::new("waiter").unwrap();
    let notifier = notifier_at(&StoreLocation::Postgres(place.clone()), &owner);
    // It rings once when it begins to listen: what came before was not heard.
    notifier.heard().await;
    for _commit in 0..20 {
        new_run(&store).await;
        tokio::time::timeout(Duration::from_secs(5), notifier.heard())
            .await
            .unwrap();
        while tokio::time::timeout(Duration::from_millis(50), notifier.heard())
            .await
            .is_ok()
        {}
    }
}

/// All that a store tells of itself.
async fn all_of(location: &StoreLocation) -> impl PartialEq + std::fmt::Debug + use<> {
    let store = location.open(StoreSettings::default()).await.unwrap();
    (
        store.verify_audit().await.unwrap().head,
        store.runs(&[], ALL).await.unwrap(),
        store.interrupts(&Default::default(), ALL).await.unwrap(),
        store.outbox(ALL).await.unwrap(),
        store.audit(ALL).await.unwrap(),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_is_copied_there_and_back_is_the_same_and_its_audit_goes_on() {
    let Some(place) = own_place() else { return };
    let scene = Scene::in_sqlite().await;
    let run = scene.run().await;
    scene.admitted(rerouting(&run, "event", "OTHER")).await;
    let open = scene.awaiting(question(&run, "question")).await;
    let decided = scene.store.decide(open.id, person(&open), choosing(None));
    decided.await.unwrap();
    let folder = scene.folder.unwrap();
    Arc::into_inner(scene.store).unwrap().close().await.unwrap();
    let file = |name: &str| StoreLocation::File(folder.path().join(name));
    let (from, there, back) = (
        file("store.sqlite"),
        StoreLocation::Postgres(place),
        file("back.sqlite"),
    );

    let copy = copy_store(&from, &there).await.unwrap();
    assert_eq!(all_of(&from).await, all_of(&there).await);
    assert!(copy.rows > 10, "{copy:?}");
    let again = copy_store(&from, &there).await;
    assert!(
        matches!(again, Err(CopyError::NotEmpty { .. })),
        "{again:?}"
    );
    // It is a store as any other.
    let store = there.open(StoreSettings::default()).await.unwrap();
    store.admit(question(&run, "another")).await.unwrap();
    drop(store);
    let copy = copy_store(&there, &back).await.unwrap();
    assert_eq!(all_of(&there).await, all_of(&back).await);
    let missing = copy_store(&file("missing.sqlite"), &back).await;
    assert!(
        matches!(missing, Err(CopyError::NoStore { .. })),
        "{missing:?}"
    );
    assert!(copy.head.position > 0);
}

/// The child publishes until it is killed. Without a place it is no child, and there is nothing to do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child_that_publishes_to_a_server_until_it_is_killed() {
    let Ok(place) = std::env::var(CHILD_PLACE) else {
        return;
    };
    let store = Arc::new(open(&place.parse().unwrap()).await);
    let run = new_run(&store).await;
    let publishers = (0..8).map(|publisher| {
        let (store, run) = (&store, &run);
        async move {
            for number in 0..100_000 {
                let name = format!("{}-{publisher}-{number}", run.id);
                store.admit(question(run, name.clone())).await.unwrap();
                println!("{ACKNOWLEDGED}{name}");
            }
        }
    });
    join_all(publishers).await;
}

struct Publisher {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Publisher {
    fn start(place: &PostgresLocation) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture"])
            .arg("postgres::child_that_publishes_to_a_server_until_it_is_killed")
            .env(CHILD_PLACE, place.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn acknowledged(&mut self, most: usize) -> Vec<String> {
        let lines = self.lines.by_ref().map(Result::unwrap);
        let names = lines.filter_map(|line| {
            let (_before, name) = line.split_once(ACKNOWLEDGED)?;
            // What the kill cut short was acknowledged to nobody.
            (name.split('-').count() == 3).then(|| name.to_owned())
        });
        names.take(most).collect()
    }

    fn signal(&self, signal: Signal) {
        let process = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(process, signal).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_process_was_told_before_kill_9_is_there() {
    let Some(place) = own_place() else { return };
    let mut acknowledged = Vec::new();
    for deaths in 0..5 {
        let mut publisher = Publisher::start(&place);
        acknowledged.extend(publisher.acknowledged(20 + deaths * 37));
        publisher.child.kill().unwrap();
        acknowledged.extend(publisher.acknowledged(usize::MAX));
        publisher.child.wait().unwrap();
        is_whole(&open(&place).await, &acknowledged).await;
    }
    assert!(acknowledged.len() > 200, "{}", acknowledged.len());
}

/// It may hold the lock of the store when it is stopped: the server takes that from it, others go on, and what it goes on
/// with later is no double.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_is_stopped_in_a_transaction_stands_in_nobodys_way_and_doubles_nothing() {
    let Some(place) = own_place() else { return };
    let store = open(&place).await;
    let run = new_run(&store).await;
    let mut publisher = Publisher::start(&place);
    let mut acknowledged = publisher.acknowledged(50);
    for round in 0..2 {
        publisher.signal(Signal::STOP);
        let asked = Instant::now();
        let admitted = store.admit(question(&run, format!("other-{round}-0")));
        tokio::time::timeout(Duration::from_secs(25), admitted)
            .await
            .unwrap()
            .unwrap();
        println!("{} ms", asked.elapsed().as_millis());
        publisher.signal(Signal::CONT);
        acknowledged.extend(publisher.acknowledged(50));
    }
    publisher.child.kill().unwrap();
    acknowledged.extend(publisher.acknowledged(usize::MAX));
    publisher.child.wait().unwrap();
    is_whole(&store, &acknowledged).await;
}
