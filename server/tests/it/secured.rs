//! What goes over the network: TLS with the server's own certificate, cookies that stay with it, heads without tricks.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;

use futures_util::{SinkExt as _, StreamExt as _};
use interrupts::life::Role;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use reqwest::redirect::Policy;
use reqwest::{Certificate, StatusCode};
use serde_json::Value;
use server::{Remote, TlsError, TlsIdentity};
use tempfile::TempDir;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;

use crate::feed::Events;
use crate::house::{House, problem, token};
use crate::page::Browser;
use crate::scene::{open_question, running};

/// A certificate for this machine, in files.
struct Certified {
    folder: TempDir,
    pem: String,
}

impl Certified {
    fn new() -> Self {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("certificate"), cert.pem()).unwrap();
        std::fs::write(folder.path().join("key"), signing_key.serialize_pem()).unwrap();
        let pem = cert.pem();
        Self { folder, pem }
    }

    fn read(&self, certificate: &str, key: &str) -> Result<TlsIdentity, TlsError> {
        let file = |name| self.folder.path().join(name);
        TlsIdentity::read(&file(certificate), &file(key))
    }
}

#[tokio::test]
async fn over_tls_the_page_the_interface_and_the_feed_are_served_and_the_cookie_is_the_hosts_own() {
    let certified = Certified::new();
    let identity = certified.read("certificate", "key").unwrap();
    let house = House::with(|config| config.remote = Remote::OverTls(identity)).await;
    let authority = Certificate::from_pem(certified.pem.as_bytes()).unwrap();
    let client = tls::client()
        .tls_certs_only([authority])
        .redirect(Policy::none())
        .build()
        .unwrap();
    let origin = format!("https://{}", house.address);
    let lasting = token(&*house.store, "kim", Role::Reviewer).await;
    let come_in = |origin: String| {
        let typed_in = client.post(format!("https://{}/session", house.address));
        let typed_in = typed_in.header("Origin", origin);
        typed_in.form(&[("token", lasting.clone())]).send()
    };
    let cookie = come_in(origin.clone()).await.unwrap();
    let cookie = cookie.headers()["set-cookie"].to_str().unwrap().to_owned();
    let name = format!("__Host-irq_session_{}=", house.address.port());
    assert!(cookie.starts_with(&name), "{cookie}");
    for part in ["; Secure", "; Path=/", "; HttpOnly", "; SameSite=Strict"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Domain"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    for path in ["/", "/v1/runs"] {
        let read = client.get(format!("{origin}{path}"));
        let read = read.header("Cookie", cookie).send().await.unwrap();
        assert_eq!(read.status(), StatusCode::OK, "{path}");
    }
    // A page that came without it could be anybody's on the way.
    let plain = come_in(format!("http://{}", house.address)).await.unwrap();
    assert_eq!(plain.status(), StatusCode::FORBIDDEN);
    let run = running(&*house.store, None).await;
    let events = client.get(format!("{origin}/v1/events?after_seq=0"));
    let events = events.bearer_auth(&house.tokens["viewer"]);
    let mut events = Events::of(events.send().await.unwrap());
    let told = events.next().await.unwrap();
    assert!(told.data.to_string().contains(&run.id.to_string()));
    // Whoever speaks plain text is told nothing.
    let mut plain = TcpStream::connect(house.address).unwrap();
    plain
        .write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    let mut answer = Vec::new();
    let _cut = tokio::task::spawn_blocking(move || plain.read_to_end(&mut answer).map(|_| answer));
    house.close().await;
}

#[tokio::test]
async fn over_tls_the_socket_takes_and_tells_what_it_does_without() {
    let certified = Certified::new();
    let identity = certified.read("certificate", "key").unwrap();
    let house = House::with(|config| config.remote = Remote::OverTls(identity)).await;
    running(&*house.store, Some("thread-123")).await;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(certified.pem.as_bytes()) {
        roots.add(certificate.unwrap()).unwrap();
    }
    let provider = tls::provider();
    let trusting = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = tokio::net::TcpStream::connect(house.address).await.unwrap();
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let connector = TlsConnector::from(Arc::new(trusting));
    let stream = connector.connect(name, stream).await.unwrap();
    let request = format!("wss://{}/v1/ws", house.address);
    let mut request = request.into_client_request().unwrap();
    let bearer = HeaderValue::try_from(format!("Bearer {}", house.tokens["supervisor"])).unwrap();
    request.headers_mut().insert("authorization", bearer);
    let (mut socket, _response) = client_async(request, stream).await.unwrap();
    let order = r#"{"type":"interrupt","payload":{"thread_id":"thread-123","reason":"user_interrupt"},"id":"msg-001"}"#;
    socket.send(Message::text(order)).await.unwrap();
    for kind in ["welcome", "interrupt_ack"] {
        let told = socket.next().await.unwrap().unwrap();
        let told: Value = serde_json::from_str(told.to_text().unwrap()).unwrap();
        assert_eq!(told["type"], kind, "{told:#}");
    }
    // Without TLS there is no socket at that address.
    let plain = tokio::net::TcpStream::connect(house.address).await.unwrap();
    let request = format!("ws://{}/v1/ws", house.address);
    assert!(client_async(request, plain).await.is_err());
}

#[tokio::test]
async fn behind_a_proxy_the_cookie_is_secure_too_and_only_pages_over_tls_are_its_own() {
    let house = House::with(|config| {
        config.remote = Remote::BehindProxy;
        config.hosts = vec!["irq.example.org".to_owned()];
    })
    .await;
    let come_in = async |origin: &str| {
        let client = crate::page::client();
        let typed_in = client.post(house.url("/session")).header("Origin", origin);
        let typed_in = typed_in.header("Host", "irq.example.org");
        let form = [("token", &house.tokens["reviewer"])];
        typed_in.form(&form).send().await.unwrap()
    };
    let cookie = come_in("https://irq.example.org").await;
    let cookie = cookie.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.starts_with("__Host-irq_session_") && cookie.contains("; Secure"));
    let plain = come_in("http://irq.example.org").await;
    assert_eq!(plain.status(), StatusCode::FORBIDDEN);
}

#[test]
fn a_certificate_that_cannot_be_shown_says_which_file_and_why() {
    let (one, other) = (Certified::new(), Certified::new());
    let key = std::fs::read(other.folder.path().join("key")).unwrap();
    std::fs::write(one.folder.path().join("other key"), key).unwrap();
    std::fs::write(one.folder.path().join("nothing"), "nothing of that kind").unwrap();
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    std::fs::write(one.folder.path().join("broken"), broken).unwrap();
    for (certificate, key, says) in [
        ("absent", "key", "absent cannot be read"),
        ("certificate", "absent", "absent cannot be read"),
        ("nothing", "key", "nothing holds no certificate as PEM"),
        ("key", "key", "key holds no certificate as PEM"),
        (
            "certificate",
            "certificate",
            "certificate holds no private key",
        ),
        ("certificate", "other key", "is not that of the certificate"),
        ("broken", "key", "broken cannot be used"),
    ] {
        let error = one.read(certificate, key).unwrap_err().to_string();
        assert!(error.contains(says), "{certificate}, {key}: {error}");
    }
    assert!(one.read("certificate", "key").is_ok());
}

#[tokio::test]
async fn two_servers_on_one_host_leave_each_others_sessions_alone() {
    let (one, other) = (House::open().await, House::open().await);
    let name = |cookie: &str| cookie.split('=').next().unwrap().to_owned();
    let first = Browser::of(&one, "alex", Role::Reviewer).await;
    let second = Browser::of(&other, "alex", Role::Reviewer).await;
    assert_ne!(name(&first.cookie), name(&second.cookie));
    // A browser sends both to both.
    let both = format!("{}; {}", first.cookie, second.cookie);
    for house in [&one, &other] {
        let read = house
            .client
            .get(house.url("/v1/runs"))
            .header("Cookie", &both);
        assert_eq!(read.send().await.unwrap().status(), StatusCode::OK);
    }
}

#[tokio::test]
async fn the_secret_of_a_cookie_is_no_token_and_a_token_no_secret_of_a_cookie() {
    let house = House::open().await;
    let browser = Browser::of(&house, "alex", Role::Reviewer).await;
    let (name, session) = browser.cookie.split_once('=').unwrap();
    let as_bearer = house.client.get(house.url("/v1/runs")).bearer_auth(session);
    problem(as_bearer.send().await.unwrap(), StatusCode::UNAUTHORIZED).await;
    let token = &house.tokens["admin"];
    let as_cookie = house.client.get(house.url("/v1/runs"));
    let as_cookie = as_cookie.header("Cookie", format!("{name}={token}"));
    problem(as_cookie.send().await.unwrap(), StatusCode::UNAUTHORIZED).await;
    let itself = house.client.get(house.url("/v1/runs"));
    let itself = itself
        .header("Cookie", &browser.cookie)
        .send()
        .await
        .unwrap();
    assert_eq!(itself.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_session_that_an_earlier_version_gave_the_form_of_a_token_is_none() {
    let house = House::open().await;
    let secret = format!("irq_{}", "6".repeat(64));
    let lasting = interrupts::Digest::of(house.tokens["admin"].as_bytes());
    let session = interrupts::store::NewToken {
        digest: interrupts::Digest::of(secret.as_bytes()),
        name: interrupts::ActorName::new("admin").unwrap(),
        role: Role::Operator,
        lifetime: None,
        once: false,
        of: Some(lasting),
        scope: None,
        by: None,
    };
    house.store.put_token(session).await.unwrap();
    let read = house.client.get(house.url("/v1/runs")).bearer_auth(secret);
    problem(read.send().await.unwrap(), StatusCode::UNAUTHORIZED).await;
}

/// The answer to a request that is written by hand.
async fn answered(house: &House, head: String) -> String {
    let address = house.address;
    let asked = tokio::task::spawn_blocking(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        let _reset = stream.read_to_string(&mut answer);
        answer
    });
    asked.await.unwrap()
}

#[tokio::test]
async fn a_second_authorization_a_host_with_a_user_and_a_head_that_is_too_large_are_refused() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    open_question(&*house.store, &run).await;
    let bearer = format!("Authorization: Bearer {}\r\n", house.tokens["admin"]);
    let other = format!("Authorization: Bearer {}\r\n", house.tokens["viewer"]);
    let get =
        |headers: &str| format!("GET /v1/runs HTTP/1.1\r\nConnection: close\r\n{headers}\r\n");
    let host = "Host: 127.0.0.1\r\n";
    let long = |bytes: usize| format!("{host}{bearer}X-Long: {}\r\n", "x".repeat(bytes));
    let many: String = (0..80)
        .map(|number| format!("X-{number}: {}\r\n", "x".repeat(250)))
        .collect();
    for (head, status, is_told) in [
        (format!("{host}{bearer}"), 200, false),
        (format!("{host}{bearer}{other}"), 400, true),
        (format!("{host}{bearer}{bearer}"), 400, true),
        (
            format!("{host}Authorization: Basic eA==\r\n{bearer}"),
            400,
            true,
        ),
        (format!("Host: evil@127.0.0.1\r\n{bearer}"), 400, true),
        (
            format!("Host: 127.0.0.1:80@evil.example.org\r\n{bearer}"),
            400,
            true,
        ),
        (format!("Host: 127.0.0.1:port\r\n{bearer}"), 400, true),
        (long(12_000), 200, false),
        (long(16_400), 431, true),
        (format!("{host}{bearer}{many}"), 431, true),
        (long(300_000), 431, false),
    ] {
        let answer = answered(&house, get(&head)).await;
        let begins = format!("HTTP/1.1 {status} ");
        assert!(
            answer.starts_with(&begins),
            "{}: {answer}",
            &head[..head.len().min(120)]
        );
        assert_eq!(
            answer.contains("application/problem+json"),
            is_told,
            "{answer}"
        );
    }
}
