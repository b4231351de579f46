//! A run that outlives its terminal: from then on it reads nothing, and its output goes to a file.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, IsTerminal};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use routing_core::RunId;
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use store::StoreLocation;

use crate::exit::{Exit, Failure};
use crate::keyboard::give_back;

/// The folder of the files, beside the store that is usual.
const FOLDER: &str = "logs";

/// Where a run writes once its terminal is gone.
#[derive(Debug)]
pub(crate) struct Detached {
    path: PathBuf,
}

impl Detached {
    /// The file of a run, in the folder where this user's state is.
    ///
    /// # Errors
    ///
    /// If that folder is not known.
    pub(crate) fn of(run: RunId) -> Result<Self, Failure> {
        let usual = StoreLocation::usual().map_err(|error| {
            Failure::new(Exit::Usage, format!("--on-hangup detach: {error}"))
                .hint("set XDG_STATE_HOME to a folder of your own")
        })?;
        let state = usual.path().and_then(Path::parent);
        let path = state.unwrap_or_else(|| Path::new(".")).join(FOLDER);
        Ok(Self {
            path: path.join(format!("{run}.log")),
        })
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Lets go of the terminal: the file takes its place for both outputs, and nothing is read any more. Streams that
    /// are no terminal stay.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened.
    pub(crate) fn let_go(&self) -> io::Result<()> {
        let file = self.opened()?;
        give_back();
        // A terminal that was closed is none any more, as far as the system says; a file and a pipe are known.
        if is_or_was_terminal(&io::stdin()) {
            dup2_stdin(File::open("/dev/null")?)?;
        }
        if is_or_was_terminal(&io::stdout()) {
            dup2_stdout(&file)?;
        }
        if is_or_was_terminal(&io::stderr()) {
            dup2_stderr(&file)?;
        }
        Ok(())
    }

    fn opened(&self) -> io::Result<File> {
        if let Some(folder) = self.path.parent() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)?;
        }
        let mut options = OpenOptions::new();
        options.create(true).append(true).mode(0o600);
        options.open(&self.path)
    }
}

/// Whether this is a terminal, or what is left of one.
fn is_or_was_terminal(stream: &(impl IsTerminal + std::os::fd::AsFd)) -> bool {
    stream.is_terminal()
        || rustix::termios::tcgetattr(stream).is_err_and(|error| error == rustix::io::Errno::IO)
}
