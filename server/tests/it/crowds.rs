//! Clients that take up room: they read nothing, say nothing, or ask for much at once. Each is cut off or slowed, and
//! the others are served.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use reqwest::StatusCode;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpSocket, TcpStream};

use crate::feed::Events;
use crate::house::{House, problem};
use crate::scene::{open_question, running};

/// How long something may take that happens in the end.
const IN_THE_END: Duration = Duration::from_secs(30);

/// A connection that takes in hardly anything by itself.
async fn narrow(address: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.connect(address).await.unwrap()
}

/// Asks for a long list again and again over one connection, and reads nothing of the answers. They are more than the
/// machine keeps for a connection.
async fn reads_nothing(house: &House, role: &str) -> TcpStream {
    let mut stream = narrow(house.address).await;
    let request = format!(
        "GET /v1/interrupts?status=open HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n",
        house.tokens[role]
    );
    let much = request.repeat(40);
    stream.write_all(much.as_bytes()).await.unwrap();
    stream
}

/// So many questions, each with the schema of its answer.
async fn ask_much(house: &House) {
    let run = running(&*house.store, None).await;
    for _question in 0..100 {
        open_question(&*house.store, &run).await;
    }
}

/// Somebody else is served by the one connection that there is, once the one that holds it has been cut off.
async fn is_served_in_the_end(house: &House) {
    let other = tls::client().timeout(IN_THE_END).build().unwrap();
    let served = other.get(house.url("/livez")).send().await.unwrap();
    assert_eq!(served.status(), StatusCode::OK);
}

#[tokio::test]
async fn whoever_reads_nothing_of_his_answers_is_cut_off() {
    let house = House::with(|config| {
        config.limits.connections = 1;
        config.limits.write_time = Duration::from_millis(200);
    })
    .await;
    ask_much(&house).await;
    let attacker = reads_nothing(&house, "viewer").await;
    is_served_in_the_end(&house).await;
    drop(attacker);
}

#[tokio::test]
async fn whoever_comes_and_says_nothing_is_cut_off_and_so_is_who_falls_silent() {
    let house = House::with(|config| {
        config.limits.connections = 1;
        config.limits.head_time = Duration::from_millis(200);
    })
    .await;
    let silent = TcpStream::connect(house.address).await.unwrap();
    is_served_in_the_end(&house).await;
    drop(silent);
    let mut falls_silent = TcpStream::connect(house.address).await.unwrap();
    let request = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
    falls_silent.write_all(request).await.unwrap();
    is_served_in_the_end(&house).await;
}

#[tokio::test]
async fn whoever_asks_for_much_at_once_and_reads_nothing_is_slowed_and_another_is_not() {
    let house = House::with(|config| {
        config.limits.requests_at_once = 2;
        config.limits.requests_per_second = NonZeroU32::MAX;
        config.limits.request_burst = NonZeroU32::MAX;
    })
    .await;
    ask_much(&house).await;
    let attackers = [
        reads_nothing(&house, "viewer").await,
        reads_nothing(&house, "viewer").await,
    ];
    let begun = Instant::now();
    let refused = loop {
        let response = house.get("viewer", "/v1/whoami").send().await.unwrap();
        if response.status() == StatusCode::TOO_MANY_REQUESTS {
            break response;
        }
        assert!(begun.elapsed() < IN_THE_END, "never slowed");
    };
    assert_eq!(refused.headers()["retry-after"], "1");
    let told = problem(refused, StatusCode::TOO_MANY_REQUESTS).await;
    assert_eq!(told["code"], "rate-limited");
    assert_eq!(told["detail"], "2 of your requests are under way already");
    let other = house.get("reviewer", "/v1/whoami").send().await.unwrap();
    assert_eq!(other.status(), StatusCode::OK);
    drop(attackers);
    while house
        .get("viewer", "/v1/whoami")
        .send()
        .await
        .unwrap()
        .status()
        != StatusCode::OK
    {
        assert!(begun.elapsed() < IN_THE_END, "never let in again");
    }
    // Readers of the feed stay as long as they like, and are counted as connections alone.
    let mut readers = Vec::new();
    for _reader in 0..5 {
        let request = house.get("viewer", "/v1/events");
        readers.push(Events::of(request.send().await.unwrap()));
    }
    let beside = house.get("viewer", "/v1/whoami").send().await.unwrap();
    assert_eq!(beside.status(), StatusCode::OK);
}
