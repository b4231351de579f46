//! A picture of the agents that moves, below the lines of what happened.

use std::io::{self, Write};

use engine::run::RunOccurrence;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use jiff::Timestamp;

use super::agent_tree::Picture;
use super::event_printer::{EventPrinter, Steps};
use super::{Detail, Finished, Palettes, Report, write_result};
use crate::layout::{screen_size, wrap};
use crate::model::UnansweredCall;

/// Lines that the tree leaves free for what happened above it, the line of totals included.
const FREE_ROWS: usize = 8;

/// The fewest lines of the tree.
const FEWEST_ROWS: usize = 4;

/// Frames a second, at most.
const FRAMES: u8 = 20;

/// Draws the tree on the terminal behind standard error.
pub(crate) struct Live {
    printer: EventPrinter,
    palettes: Palettes,
    picture: Option<ProgressBar>,
    frame: usize,
    hears_escape: bool,
}

impl Live {
    /// A picture in these colours, which says whether Esc interrupts.
    pub(crate) fn new(detail: Detail, palettes: Palettes, hears_escape: bool) -> Self {
        Self {
            printer: EventPrinter::new(palettes.error_output, detail, Steps::Seen),
            palettes,
            picture: None,
            frame: 0,
            hears_escape,
        }
    }

    fn print(&mut self, text: &str) {
        // The picture is taken away before anything else is written, and drawn again after it.
        match &self.picture {
            Some(picture) => picture.suspend(|| write_error(text)),
            None => write_error(text),
        }
    }

    fn draw(&mut self) {
        let picture = self.picture.get_or_insert_with(new_picture);
        let (columns, rows) = screen_size();
        let drawing = Picture {
            // The last column stays free: some terminals break a line that fills it.
            columns: columns - 1,
            rows: rows.saturating_sub(FREE_ROWS).max(FEWEST_ROWS),
            palette: self.printer.palette(),
            now: Timestamp::now(),
            frame: Some(self.frame),
            hears_escape: self.hears_escape,
        };
        let tree = self.printer.tree();
        let mut lines = vec![String::new()];
        lines.extend(drawing.tree(tree));
        lines.push(String::new());
        lines.push(drawing.totals(tree));
        picture.set_message(lines.join("\n"));
    }

    fn take_away(&mut self) {
        if let Some(picture) = self.picture.take() {
            picture.finish_and_clear();
        }
    }
}

fn new_picture() -> ProgressBar {
    let picture = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(FRAMES));
    match ProgressStyle::with_template("{msg}") {
        Ok(style) => picture.with_style(style),
        // The template is fixed and fine; the default style would show the message too.
        Err(_) => picture,
    }
}

fn write_error(text: &str) {
    let mut output = io::stderr().lock();
    // Progress without a reader is no reason to end the work.
    let _ = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
}

impl Report for Live {
    fn shares_the_prompt(&self) -> bool {
        true
    }

    fn occurrence(&mut self, occurrence: &RunOccurrence) -> io::Result<()> {
        let (columns, _rows) = screen_size();
        let lines = self.printer.tell(occurrence, Some(columns - 1));
        // Replayed events were reported by the process that caused them; they only make the tree here.
        if !lines.is_empty() && !occurrence.replayed {
            self.print(&format!("{}\n", lines.join("\n")));
        }
        Ok(())
    }

    fn unanswered(&mut self, call: &UnansweredCall) -> io::Result<()> {
        let (columns, _rows) = screen_size();
        let lines = self.printer.tell_unanswered(call, Some(columns - 1));
        if !lines.is_empty() {
            self.print(&format!("{}\n", lines.join("\n")));
        }
        Ok(())
    }

    fn notice(&mut self, text: &str) -> io::Result<()> {
        let (columns, _rows) = screen_size();
        let lines: Vec<String> = text
            .lines()
            .flat_map(|line| {
                let said = line.trim_start();
                let indent = " ".repeat(line.len() - said.len());
                wrap(said, columns - 1, &indent)
            })
            .collect();
        self.print(&format!("{}\n", lines.join("\n")));
        Ok(())
    }

    fn ask(&mut self, text: &str) -> io::Result<()> {
        self.take_away();
        write_error(text);
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        self.take_away();
        Ok(())
    }

    fn tick(&mut self) -> io::Result<()> {
        self.frame = self.frame.wrapping_add(1);
        self.draw();
        Ok(())
    }

    fn finish(&mut self, finished: &Finished) -> io::Result<()> {
        self.take_away();
        let (columns, _rows) = screen_size();
        let last = Picture {
            columns: columns - 1,
            rows: usize::MAX,
            palette: self.printer.palette(),
            now: Timestamp::now(),
            frame: None,
            hears_escape: false,
        };
        let tree = last.tree(self.printer.tree());
        if !tree.is_empty() {
            write_error(&format!("\n{}\n", tree.join("\n")));
        }
        write_result(
            &mut io::stdout(),
            &mut io::stderr(),
            finished,
            self.palettes,
        )
    }
}
