//! What an attacker tries, each line of it refused.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::num::NonZeroU32;
use std::time::Duration;

use interrupts::life::Role;
use interrupts::store::Page;
use reqwest::StatusCode;
use serde_json::json;
use server::{Remote, ServeError, ServerConfig, serve};
use store::{MemoryStore, StoreSettings};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_util::sync::CancellationToken;

use crate::house::{House, problem};
use crate::scene::{open_question, running};

#[tokio::test]
async fn a_name_that_was_bound_to_this_machine_by_somebody_else_is_refused() {
    let house = House::open().await;
    for host in [
        "evil.example.org",
        "evil.example.org:7070",
        "127.0.0.1.evil.example.org",
    ] {
        for path in ["/v1/runs", "/", "/livez", "/openapi.json"] {
            let response = house
                .get("admin", path)
                .header("Host", host)
                .send()
                .await
                .unwrap();
            problem(response, StatusCode::MISDIRECTED_REQUEST).await;
        }
    }
}

#[tokio::test]
async fn the_page_of_another_site_can_neither_read_nor_change_nor_open_a_socket() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    for origin in ["https://evil.example.org", "null", "http://localhost:1"] {
        for path in ["/v1/runs", "/v1/events"] {
            let response = house
                .get("admin", path)
                .header("Origin", origin)
                .send()
                .await
                .unwrap();
            problem(response, StatusCode::FORBIDDEN).await;
        }
        let path = format!("/v1/runs/{}/cancel", run.id);
        let response = house
            .post("admin", &path, &json!({}))
            .header("Origin", origin)
            .send()
            .await
            .unwrap();
        assert!(
            response
                .headers()
                .get("access-control-allow-origin")
                .is_none()
        );
        problem(response, StatusCode::FORBIDDEN).await;
        let mut request = format!("ws://{}/v1/ws", house.address)
            .into_client_request()
            .unwrap();
        let bearer = format!("Bearer {}", house.tokens["admin"]);
        let headers = request.headers_mut();
        headers.insert("authorization", HeaderValue::try_from(bearer).unwrap());
        headers.insert("origin", HeaderValue::try_from(origin).unwrap());
        let refused = tokio_tungstenite::connect_async(request).await.unwrap_err();
        assert!(refused.to_string().contains("403"), "{refused}");
    }
}

#[tokio::test]
async fn a_body_that_is_large_deep_doubled_positional_or_rounded_is_refused() {
    let house = House::with(|config| config.limits.body_bytes = 10_000).await;
    let run = running(&*house.store, None).await;
    let path = format!("/v1/agents/{}%2Forchestrator/messages", run.id);
    let deep = format!(r#"{{"text":{}{}}}"#, "[".repeat(1_000), "]".repeat(1_000));
    let large = json!({"text": "x".repeat(10_001)}).to_string();
    for (body, status) in [
        (deep, 400),
        (large, 413),
        (r#"{"text":"a","text":"b"}"#.to_owned(), 400),
        (r#"["a"]"#.to_owned(), 422),
        (r#"{"text":100000000000000000000000}"#.to_owned(), 422),
        (r#"{"text":"a","more":1}"#.to_owned(), 422),
        (r#"{"text":"a"} {"#.to_owned(), 400),
        ("\u{feff}{}".to_owned(), 400),
    ] {
        let response = house
            .client
            .post(house.url(&path))
            .bearer_auth(&house.tokens["admin"])
            .header("content-type", "application/json")
            .body(body.clone())
            .send()
            .await
            .unwrap();
        problem(response, StatusCode::from_u16(status).unwrap()).await;
    }
    let response = house
        .client
        .post(house.url(&path))
        .bearer_auth(&house.tokens["admin"])
        .header("content-type", "text/plain")
        .body(r#"{"text":"a"}"#)
        .send()
        .await
        .unwrap();
    problem(response, StatusCode::UNSUPPORTED_MEDIA_TYPE).await;
    let page = Page {
        after: 0,
        limit: 10,
    };
    assert_eq!(house.store.messages(run.id, page).await.unwrap(), []);
}

#[tokio::test]
async fn a_head_or_a_body_that_never_ends_is_cut_off_and_others_are_served() {
    let house = House::with(|config| {
        config.limits.head_time = Duration::from_millis(100);
        config.limits.body_time = Duration::from_millis(100);
    })
    .await;
    let address = house.address;
    let token = house.tokens["admin"].clone();
    let slow = tokio::task::spawn_blocking(move || {
        let mut head = TcpStream::connect(address).unwrap();
        head.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Slow:")
            .unwrap();
        let mut body = TcpStream::connect(address).unwrap();
        let start = format!(
            "POST /v1/tokens HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
        );
        body.write_all(start.as_bytes()).unwrap();
        let mut answers = Vec::new();
        for stream in [&mut head, &mut body] {
            stream
                .set_read_timeout(Some(Duration::from_secs(20)))
                .unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answers.push(answer);
        }
        answers
    });
    let served = house.client.get(house.url("/livez")).send().await.unwrap();
    assert_eq!(served.status(), StatusCode::OK);
    let answers = slow.await.unwrap();
    assert!(!answers[0].contains("200"), "{}", answers[0]);
    assert!(answers[1].starts_with("HTTP/1.1 408"), "{}", answers[1]);
}

#[tokio::test]
async fn a_flood_of_one_caller_is_slowed_and_another_is_not() {
    let house = House::with(|config| {
        config.limits.requests_per_second = NonZeroU32::MIN;
        config.limits.request_burst = NonZeroU32::new(5).unwrap();
    })
    .await;
    let mut refused = 0;
    for _ in 0..20 {
        let response = house.get("viewer", "/v1/runs").send().await.unwrap();
        if response.status() == StatusCode::TOO_MANY_REQUESTS {
            assert!(response.headers().contains_key("retry-after"));
            refused += 1;
        }
    }
    assert!(refused >= 10, "{refused}");
    let other = house.get("reviewer", "/v1/runs").send().await.unwrap();
    assert_eq!(other.status(), StatusCode::OK);
}

#[tokio::test]
async fn guessing_tokens_is_slowed_and_holders_are_not() {
    let house = House::with(|config| {
        config.limits.failures_per_minute = NonZeroU32::new(3).unwrap();
    })
    .await;
    let mut statuses = Vec::new();
    for number in 0..6 {
        let guess = format!("irq_{number:064}");
        let response = house.client.get(house.url("/v1/runs")).bearer_auth(guess);
        statuses.push(response.send().await.unwrap().status().as_u16());
    }
    assert_eq!(statuses, [401, 401, 401, 429, 429, 429]);
    let holder = house.get("viewer", "/v1/runs").send().await.unwrap();
    assert_eq!(holder.status(), StatusCode::OK);
}

#[tokio::test]
async fn more_connections_than_allowed_wait_and_are_not_lost() {
    let house = House::with(|config| config.limits.connections = 2).await;
    let one = TcpStream::connect(house.address).unwrap();
    let two = TcpStream::connect(house.address).unwrap();
    let request = house.client.get(house.url("/livez")).send();
    tokio::pin!(request);
    let early = tokio::time::timeout(Duration::from_millis(200), &mut request).await;
    assert!(early.is_err(), "a third connection was served at once");
    drop((one, two));
    assert_eq!(request.await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn no_answer_names_a_secret_and_none_may_be_framed_sniffed_or_kept() {
    let house = House::open().await;
    let secret = format!("irq_{}", "7".repeat(64));
    let response = house
        .client
        .get(house.url(&format!("/v1/runs?ticket={secret}&status={secret}")))
        .bearer_auth(&house.tokens["viewer"])
        .send()
        .await
        .unwrap();
    let headers = response.headers().clone();
    assert_eq!(headers["cache-control"], "no-store");
    assert_eq!(headers["x-content-type-options"], "nosniff");
    assert_eq!(headers["referrer-policy"], "same-origin");
    let policy = headers["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
    let text = response.text().await.unwrap();
    assert!(!text.contains(&house.tokens["viewer"]), "{text}");
    let unknown = house
        .client
        .get(house.url("/v1/runs"))
        .bearer_auth(&secret)
        .send()
        .await
        .unwrap();
    assert!(!unknown.text().await.unwrap().contains(&secret));
}

#[tokio::test]
async fn who_decided_is_taken_from_the_token_and_never_from_the_request() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let path = format!("/v1/interrupts/{}/decisions", asked.id);
    let response = house
        .post("reviewer", &path, &json!({"decision": "approve"}))
        .header("If-Match", format!("\"{}\"", asked.version))
        .header("X-User", "boss")
        .header("X-Forwarded-User", "boss")
        .send()
        .await
        .unwrap();
    let decided: serde_json::Value = response.json().await.unwrap();
    assert_eq!(decided["by"], "reviewer");
}

#[tokio::test]
async fn a_server_for_other_machines_starts_only_when_told_and_with_a_token() {
    let start = async |remote: Remote, with_token: bool| {
        let store = std::sync::Arc::new(MemoryStore::new(StoreSettings::default()));
        if with_token {
            crate::house::token(&*store, "somebody", Role::Observer).await;
        }
        let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.unwrap();
        let mut config = ServerConfig::new(store, std::sync::Arc::new(interrupts::NoNotifier));
        config.remote = remote;
        let stop = CancellationToken::new();
        stop.cancel();
        serve(listener, config, stop).await
    };
    assert!(matches!(
        start(Remote::Refused, true).await,
        Err(ServeError::Remote { .. })
    ));
    assert!(matches!(
        start(Remote::BehindProxy, false).await,
        Err(ServeError::NoTokens)
    ));
    assert!(start(Remote::BehindProxy, true).await.is_ok());
}
