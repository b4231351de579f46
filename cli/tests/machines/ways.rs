//! How processes reach each other, and how they are started apart.

use std::net::TcpListener;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicU16;

use crate::link::Link;

/// Where the broker is, by these links.
pub(crate) fn broker_address(links: &[Link]) -> String {
    let host = |link: &Link| format!("127.0.0.1:{}", link.port());
    let hosts: Vec<String> = links.iter().map(host).collect();
    format!("nats://{}?replicas=3", hosts.join(","))
}

/// Where the store is, by these links.
pub(crate) fn address(links: &[Link; 2]) -> String {
    let host = |link: &Link| format!("127.0.0.1:{}", link.port());
    let [one, other] = links.each_ref().map(host);
    format!("postgres://postgres@{one},{other}/postgres")
}

pub(crate) async fn links_to(ports: &[Arc<AtomicU16>; 2]) -> [Link; 2] {
    let [one, other] = ports.each_ref().map(|port| Link::to(Arc::clone(port)));
    [one.await, other.await]
}

pub(crate) async fn links_of(ports: &[Arc<AtomicU16>]) -> Vec<Link> {
    let links = ports.iter().map(|port| Link::to(Arc::clone(port)));
    futures_util::future::join_all(links).await
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

pub(crate) fn free_port() -> u16 {
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
