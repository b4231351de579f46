//! What the tests share: a containment with its keeper, reasons to stop, a folder to work in.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use interrupt_router::{StopMode, StopReason, StopSource};
use jiff::Timestamp;
use tokio::sync::watch;
use tools::{
    Containment, ContainmentConfig, ProgramConfig, Progress, ProgressSink, WantedMechanism,
    Workspace,
};

/// Between asking processes to end and killing them, in tests.
pub(crate) const GRACE: Duration = Duration::from_millis(50);

pub(crate) fn by_user(message: &str) -> StopReason {
    StopReason {
        source: StopSource::User,
        mode: StopMode::Immediate,
        message: message.to_owned(),
        timestamp: Timestamp::UNIX_EPOCH,
    }
}

pub(crate) fn containment(wanted: WantedMechanism) -> Containment {
    Containment::new(ContainmentConfig {
        keeper: PathBuf::from(env!("CARGO_BIN_EXE_tool-keeper")),
        wanted,
        grace: GRACE,
        ..ContainmentConfig::default()
    })
}

/// Both mechanisms: where this machine has no control groups for us, the best one is the sweep too.
pub(crate) fn mechanisms() -> Vec<WantedMechanism> {
    vec![WantedMechanism::Best, WantedMechanism::Sweep]
}

pub(crate) fn programs() -> ProgramConfig {
    ProgramConfig {
        containment: containment(WantedMechanism::Best),
        ..ProgramConfig::default()
    }
}

/// A folder that goes with the test, and the workspace in it.
pub(crate) fn workspace() -> (tempfile::TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    (folder, workspace)
}

/// Keeps what tools wrote meanwhile, so that a test can wait for a word of it.
pub(crate) struct Heard {
    text: Mutex<String>,
    length: watch::Sender<usize>,
}

impl Heard {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            text: Mutex::new(String::new()),
            length: watch::Sender::new(0),
        })
    }

    /// Waits until it was written so often.
    pub(crate) async fn wait_for(&self, word: &str, times: usize) {
        let mut lengths = self.length.subscribe();
        lengths
            .wait_for(|_length| self.text.lock().unwrap().matches(word).count() >= times)
            .await
            .unwrap();
    }
}

impl ProgressSink for Heard {
    fn progress(&self, progress: Progress) {
        if let Progress::Output { text, .. } = progress {
            let mut all = self.text.lock().unwrap();
            // Of a flood the start is enough.
            if all.len() < 10_000 {
                all.push_str(&text[..text.len().min(1_000)]);
            }
        }
        self.length.send_modify(|length| *length += 1);
    }
}
