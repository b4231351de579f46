//! What people and programs see of a run: one form for a terminal, one for a log, one for programs.

mod agent_tree;
mod cloud_events;
mod event_printer;
mod live;
mod plain;
mod summary;

use std::io::{self, IsTerminal, Write};

use engine::run::{RunOccurrence, RunReport, RunStatus};
use interrupt_router::InterruptId;

use crate::layout::screen_size;
use crate::model::UnansweredCall;
use crate::palette::Palette;

pub(crate) use cloud_events::{CloudEvents, SharedEvents};
pub(crate) use event_printer::{EventPrinter, Steps, answer_words, plan_words};
pub(crate) use live::Live;
pub(crate) use plain::Plain;
pub(crate) use summary::RunFigures;
use summary::Summary;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Detail {
    /// Questions, errors and the result.
    Little,
    /// What moves the run on.
    Usual,
    /// Every change.
    Much,
}

/// The colours of the two outputs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Palettes {
    /// Of standard output, where the result goes.
    pub(crate) output: Palette,
    /// Of standard error, where everything else goes.
    pub(crate) error_output: Palette,
}

/// A run that has ended, or is halted.
#[derive(Debug, Clone)]
pub(crate) struct Finished {
    /// What became of it.
    pub(crate) report: RunReport,
    /// The interrupts that wait for a person.
    pub(crate) open: Vec<InterruptId>,
    /// How many interrupts it has had: the stops of people and of limits are some, too.
    pub(crate) interrupts: usize,
    /// The options that raise the limits which it has hit, each with the value that it must exceed.
    pub(crate) raised: Vec<String>,
    /// Whether it stopped to ask: the exit code says so, and a program may take the interrupts' ids.
    pub(crate) asks: bool,
    /// Where it is, once this process has ended.
    pub(crate) kept: RunLocation,
}

/// Where a run is that has ended, or is halted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunLocation {
    /// In a store: others can continue it.
    Store,
    /// In memory alone: it ends with this process.
    Memory,
    /// Its store is gone.
    Nowhere,
}

/// One way to report what happens. Called by one thread, in order.
pub(crate) trait Report: Send {
    /// Whether occurrences have to wait while the user types at a prompt.
    fn shares_the_prompt(&self) -> bool;

    /// Something happened.
    fn occurrence(&mut self, occurrence: &RunOccurrence) -> io::Result<()>;

    /// A call to a model ended without a whole answer.
    fn unanswered(&mut self, call: &UnansweredCall) -> io::Result<()>;

    /// Something to say to people at once, in whole lines.
    fn notice(&mut self, text: &str) -> io::Result<()>;

    /// Writes a piece of a conversation; the cursor stays behind it.
    fn ask(&mut self, text: &str) -> io::Result<()>;

    /// Removes what moves: others are about to write there.
    fn clear(&mut self) -> io::Result<()>;

    /// Time has passed.
    fn tick(&mut self) -> io::Result<()>;

    /// The run has ended.
    fn finish(&mut self, finished: &Finished) -> io::Result<()>;
}

/// Writes how a run ended: to standard output the result of a completed run, or the ids of the open interrupts of one
/// that stopped to ask, so that a program can take them; all else to standard error.
fn write_result(
    output: &mut dyn Write,
    error_output: &mut dyn Write,
    finished: &Finished,
    palettes: Palettes,
) -> io::Result<()> {
    let report = &finished.report;
    let (columns, _rows) = screen_size();
    let summary = |palette| {
        let summary = Summary {
            columns,
            palette,
            kept: finished.kept,
            raised: &finished.raised,
            interrupts: finished.interrupts,
        };
        summary.text(report)
    };
    if let RunStatus::Completed { .. } = &report.status {
        // The gap below the progress is for people: a program's first line is the result's.
        if io::stdout().is_terminal() {
            output.write_all(b"\n")?;
        }
        output.write_all(summary(palettes.output).as_bytes())?;
        return output.flush();
    }
    // Output without a reader is no reason to fail.
    let _ = error_output
        .write_all(b"\n")
        .and_then(|()| error_output.write_all(summary(palettes.error_output).as_bytes()))
        .and_then(|()| error_output.flush());
    if finished.asks {
        for interrupt in &finished.open {
            writeln!(output, "{interrupt}")?;
        }
    }
    output.flush()
}
