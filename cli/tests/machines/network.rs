//! A network of its own for the proof: each machine, each database and each broker is in a network namespace with an
//! address of its own, and what one sends to another passes through the namespace of the test, which may drop it.

use std::fmt::Display;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tests::place::Place;

use crate::link::Flow;

/// Set where the test runs in a namespace of its own.
const INSIDE: &str = "IRQ_TEST_NETWORK";

/// The port of every server in the network.
const PORT: u16 = 4_000;

/// How long a namespace may take until it is there.
const PATIENCE: Duration = Duration::from_secs(10);

/// Of how many packets one is lost by a cable that is [`Flow::Slow`].
const LOST: &str = "0.2";

/// Runs a test: in a network of its own where this machine allows that.
pub(crate) fn run(test: &str, proof: impl Future<Output = ()>) {
    if std::env::var_os(INSIDE).is_none() && is_allowed() {
        let program = std::env::current_exe().unwrap();
        let mut apart = Command::new("unshare");
        apart.args(["--net", "--fork", "--kill-child"]).arg(program);
        apart.args(["--exact", test, "--nocapture"]);
        assert!(apart.env(INSIDE, "1").status().unwrap().success());
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build();
    runtime.unwrap().block_on(proof);
}

/// All that the network is made of.
const TRIED: &str = "ip link set lo up \
    && echo 1 > /proc/sys/net/ipv4/ip_forward && echo 1 > /proc/sys/net/ipv4/conf/all/route_localnet \
    && iptables -A FORWARD -m statistic --mode random --probability 0.1 -j DROP \
    && iptables -A FORWARD -p tcp -j REJECT --reject-with tcp-reset \
    && iptables -t nat -A PREROUTING -p tcp -j DNAT --to-destination 127.0.0.1 \
    && ip link add v1 type veth peer name eth0 netns 1 && nsenter --net=/proc/1/ns/net true";

/// Whether this machine allows a network. PostgreSQL does not run as a root that only looks like one, so a namespace of
/// users is of no use.
fn is_allowed() -> bool {
    let apart = [
        "--net",
        "--pid",
        "--fork",
        "--mount-proc",
        "sh",
        "-c",
        TRIED,
    ];
    let tried = Command::new("unshare").args(apart).output();
    rustix::process::geteuid().is_root() && tried.is_ok_and(|tried| tried.status.success())
}

/// The network.
#[derive(Default)]
pub(crate) struct Network {
    hosts: u8,
}

impl Network {
    /// That of the test; none where it has none.
    pub(crate) fn here() -> Option<Self> {
        std::env::var_os(INSIDE)?;
        does("ip link set lo up");
        for setting in ["ip_forward", "conf/all/route_localnet"] {
            std::fs::write(format!("/proc/sys/net/ipv4/{setting}"), "1").unwrap();
        }
        Some(Self::default())
    }

    /// One more host.
    pub(crate) fn host(&mut self) -> Host {
        self.hosts += 1;
        let number = self.hosts;
        let holder = Command::new("unshare")
            .args(["--net", "sleep", "infinity"])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let host = Host { number, holder };
        let (pid, address, here) = (host.holder.id(), host.address(), host.gateway());
        let own = std::fs::read_link("/proc/self/ns/net").unwrap();
        let begun = Instant::now();
        while std::fs::read_link(format!("/proc/{pid}/ns/net")).is_ok_and(|its| its == own) {
            assert!(begun.elapsed() < PATIENCE, "there is no namespace");
            std::thread::sleep(Duration::from_millis(2));
        }
        let enter = host.enter().join(" ");
        does(format!(
            "ip link add v{number} type veth peer name eth0 netns {pid}"
        ));
        does(format!("ip addr add {here}/24 dev v{number}"));
        does(format!("ip link set v{number} up"));
        does(format!("{enter} ip link set lo up"));
        does(format!("{enter} ip addr add {address}/24 dev eth0"));
        does(format!("{enter} ip link set eth0 up"));
        does(format!("{enter} ip route add default via {here}"));
        // The model listens on the loopback of the test.
        does(format!(
            "iptables -w -t nat -A PREROUTING -d {here} -p tcp -j DNAT --to-destination 127.0.0.1"
        ));
        host
    }
}

/// A host of the network. It is gone with this.
pub(crate) struct Host {
    number: u8,
    /// Its namespace is there as long as this.
    holder: Child,
}

impl Host {
    pub(crate) fn address(&self) -> Ipv4Addr {
        Ipv4Addr::new(10, 77, self.number, 2)
    }

    /// Where it finds what listens on the loopback of the test.
    pub(crate) fn gateway(&self) -> Ipv4Addr {
        Ipv4Addr::new(10, 77, self.number, 1)
    }

    /// The command that enters it.
    pub(crate) fn enter(&self) -> Vec<String> {
        let namespace = format!("--net=/proc/{}/ns/net", self.holder.id());
        vec!["nsenter".to_owned(), namespace]
    }

    /// Where a server of it listens.
    pub(crate) fn listens(&self) -> SocketAddr {
        (self.address(), PORT).into()
    }

    /// As the place of a server.
    pub(crate) fn place(&self) -> Place {
        Place {
            address: self.address().into(),
            port: Some(PORT),
            enter: self.enter(),
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _killed = self.holder.kill().and_then(|()| self.holder.wait());
    }
}

/// The way between two hosts.
pub(crate) struct Cable {
    near: Ipv4Addr,
    far: Ipv4Addr,
    /// What is in force of the rules that drop something.
    rules: Mutex<Vec<String>>,
}

impl Cable {
    pub(crate) fn between(near: &Host, far: &Host) -> Self {
        Self {
            near: near.address(),
            far: far.address(),
            rules: Mutex::default(),
        }
    }

    /// The server at its far end.
    pub(crate) fn server(&self) -> String {
        format!("{}:{PORT}", self.far)
    }

    pub(crate) fn becomes(&self, flow: Flow) {
        let Self { near, far, .. } = self;
        let there = |does: &str| format!("FORWARD -s {near} -d {far} {does}");
        let back = |does: &str| format!("FORWARD -s {far} -d {near} {does}");
        let both = |does: &str| vec![there(does), back(does)];
        let wanted = match flow {
            Flow::Whole => Vec::new(),
            Flow::Slow => both(&format!(
                "-m statistic --mode random --probability {LOST} -j DROP"
            )),
            Flow::CutThere => vec![there("-j DROP")],
            Flow::CutBack => vec![back("-j DROP")],
            Flow::CutBoth => both("-j DROP"),
            Flow::Refused => both("-p tcp -j REJECT --reject-with tcp-reset"),
        };
        let mut rules = self.rules.lock().unwrap();
        for rule in &wanted {
            does(format!("iptables -w -A {rule}"));
        }
        for rule in rules.drain(..) {
            does(format!("iptables -w -D {rule}"));
        }
        *rules = wanted;
    }
}

fn does(command: impl Display) {
    let command = command.to_string();
    let mut words = command.split(' ');
    let done = Command::new(words.next().unwrap()).args(words).output();
    let done = done.unwrap();
    assert!(done.status.success(), "{command}: {done:?}");
}
