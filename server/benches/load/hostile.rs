//! Clients that are in the way: they read nothing, or never come to the end of what they say.

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::serving::Server;
use super::subscribers::connect;

/// Opens so many of each kind; they are in the way while they are held.
pub(crate) async fn open(server: &Server, count: usize) -> Vec<TcpStream> {
    let mut clients = Vec::new();
    for _client in 0..count {
        // Asks for the feed, and reads nothing of it.
        clients.push(connect(server).await);
        // Begins a head, and never ends it.
        let mut half = TcpStream::connect(&server.address).await.unwrap();
        half.write_all(b"GET /v1/runs HTTP/1.1\r\nhost: ")
            .await
            .unwrap();
        clients.push(half);
        // Announces a body, and sends one byte of it.
        let mut slow = TcpStream::connect(&server.address).await.unwrap();
        let head = format!(
            "POST /v1/runs HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n{{",
            server.address, server.token
        );
        slow.write_all(head.as_bytes()).await.unwrap();
        clients.push(slow);
    }
    clients
}
