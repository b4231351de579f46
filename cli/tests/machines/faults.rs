//! The faults, one after the other.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use interrupts::store::Run;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use tokio::time::sleep;

use crate::broker::Broker;
use crate::count::Fault;
use crate::database::Database;
use crate::installation::Installation;
use crate::link::{Flow, Link};
use crate::machine::Machine;
use crate::sessions::no_session_is_left;
use crate::takeovers::{are_taken_over, owned_by};

/// How far a clock is set.
const LEAP: i64 = 3_600;

/// No session lives through so long a silence: both ends give it up after 15 s, and look every 5 s.
const SESSIONS_LIVE: Duration = Duration::from_secs(25);

/// Injects faults.
pub(crate) struct Injector {
    installation: Arc<Installation>,
    random: ChaCha8Rng,
}

impl Injector {
    pub(crate) fn new(installation: &Arc<Installation>, seed: u64) -> Self {
        Self {
            installation: Arc::clone(installation),
            random: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    fn below(&mut self, count: usize) -> usize {
        self.random.next_u32() as usize % count
    }

    fn count(&self, fault: Fault) {
        self.installation.faults.add(fault);
    }

    /// A while, in milliseconds.
    async fn pauses(&mut self, longest: u64) {
        sleep(self.a_while(longest)).await;
    }

    fn a_while(&mut self, longest: u64) -> Duration {
        Duration::from_millis(longest / 2 + u64::from(self.random.next_u32()) % (longest / 2))
    }

    /// Waits until this worker works on something.
    async fn is_busy(&self, worker: usize) -> Vec<Run> {
        loop {
            if let Some(owner) = self.installation.workers[worker].owner() {
                let runs = owned_by(&self.installation, &owner).await;
                if !runs.is_empty() {
                    return runs;
                }
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// One worker is killed and comes back, one stands still until others have its runs, and one cannot reach the
    /// database and does not know why.
    pub(crate) async fn the_workers(&mut self) {
        let first = self.below(self.installation.workers.len());
        let [killed, stopped, cut_off] = [0, 1, 2].map(|next| (first + next) % 3);
        tokio::join!(
            self.a_worker_is_killed(killed),
            self.a_worker_is_stopped(stopped),
            self.a_worker_is_cut_off(cut_off)
        );
    }

    async fn a_worker_is_killed(&self, worker: usize) {
        let runs = self.is_busy(worker).await;
        let worker = &self.installation.workers[worker];
        worker.is_killed();
        let since = Instant::now();
        self.count(Fault::WorkerKilled);
        worker.may_come_back();
        are_taken_over(&self.installation, runs, since).await;
    }

    async fn a_worker_is_stopped(&self, worker: usize) {
        let runs = self.is_busy(worker).await;
        let worker = &self.installation.workers[worker];
        worker.stands_still();
        let since = Instant::now();
        self.count(Fault::WorkerStopped);
        are_taken_over(&self.installation, runs, since).await;
        worker.goes_on();
    }

    async fn a_worker_is_cut_off(&self, worker: usize) {
        let runs = self.is_busy(worker).await;
        let worker = &self.installation.workers[worker];
        let (since, cut_off) = (Instant::now(), SystemTime::now());
        set(&worker.database, Flow::CutBoth);
        self.count(Fault::WorkerCutOff);
        are_taken_over(&self.installation, runs, since).await;
        // Both ends keep a session through a shorter silence, and rightly so.
        sleep(SESSIONS_LIVE.saturating_sub(since.elapsed())).await;
        set(&worker.database, Flow::Whole);
        no_session_is_left(&self.installation, worker, cut_off).await;
    }

    /// Servers, the broker, and clocks.
    pub(crate) async fn around(&mut self) {
        for kind in 0..9 {
            self.one_around(kind).await;
            self.pauses(600).await;
        }
    }

    async fn one_around(&mut self, kind: usize) {
        let installation = Arc::clone(&self.installation);
        let server = &installation.servers[self.below(installation.servers.len())];
        let node = self.below(server.broker.len());
        let while_ = self.a_while(2_000);
        match kind {
            0 => {
                self.count(Fault::ServerKilled);
                server.is_killed();
                sleep(while_).await;
                server.may_come_back();
            }
            1 => {
                self.count(Fault::ServerStopped);
                server.stands_still();
                sleep(while_).await;
                server.goes_on();
            }
            2 => {
                self.count(Fault::BrokerKilled);
                self.broker(move |broker| broker.is_killed(node, while_))
                    .await;
            }
            3 => {
                self.count(Fault::BrokerStopped);
                self.broker(move |broker| broker.stands_still(node, while_))
                    .await;
            }
            4 => {
                self.count(Fault::BrokerLinkCutThere);
                cut(&server.broker, Flow::CutThere, while_).await;
            }
            5 => {
                self.count(Fault::BrokerLinkCutBack);
                cut(&server.broker, Flow::CutBack, while_).await;
            }
            6 => {
                self.count(Fault::BrokerLinkCutBoth);
                cut(&server.broker, Flow::CutBoth, while_).await;
            }
            7 => self.clocks_leap().await,
            _ => {
                let links = installation.ways.between_brokers(node);
                self.cut_apart(Fault::BrokerCutOff, &links, while_).await;
            }
        }
    }

    /// Cuts what only a network can cut.
    async fn cut_apart(&self, fault: Fault, links: &[Link], while_: Duration) {
        if !links.is_empty() {
            self.count(fault);
            cut(links, Flow::CutBoth, while_).await;
        }
    }

    /// All clocks are wrong, some before the right time and some behind it, each by another leap than before.
    async fn clocks_leap(&mut self) {
        let installation = Arc::clone(&self.installation);
        for machine in installation.machines() {
            let forward = self.below(2) == 0;
            self.count(match forward {
                true => Fault::ClockSetForward,
                false => Fault::ClockSetBack,
            });
            machine
                .clock
                .is_set_ahead(if forward { LEAP } else { -LEAP });
        }
    }

    /// The broker loses everything.
    pub(crate) async fn the_broker_is_wiped(&mut self) {
        self.count(Fault::BrokerWiped);
        self.broker(Broker::is_wiped).await;
    }

    /// The links of one machine to the database.
    pub(crate) async fn links(&mut self) {
        let installation = Arc::clone(&self.installation);
        let machines: Vec<&Machine> = installation.machines().collect();
        for (fault, flow, longest) in [
            (Fault::DatabaseLinkCutThere, Flow::CutThere, 4_000),
            (Fault::DatabaseLinkCutBack, Flow::CutBack, 4_000),
            (Fault::DatabaseLinkCutBoth, Flow::CutBoth, 4_000),
            (Fault::DatabaseLinkRefused, Flow::Refused, 2_000),
            (Fault::DatabaseLinkSlow, Flow::Slow, 4_000),
        ] {
            let machine = machines[self.below(machines.len())];
            self.count(fault);
            let while_ = self.a_while(longest);
            cut(&machine.database, flow, while_).await;
        }
    }

    /// The database restarts, is killed, stands still, and fails over; so does its standby.
    pub(crate) async fn the_database(&mut self) {
        let while_ = self.a_while(2_000);
        self.count(Fault::DatabaseRestarted);
        self.database(|database| database.restarts()).await;
        self.pauses(2_000).await;
        self.count(Fault::DatabaseKilled);
        self.database(move |database| database.is_killed(while_))
            .await;
        self.pauses(2_000).await;
        self.count(Fault::DatabaseStopped);
        self.database(move |database| database.stands_still(while_))
            .await;
        self.count(Fault::StandbyStopped);
        self.database(move |database| database.standby_stands_still(while_))
            .await;
        let apart = self.installation.ways.between_databases();
        self.cut_apart(Fault::StandbyCutOff, &apart, while_).await;
        self.pauses(1_000).await;
        self.count(Fault::DatabaseFailedOver);
        self.database(|database| {
            database.fails_over();
        })
        .await;
        self.pauses(2_000).await;
    }

    async fn broker(&self, fault: impl FnOnce(&mut Broker) + Send + 'static) {
        let installation = Arc::clone(&self.installation);
        let injected =
            tokio::task::spawn_blocking(move || fault(&mut installation.broker.lock().unwrap()));
        injected.await.unwrap();
    }

    async fn database(&self, fault: impl FnOnce(&mut Database) + Send + 'static) {
        let installation = Arc::clone(&self.installation);
        let injected =
            tokio::task::spawn_blocking(move || fault(&mut installation.database.lock().unwrap()));
        injected.await.unwrap();
    }
}

fn set(links: &[Link], flow: Flow) {
    for link in links {
        link.becomes(flow);
    }
}

async fn cut(links: &[Link], flow: Flow, while_: Duration) {
    set(links, flow);
    sleep(while_).await;
    set(links, Flow::Whole);
}
