//! How processes reach each other, and how they are started apart.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicU16;

use futures_util::future::join_all;
use tests::place::Place;

use crate::link::Link;
use crate::network::{Cable, Host, Network};

/// The places of the database and those of the broker.
const DATABASES: usize = 2;
const BROKERS: usize = 3;

/// How processes reach each other: through a network where the test has one, else through ports of this machine.
pub(crate) struct Ways {
    hosts: Option<Hosts>,
}

struct Hosts {
    databases: Vec<Host>,
    brokers: Vec<Host>,
    machines: Vec<Host>,
}

impl Ways {
    /// Those of so many machines.
    pub(crate) fn of(machines: usize) -> Self {
        let hosts = Network::here().map(|mut network| {
            let mut hosts = |count| (0..count).map(|_number| network.host()).collect();
            Hosts {
                databases: hosts(DATABASES),
                brokers: hosts(BROKERS),
                machines: hosts(machines),
            }
        });
        Self { hosts }
    }

    pub(crate) const fn are_cables(&self) -> bool {
        self.hosts.is_some()
    }

    pub(crate) fn places_of_database(&self) -> [Place; DATABASES] {
        std::array::from_fn(|number| self.place(|hosts| &hosts.databases[number]))
    }

    pub(crate) fn places_of_broker(&self) -> [Place; BROKERS] {
        std::array::from_fn(|number| self.place(|hosts| &hosts.brokers[number]))
    }

    fn place(&self, host: impl FnOnce(&Hosts) -> &Host) -> Place {
        let hosts = self.hosts.as_ref();
        hosts.map_or_else(Place::default, |hosts| host(hosts).place())
    }

    /// From a machine to both places of the database.
    pub(crate) async fn to_database(&self, machine: usize, ports: &[Arc<AtomicU16>]) -> Vec<Link> {
        match &self.hosts {
            Some(hosts) => cables(&hosts.machines[machine], &hosts.databases),
            None => links_to(ports).await,
        }
    }

    /// From a machine to all servers of the broker.
    pub(crate) async fn to_broker(&self, machine: usize, ports: &[Arc<AtomicU16>]) -> Vec<Link> {
        match &self.hosts {
            Some(hosts) => cables(&hosts.machines[machine], &hosts.brokers),
            None => links_to(ports).await,
        }
    }

    /// The test's own to both places of the database, which are never cut.
    pub(crate) async fn own(&self, ports: &[Arc<AtomicU16>]) -> Vec<Link> {
        match &self.hosts {
            // What it sends itself passes by the rules.
            Some(hosts) => cables(&hosts.machines[0], &hosts.databases),
            None => links_to(ports).await,
        }
    }

    /// Between the two places of the database; none where they share this machine.
    pub(crate) fn between_databases(&self) -> Vec<Link> {
        let hosts = self.hosts.iter();
        let cables = hosts.map(|hosts| cables(&hosts.databases[0], &hosts.databases[1..]));
        cables.flatten().collect()
    }

    /// Between one server of the broker and the others; none where they share this machine.
    pub(crate) fn between_brokers(&self, server: usize) -> Vec<Link> {
        let hosts = self.hosts.iter().flat_map(|hosts| {
            let own = &hosts.brokers[server];
            let others = hosts.brokers.iter().enumerate();
            let others = others.filter(move |(other, _host)| *other != server);
            others.map(move |(_other, host)| Link::by(Cable::between(own, host)))
        });
        hosts.collect()
    }

    /// Where a server of this machine listens.
    pub(crate) fn listens(&self, machine: usize) -> SocketAddr {
        match &self.hosts {
            Some(hosts) => hosts.machines[machine].listens(),
            None => (Ipv4Addr::LOCALHOST, free_port()).into(),
        }
    }

    /// The command that enters a machine.
    pub(crate) fn enter(&self, machine: usize) -> Vec<String> {
        let hosts = self.hosts.iter();
        hosts
            .flat_map(|hosts| hosts.machines[machine].enter())
            .collect()
    }

    /// How a machine reaches what listens on the loopback of the test.
    pub(crate) fn seen_from(&self, machine: usize, address: &str) -> String {
        match &self.hosts {
            Some(hosts) => {
                let gateway = hosts.machines[machine].gateway().to_string();
                address.replace(&Ipv4Addr::LOCALHOST.to_string(), &gateway)
            }
            None => address.to_owned(),
        }
    }

    /// The address of a machine, where it has one of its own.
    pub(crate) fn address_of(&self, machine: usize) -> Option<IpAddr> {
        let hosts = self.hosts.as_ref()?;
        Some(hosts.machines[machine].address().into())
    }
}

fn cables(near: &Host, far: &[Host]) -> Vec<Link> {
    far.iter()
        .map(|far| Link::by(Cable::between(near, far)))
        .collect()
}

async fn links_to(ports: &[Arc<AtomicU16>]) -> Vec<Link> {
    join_all(ports.iter().map(|port| Link::to(Arc::clone(port)))).await
}

/// Where the broker is, by these links.
pub(crate) fn broker_address(links: &[Link]) -> String {
    format!("nats://{}?replicas=3", servers(links))
}

/// Where the store is, by these links.
pub(crate) fn address(links: &[Link]) -> String {
    format!(
        "postgres://postgres@{}/postgres?sslmode=disable",
        servers(links)
    )
}

fn servers(links: &[Link]) -> String {
    let servers: Vec<&str> = links.iter().map(Link::server).collect();
    servers.join(",")
}

pub(crate) fn token_of(store: &str, name: &str) -> String {
    let mut create = Command::new(env!("CARGO_BIN_EXE_irq"));
    create
        .args(["token", "create", "--name", name, "--role", "admin"])
        .env("IRQ_STORE", store)
        .env("IRQ_CONFIG", "/dev/null");
    let made = tokio::task::block_in_place(|| create.output().unwrap());
    assert!(made.status.success(), "{made:?}");
    String::from_utf8(made.stdout).unwrap().trim().to_owned()
}

fn free_port() -> u16 {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    free.local_addr().unwrap().port()
}

/// How a process is started with a list of processes of its own; none where the machine does not allow that.
pub(crate) fn apart() -> Option<Vec<&'static str>> {
    let own = ["--pid", "--fork", "--kill-child", "--mount-proc"];
    let as_root = ["--user", "--map-root-user"];
    let ways = [own.to_vec(), [&as_root[..], &own[..]].concat()];
    ways.into_iter().find(|way| {
        let tried = Command::new("unshare").args(way).arg("true").output();
        tried.is_ok_and(|tried| tried.status.success())
    })
}
