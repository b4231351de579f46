//! The way in: a one-time link for one person.

use std::io::Write;
use std::net::SocketAddr;

use control::{TokenOrder, issue_token};
use interrupts::store::Store;
use jiff::SignedDuration;
use server::Remote;
use tempfile::NamedTempFile;

use crate::actor::actor;
use crate::arguments::Global;
use crate::browser::open_in_browser;
use crate::exit::{Failure, tell};

/// How long the link is valid.
const LAUNCH: SignedDuration = SignedDuration::from_mins(15);

/// A one-time link for one person.
pub(super) struct Welcome {
    /// The address that it listens on.
    serving: String,
    page: String,
}

impl Welcome {
    /// Makes the token of the link.
    ///
    /// # Errors
    ///
    /// If the store cannot be written, or the machine has no randomness.
    ///
    /// # Cancel safety
    ///
    /// If dropped, a token may be stored whose secret is lost.
    pub(super) async fn issue(
        store: &dyn Store,
        address: SocketAddr,
        hosts: &[String],
        remote: &Remote,
    ) -> anyhow::Result<Self> {
        let by = actor()?;
        let order = TokenOrder {
            name: by.name.clone(),
            role: by.role,
            lifetime: Some(LAUNCH),
            once: true,
            scope: None,
            by: Some(by),
        };
        let issued = issue_token(store, order).await.map_err(Failure::from)?;
        let place = place(address, hosts, remote);
        let serving = match remote {
            Remote::OverTls(_) => format!("https://{address}"),
            Remote::BehindProxy => format!("http://{address}, behind a proxy"),
            Remote::Refused => format!("http://{address}"),
        };
        Ok(Self {
            serving,
            page: format!("{place}/?launch={}", issued.secret),
        })
    }

    /// Says where the page is. Only the link with the secret goes to standard output, and not if this is to be quiet: it
    /// does not belong in the log of a service.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub(super) fn say(&self, global: Global) -> std::io::Result<()> {
        if global.quiet {
            tell(format_args!("Serving on {}.", self.serving));
            return Ok(());
        }
        tell(format_args!(
            "Serving on {}. The address below lets one person in, once, within 15 minutes.",
            self.serving
        ));
        super::super::print(&format!("{}\n", self.page))
    }

    /// Opens the page in the browser. The secret is in a file that only this user can read, because every user can see the
    /// arguments of a program; dropping the returned file deletes it.
    pub(super) fn open(&self) -> Option<NamedTempFile> {
        let opened = self.opened();
        if let Err(error) = &opened {
            tell(format_args!(
                "The browser cannot be opened ({error}); open the address yourself."
            ));
        }
        opened.ok()
    }

    fn opened(&self) -> std::io::Result<NamedTempFile> {
        let mut file = tempfile::Builder::new()
            .prefix("irq-")
            .suffix(".html")
            .tempfile()?;
        writeln!(
            file,
            "<!doctype html><meta name=\"referrer\" content=\"no-referrer\">\
             <meta http-equiv=\"refresh\" content=\"0;url={0}\"><a href=\"{0}\">Interrupt Router</a>",
            self.page
        )?;
        open_in_browser(file.path())?;
        Ok(file)
    }
}

/// The host of the link: a name that was given, else this machine's own.
fn place(address: SocketAddr, hosts: &[String], remote: &Remote) -> String {
    let here = match hosts.first() {
        Some(host) => format!("{host}:{}", address.port()),
        None if address.ip().is_unspecified() => format!("localhost:{}", address.port()),
        None => address.to_string(),
    };
    match (remote, hosts.first()) {
        (Remote::Refused, _) => format!("http://{here}"),
        // Only the proxy knows where it listens; this is the address that browsers try by default.
        (Remote::BehindProxy, Some(host)) => format!("https://{host}"),
        (Remote::BehindProxy, None) | (Remote::OverTls(_), _) => format!("https://{here}"),
    }
}
