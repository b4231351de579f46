//! How a run on a server ended, for people and for the shell.

use control::RunProgress;
use engine::run::{InterruptRecord, InterruptResult};
use interrupt_router::handler::FilledBy;
use interrupt_router::model::TokenUsage;
use interrupt_router::{InterruptType, RunId};
use interrupts::life::{Family, Interrupt, RunState};
use interrupts::manager::{StopCause, StopNote};
use interrupts::store::Run;
use jiff::Timestamp;

use super::super::raised::Limit;
use crate::advice::advised;
use crate::exit::{Exit, Failure};
use crate::interned_name::interned_name;
use crate::layout::{screen_size, wrap};
use crate::palette::{Palette, Tone};
use crate::report::RunFigures;
use crate::visible::{visible_line, visible_lines};

/// Why a run is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standstill {
    /// It is not, or not for long.
    None,
    /// Its server was stopped; the next server continues it.
    Shutdown,
    /// A limit was hit.
    Limit(Limit),
    /// Something failed.
    Trouble,
    /// Nothing pauses it any more, but no process has taken it up.
    Lifted,
    /// A person has paused it.
    Paused,
}

impl Limit {
    /// How a run goes on that has hit it: a server continues a run with its ordered limits, and would hit it again.
    fn way_on(self, run: RunId, url: &str) -> String {
        let Some(raised) = self.option() else {
            return format!(
                "it is the limit of the server's own process: once that has room again, irq resume {run} --server {url}"
            );
        };
        format!(
            "a server goes on with a run as it was ordered; beside the server's store more is allowed: irq resume {run} {raised} --store PATH"
        )
    }
}

/// Why a run is paused, from its open pauses.
pub(super) fn standstill(run: &Run, waiting: &[Interrupt]) -> Standstill {
    if run.state != RunState::Paused {
        return Standstill::None;
    }
    let pauses = waiting
        .iter()
        .filter(|interrupt| interrupt.family() == Family::Stop);
    let mut found = Standstill::Lifted;
    for pause in pauses {
        let notes = StopNote::in_force(pause);
        if let Some(limit) = notes.iter().find_map(Limit::of) {
            return Standstill::Limit(limit);
        }
        match notes.first().map(|note| note.cause) {
            Some(StopCause::Shutdown) => {
                found = Standstill::Shutdown;
            }
            Some(StopCause::SystemError) => return Standstill::Trouble,
            Some(
                StopCause::UserEscape
                | StopCause::Permission
                | StopCause::Policy
                | StopCause::Hook
                | StopCause::Code
                | StopCause::Budget
                | StopCause::Timeout
                | StopCause::Resource,
            )
            | None => return Standstill::Paused,
        }
    }
    found
}

/// How a run ended, or why this process no longer waits for it.
pub(super) struct RemoteEnding<'e> {
    pub(super) run: &'e Run,
    pub(super) progress: Option<&'e RunProgress>,
    /// The tokens that its model calls have used.
    pub(super) usage: TokenUsage,
    /// All interrupts that it has had.
    pub(super) interrupts: &'e [Interrupt],
    pub(super) standstill: Standstill,
    /// The waiting questions that no person here answers.
    pub(super) questions: &'e [Interrupt],
    /// The exit code of the signal that was sent here.
    pub(super) signal: Option<Exit>,
    pub(super) url: &'e str,
}

impl RemoteEnding<'_> {
    /// The exit code, as if this process had executed the run.
    pub(super) fn exit(&self) -> Exit {
        match self.run.state {
            RunState::Completed => Exit::Success,
            RunState::Cancelled => self.signal.unwrap_or(Exit::Stopped),
            RunState::Failed => Exit::Failure,
            RunState::Created
            | RunState::Running
            | RunState::Stopping
            | RunState::Waiting
            | RunState::Paused => match self.standstill {
                Standstill::Limit(_) => Exit::LimitHit,
                Standstill::Trouble => Exit::Failure,
                Standstill::None
                | Standstill::Shutdown
                | Standstill::Lifted
                | Standstill::Paused => self.signal.unwrap_or(Exit::Asking),
            },
        }
    }

    /// What to print if a person must act.
    pub(super) fn failure(&self) -> Option<Failure> {
        let exit = self.exit();
        let go_on = match self.standstill {
            Standstill::Limit(limit) => limit.way_on(self.run.id, self.url),
            Standstill::None
            | Standstill::Shutdown
            | Standstill::Trouble
            | Standstill::Lifted
            | Standstill::Paused => format!(
                "go on with: irq resume {} --server {}",
                self.run.id, self.url
            ),
        };
        match exit {
            Exit::Failure | Exit::LimitHit => {
                let why = self.run.reason.as_deref().unwrap_or("the run failed");
                let failure = Failure::new(exit, why);
                Some(if self.run.state == RunState::Failed {
                    failure
                } else {
                    failure.hint(go_on)
                })
            }
            Exit::Asking if !self.questions.is_empty() => {
                let text = match self.questions.len() {
                    1 => "1 interrupt waits for an answer".to_owned(),
                    count => format!("{count} interrupts wait for an answer"),
                };
                Some(Failure::new(exit, text).hint(format!(
                    "answer with `irq review --server {}`; the run goes on there by itself",
                    self.url
                )))
            }
            Exit::Asking
            | Exit::Success
            | Exit::Usage
            | Exit::NotFound
            | Exit::Conflict
            | Exit::Stopped
            | Exit::TimedOut
            | Exit::Partial
            | Exit::Unreachable
            | Exit::NotAuthorised
            | Exit::HungUp
            | Exit::Quit
            | Exit::Interrupted
            | Exit::Terminated => None,
        }
    }

    /// What it has used, and what became of its interrupts.
    fn figures(&self, columns: usize, palette: Palette) -> Vec<String> {
        let ended = self.run.ended_at.unwrap_or_else(Timestamp::now);
        let figures = RunFigures {
            steps: self.progress.map_or(0, |progress| progress.steps.completed),
            usage: self.usage,
            interrupts: self.interrupts.len(),
            elapsed: ended.duration_since(self.run.created_at),
        };
        let raised = self.interrupts.iter().filter(|it| it.is_raised_by_agent());
        let records: Vec<InterruptRecord> = raised.map(record_of).collect();
        figures.lines(&records, columns, palette)
    }

    /// The summary, in whole lines.
    pub(super) fn summary(&self, palette: Palette) -> String {
        let (columns, _rows) = screen_size();
        let (tone, word) = match self.run.state {
            RunState::Completed => (Tone::Good, "✓ completed"),
            RunState::Cancelled => (Tone::Waiting, "■ cancelled"),
            RunState::Failed => (Tone::Bad, "✗ failed"),
            RunState::Paused if self.standstill == Standstill::Trouble => {
                (Tone::Bad, "✗ stopped by an error")
            }
            RunState::Paused => (Tone::Waiting, "■ stopped"),
            RunState::Created | RunState::Running | RunState::Stopping | RunState::Waiting => {
                (Tone::Waiting, "? stopped to ask")
            }
        };
        let id = self.run.id.to_string();
        let mut lines = vec![format!(
            "{} {}",
            palette.paint(tone, word),
            palette.paint(Tone::Faint, &id)
        )];
        let result = self.progress.and_then(|progress| progress.result.as_ref());
        let said = match self.run.state {
            RunState::Completed => result,
            RunState::Paused | RunState::Cancelled => self.run.reason.as_ref(),
            RunState::Created
            | RunState::Running
            | RunState::Stopping
            | RunState::Waiting
            | RunState::Failed => None,
        };
        for line in said.iter().flat_map(|text| visible_lines(text)) {
            lines.extend(wrap(&line, columns, "  "));
        }
        for question in self.questions {
            let reason = visible_line(&crate::question::reason(question));
            lines.extend(wrap(
                &format!("{} asks: {reason}", question.kind),
                columns,
                "  ",
            ));
        }
        // The way past a limit is printed below, with the error.
        let is_limited = matches!(self.standstill, Standstill::Limit(_));
        if self.run.state == RunState::Paused && !is_limited {
            lines.push(advised(&format!(
                "  Resume with: irq resume {id} --server {}",
                self.url
            )));
        }
        lines.extend(self.figures(columns, palette));
        lines.push(String::new());
        lines.join("\n")
    }
}

/// The outcome of an interrupt as far as the store has it, without who wrote the request that its answer led to.
fn record_of(interrupt: &Interrupt) -> InterruptRecord {
    let outcome = match (interrupt.interrupt_type, &interrupt.decision) {
        (_, None) if interrupt.state.is_live() => InterruptResult::Open,
        (InterruptType::Stop, _) => InterruptResult::Stopped,
        (InterruptType::Prune, _) => InterruptResult::Pruned,
        (_, None) => InterruptResult::Decided {
            reason: interrupt.state.to_string(),
        },
        (_, Some(made)) if made.verdict.declines() => InterruptResult::Declined {
            verdict: made.verdict,
            decided_by: made.by.decided_by(None),
            answer: made.answer().unwrap_or_default().0,
        },
        (_, Some(made)) => InterruptResult::Routed {
            target: made.target.as_str().to_owned(),
            decided_by: made.by.decided_by(None),
            filled_by: FilledBy::Unchanged,
            answer: made.answer().unwrap_or_default().0,
            reroute: interrupt.bound.as_ref().map(|bound| bound.event.clone()),
        },
    };
    InterruptRecord::of(interrupt, interned_name(interrupt.kind.as_str()), outcome)
}
