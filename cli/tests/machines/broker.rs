//! Three NATS servers that keep everything together.

use std::sync::Arc;
use std::sync::atomic::AtomicU16;
use std::time::Duration;

use tests::nats::NatsServer;
use tests::place::Place;

/// The servers.
pub(crate) struct Broker {
    servers: Vec<NatsServer>,
}

impl Broker {
    /// Starts them; none where no NATS server is installed.
    pub(crate) fn start(places: &[Place]) -> Option<Self> {
        // Each process knows its own links alone, and is told of no way around them.
        let servers = NatsServer::cluster(places, &["--no_advertise=true"])?;
        Some(Self { servers })
    }

    pub(crate) fn ports(&self) -> Vec<Arc<AtomicU16>> {
        let port = |server: &NatsServer| Arc::new(AtomicU16::new(server.port()));
        self.servers.iter().map(port).collect()
    }

    /// The addresses of all, without a link between.
    pub(crate) fn addresses(&self) -> Vec<String> {
        self.servers.iter().map(NatsServer::address).collect()
    }

    /// One of them is killed, and started again after a while.
    pub(crate) fn is_killed(&mut self, server: usize, away: Duration) {
        self.servers[server].is_killed();
        std::thread::sleep(away);
        self.servers[server].comes_back();
    }

    /// One of them stands still for a while.
    pub(crate) fn stands_still(&self, server: usize, how_long: Duration) {
        self.servers[server].stands_still();
        std::thread::sleep(how_long);
        self.servers[server].goes_on();
    }

    /// All of them are killed, and lose all their files.
    pub(crate) fn is_wiped(&mut self) {
        for server in &mut self.servers {
            server.is_killed();
            server.is_wiped();
        }
        for server in &mut self.servers {
            server.comes_back();
        }
    }
}
