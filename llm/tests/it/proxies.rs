//! Calls through a proxy that the environment names. It is named to a process of its own, for the environment of this one is
//! everybody's.

use std::process::Stdio;
use std::sync::{Arc, Mutex};

use interrupt_router::model::{AtProvider, LanguageModel, Message, ModelCall};
use interrupt_router::{Outcome, StopScope};
use llm::ProviderModel;
use tests::providers::{Behaviour, ProviderDouble, RIGHT_KEY, Received, Transport, WireForm};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;

use crate::calls::{ANSWER, Pieces, limits, model_at, stop_now, talk};
use crate::chat::opening;

/// Where the child finds the certificate to trust. Its being set makes a test the child.
const AUTHORITY: &str = "PROXIED_AUTHORITY";

/// The same for calls without TLS.
const PLAIN: &str = "PROXIED_PLAIN";

/// A name that leads nowhere but through the proxy.
const PLACE: &str = "provider.example:4433";

/// What may name a proxy, or keep one from being used.
const VARIABLES: [&str; 8] = [
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
];

/// A proxy that leads to one port, through a tunnel where it is asked for one, and keeps what it was asked for.
struct Proxy {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    async fn to(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((stream, _peer)) = listener.accept().await {
                tokio::spawn(lead(stream, port, Arc::clone(&kept)));
            }
        });
        Self { address, asked }
    }
}

async fn lead(mut client: TcpStream, port: u16, asked: Arc<Mutex<Vec<String>>>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap();
    asked
        .lock()
        .unwrap()
        .push(head.lines().next().unwrap().to_owned());
    let mut server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    if head.starts_with("CONNECT ") {
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
    } else {
        // The server is asked for the path alone.
        let asked = head.replacen(&format!("http://{PLACE}"), "", 1);
        server.write_all(asked.as_bytes()).await.unwrap();
    }
    // Whoever hangs up first ends it.
    let _ended = copy_bidirectional(&mut client, &mut server).await;
}

fn call() -> ModelCall {
    talk(vec![Message::user("Hello")])
}

/// What the child does: a whole answer, then one that is interrupted.
async fn calls(model: ProviderModel) {
    let outcome = model.call(call(), &StopScope::new()).await.unwrap();
    assert_eq!(outcome.completed().unwrap().text, ANSWER);
    let (scope, pieces) = (StopScope::new(), Pieces::new());
    let call = ModelCall {
        chunks: Some(pieces.clone()),
        ..call()
    };
    let (outcome, ()) = tokio::join!(model.call(call, &scope), async {
        pieces.reached(2).await;
        stop_now(&scope);
    });
    let Outcome::Interrupted { partial, .. } = outcome.unwrap() else {
        panic!("not interrupted");
    };
    assert_eq!(partial.text, &ANSWER[..10]);
    assert_eq!(partial.at_provider, AtProvider::ConnectionClosed);
}

/// A server that answers the first call, and stalls in the second.
async fn answering(transport: Transport) -> ProviderDouble {
    let form = WireForm::OpenAi;
    let behaviours = [
        Behaviour::Answers,
        Behaviour::StallsAfter(opening(form) + 2),
    ];
    let answer = |_: &Received| ANSWER.to_owned();
    let double = ProviderDouble::over(transport, form, behaviours, answer);
    double.await.unwrap()
}

fn port_of(double: &ProviderDouble) -> u16 {
    let address = double.address().trim_end_matches('/');
    let port = address.rsplit(':').next().unwrap();
    port.split('/').next().unwrap().parse().unwrap()
}

/// A test in a process of its own, without a word about proxies.
fn child(test: &str) -> Command {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child
        .args(["--exact", test])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for name in VARIABLES {
        child.env_remove(name);
    }
    child
}

async fn succeeds(mut child: Command) {
    let ended = child.output().await.unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success(), "{said}");
}

#[tokio::test]
async fn a_call_through_a_plain_proxy_is_answered_and_interrupted() {
    if std::env::var_os(PLAIN).is_some() {
        let form = WireForm::OpenAi;
        return calls(model_at(
            &format!("http://{PLACE}"),
            form,
            RIGHT_KEY,
            limits(),
        ))
        .await;
    }
    let double = answering(Transport::Http1).await;
    let proxy = Proxy::to(port_of(&double)).await;
    let test = "proxies::a_call_through_a_plain_proxy_is_answered_and_interrupted";
    let mut child = child(test);
    child.env(PLAIN, "1").env("HTTP_PROXY", &proxy.address);
    succeeds(child).await;
    let asked = proxy.asked.lock().unwrap().clone();
    let absolute = format!("POST http://{PLACE}/");
    assert!(
        !asked.is_empty() && asked.iter().all(|it| it.starts_with(&absolute)),
        "{asked:?}"
    );
    assert_eq!(double.received_count(), 2);
    double.hang_ups().reached(1).await;
}

#[tokio::test]
async fn a_call_through_a_tunnel_is_answered_and_interrupted() {
    let form = WireForm::OpenAi;
    if let Ok(authority) = std::env::var(AUTHORITY) {
        let model = model_at(&format!("https://{PLACE}"), form, RIGHT_KEY, limits());
        return calls(model.trusting(authority.as_bytes()).unwrap()).await;
    }
    for transport in [Transport::Http1OverTls, Transport::Http2OverTls] {
        let double = answering(transport).await;
        let proxy = Proxy::to(port_of(&double)).await;
        let test = "proxies::a_call_through_a_tunnel_is_answered_and_interrupted";
        let mut child = child(test);
        child
            .env(AUTHORITY, double.authority().unwrap())
            .env("HTTPS_PROXY", &proxy.address);
        succeeds(child).await;
        let asked = proxy.asked.lock().unwrap().clone();
        let tunnel = format!("CONNECT {PLACE} HTTP/1.1");
        assert!(
            !asked.is_empty() && asked.iter().all(|it| *it == tunnel),
            "{asked:?}"
        );
        assert_eq!(double.received_count(), 2, "{transport:?}");
        double.hang_ups().reached(1).await;
    }
}
