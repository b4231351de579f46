//! What the whole stack costs for each piece of a streamed answer, beside its floors: reading the bytes with
//! the HTTP client alone, and reading the pieces with the client library alone.

#![expect(clippy::unwrap_used, reason = "a measurement that cannot go on fails")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatRequest, ChatStreamEvent};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use llm::{
    CallLimits, Conversation, ConversationConfig, Provider, ProviderConfig, ProviderModel,
    RetryPolicy, Retrying, Secret,
};

/// The pieces of an answer.
const PIECES: usize = 20_000;

/// Answers of each kind; the fastest counts.
const TIMES: usize = 7;

fn answer() -> Vec<u8> {
    let chunk = |delta: &str, finish: &str| {
        format!(
            "data: {{\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\
             \"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    let mut answer = String::from(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
    );
    answer.push_str(&chunk("{\"content\":\"word \"}", "null").repeat(PIECES));
    answer.push_str(&chunk("{}", "\"stop\""));
    answer.push_str("data: [DONE]\n\n");
    answer.into_bytes()
}

/// A server that gives the same answer on every connection.
fn server() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://{}/v1/", listener.local_addr().unwrap());
    let answer = answer();
    thread::spawn(move || {
        for connection in listener.incoming() {
            serve(connection.unwrap(), &answer);
        }
    });
    address
}

fn serve(mut connection: TcpStream, answer: &[u8]) {
    let mut request = [0; 8 * 1024];
    let _request = connection.read(&mut request).unwrap();
    connection.write_all(answer).unwrap();
}

async fn bare_http(address: &str) {
    let client = tls::client().no_proxy().build().unwrap();
    let request = client.post(address).body("{}").send().await.unwrap();
    let mut bytes = request.bytes_stream();
    while let Some(read) = bytes.next().await {
        read.unwrap();
    }
}

async fn bare_library(address: &str) {
    let http = tls::client().no_proxy().build().unwrap();
    let client = Client::builder().with_reqwest(http).build().unwrap();
    let target = ServiceTarget {
        endpoint: Endpoint::from_owned(address),
        auth: AuthData::from_single("a-key-of-the-bench"),
        model: ModelIden::new(AdapterKind::OpenAI, "m"),
    };
    let request = ChatRequest::new(vec![ChatMessage::user("Hello")]);
    let response = client.exec_chat_stream(target, request, None).await;
    let mut stream = response.unwrap().stream;
    let mut pieces = 0;
    while let Some(event) = stream.next().await {
        pieces += usize::from(matches!(event.unwrap(), ChatStreamEvent::Chunk(_)));
    }
    assert_eq!(pieces, PIECES);
}

async fn whole_stack(address: &str) {
    let model = ProviderModel::new(ProviderConfig {
        provider: Provider::OPENAI,
        model: "m".to_owned(),
        base_url: Some(address.to_owned()),
        key: Some(Secret::new("a-key-of-the-bench")),
        limits: CallLimits::default(),
    })
    .unwrap();
    let retrying = Retrying::new(model, RetryPolicy::default());
    let conversation = Conversation::new(ConversationConfig::new(Arc::new(retrying)));
    let _events = conversation.events();
    conversation.send_message("Hello").unwrap();
    conversation.run().await.unwrap();
    let said = conversation.history().entries()[1].message.text.len();
    assert_eq!(said, PIECES * "word ".len());
}

/// The fastest of some answers, for each piece.
async fn fastest(run: impl AsyncFn()) -> Duration {
    let mut fastest = Duration::MAX;
    for _ in 0..TIMES {
        let start = Instant::now();
        run().await;
        fastest = fastest.min(start.elapsed());
    }
    fastest / u32::try_from(PIECES).unwrap()
}

fn main() {
    // Only `cargo bench` says so; test runners build and list benches too.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let address = server();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let http = fastest(async || bare_http(&address).await).await;
        let library = fastest(async || bare_library(&address).await).await;
        let stack = fastest(async || whole_stack(&address).await).await;
        println!("for each piece: bytes alone {http:?}, client library {library:?}, whole stack {stack:?}");
        println!("the stack adds {:?} for each piece", stack.saturating_sub(library));
    });
}
