//! What a run's end means to the shell.

use engine::run::RunStatus;
use interrupt_router::RunId;

use crate::exit::{Exit, Failure};
use crate::model::ModelTrouble;

/// How a run ended, and what else is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunEnding<'e> {
    /// How it ended.
    pub(super) status: &'e RunStatus,
    /// Which run.
    pub(super) run: RunId,
    /// What was wrong with the model's last answer.
    pub(super) trouble: Option<ModelTrouble>,
    /// The signal that stopped it.
    pub(super) signal: Option<Exit>,
    /// Whether a limit stopped it.
    pub(super) limited: bool,
}

impl RunEnding<'_> {
    /// The exit code.
    pub(super) fn exit(self) -> Exit {
        match self.status {
            RunStatus::Completed { .. } => Exit::Success,
            RunStatus::Waiting { .. } => Exit::Asking,
            RunStatus::Cancelled {
                from_outside: false,
                ..
            } => Exit::Stopped,
            RunStatus::Paused { .. } if self.limited => Exit::LimitHit,
            // The person who paused it from elsewhere is the one who answers.
            RunStatus::Paused { .. } => self.signal.unwrap_or(Exit::Asking),
            RunStatus::Cancelled { .. } => self.signal.unwrap_or(Exit::Stopped),
            RunStatus::Failed {
                limit_hit: true, ..
            } => Exit::LimitHit,
            RunStatus::Failed { .. } => self.trouble.map_or(Exit::Failure, ModelTrouble::exit),
        }
    }

    /// What to print if the run failed or waits; both need a person to act.
    pub(super) fn failure(self) -> Option<Failure> {
        match self.status {
            RunStatus::Failed { error, hint, .. } => {
                let failure = Failure::new(self.exit(), error.clone());
                Some(match (hint, self.usual_hint()) {
                    (Some(hint), _) => failure.hint(hint.clone()),
                    (None, Some(hint)) => failure.hint(hint),
                    (None, None) => failure,
                })
            }
            RunStatus::Waiting { interrupts, .. } => {
                let (message, which) = match interrupts.as_slice() {
                    [only] => (
                        "1 interrupt waits for an answer".to_owned(),
                        only.to_string(),
                    ),
                    more => (
                        format!("{} interrupts wait for an answer", more.len()),
                        "INTERRUPT".to_owned(),
                    ),
                };
                let hint = format!(
                    "answer with `irq review {which}`, then go on with `irq resume {}`; or run on a terminal \
                     without --no-input, or with a script's `person` step",
                    self.run
                );
                Some(Failure::new(Exit::Asking, message).hint(hint))
            }
            RunStatus::Completed { .. }
            | RunStatus::Paused { .. }
            | RunStatus::Cancelled { .. } => None,
        }
    }

    fn usual_hint(self) -> Option<&'static str> {
        let hints = [
            (Exit::LimitHit, "allow more steps with --max-steps"),
            (
                Exit::Unreachable,
                "check --base-url and that the server runs",
            ),
            (
                Exit::NotAuthorised,
                "check the key in the provider's environment variable",
            ),
        ];
        let exit = self.exit();
        hints
            .into_iter()
            .find_map(|(of, hint)| (of == exit).then_some(hint))
    }
}

#[cfg(test)]
mod tests {
    use engine::run::RunStatus;
    use interrupt_router::RunId;

    use super::RunEnding;
    use crate::exit::Exit;
    use crate::model::ModelTrouble;

    fn exit_of(status: &RunStatus, trouble: Option<ModelTrouble>, signal: Option<Exit>) -> Exit {
        RunEnding {
            status,
            run: RunId::generate(),
            trouble,
            signal,
            limited: false,
        }
        .exit()
    }

    #[test]
    fn a_pause_is_told_by_what_asked_for_it() {
        let paused = RunStatus::Paused {
            reason: "enough for now".to_owned(),
        };
        let signal = Some(Exit::Interrupted);
        assert_eq!(exit_of(&paused, None, signal), Exit::Interrupted);
        assert_eq!(exit_of(&paused, None, None), Exit::Asking);
        let limited = RunEnding {
            status: &paused,
            run: RunId::generate(),
            trouble: None,
            signal: None,
            limited: true,
        };
        assert_eq!(limited.exit(), Exit::LimitHit);
    }

    fn failed(limit_hit: bool) -> RunStatus {
        RunStatus::Failed {
            error: "it failed".to_owned(),
            hint: None,
            limit_hit,
            resumable: true,
        }
    }

    fn cancelled(from_outside: bool) -> RunStatus {
        RunStatus::Cancelled {
            reason: "enough".to_owned(),
            from_outside,
        }
    }

    #[test]
    fn each_end_has_its_exit_code() {
        let signal = Some(Exit::Terminated);
        let unreachable = Some(ModelTrouble::Unreachable);
        assert_eq!(exit_of(&failed(true), None, None), Exit::LimitHit);
        assert_eq!(
            exit_of(&failed(false), unreachable, None),
            Exit::Unreachable
        );
        assert_eq!(exit_of(&failed(false), None, None), Exit::Failure);
        assert_eq!(exit_of(&cancelled(true), None, signal), Exit::Terminated);
        assert_eq!(exit_of(&cancelled(true), None, None), Exit::Stopped);
        assert_eq!(exit_of(&cancelled(false), None, signal), Exit::Stopped);
    }
}
