//! How long a server that stops waits for what is open.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use crate::serving::Installation;

/// After how long a client that is still waited for sends what is missing.
const HESITATES: Duration = Duration::from_secs(5);

/// A client that has sent half of a request; whether it was cut off before it sent the rest.
fn hesitating(installation: &Installation) -> impl FnOnce() -> bool + Send + 'static {
    let whole = installation.post("/v1/runs", &json!({"goal": "Describe the bakery"}));
    let whole = whole.build().unwrap();
    let (headers, body) = (whole.headers(), whole.body().unwrap().as_bytes().unwrap());
    let authority = whole.url().authority().to_owned();
    let mut head = format!("POST /v1/runs HTTP/1.1\r\nHost: {authority}\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {}\r\n", value.to_str().unwrap());
    }
    head += &format!("Content-Length: {}\r\n\r\n", body.len());
    let mut client = TcpStream::connect(&authority).unwrap();
    let (now, later) = body.split_at(body.len() / 2);
    client.write_all(head.as_bytes()).unwrap();
    client.write_all(now).unwrap();
    let later = later.to_vec();
    move || {
        client.set_read_timeout(Some(HESITATES)).unwrap();
        match client.read(&mut [0; 1]) {
            Err(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) => {
                client.write_all(&later).unwrap();
                let _answer = client.read_to_end(&mut Vec::new());
                false
            }
            Ok(count) => count == 0,
            Err(_reset) => true,
        }
    }
}

#[tokio::test]
async fn a_server_that_stops_waits_for_open_requests_as_long_as_it_is_told() {
    for (drain, is_cut) in [("200ms", true), ("1h", false)] {
        let installation = Installation::new();
        let server = installation.serve_with(&["--drain-timeout", drain]);
        let client = hesitating(&installation);
        // What was sent before it is there when this is answered.
        installation.json("/v1/runs").await;
        let client = std::thread::spawn(client);
        let (code, told) = server.terminate();
        assert_eq!(client.join().unwrap(), is_cut, "{drain}: {told}");
        assert_eq!(code, Some(i32::from(is_cut)), "{drain}: {told}");
        assert_eq!(told.contains("1 connection was cut"), is_cut, "{told}");
    }
}
