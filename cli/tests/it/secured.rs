//! A server over TLS, and the program as its client with an authority of its own.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use tempfile::TempDir;

use crate::program::{Ended, end, irq, spawn, workspace};

/// A folder with a store, a certificate for this machine and a token.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
        let place = Self { folder };
        std::fs::write(place.file("certificate.pem"), cert.pem()).unwrap();
        std::fs::write(place.file("key.pem"), signing_key.serialize_pem()).unwrap();
        let token = ["token", "create", "--name", "ada", "--role", "admin"];
        let token = end(irq().args(token).env("IRQ_STORE", place.file("irq.db")));
        std::fs::write(place.file("token"), token.exits_with(0).output).unwrap();
        place
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn serve(&self, listen: &str) -> Command {
        let mut command = irq();
        command.args(["serve", "--listen", listen]);
        command.env("IRQ_STORE", self.file("irq.db"));
        command
    }

    /// A command of a client, with or without the authority.
    fn client(&self, server: &str, arguments: &[&str], trusts: bool) -> Ended {
        let mut command = irq();
        command.args(arguments).args(["--server", server]);
        command.arg("--token-file").arg(self.file("token"));
        if trusts {
            command
                .arg("--ca-certificate")
                .arg(self.file("certificate.pem"));
        }
        end(command.env_remove("IRQ_STORE"))
    }
}

/// A server, until it is dropped.
struct Serving(Child, String);

impl Drop for Serving {
    fn drop(&mut self) {
        let _killed = self.0.kill();
        let _buried = self.0.wait();
    }
}

#[test]
fn a_server_over_tls_is_used_with_its_authority_and_not_without() {
    let place = Place::new();
    let workspace = workspace();
    let mut command = place.serve("0.0.0.0:0");
    command.arg("--tls-cert").arg(place.file("certificate.pem"));
    command.arg("--tls-key").arg(place.file("key.pem"));
    command.arg("--workspace").arg(workspace.path());
    let mut child = spawn(&mut command);
    let mut page = String::new();
    let output = child.stdout.as_mut().unwrap();
    BufReader::new(output).read_line(&mut page).unwrap();
    let serving = Serving(child, page);
    let (server, _launch) = serving.1.split_once("/?launch=").unwrap();
    assert!(server.starts_with("https://localhost:"), "{server}");
    place
        .client(server, &["ps"], false)
        .exits_with(69)
        .says("certificate")
        .says("--ca-certificate");
    place.client(server, &["ps"], true).exits_with(0);
    // The events that it follows come over the same way.
    let run = ["run", "--quiet", "Describe the bakery"];
    place.client(server, &run, true).exits_with(0);
    let doctor = place.client(server, &["doctor"], true).exits_with(0);
    assert!(!doctor.output.contains("not encrypted"), "{doctor:#?}");
}

#[test]
fn a_certificate_that_cannot_be_shown_ends_the_server_before_it_listens() {
    let place = Place::new();
    let other = Place::new();
    let refused = |certificate: PathBuf, key: Option<PathBuf>| {
        let mut command = place.serve("127.0.0.1:0");
        command.arg("--tls-cert").arg(certificate);
        if let Some(key) = key {
            command.arg("--tls-key").arg(key);
        }
        let ended = end(&mut command).exits_with(2);
        assert_eq!(ended.output, "", "{ended:#?}");
        ended
    };
    let (certificate, key) = (place.file("certificate.pem"), place.file("key.pem"));
    refused(certificate.clone(), None).says("--tls-key");
    refused(place.file("absent.pem"), Some(key.clone())).says("absent.pem cannot be read");
    refused(key, Some(certificate.clone())).says("key.pem holds no certificate");
    refused(certificate, Some(other.file("key.pem"))).says("is not that of the certificate");
}
