//! What a server writes to its log.

use std::io::{BufRead as _, BufReader, Read as _};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::program::{irq, spawn};

#[test]
fn answers_are_logged_as_json_and_no_address_lets_anybody_in() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = irq();
    command
        .args(["serve", "--quiet", "--listen", "127.0.0.1:0", "--workspace"])
        .arg(folder.path())
        .env("IRQ_LOG", "access=info,irq=info")
        .env("IRQ_LOG_FORMAT", "json")
        .env("IRQ_STORE", folder.path().join("irq.db"));
    let mut server = spawn(&mut command);
    let mut errors = BufReader::new(server.stderr.take().unwrap());
    let mut told = String::new();
    let address = loop {
        let mut line = String::new();
        errors.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "it did not start: {told}");
        let line: Value = serde_json::from_str(&line).unwrap();
        let message = line["message"].as_str().unwrap();
        if let Some(served) = message.strip_prefix("Serving on http://") {
            break served.trim_end_matches('.').to_owned();
        }
        told.push_str(&line.to_string());
    };
    let answer = answer_of(&address);
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    kill_process(Pid::from_child(&server), Signal::TERM).unwrap();
    assert!(server.wait().unwrap().success());
    let mut rest = String::new();
    errors.read_to_string(&mut rest).unwrap();
    let lines: Vec<Value> = rest
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let asked = lines
        .iter()
        .find(|line| line["target"] == "access")
        .unwrap();
    assert_eq!(asked["route"], "/v1/runs/{run_id}");
    assert_eq!(asked["status"], 401);
    assert_eq!(asked["method"], "GET");
    assert!(asked["ms"].is_number());
    let mut output = String::new();
    server
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut output)
        .unwrap();
    assert_eq!(output, "");
    assert!(
        !rest.contains("launch=") && !rest.contains("secret-in-a-path"),
        "{rest}"
    );
}

/// What a server answers to a request without a token.
fn answer_of(address: &str) -> String {
    use std::io::Write as _;
    let mut connection = std::net::TcpStream::connect(address).unwrap();
    let request =
        "GET /v1/runs/secret-in-a-path HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    connection.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    answer
}
