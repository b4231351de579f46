//! Plain lines: for logs, pipes and terminals that can do nothing but print.

use std::io::{self, Write};

use engine::run::RunOccurrence;

use super::event_printer::{EventPrinter, Steps};
use super::{Detail, Finished, Palettes, Report, write_result};
use crate::model::UnansweredCall;

/// Writes a line for each thing that happens.
pub(crate) struct Plain {
    printer: EventPrinter,
    palettes: Palettes,
    error_output: Box<dyn Write + Send>,
    output: Box<dyn Write + Send>,
}

impl Plain {
    /// Writes progress to standard error and the result to standard output, in these colours.
    pub(crate) fn new(detail: Detail, palettes: Palettes) -> Self {
        Self {
            printer: EventPrinter::new(palettes.error_output, detail, Steps::Told),
            palettes,
            error_output: Box::new(io::stderr()),
            output: Box::new(io::stdout()),
        }
    }

    fn say(&mut self, text: &str) {
        // Progress without a reader is no reason to end the work.
        let _ = self
            .error_output
            .write_all(text.as_bytes())
            .and_then(|()| self.error_output.flush());
    }
}

impl Report for Plain {
    fn shares_the_prompt(&self) -> bool {
        true
    }

    fn occurrence(&mut self, occurrence: &RunOccurrence) -> io::Result<()> {
        let mut text = String::new();
        for line in self.printer.tell(occurrence, None) {
            text.push_str(&line);
            text.push('\n');
        }
        // Replayed events were reported by the process that caused them; they are only counted here.
        if !text.is_empty() && !occurrence.replayed {
            self.say(&text);
        }
        Ok(())
    }

    fn unanswered(&mut self, call: &UnansweredCall) -> io::Result<()> {
        for line in self.printer.tell_unanswered(call, None) {
            self.say(&format!("{line}\n"));
        }
        Ok(())
    }

    fn notice(&mut self, text: &str) -> io::Result<()> {
        self.say(&format!("{text}\n"));
        Ok(())
    }

    fn ask(&mut self, text: &str) -> io::Result<()> {
        self.say(text);
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn tick(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, finished: &Finished) -> io::Result<()> {
        write_result(
            &mut *self.output,
            &mut *self.error_output,
            finished,
            self.palettes,
        )
    }
}
