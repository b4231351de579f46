//! How a session with a PostgreSQL server begins, before the server has let anybody in.

use store::{PostgresLocation, PostgresStore, StoreSettings};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What a session is asked for with: names and values, each with a zero byte behind it (PostgreSQL, "Message Formats",
/// StartupMessage).
async fn asked_with(stream: &mut TcpStream) -> String {
    let length = stream.read_u32().await.unwrap();
    let mut message = vec![0; usize::try_from(length).unwrap() - 4];
    stream.read_exact(&mut message).await.unwrap();
    String::from_utf8_lossy(&message).replace('\0', " ")
}

/// Refuses a session with this code.
async fn is_refused(mut stream: TcpStream, code: &str) {
    let fields = format!("SFATAL\0C{code}\0Mno such session\0\0");
    stream.write_u8(b'E').await.unwrap();
    let length = u32::try_from(fields.len() + 4).unwrap();
    stream.write_u32(length).await.unwrap();
    stream.write_all(fields.as_bytes()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_learns_at_once_how_long_it_waits_in_silence_and_a_pooler_need_not_know_how() {
    let pooler = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = pooler.local_addr().unwrap().port();
    let address = format!("postgres://me@127.0.0.1:{port}/runs?options=-c%20work_mem=8MB");
    let place: PostgresLocation = address.parse().unwrap();
    let opening =
        tokio::spawn(async move { PostgresStore::open(&place, StoreSettings::default()).await });
    let (mut first, _from) = pooler.accept().await.unwrap();
    let asked = asked_with(&mut first).await;
    assert!(
        asked.contains("-c work_mem=8MB -c tcp_user_timeout=15s"),
        "{asked}"
    );
    assert!(asked.contains("tcp_keepalives_idle=5"), "{asked}");
    // As a pooler says that it takes no such parameter.
    is_refused(first, "08P01").await;
    let (mut second, _from) = pooler.accept().await.unwrap();
    let asked = asked_with(&mut second).await;
    assert!(asked.contains("options -c work_mem=8MB "), "{asked}");
    assert!(!asked.contains("tcp_"), "{asked}");
    is_refused(second, "28000").await;
    let refused = opening.await.unwrap().err().unwrap().to_string();
    assert!(refused.contains("no such session"), "{refused}");
}
