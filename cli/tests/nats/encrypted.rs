//! A broker that lets in by password, over TLS.

use std::path::PathBuf;

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
        assert_eq!(server.is_stopped(), Some(0));
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
