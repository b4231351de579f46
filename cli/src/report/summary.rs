//! What became of a run, for people.

use engine::run::{InterruptRecord, InterruptResult, RunReport, RunStatus};
use interrupt_router::handler::DecidedBy;
use interrupt_router::model::TokenUsage;
use interrupt_router::review::Answer;
use jiff::SignedDuration;

use super::RunLocation;
use super::event_printer::{answer_words, declined_word};
use crate::advice::advised;
use crate::layout::{cut, duration, fit, quantity, wrap};
use crate::palette::{Palette, Tone};
use crate::visible::{visible_line, visible_lines};

/// The columns of the table of interrupts.
const ORIGIN: usize = 22;
const TYPE: usize = 12;
const DECIDED_BY: usize = 12;

/// Writes a summary for a screen of so many columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Summary<'f> {
    /// The screen's width.
    pub(crate) columns: usize,
    /// The colours.
    pub(crate) palette: Palette,
    /// Where the run is, once this process has ended.
    pub(crate) kept: RunLocation,
    /// The options that raise the limits which it has hit.
    pub(crate) raised: &'f [String],
    /// How many interrupts it has had.
    pub(crate) interrupts: usize,
}

impl Summary<'_> {
    /// The summary, in whole lines.
    pub(crate) fn text(self, report: &RunReport) -> String {
        let mut lines = vec![self.status(report)];
        let outcome = match &report.status {
            RunStatus::Completed { summary } => Some(summary),
            RunStatus::Paused { reason } | RunStatus::Cancelled { reason, .. } => Some(reason),
            // The error message says why it failed, the questions say what is asked.
            RunStatus::Failed { .. } | RunStatus::Waiting { .. } => None,
        };
        for line in outcome.iter().flat_map(|text| visible_lines(text)) {
            lines.extend(wrap(&line, self.columns, "  "));
        }
        if let RunStatus::Waiting { questions, .. } = &report.status {
            for question in questions {
                let reason = visible_line(&question.details.reason);
                let line = format!("{} asks: {reason}", question.agent_type);
                lines.extend(wrap(&line, self.columns, "  "));
            }
        }
        lines.extend(match self.kept {
            RunLocation::Store => way_on(report, self.raised),
            RunLocation::Memory => lost(report),
            RunLocation::Nowhere => Vec::new(),
        });
        let figures = RunFigures {
            steps: report.steps,
            usage: report.usage,
            interrupts: self.interrupts,
            elapsed: report.elapsed,
        };
        lines.extend(figures.lines(&report.interrupts, self.columns, self.palette));
        lines.push(String::new());
        lines.join("\n")
    }

    fn status(self, report: &RunReport) -> String {
        let (symbol, tone, word) = match &report.status {
            RunStatus::Completed { .. } => ("✓", Tone::Good, "completed"),
            RunStatus::Waiting { .. } => ("?", Tone::Waiting, "stopped to ask"),
            RunStatus::Paused { .. } => ("■", Tone::Waiting, "stopped"),
            RunStatus::Cancelled { .. } => ("■", Tone::Waiting, "cancelled"),
            RunStatus::Failed {
                resumable: true, ..
            } => ("✗", Tone::Bad, "stopped by an error"),
            RunStatus::Failed { .. } => ("✗", Tone::Bad, "failed"),
        };
        format!(
            "{} {}",
            self.palette.paint(tone, &format!("{symbol} {word}")),
            self.palette.paint(Tone::Faint, &report.run.to_string()),
        )
    }
}

/// What a run has taken, wherever it was executed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunFigures {
    /// Its steps.
    pub(crate) steps: u32,
    /// What its models used.
    pub(crate) usage: TokenUsage,
    /// How many interrupts it has had.
    pub(crate) interrupts: usize,
    /// How long it took.
    pub(crate) elapsed: SignedDuration,
}

impl RunFigures {
    /// What it has taken, and what became of its interrupts.
    pub(crate) fn lines(
        self,
        interrupts: &[InterruptRecord],
        columns: usize,
        palette: Palette,
    ) -> Vec<String> {
        let mut lines = vec![String::new(), self.line()];
        if !interrupts.is_empty() {
            lines.push(String::new());
            lines.extend(InterruptTable { columns, palette }.lines(interrupts));
        }
        lines
    }

    fn line(self) -> String {
        let mut figures = vec![counted(u64::from(self.steps), "step")];
        let usage = self.usage;
        if usage.input.is_some() || usage.output.is_some() {
            figures.push(format!(
                "{} tokens read, {} written",
                quantity(usage.input.unwrap_or(0)),
                quantity(usage.output.unwrap_or(0)),
            ));
        }
        let interrupts = u64::try_from(self.interrupts).unwrap_or(u64::MAX);
        figures.push(counted(interrupts, "interrupt"));
        figures.push(duration(self.elapsed));
        format!("  {}", figures.join(" · "))
    }
}

/// The interrupts of a run as a table.
#[derive(Clone, Copy)]
struct InterruptTable {
    columns: usize,
    palette: Palette,
}

impl InterruptTable {
    fn lines(self, records: &[InterruptRecord]) -> Vec<String> {
        let palette = self.palette;
        let head = format!(
            "  #  {}  {}  {}  WENT TO",
            fit("INTERRUPT OF", ORIGIN),
            fit("TYPE", TYPE),
            fit("DECIDED BY", DECIDED_BY),
        );
        let mut lines = vec![palette.paint(Tone::Strong, &head)];
        for (index, record) in records.iter().enumerate() {
            let (decided_by, target, tone) = outcome_words(&record.outcome);
            let columns = self
                .columns
                .saturating_sub(5 + ORIGIN + TYPE + DECIDED_BY + 6);
            lines.push(format!(
                "{:>3}  {}  {}  {}  {}",
                index + 1,
                fit(record.origin, ORIGIN),
                fit(record.interrupt_type.name(), TYPE),
                fit(&decided_by, DECIDED_BY),
                palette.paint(tone, &cut(&target, columns.max(8))),
            ));
            lines.extend(self.details(record));
        }
        lines
    }

    fn details(self, record: &InterruptRecord) -> Vec<String> {
        let mut details = vec![("asked", visible_line(&record.reason))];
        match &record.outcome {
            InterruptResult::Routed {
                answer, reroute, ..
            } => {
                let is_plain_yes = record.interrupt_type.asks() && *answer == Answer::default();
                let words = if is_plain_yes {
                    "yes".to_owned()
                } else {
                    answer_words(answer)
                };
                details.push(("answer", words));
                if let Some(event) = reroute {
                    details.push(("event", visible_line(event.as_str())));
                }
            }
            InterruptResult::Declined { answer, .. } => {
                details.push(("answer", answer_words(answer)));
            }
            InterruptResult::Refused { reason } => {
                details.push(("refused", visible_line(reason)));
            }
            InterruptResult::Decided { reason } => {
                details.push(("decided", visible_line(reason)));
            }
            InterruptResult::Branched { run } => details.push(("branch", run.to_string())),
            InterruptResult::Stopped | InterruptResult::Pruned => {}
            InterruptResult::Open => details.push(("open", record.interrupt.to_string())),
        }
        details
            .into_iter()
            .map(|(name, text)| {
                let room = self.columns.saturating_sub(14);
                let line = format!("     {name:<7}  {}", cut(&text, room));
                self.palette.paint(Tone::Faint, &line)
            })
            .collect()
    }
}

/// How a run that has not ended can continue.
fn way_on(report: &RunReport, raised: &[String]) -> Vec<String> {
    let run = report.run;
    let command = match &report.status {
        RunStatus::Paused { .. }
        | RunStatus::Failed {
            resumable: true, ..
        } if raised.is_empty() => format!("irq resume {run}"),
        RunStatus::Paused { .. }
        | RunStatus::Failed {
            resumable: true, ..
        } => format!("irq resume {run} {}", raised.join(", and ")),
        RunStatus::Waiting { interrupts, .. } => {
            let which = match interrupts.as_slice() {
                [only] => only.to_string(),
                _ => format!("--run {run} --next"),
            };
            format!("irq review {which}, then irq resume {run}")
        }
        RunStatus::Completed { .. } | RunStatus::Cancelled { .. } | RunStatus::Failed { .. } => {
            return Vec::new();
        }
    };
    let mut lines = Vec::new();
    if let Some(checkpoint) = report.checkpoint {
        lines.push(format!(
            "  Checkpoint {} of it is saved.",
            checkpoint.number
        ));
    }
    lines.push(advised(&format!("  Resume with: {command}")));
    lines
}

/// The lines for a run that has not ended and was kept nowhere.
fn lost(report: &RunReport) -> Vec<String> {
    if way_on(report, &[]).is_empty() {
        return Vec::new();
    }
    let text =
        "It was kept in memory alone and ends with this process; --store PATH keeps the next one.";
    vec![format!("  {text}")]
}

fn outcome_words(outcome: &InterruptResult) -> (String, String, Tone) {
    match outcome {
        InterruptResult::Routed {
            target, decided_by, ..
        } => {
            let target = visible_line(target);
            (decider_words(*decided_by), target, Tone::Route)
        }
        InterruptResult::Declined {
            verdict,
            decided_by,
            ..
        } => {
            let what = format!("nowhere, {}", declined_word(*verdict, *decided_by));
            (decider_words(*decided_by), what, Tone::Bad)
        }
        InterruptResult::Stopped => (String::new(), "the run's end".to_owned(), Tone::Waiting),
        InterruptResult::Pruned => (String::new(), "its node's end".to_owned(), Tone::Waiting),
        InterruptResult::Branched { .. } => (String::new(), "a branch".to_owned(), Tone::Waiting),
        InterruptResult::Refused { .. } => {
            (String::new(), "its node, refused".to_owned(), Tone::Bad)
        }
        InterruptResult::Decided { .. } => {
            let whoever = "a reviewer".to_owned();
            (
                whoever,
                "nowhere, not carried out".to_owned(),
                Tone::Waiting,
            )
        }
        InterruptResult::Open => (String::new(), "nowhere yet".to_owned(), Tone::Waiting),
    }
}

fn decider_words(decided_by: DecidedBy) -> String {
    match decided_by {
        // A person, or a script in place of one: the port does not say which.
        DecidedBy::Person => "a reviewer".to_owned(),
        DecidedBy::Rule => "a rule".to_owned(),
        DecidedBy::Policy => "the policy".to_owned(),
        DecidedBy::Deadline => "a deadline".to_owned(),
        DecidedBy::Model { confidence } => format!("a model, {confidence}%"),
    }
}

fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
