//! A PostgreSQL server with a synchronous standby that takes its place.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use tests::place::Place;
use tests::postgres::Server;

/// Nothing is acknowledged that only one of the two has.
const OPTIONS: [&str; 4] = [
    "-c",
    "synchronous_standby_names=*",
    "-c",
    "max_connections=400",
];

/// The two places of a server, and which of them has the primary.
pub(crate) struct Database {
    places: [Place; 2],
    servers: [Option<Server>; 2],
    ports: [Arc<AtomicU16>; 2],
    primary: usize,
}

impl Database {
    /// Starts both; none where the tests have no PostgreSQL.
    pub(crate) fn start(places: [Place; 2]) -> Option<Self> {
        let primary = Server::start_at(places[0].clone(), &OPTIONS)?;
        let standby = primary.standby_at(places[1].clone(), &OPTIONS);
        let ports = [primary.port(), standby.port()].map(|port| Arc::new(AtomicU16::new(port)));
        Some(Self {
            places,
            servers: [Some(primary), Some(standby)],
            ports,
            primary: 0,
        })
    }

    /// The ports of both places, which change with their servers.
    pub(crate) const fn ports(&self) -> &[Arc<AtomicU16>; 2] {
        &self.ports
    }

    /// The address of the primary, past all links.
    pub(crate) fn address(&self) -> String {
        self.primary().address()
    }

    fn primary(&self) -> &Server {
        self.servers[self.primary].as_ref().unwrap()
    }

    fn standby(&self) -> &Server {
        self.servers[1 - self.primary].as_ref().unwrap()
    }

    /// The primary ends as the server's own "immediate" does, and is started again.
    pub(crate) fn restarts(&self) {
        self.primary().die();
        self.primary().comes_back();
    }

    /// All processes of the primary are killed; after a while it is started again.
    pub(crate) fn is_killed(&self, away: Duration) {
        self.primary().is_killed();
        std::thread::sleep(away);
        self.primary().comes_back();
    }

    /// The primary stands still for a while.
    pub(crate) fn stands_still(&self, how_long: Duration) {
        self.primary().stands_still();
        std::thread::sleep(how_long);
        self.primary().goes_on();
    }

    /// The standby stands still for a while: nothing can be acknowledged meanwhile.
    pub(crate) fn standby_stands_still(&self, how_long: Duration) {
        self.standby().stands_still();
        std::thread::sleep(how_long);
        self.standby().goes_on();
    }

    /// The primary is lost with its disk, the standby takes its place, and has a new standby a little later.
    pub(crate) fn fails_over(&mut self) -> Duration {
        let begun = Instant::now();
        let lost = self.servers[self.primary].take().unwrap();
        lost.is_killed();
        drop(lost);
        let place = self.primary;
        self.primary = 1 - place;
        self.primary().take_over();
        let its_place = self.places[place].clone();
        let standby = self.primary().standby_at(its_place, &OPTIONS);
        self.ports[place].store(standby.port(), Ordering::SeqCst);
        self.servers[place] = Some(standby);
        begun.elapsed()
    }
}
