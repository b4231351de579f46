//! Messages to a user who presses Ctrl+C, and the exit at the third time.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use interrupt_router::StopMode;
use interrupts::manager::StopHandle;
use interrupts::signals::{Leaving, Signal, SignalListener};

use crate::advice::advised;
use crate::exit::{Exit, tell};
use crate::keyboard::give_back;
use crate::terminal_output::TerminalOutput;

/// What the first Ctrl+C says.
const FIRST_WORDS: &str =
    "Received interrupt. Finishing the current steps... (press Ctrl+C again to stop now)";

/// What follows the standard first words if tools may run.
const AGAIN: &str = "(press Ctrl+C again to stop now)";

/// What a first SIGTERM says if tools may run, which no stop waits for.
const TERMINATED_WITH_TOOLS: &str =
    "Received SIGTERM. Cancelling all running tools and finishing the current steps...";

/// What the second one says.
const SECOND_WORDS: &str = "Stopping now. (press Ctrl+C again to leave without clean-up)";

/// The message for a signal that asks for a stop of this mode.
pub(crate) const fn words(signal: Signal, mode: StopMode) -> &'static str {
    match (mode, signal) {
        (StopMode::Graceful, Signal::Interrupt) => FIRST_WORDS,
        (StopMode::Graceful, Signal::Terminate) => {
            "Received SIGTERM. Finishing the current steps..."
        }
        (StopMode::Graceful, Signal::Hangup) => {
            "The terminal was closed. Finishing the current steps..."
        }
        (StopMode::Immediate, _) | (StopMode::Graceful, Signal::Quit) => SECOND_WORDS,
    }
}

/// How long the last words may take.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// The signal that has ended a run, if any: the first one counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct SeenSignal(Arc<AtomicU8>);

impl SeenSignal {
    /// The exit code that the signal asks for.
    pub(crate) fn exit(&self) -> Option<Exit> {
        let code = self.0.load(Ordering::Acquire);
        Exit::OF_SIGNALS
            .into_iter()
            .find(|exit| exit.code() == code)
    }

    /// A signal, or something equivalent, asks for this exit code.
    pub(crate) fn remember(&self, exit: Exit) {
        // A later signal changes nothing: the run was stopped by the first.
        let _ = self
            .0
            .compare_exchange(0, exit.code(), Ordering::AcqRel, Ordering::Acquire);
    }
}

/// Says what a signal does, at once.
pub(crate) struct SignalPrompts {
    output: TerminalOutput,
    seen: SeenSignal,
    /// Whether tools may run, which every stop ends.
    has_tools: bool,
}

impl SignalPrompts {
    /// Speaks on a terminal output. The run may have tools.
    pub(crate) const fn new(output: TerminalOutput, seen: SeenSignal, has_tools: bool) -> Self {
        Self {
            output,
            seen,
            has_tools,
        }
    }
}

impl SignalListener for SignalPrompts {
    fn asked(&mut self, signal: Signal, mode: StopMode, _handle: StopHandle) {
        self.seen.remember(Exit::by(signal));
        self.output.notice(match (mode, signal) {
            (StopMode::Graceful, Signal::Interrupt) if self.has_tools => {
                format!("{} {AGAIN}", tools::wording::RECEIVED)
            }
            (StopMode::Graceful, Signal::Terminate) if self.has_tools => {
                TERMINATED_WITH_TOOLS.to_owned()
            }
            (StopMode::Graceful | StopMode::Immediate, _) => words(signal, mode).to_owned(),
        });
    }

    fn leave(&mut self, leaving: Leaving) {
        let exit = Exit::by(leaving.signal);
        let (written, is_written) = mpsc::channel();
        // Written in another thread: an output without a reader may be what hangs.
        std::thread::spawn(move || {
            tell(skipped(&leaving));
            let _ = written.send(());
        });
        let _ = is_written.recv_timeout(LAST_WORDS);
        give_back();
        std::process::exit(i32::from(exit.code()))
    }
}

fn skipped(leaving: &Leaving) -> String {
    let mut text = String::from(
        "Left at once. Skipped: waiting for the steps under way, the last checkpoint, the summary.",
    );
    if leaving.unrecorded > 0 {
        text.push_str(&format!(
            " {} requests to stop are not recorded.",
            leaving.unrecorded
        ));
    }
    for run in &leaving.running {
        text.push_str(&advised(&format!("\nIt can go on: irq resume {run}")));
    }
    text
}
