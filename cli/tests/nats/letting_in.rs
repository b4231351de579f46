//! Brokers that do not let every client do everything: passwords, TLS, permissions.

use std::path::PathBuf;

use async_nats::{Client, ConnectOptions, HeaderMap};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tempfile::TempDir;
use tests::nats::NatsServer;

use crate::scene::Scene;

/// The files of a certificate for `localhost`.
struct Certificate {
    _folder: TempDir,
    certificate: PathBuf,
    key: PathBuf,
}

fn certificate() -> Certificate {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (
        folder.path().join("cert.pem"),
        folder.path().join("key.pem"),
    );
    std::fs::write(&certificate, cert.pem()).unwrap();
    std::fs::write(&key, signing_key.serialize_pem()).unwrap();
    Certificate {
        _folder: folder,
        certificate,
        key,
    }
}

#[tokio::test]
async fn events_are_published_over_tls_with_a_password_alone() {
    let files = certificate();
    let (certificate, key) = (
        files.certificate.to_str().unwrap(),
        files.key.to_str().unwrap(),
    );
    let arguments = ["--tls", "--tlscert", certificate, "--tlskey", key];
    let password = ["--user", "ada", "--pass", "secret"];
    let Some(nats) = NatsServer::start_with(&[&arguments[..], &password].concat()) else {
        return;
    };
    let host = nats.address().replace("127.0.0.1", "localhost");
    let Some(scene) = Scene::with(nats) else {
        return;
    };
    // Without the certificate the broker could be another one; with another password it lets nothing in.
    for wrong in [
        format!("tls://ada:secret@{host}"),
        format!("nats://ada:secret@{host}"),
        format!("tls://ada:wrong@{host}?ca={certificate}"),
        format!("tls://{host}?ca={certificate}"),
    ] {
        let server = scene.serve_at(&wrong, &[]);
        assert!(server.said.contains("as soon as"), "{}", server.said);
        scene.says(&server, "bus: away").await;
        assert_eq!(server.stops(), Some(0));
    }
    let server = scene.serve_at(&format!("tls://ada:secret@{host}?ca={certificate}"), &[]);
    assert!(
        server
            .said
            .contains(&format!("Publishing to tls://ada@{host}")),
        "{}",
        server.said
    );
    let run = scene.start(&server).await;
    scene.ends(&server, &run).await;
    let through = scene.is_published().await;
    assert!(through > 10);
    scene.says(&server, "bus: there, 0 events wait").await;
}

/// What the guide says that a server and a supervisor need.
const PERMISSIONS: &str = r#"
authorization {
  users: [
    { user: irq, password: one, permissions: {
        publish: ["irq.v1.acme.>", "$JS.API.STREAM.INFO.IRQ_EVENTS", "$JS.API.STREAM.CREATE.IRQ_EVENTS", "$JS.API.STREAM.MSG.GET.IRQ_EVENTS",
        "_INBOX.>"]
        subscribe: ["irq.v1.acme.cmd.*", "_INBOX.>"] } }
    { user: ada, password: two, permissions: {
        publish: ["irq.v1.acme.cmd.reroute"]
        subscribe: ["irq.v1.acme.*.*.*.*", "_INBOX.>"] } }
  ]
}
"#;

async fn connected(scene: &Scene, user: &str, password: &str) -> Client {
    let options = ConnectOptions::with_user_and_password(user.to_owned(), password.to_owned());
    options.connect(scene.nats.address()).await.unwrap()
}

#[tokio::test]
async fn a_server_and_a_supervisor_need_no_more_than_the_guide_says() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("nats.conf");
    std::fs::write(&config, PERMISSIONS).unwrap();
    let Some(nats) = NatsServer::start_with(&["--config", config.to_str().unwrap()]) else {
        return;
    };
    let Some(scene) = Scene::with(nats) else {
        return;
    };
    let address = format!("nats://irq:one@{}?tenant=acme", scene.nats.address());
    let server = scene.serve_at(&address, &["--pace", "20"]);
    assert!(
        server.said.contains("Publishing to nats://irq@"),
        "{}",
        server.said
    );
    let supervisor = connected(&scene, "ada", "two").await;
    let mut events = supervisor.subscribe("irq.v1.acme.*.*.*.*").await.unwrap();
    // Tokens go with commands, so no supervisor may listen to those of others.
    let mut foreign = supervisor.subscribe("irq.v1.acme.cmd.*").await.unwrap();
    supervisor.flush().await.unwrap();
    let run = scene.start(&server).await;
    let told = futures_util::StreamExt::next(&mut events).await.unwrap();
    assert!(told.subject.contains(&run), "{}", told.subject);
    let asked =
        supervisor.request_with_headers("irq.v1.acme.cmd.reroute", HeaderMap::new(), "{}".into());
    let answer = asked.await.unwrap();
    let problem: serde_json::Value = serde_json::from_slice(&answer.payload).unwrap();
    assert_eq!(problem["code"], "unauthenticated", "{problem}");
    let heard = futures_util::FutureExt::now_or_never(futures_util::StreamExt::next(&mut foreign));
    assert!(heard.is_none(), "{heard:?}");
    let through = scene.is_published().await;
    assert!(through > 0);
}

#[tokio::test]
async fn no_supervisor_gives_the_broker_orders_by_naming_them_as_its_reply_subject() {
    let Some(scene) = Scene::new() else { return };
    let server = scene.serve();
    let run = scene.start(&server).await;
    scene.ends(&server, &run).await;
    let through = scene.is_published().await;
    let supervisor = scene.supervisor().await;
    let command = "irq.v1.local.cmd.reroute";
    for order in [
        "$JS.API.STREAM.DELETE.IRQ_EVENTS",
        "irq.v1.local.-.-.rule.created",
    ] {
        let sent = supervisor.publish_with_reply(command, order, "{}".into());
        sent.await.unwrap();
    }
    // Both have been refused by then, without an answer.
    for _later in 0..4 {
        supervisor.request(command, "{}".into()).await.unwrap();
    }
    assert_eq!(scene.heard().await.len() as u64, through);
}
