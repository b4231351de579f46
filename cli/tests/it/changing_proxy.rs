//! A proxy before a server, through which a question reads otherwise than it stands: as if it were changed later.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// What precedes the digest of what is shown, in an answer.
const DIGEST: &[u8] = b"\"shown\":\"";

/// Answers about interrupts are changed until it is told otherwise. All else passes as it is, streams included.
pub(crate) struct ChangingProxy {
    pub(crate) url: String,
    changes: Arc<AtomicBool>,
}

impl ChangingProxy {
    /// A proxy before the server at this address that shows one text for another of the same length, with a digest of its
    /// own. It ends with the process.
    pub(crate) fn before(server: &str, stands: &'static str, shown: &'static str) -> Self {
        assert_eq!(stands.len(), shown.len(), "the length of an answer stays");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = server.trim_start_matches("http://").to_owned();
        let changes = Arc::new(AtomicBool::new(true));
        let told = Arc::clone(&changes);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (server, told, client) = (server.clone(), Arc::clone(&told), client.unwrap());
                // A client that went away is none of the proxy's business.
                thread::spawn(move || carry(&client, &server, &told, (stands, shown)).is_ok());
            }
        });
        Self { url, changes }
    }

    /// From now on everything is told as it stands.
    pub(crate) fn is_honest(&self) {
        self.changes.store(false, Ordering::SeqCst);
    }
}

/// Carries one request, and its answer.
fn carry(
    client: &TcpStream,
    server: &str,
    told: &AtomicBool,
    (stands, shown): (&str, &str),
) -> std::io::Result<()> {
    let mut reader = BufReader::new(client.try_clone()?);
    let (mut head, mut length) = (String::new(), 0_usize);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let lower = line.to_ascii_lowercase();
        if let Some(said) = lower.strip_prefix("content-length:") {
            length = said.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
        if !["host:", "connection:", "accept-encoding:"]
            .iter()
            .any(|name| lower.starts_with(name))
        {
            head.push_str(&line);
        }
    }
    let is_about_interrupts = head.starts_with("GET /v1/records/interrupt");
    head.push_str(&format!("host: {server}\r\nconnection: close\r\n\r\n"));
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut server = TcpStream::connect(server)?;
    server.write_all(head.as_bytes())?;
    server.write_all(&body)?;
    if !is_about_interrupts {
        return std::io::copy(&mut server, &mut &*client).map(|_bytes| ());
    }
    let mut answer = Vec::new();
    server.read_to_end(&mut answer)?;
    if told.load(Ordering::SeqCst) {
        replace(&mut answer, stands.as_bytes(), shown.as_bytes());
        forge(&mut answer);
    }
    (&*client).write_all(&answer)
}

/// Puts one text in the place of another one of its length.
fn replace(answer: &mut [u8], stands: &[u8], shown: &[u8]) {
    for start in 0..answer.len().saturating_sub(stands.len()) {
        if answer[start..].starts_with(stands) {
            answer[start..start + shown.len()].copy_from_slice(shown);
        }
    }
}

/// Makes each digest of what is shown another one.
fn forge(answer: &mut [u8]) {
    for start in DIGEST.len()..answer.len() {
        if answer[..start].ends_with(DIGEST) {
            answer[start..start + 64].fill(b'a');
        }
    }
}
