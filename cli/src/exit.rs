//! How the program ends: its exit codes, and failures that carry one.

use std::error::Error;
use std::fmt::{self, Display, Write as _};
use std::io::{self, Write as _};
use std::process::ExitCode;

use interrupts::signals::Signal;

use crate::telemetry;

/// What pauses a run with [`Exit::LimitHit`].
const LIMITS: &str = "a limit was hit: --max-steps, --timeout, --budget-usd, --max-memory or --max-cpu-time; \
                      the run is paused";

/// What the program's exit code says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The work is done.
    Success,
    /// It failed.
    Failure,
    /// The command line, the goal, the model's name or the script is wrong.
    Usage,
    /// What was named is not there, or cannot be read: a workspace, a script, a run, an interrupt.
    NotFound,
    /// The request does not fit the current state: decided already, changed since, ended.
    Conflict,
    /// The run stopped to ask, or someone elsewhere has paused it.
    Asking,
    /// The run was cancelled: by a STOP interrupt, a collector's decision, or a pause that was decided so.
    Stopped,
    /// The wait timed out.
    TimedOut,
    /// The run has used what it may use.
    LimitHit,
    /// Some of several things were done, others not.
    Partial,
    /// The model's server, the one that commands work through, or that of the store cannot be reached.
    Unreachable,
    /// The key or the token is missing or refused.
    NotAuthorised,
    /// SIGHUP: the terminal was closed.
    HungUp,
    /// Ctrl+C.
    Interrupted,
    /// SIGQUIT.
    Quit,
    /// SIGTERM.
    Terminated,
}

impl Exit {
    /// How the program leaves because of a signal.
    pub(crate) const fn by(signal: Signal) -> Self {
        match signal {
            Signal::Interrupt => Self::Interrupted,
            Signal::Terminate => Self::Terminated,
            Signal::Hangup => Self::HungUp,
            Signal::Quit => Self::Quit,
        }
    }

    /// This one where what was named is wrong; [`Exit::Failure`] where the machine lacks what it takes to open it, such as
    /// room for one more open file.
    pub(crate) fn unless_lacking(self, error: &(dyn Error + 'static)) -> Self {
        let of_names = [
            io::ErrorKind::InvalidData,
            io::ErrorKind::InvalidFilename,
            io::ErrorKind::InvalidInput,
            io::ErrorKind::IsADirectory,
            io::ErrorKind::NotADirectory,
            io::ErrorKind::NotFound,
            io::ErrorKind::PermissionDenied,
        ];
        let mut causes = std::iter::successors(Some(error), |error| (*error).source());
        match causes.find_map(|cause| cause.downcast_ref::<io::Error>()) {
            Some(error) if !of_names.contains(&error.kind()) => Self::Failure,
            Some(_) | None => self,
        }
    }

    const ALL: [Self; 16] = [
        Self::Success,
        Self::Failure,
        Self::Usage,
        Self::NotFound,
        Self::Conflict,
        Self::Asking,
        Self::Stopped,
        Self::TimedOut,
        Self::LimitHit,
        Self::Partial,
        Self::Unreachable,
        Self::NotAuthorised,
        Self::HungUp,
        Self::Interrupted,
        Self::Quit,
        Self::Terminated,
    ];

    /// How the program leaves because of signals.
    pub(crate) const OF_SIGNALS: [Self; 4] = [
        Self::HungUp,
        Self::Interrupted,
        Self::Quit,
        Self::Terminated,
    ];

    /// The number that the shell sees.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Conflict => 4,
            Self::Asking => 5,
            Self::Stopped => 6,
            Self::TimedOut => 7,
            Self::LimitHit => 8,
            Self::Partial => 9,
            Self::Unreachable => 69,
            Self::NotAuthorised => 77,
            Self::HungUp => 129,
            Self::Interrupted => 130,
            Self::Quit => 131,
            Self::Terminated => 143,
        }
    }

    const fn meaning(self) -> &'static str {
        match self {
            Self::Success => "done",
            Self::Failure => "failed",
            Self::Usage => {
                "wrong use: an argument, the goal, the model's name, the script's content"
            }
            Self::NotFound => {
                "not there or not readable: a workspace, script, run, agent, interrupt"
            }
            Self::Conflict => {
                "does not fit how things stand: decided already, changed since, ended"
            }
            Self::Asking => {
                "stopped to ask, or paused from elsewhere: the open interrupts' ids are on standard output"
            }
            Self::Stopped => {
                "cancelled: by a STOP interrupt, a collector's decision, or a pause decided with `cancel`"
            }
            Self::TimedOut => "timed out",
            Self::LimitHit => LIMITS,
            Self::Partial => "some of several things were done, others not",
            Self::Unreachable => {
                "the model's server, the one of --server, or that of the store cannot be reached"
            }
            Self::NotAuthorised => {
                "the model's key, or the token of --token-file, is missing or refused; or a payment is missing"
            }
            Self::HungUp => "stopped by SIGHUP: the terminal was closed",
            Self::Interrupted => "stopped by Ctrl+C",
            Self::Quit => "stopped at once by SIGQUIT",
            Self::Terminated => "stopped by SIGTERM",
        }
    }

    /// The list of exit codes for the help text.
    pub(crate) fn table() -> String {
        let mut table = String::new();
        for exit in Self::ALL {
            // Writing to a string cannot fail.
            let _ = writeln!(table, "  {:>3}  {}", exit.code(), exit.meaning());
        }
        table
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// A failure that knows its exit code and what may help.
#[derive(Debug)]
pub(crate) struct Failure {
    /// How the program ends.
    pub(crate) exit: Exit,
    message: String,
    hint: Option<String>,
    /// Whether it is of one damaged row, beside which others can be read.
    is_of_one_row: bool,
}

impl Failure {
    /// A failure in one sentence.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            exit,
            message: message.into(),
            hint: None,
            is_of_one_row: false,
        }
    }

    /// What was asked for is no part of this build, which has the features `default` alone.
    pub(crate) fn built_without(what: &str) -> Self {
        Self::new(Exit::Usage, format!("this irq was built without {what}"))
            .hint("install all of it: cargo install --locked --path cli --features full")
    }

    /// Says that one row is damaged, and what is stored beside it is not affected.
    #[must_use]
    pub(crate) const fn of_one_row(mut self) -> Self {
        self.is_of_one_row = true;
        self
    }

    /// Whether what is stored beside one damaged row can be read.
    pub(crate) const fn is_of_one_row(&self) -> bool {
        self.is_of_one_row
    }

    /// Says what may help.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What failed, and what may help.
    #[cfg(not(feature = "otlp"))]
    pub(crate) fn whole(&self) -> String {
        match self.advice() {
            Some(hint) => format!("{self}; {hint}"),
            None => self.to_string(),
        }
    }

    /// What may help.
    pub(crate) fn advice(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl Error for Failure {}

/// Says something on standard error, in the form of the log. A terminal that is gone is no reason to end anything.
pub(crate) fn tell(text: impl Display) {
    if telemetry::is_json() {
        tracing::info!("{text}");
        return;
    }
    // One write: a log collector takes each one for a line.
    let line = format!("{text}\n");
    let _unread = std::io::stderr().write_all(line.as_bytes());
}

/// An error with its causes, from the outermost to the innermost; a cause that the text already contains is left out.
pub(crate) fn causes(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::Exit;

    #[test]
    fn what_the_machine_lacks_is_not_the_fault_of_what_was_named() {
        let of = |number| io::Error::from_raw_os_error(number);
        // EMFILE, ENFILE, ENOMEM, EIO, ENOSPC
        for lacking in [24, 23, 12, 5, 28] {
            let exit = Exit::NotFound.unless_lacking(&of(lacking));
            assert_eq!(exit, Exit::Failure, "{}", of(lacking));
            let within = io::Error::other(of(lacking));
            assert_eq!(Exit::Usage.unless_lacking(&within), Exit::Failure);
        }
        // ENOENT, EACCES, ENOTDIR, ENAMETOOLONG
        for named in [2, 13, 20, 36] {
            let exit = Exit::NotFound.unless_lacking(&of(named));
            assert_eq!(exit, Exit::NotFound, "{}", of(named));
        }
    }
}
