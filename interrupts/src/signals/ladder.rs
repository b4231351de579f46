//! What the first, the second and the third signal mean.

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
pub struct Ladder {
    reached: Option<Rung>,
}

impl Ladder {
    /// What the next signal means.
    pub const fn climb(&mut self) -> Rung {
        let rung = match self.reached {
            None => Rung::Ask,
            Some(Rung::Ask) => Rung::Insist,
            Some(Rung::Insist | Rung::Leave) => Rung::Leave,
        };
        self.reached = Some(rung);
        rung
    }
}

#[cfg(test)]
mod tests {
    use super::{Ladder, Rung};

    #[test]
    fn the_third_signal_and_all_after_it_leave() {
        let mut ladder = Ladder::default();
        let rungs: Vec<_> = (0..5).map(|_signal| ladder.climb()).collect();
        assert_eq!(
            rungs,
            [
                Rung::Ask,
                Rung::Insist,
                Rung::Leave,
                Rung::Leave,
                Rung::Leave
            ]
        );
    }
}
