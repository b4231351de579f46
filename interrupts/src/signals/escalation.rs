//! What the first, the second and the third signal mean.

use super::Signal;

/// What a signal means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rung {
    /// Finish the current steps, then stop.
    Ask,
    /// Stop now.
    Insist,
    /// Leave the process.
    Leave,
}

/// Counts signals. There is no way down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Escalation {
    reached: Option<Rung>,
}

impl Escalation {
    /// What the next signal means; `None` if it adds nothing new.
    pub const fn climb(&mut self, signal: Signal) -> Option<Rung> {
        let notified = match (signal, self.reached) {
            (Signal::Hangup, Some(_)) => return None,
            (Signal::Interrupt | Signal::Terminate | Signal::Hangup, None) => Rung::Ask,
            (Signal::Interrupt | Signal::Terminate, Some(Rung::Ask))
            | (Signal::Quit, None | Some(Rung::Ask)) => Rung::Insist,
            (
                Signal::Interrupt | Signal::Terminate | Signal::Quit,
                Some(Rung::Insist | Rung::Leave),
            ) => Rung::Leave,
        };
        self.reached = Some(notified);
        Some(notified)
    }
}

#[cfg(test)]
mod tests {
    use super::{Escalation, Rung, Signal};

    fn rungs<const N: usize>(signals: [Signal; N]) -> [Option<Rung>; N] {
        let mut ladder = Escalation::default();
        signals.map(|signal| ladder.climb(signal))
    }

    #[test]
    fn the_third_signal_and_all_after_it_leave() {
        assert_eq!(
            rungs([Signal::Interrupt; 5]),
            [
                Some(Rung::Ask),
                Some(Rung::Insist),
                Some(Rung::Leave),
                Some(Rung::Leave),
                Some(Rung::Leave)
            ]
        );
    }

    #[test]
    fn that_the_terminal_is_gone_asks_once_and_is_never_in_a_hurry() {
        use Signal::{Hangup, Interrupt, Terminate};
        assert_eq!(
            rungs([Hangup, Hangup, Hangup, Terminate]),
            [Some(Rung::Ask), None, None, Some(Rung::Insist)]
        );
        let after_two = rungs([Interrupt, Interrupt, Hangup]);
        assert_eq!(after_two, [Some(Rung::Ask), Some(Rung::Insist), None]);
    }

    #[test]
    fn a_quit_insists_at_once() {
        use Signal::{Interrupt, Quit};
        assert_eq!(
            rungs([Quit, Interrupt]),
            [Some(Rung::Insist), Some(Rung::Leave)]
        );
        assert_eq!(
            rungs([Interrupt, Quit, Quit]),
            [Some(Rung::Ask), Some(Rung::Insist), Some(Rung::Leave)]
        );
    }
}
