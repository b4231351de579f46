//! The server that is named: whether it can be reached, knows the token, and is of this version.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use client::WhoAmI;

use super::finding::Finding;
use crate::backend::{ServerLocation, client_at};
use crate::exit::{Exit, Failure};

/// What to do about a server that does not answer.
const UNREACHABLE: &str = "start it (`irq serve`), or correct --server; what stands between, such as a firewall or a proxy, may refuse too";

/// The findings about a server.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn findings(place: &ServerLocation) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(token_file(place));
    let client = match client_at(place) {
        Ok(client) => client,
        Err(failure) => {
            findings.push(wrong(&failure));
            return findings;
        }
    };
    let address = client.address();
    if address.is_open() {
        findings.push(Finding::note(
            "way to the server",
            format!("{address} is not encrypted: the token can be read on the way"),
            "serve it with --tls-cert and --tls-key, or behind a proxy, and name it with https; or use a tunnel",
        ));
    }
    match client.whoami().await {
        Ok(me) => {
            findings.push(Finding::well(
                "token",
                format!("{} may come in as {}", me.name, me.role),
            ));
            findings.push(Finding::well("user", rights(&me)));
            findings.push(version(address.to_string(), &me.version));
        }
        Err(error) => findings.push(wrong(&error.into())),
    }
    findings
}

/// What the holder of a token may do, in words.
fn rights(me: &WhoAmI) -> String {
    let name = &me.name;
    match &*me.role {
        "viewer" => format!("{name} may look at everything, and decides nothing"),
        "agent" => {
            let bound = me.agent_id.as_ref().or(me.run_id.as_ref());
            let bound = bound.map_or("its run", String::as_str);
            format!("{name} may ask for interrupts in {bound}, and sees and decides nothing else")
        }
        "reviewer" => format!("decisions here are {name}'s; runs are others' to start and stop"),
        "supervisor" => format!("decisions here are {name}'s, who may start and stop runs too"),
        "admin" => format!("decisions here are {name}'s, who may do everything"),
        // A server of another version may have more roles.
        _ => format!("what is done here is done as {name}"),
    }
}

fn version(address: String, theirs: &str) -> Finding {
    let ours = env!("CARGO_PKG_VERSION");
    if theirs == ours {
        return Finding::well("server", format!("{address}, version {theirs}"));
    }
    Finding::problem(
        "server",
        format!("{address} is version {theirs}, this program {ours}"),
        "use the same version on both sides: they exchange rows in their own form",
    )
}

/// Whether others on this machine may read a file. A path that is not a regular file holds no token.
fn is_shared(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o077 != 0)
}

fn token_file(place: &ServerLocation) -> Option<Finding> {
    let path = place.token_file.as_deref()?;
    is_shared(path).then(|| {
        Finding::note(
            "token file",
            format!("{} can be read by others on this machine", path.display()),
            format!("chmod 600 {}", path.display()),
        )
    })
}

fn wrong(failure: &Failure) -> Finding {
    let (what, remedy) = if failure.exit == Exit::NotAuthorised {
        ("token", failure.advice())
    } else if failure.exit == Exit::Unreachable {
        // Other commands advise running `irq doctor`, which is this one.
        ("server", Some(UNREACHABLE))
    } else {
        ("server", failure.advice())
    };
    let remedy = remedy.unwrap_or("look at --server and --token-file");
    Finding::problem(what, failure.to_string(), remedy)
}
