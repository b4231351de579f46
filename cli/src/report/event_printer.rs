//! What happens, in sentences for people.

mod printed_event;

use engine::run::RunOccurrence;
use interrupt_router::NodeId;
use jiff::Timestamp;

use super::Detail;
use super::agent_tree::AgentTree;
use crate::layout::{columns_of, cut, duration, wrap};
use crate::model::UnansweredCall;
use crate::palette::{Palette, Tone};

use printed_event::{PrintedEvent, moment_of, moment_of_unanswered};
pub(crate) use printed_event::{answer_words, declined_word, plan_words};

/// How many lines of a screen one thing that happens may take, about; `-v` shows all of it.
const MOST_LINES: usize = 3;

/// The longest line if there is no screen, in columns.
const LONGEST_LINE: usize = 1_000;

/// Whether the steps of agents are printed, or shown elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steps {
    /// Printed line by line.
    Told,
    /// Shown in the tree.
    Seen,
}

/// Tells what happens, one or a few lines for each occurrence that is worth it.
#[derive(Debug)]
pub(crate) struct EventPrinter {
    tree: AgentTree,
    palette: Palette,
    detail: Detail,
    steps: Steps,
}

impl EventPrinter {
    /// The events from its beginning.
    pub(crate) fn new(palette: Palette, detail: Detail, steps: Steps) -> Self {
        Self {
            tree: AgentTree::default(),
            palette,
            detail,
            steps,
        }
    }

    /// The agents so far.
    pub(crate) fn tree(&self) -> &AgentTree {
        &self.tree
    }

    /// The colours.
    pub(crate) fn palette(&self) -> Palette {
        self.palette
    }

    /// Takes in what happened, and renders it in lines of at most `columns`; in one line each if `columns` is `None`.
    pub(crate) fn tell(
        &mut self,
        occurrence: &RunOccurrence,
        columns: Option<usize>,
    ) -> Vec<String> {
        self.tree.apply(occurrence);
        let Some(moment) = moment_of(&occurrence.event, &self.tree) else {
            return Vec::new();
        };
        let is_seen = moment.is_step && self.steps == Steps::Seen;
        let worth = if is_seen { Detail::Much } else { moment.detail };
        if worth > self.detail {
            return Vec::new();
        }
        let time = duration(self.tree.elapsed(occurrence.at));
        self.lines(&time, &moment, columns)
    }

    /// Says how a call to a model ended that has no whole answer.
    pub(crate) fn tell_unanswered(
        &self,
        call: &UnansweredCall,
        columns: Option<usize>,
    ) -> Vec<String> {
        let who = self.tree.label(&call.caller.node);
        let Some(moment) = moment_of_unanswered(&call.why, who) else {
            return Vec::new();
        };
        if moment.detail > self.detail {
            return Vec::new();
        }
        let time = duration(self.tree.elapsed(call.at));
        self.lines(&time, &moment, columns)
    }

    /// Says something of an agent, or of the run, that is no occurrence.
    pub(crate) fn tell_of(
        &self,
        (at, node): (Timestamp, Option<&NodeId>),
        (symbol, tone): (&'static str, Tone),
        what: String,
        columns: Option<usize>,
    ) -> Vec<String> {
        let moment = PrintedEvent {
            symbol,
            tone,
            who: node.map_or_else(String::new, |node| self.tree.label(node)),
            what,
            detail: Detail::Usual,
            is_step: false,
        };
        let time = duration(self.tree.elapsed(at));
        self.lines(&time, &moment, columns)
    }

    fn lines(&self, time: &str, moment: &PrintedEvent, columns: Option<usize>) -> Vec<String> {
        let palette = self.palette;
        let what = self.bounded(&moment.what, columns);
        let who = if moment.who.is_empty() {
            String::new()
        } else {
            format!("{}  ", moment.who)
        };
        let plain_head = format!("{time:>7}  {} {who}", moment.symbol);
        let indent = " ".repeat(11);
        let text = match columns {
            // The head's place is kept free with characters at which no line is broken.
            Some(columns) => {
                let filler = "x".repeat(columns_of(&plain_head).saturating_sub(indent.len()));
                let lines = wrap(&format!("{filler}{what}"), columns, &indent);
                let mut lines = lines.into_iter();
                let first = lines.next().unwrap_or_default();
                let skipped = indent.len() + filler.len();
                let mut kept = vec![first.get(skipped..).unwrap_or_default().to_owned()];
                kept.extend(lines);
                kept
            }
            None => vec![what],
        };
        let head = format!(
            "{}  {} {}",
            palette.paint(Tone::Faint, &format!("{time:>7}")),
            palette.paint(moment.tone, moment.symbol),
            palette.paint(Tone::Strong, &who),
        );
        let mut text = text.into_iter();
        let first = text.next().unwrap_or_default();
        let mut lines = vec![format!("{head}{first}").trim_end().to_owned()];
        lines.extend(text);
        lines
    }

    /// The text, cut if it would push everything else off the screen.
    fn bounded(&self, what: &str, columns: Option<usize>) -> String {
        if self.detail == Detail::Much {
            return what.to_owned();
        }
        let room = columns.map_or(LONGEST_LINE, |columns| columns * MOST_LINES);
        cut(what, room)
    }
}

#[cfg(test)]
mod tests;
