//! A broker that lets in by a file of credentials, as an operator gives it out.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use nkeys::KeyPair;
use serde_json::{Value, json};
use tests::nats::NatsServer;

use crate::scene::Scene;

/// A statement about a key that another key signs.
fn signed(issuer: &KeyPair, subject: &KeyPair, nats: &Value) -> String {
    let subject = subject.public_key();
    let claims = json!({"jti": subject, "iat": 1_700_000_000, "iss": issuer.public_key(), "name": "test",
        "sub": subject, "nats": nats});
    let head = json!({"typ": "JWT", "alg": "ed25519-nkey"});
    let parts = [head, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
    let text = parts.join(".");
    let signature = URL_SAFE_NO_PAD.encode(issuer.sign(text.as_bytes()).unwrap());
    format!("{text}.{signature}")
}

/// What an account may use: everything, or everything but JetStream.
fn account(storage: i32) -> Value {
    json!({"type": "account", "version": 2, "limits": {"subs": -1, "data": -1, "payload": -1, "imports": -1,
        "exports": -1, "wildcards": true, "conn": -1, "leaf": -1, "mem_storage": storage,
        "disk_storage": storage, "streams": storage, "consumer": storage}})
}

/// Writes what the broker is told, and what its client shows.
fn write_files(config: &Path, credentials: &Path) {
    let (operator, system) = (KeyPair::new_operator(), KeyPair::new_account());
    let (acme, user) = (KeyPair::new_account(), KeyPair::new_user());
    let of_operator =
        json!({"type": "operator", "version": 2, "system_account": system.public_key()});
    let text = format!(
        "operator: {}\nsystem_account: {}\nresolver: MEMORY\nresolver_preload: {{\n  {}: {}\n  {}: {}\n}}\n",
        signed(&operator, &operator, &of_operator),
        system.public_key(),
        system.public_key(),
        signed(&operator, &system, &account(0)),
        acme.public_key(),
        signed(&operator, &acme, &account(-1)),
    );
    std::fs::write(config, text).unwrap();
    let of_user = json!({"type": "user", "version": 2, "pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1});
    let text = format!(
        "-----BEGIN NATS USER JWT-----\n{}\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
        signed(&acme, &user, &of_user),
        user.seed().unwrap(),
    );
    std::fs::write(credentials, text).unwrap();
}

#[tokio::test]
async fn events_are_published_with_the_credentials_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let (config, file) = (
        folder.path().join("nats.conf"),
        folder.path().join("irq.creds"),
    );
    write_files(&config, &file);
    let Some(nats) = NatsServer::start_with(&["--config", config.to_str().unwrap()]) else {
        return;
    };
    let Some(scene) = Scene::with(nats) else {
        return;
    };
    let address = format!("nats://{}", scene.nats.address());
    let server = scene.serve_at(&address, &[]);
    assert!(server.said.contains("as soon as"), "{}", server.said);
    scene.says(&server, "bus: away").await;
    assert_eq!(server.stops(), Some(0));
    let server = scene.serve_at(&format!("{address}?creds={}", file.display()), &[]);
    assert!(
        server.said.contains("Publishing to nats://"),
        "{}",
        server.said
    );
    let run = scene.start(&server).await;
    scene.ends(&server, &run).await;
    assert!(scene.is_published().await > 10);
    scene.says(&server, "bus: there, 0 events wait").await;
}
