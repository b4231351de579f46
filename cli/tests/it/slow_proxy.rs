//! A proxy before a server that holds back what it answers, as a slow network does.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Answers to requests whose paths begin so come late.
pub(crate) struct SlowProxy {
    pub(crate) url: String,
    held: Arc<AtomicUsize>,
}

/// What of a server comes late, and how late.
#[derive(Clone)]
struct Way {
    server: String,
    slow: &'static str,
    delay: Duration,
    held: Arc<AtomicUsize>,
}

impl SlowProxy {
    /// A proxy before the server at this address. It ends with the process.
    pub(crate) fn before(server: &str, slow: &'static str, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let way = Way {
            server: server.trim_start_matches("http://").to_owned(),
            slow,
            delay,
            held: Arc::default(),
        };
        let held = Arc::clone(&way.held);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (way, client) = (way.clone(), client.unwrap());
                // A client that went away is none of the proxy's business.
                thread::spawn(move || way.carry(client).is_ok());
            }
        });
        Self { url, held }
    }

    /// Waits until the server has answered something that has not arrived yet.
    pub(crate) fn until_something_is_on_its_way(&self) {
        while self.held.load(Ordering::SeqCst) == 0 {
            thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Way {
    /// Carries one request, and its answer.
    fn carry(&self, client: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(client.try_clone()?);
        let (mut head, mut length, mut path) = (String::new(), 0_usize, String::new());
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let lower = line.to_ascii_lowercase();
            if head.is_empty() {
                path = line.split(' ').nth(1).unwrap_or_default().to_owned();
            }
            if let Some(told) = lower.strip_prefix("content-length:") {
                length = told.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
            if !lower.starts_with("host:") && !lower.starts_with("connection:") {
                head.push_str(&line);
            }
        }
        head.push_str(&format!(
            "host: {}\r\nconnection: close\r\n\r\n",
            self.server
        ));
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let mut server = TcpStream::connect(&self.server)?;
        server.write_all(head.as_bytes())?;
        server.write_all(&body)?;
        if path.starts_with(self.slow) {
            let mut answer = Vec::new();
            server.read_to_end(&mut answer)?;
            self.held.fetch_add(1, Ordering::SeqCst);
            thread::sleep(self.delay);
            self.held.fetch_sub(1, Ordering::SeqCst);
            return (&client).write_all(&answer);
        }
        // A feed has no end: what comes of it goes on at once.
        let mut piece = vec![0; 16 << 10];
        loop {
            let length = server.read(&mut piece)?;
            if length == 0 {
                return Ok(());
            }
            (&client).write_all(&piece[..length])?;
        }
    }
}
