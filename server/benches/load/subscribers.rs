//! Readers of the feed, each a connection of its own.

use std::time::{Duration, Instant};

use futures_util::{StreamExt, stream};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::serving::Server;

/// How many connections are opened together.
const TOGETHER: usize = 100;
/// What every event of a message has in it.
const MARK: &[u8] = b"agent.message_added";

/// A reader that has read its greeting.
pub(crate) struct Reader(TcpStream);

/// Opens so many readers.
pub(crate) async fn open(server: &Server, count: usize) -> Vec<Reader> {
    stream::iter(0..count)
        .map(|_index| async {
            let mut reader = Reader(connect(server).await);
            reader.read_until(b"retry:").await;
            reader
        })
        .buffer_unordered(TOGETHER)
        .collect()
        .await
}

/// Asks for the feed.
pub(crate) async fn connect(server: &Server) -> TcpStream {
    let mut stream = TcpStream::connect(&server.address).await.unwrap();
    let request = format!(
        "GET /v1/events HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\r\n",
        server.address, server.token
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

impl Reader {
    async fn read_until(&mut self, mark: &[u8]) {
        let mut read = Vec::new();
        let mut chunk = [0; 2048];
        while !read.windows(mark.len()).any(|window| window == mark) {
            // Whoever comes while the feed is behind is told much else first: only what may be the beginning of the
            // mark is looked at again.
            read.drain(..read.len().saturating_sub(mark.len()));
            let count = self.0.read(&mut chunk).await.unwrap();
            assert!(count > 0, "{}", String::from_utf8_lossy(&read));
            read.extend_from_slice(&chunk[..count]);
        }
    }
}

/// Lets something happen, and waits until each reader was told. From the request to each of them.
pub(crate) async fn tell_all(server: &Server, readers: &mut [Reader]) -> Vec<Duration> {
    let agents: Value = server
        .get("/v1/agents?limit=1")
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    let agent = agents["agents"][0]["agent_id"].as_str().unwrap();
    let begun = Instant::now();
    let happening = async {
        let answer = server.happen(agent).send().await.unwrap();
        assert!(answer.status().is_success(), "{answer:?}");
    };
    let reading = futures_util::future::join_all(readers.iter_mut().map(async |reader| {
        reader.read_until(MARK).await;
        begun.elapsed()
    }));
    let ((), times) = tokio::join!(happening, reading);
    times
}
