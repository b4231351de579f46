//! How fast an interrupt is: until the server sees its connection close, and until the caller has control.
//! Beside them what the machine itself takes: a bare TCP connection that is closed by hand.

#![expect(clippy::unwrap_used, reason = "a measurement that cannot go on fails")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use interrupt_router::model::{ChunkSink, LanguageModel, Message, ModelCall, ModelCaller};
use interrupt_router::{Outcome, RunId, StopMode, StopReason, StopScope, StopSource};
use llm::{CallLimits, Provider, ProviderConfig, ProviderModel, Secret};

/// Interrupts of each kind.
const TIMES: usize = 1_000;

/// Connections that are made first and not counted.
const WARM_UP: usize = 50;

/// The beginning of an answer in OpenAI's form, which never goes on.
const BEGINNING: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n\
    data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\
    \"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"},\"finish_reason\":null}]}\n\n";

/// A server that begins an answer on each connection, and tells when each was closed.
fn server() -> (String, Receiver<Instant>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (closed, closings) = mpsc::channel();
    thread::spawn(move || {
        for connection in listener.incoming() {
            serve(connection.unwrap());
            if closed.send(Instant::now()).is_err() {
                return;
            }
        }
    });
    (address, closings)
}

/// Returns as soon as the other side has closed.
fn serve(mut connection: TcpStream) {
    connection.set_nodelay(true).unwrap();
    let mut bytes = [0; 8 * 1024];
    let _request = connection.read(&mut bytes).unwrap();
    connection.write_all(BEGINNING.as_bytes()).unwrap();
    // A connection that is closed hard reads as an error, and is closed all the same.
    while connection.read(&mut bytes).is_ok_and(|count| count > 0) {}
}

/// Tells when the first piece has arrived.
struct FirstPiece(tokio::sync::Notify);

impl ChunkSink for FirstPiece {
    fn chunk(&self, _text: &str) {
        self.0.notify_one();
    }
}

fn reason() -> StopReason {
    StopReason {
        source: StopSource::User,
        mode: StopMode::Immediate,
        message: "measured".to_owned(),
        timestamp: jiff::Timestamp::UNIX_EPOCH,
    }
}

/// The times until the server saw the close, and until the caller had control.
fn interrupted_calls() -> (Vec<Duration>, Vec<Duration>) {
    let (address, closings) = server();
    let model = ProviderModel::new(ProviderConfig {
        provider: Provider::OPENAI,
        model: "m".to_owned(),
        base_url: Some(format!("http://{address}")),
        key: Some(Secret::new("a-key-of-the-bench")),
        limits: CallLimits::default(),
    })
    .unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let caller = ModelCaller::conversation(RunId::generate());
    let (mut seen, mut back) = (Vec::new(), Vec::new());
    for time in 0..WARM_UP + TIMES {
        let (stopped, returned) = runtime.block_on(async {
            let first = std::sync::Arc::new(FirstPiece(tokio::sync::Notify::new()));
            let call = ModelCall {
                chunks: Some(first.clone()),
                ..ModelCall::new(caller.clone(), vec![Message::user("Hello")])
            };
            let scope = StopScope::new();
            let (outcome, stopped) = tokio::join!(
                async {
                    let outcome = model.call(call, &scope).await;
                    (outcome, Instant::now())
                },
                async {
                    first.0.notified().await;
                    let stopped = Instant::now();
                    scope.stop(reason());
                    stopped
                }
            );
            let (outcome, returned) = outcome;
            assert!(matches!(outcome, Ok(Outcome::Interrupted { .. })));
            (stopped, returned)
        });
        let closed = closings.recv().unwrap();
        if time >= WARM_UP {
            seen.push(closed.duration_since(stopped));
            back.push(returned.duration_since(stopped));
        }
    }
    (seen, back)
}

/// The times until the server saw the close of connections without anything around them.
fn bare_connections() -> Vec<Duration> {
    let (address, closings) = server();
    let mut seen = Vec::new();
    for time in 0..WARM_UP + TIMES {
        let mut connection = TcpStream::connect(&address).unwrap();
        connection.write_all(b"POST / HTTP/1.1\r\n\r\n").unwrap();
        let mut bytes = [0; 8 * 1024];
        let _beginning = connection.read(&mut bytes).unwrap();
        let stopped = Instant::now();
        drop(connection);
        let closed = closings.recv().unwrap();
        if time >= WARM_UP {
            seen.push(closed.duration_since(stopped));
        }
    }
    seen
}

fn print(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a rank among a thousand"
        )]
        let rank = ((times.len() - 1) as f64 * share) as usize;
        times[rank]
    };
    println!(
        "{what:<52} p50 {:>9.1?}  p99 {:>9.1?}  max {:>9.1?}",
        at(0.5),
        at(0.99),
        at(1.0)
    );
}

fn main() {
    // Only `cargo bench` says so; test runners build and list benches too.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let (seen, back) = interrupted_calls();
    print("bare TCP close → seen by the server", bare_connections());
    print("interrupt → connection closed, seen by the server", seen);
    print("interrupt → caller has control, close confirmed", back);
}
