//! A server on the network: its session, its absence, and who it is.

use std::path::Path;
use std::process::Command;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::json;

use super::stage::{Sdk, Stage, Way, command, finished, serve};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_went_away_fails_calls_and_is_greeted_anew_when_it_is_back() {
    let mut stage = Stage::new(Sdk::Python, Way::Http).await;
    let work = |name: &str| json!({"name": name, "seconds": 0.04});
    assert_eq!(
        finished(&stage.call("work", work("a")).await),
        "a has worked"
    );
    let port = stage.port();
    stage.end_elsewhere();
    let text = stage.call("work", work("b")).await.text();
    assert!(text.contains("the MCP server `s`"), "{text}");
    // It depends on whether the connection from before is used once more.
    let said = ["did not reply to a call", "refused a call"];
    assert!(said.iter().any(|said| text.contains(said)), "{text}");
    // It knows nothing of the session that there was.
    stage.start_elsewhere(port);
    let message = stage.call("work", work("c")).await;
    assert_eq!(finished(&message), "c has worked");
    assert_eq!(stage.pids().len(), 2);
}

#[test]
fn a_server_is_reached_by_tls_where_its_certificate_is_trusted_and_not_else() {
    let folder = tempfile::tempdir().unwrap();
    let in_folder = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(in_folder("certificate"), cert.pem()).unwrap();
    std::fs::write(in_folder("key"), signing_key.serialize_pem()).unwrap();
    let command = command(Sdk::Python, Way::Http);
    let variables = [
        ("KEY", &*in_folder("key")),
        ("CERTIFICATE", &*in_folder("certificate")),
    ];
    let (port, _elsewhere) = serve(&command, Path::new(&in_folder("log")), &variables);
    let text = format!("[servers.s]\nurl = \"https://localhost:{port}/mcp\"\n");
    std::fs::write(in_folder("servers.toml"), text).unwrap();
    let list = |trusted: bool| {
        let program = Path::new(env!("CARGO_BIN_EXE_tool-keeper"))
            .parent()
            .unwrap()
            .join("examples/mcp_call");
        let mut call = Command::new(program);
        call.arg(in_folder("servers.toml"));
        if trusted {
            call.env("SSL_CERT_FILE", in_folder("certificate"));
        }
        let output = call.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr))
    };
    let (tools, errors) = list(true);
    assert!(tools.contains("s__work"), "{errors}");
    let (tools, errors) = list(false);
    assert!(!tools.contains("s__work"), "{tools}");
    assert!(errors.contains("certificate"), "{errors}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_are_sent_and_a_refusal_does_not_show_them() {
    use std::io::{BufRead as _, BufReader, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let seen = std::thread::spawn(move || {
        let (mut connection, _from) = listener.accept().unwrap();
        let reader = BufReader::new(connection.try_clone().unwrap());
        let head: Vec<String> = reader
            .lines()
            .map_while(Result::ok)
            .take_while(|line| !line.is_empty())
            .collect();
        let answer = "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        connection.write_all(answer.as_bytes()).unwrap();
        head
    });
    let folder = tempfile::tempdir().unwrap();
    let table = format!(
        "url = \"http://127.0.0.1:{port}/mcp\"\nheaders = {{ Authorization = \"Bearer swordfish\" }}"
    );
    let stage = Stage::unconnected(&table, &super::stage::Setting::default(), folder);
    let failures = stage.servers.connect().await;
    let head = seen.join().unwrap().join("\n").to_lowercase();
    assert!(head.contains("authorization: bearer swordfish"), "{head}");
    let shown = format!("{} {failures:?}", failures[0].error);
    assert!(!shown.contains("swordfish"), "{shown}");
    assert!(shown.contains("403"), "{shown}");
}
