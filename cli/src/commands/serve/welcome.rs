//! The way in: an address that lets one person in, once.

use std::io::Write;
use std::net::SocketAddr;

use interrupts::store::Store;
use jiff::SignedDuration;
use server::{Remote, TokenOrder, issue_token};
use tempfile::NamedTempFile;

use crate::actor::actor;
use crate::arguments::Global;
use crate::browser::open_in_browser;
use crate::exit::{Exit, Failure, causes, tell};

/// How long the address lets somebody in.
const LAUNCH: SignedDuration = SignedDuration::from_mins(15);

/// An address that lets one person in, once.
pub(super) struct Welcome {
    /// Where it listens.
    serving: String,
    page: String,
}

impl Welcome {
    /// Makes the token of the address.
    ///
    /// # Errors
    ///
    /// Where the store cannot be written, or the machine gives no randomness.
    ///
    /// # Cancel safety
    ///
    /// Dropped, a token may be kept whose secret nobody knows.
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
        let issued = issue_token(store, order).await;
        let issued = issued.map_err(|error| Failure::new(Exit::Failure, causes(&error)))?;
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

    /// Says where the page is. Only the address with the secret goes to standard output, and to none where this is to be
    /// quiet: it is not for the log of a service.
    ///
    /// # Errors
    ///
    /// Where it cannot be written.
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

    /// Opens the page in the browser. The secret stands in a file that only this user reads, for everybody sees
    /// the arguments of a program; the file goes when what is returned is dropped.
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

/// What stands in the address: a name that was given, else this machine's own.
fn place(address: SocketAddr, hosts: &[String], remote: &Remote) -> String {
    let here = match hosts.first() {
        Some(host) => format!("{host}:{}", address.port()),
        None if address.ip().is_unspecified() => format!("localhost:{}", address.port()),
        None => address.to_string(),
    };
    match (remote, hosts.first()) {
        (Remote::Refused, _) => format!("http://{here}"),
        // Where the proxy listens is known to itself alone; that is where browsers look by themselves.
        (Remote::BehindProxy, Some(host)) => format!("https://{host}"),
        (Remote::BehindProxy, None) | (Remote::OverTls(_), _) => format!("https://{here}"),
    }
}
