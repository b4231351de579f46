//! The sessions of clients, each with the run that its questions are in.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use interrupts::Digest;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::McpOrder;
use crate::asker::{Asker, AskerStore};
use crate::visible::visible_line;

/// The most characters of a part of a session's name.
const LONGEST_PART: usize = 60;

/// How many digits tell folders of one name apart.
const DIGITS: usize = 8;

/// The sessions of this process.
pub(crate) struct Sessions {
    store: Arc<AskerStore>,
    /// The name of all sessions, if one was given.
    named: Option<String>,
    /// How long a tool waits if its caller does not say.
    pub(super) wait: Duration,
    /// Cancelled once no answer reaches a client any more.
    pub(super) closing: CancellationToken,
    open: Mutex<OpenSessions>,
}

#[derive(Default)]
struct OpenSessions {
    askers: HashMap<String, Arc<Asker>>,
    /// Keeps their runs.
    tending: JoinSet<()>,
}

impl Sessions {
    pub(super) fn new(
        store: Arc<AskerStore>,
        order: &McpOrder,
        closing: CancellationToken,
    ) -> Arc<Self> {
        Arc::new(Self {
            store,
            named: order.name.clone(),
            wait: order.wait,
            closing,
            open: Mutex::new(OpenSessions::default()),
        })
    }

    /// The session of a client: by the name that it gives, else by the one of the command line, else by what the client
    /// calls itself and the folder in which it started this process.
    pub(super) async fn of(&self, client: &str, given: Option<&str>) -> Arc<Asker> {
        let name = given.or(self.named.as_deref()).map(plain);
        let name = name.unwrap_or_else(|| usual_name(client));
        let mut open = self.open.lock().await;
        if let Some(asker) = open.askers.get(&name) {
            return Arc::clone(asker);
        }
        let asker = Arc::new(Asker::new(Arc::clone(&self.store), name.clone()));
        open.askers.insert(name, Arc::clone(&asker));
        let tended = Arc::clone(&asker);
        open.tending.spawn(async move { tended.tend().await });
        asker
    }

    /// Releases all runs.
    pub(super) async fn close(&self) {
        let mut open = self.open.lock().await;
        open.tending.shutdown().await;
        for (name, asker) in open.askers.drain() {
            if let Err(error) = asker.close().await {
                tracing::warn!(%name, %error, "the run of the session could not be let go");
            }
        }
    }
}

/// The name of a client's session in this folder.
fn usual_name(client: &str) -> String {
    let folder = std::env::current_dir().unwrap_or_default();
    let mut digest = Digest::of(folder.as_os_str().as_encoded_bytes()).to_string();
    digest.truncate(DIGITS);
    let last = folder.file_name().unwrap_or_default();
    let last = Path::new(last).display().to_string();
    format!("{}:{}-{digest}", plain(client), plain(&last))
}

/// A part of a name that can be shown and kept.
fn plain(text: &str) -> String {
    let text = visible_line(text);
    let plain: String = text.trim().chars().take(LONGEST_PART).collect();
    if plain.is_empty() {
        "client".to_owned()
    } else {
        plain
    }
}
