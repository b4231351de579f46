//! Times, and what is said of them.

use std::time::Duration;

/// Many times of the same thing.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    times: Vec<Duration>,
    /// How long all of it took.
    whole: Duration,
}

impl Figures {
    pub(crate) fn of(mut times: Vec<Duration>, whole: Duration) -> Self {
        times.sort_unstable();
        Self { times, whole }
    }

    pub(crate) fn extend(&mut self, more: Vec<Duration>) {
        self.times.extend(more);
        self.times.sort_unstable();
    }

    /// The time that so many of a hundred did not exceed.
    pub(crate) fn at(&self, percent: usize) -> Duration {
        let rank = (self.times.len() * percent).div_ceil(100).max(1);
        self.times.get(rank - 1).copied().unwrap_or_default()
    }

    pub(crate) fn print(&self, name: &str) {
        let rate = self.times.len() as f64 / self.whole.as_secs_f64();
        println!(
            "  {name}: {rate:.0} a second, median {:.2?}, 99 % within {:.2?}",
            self.at(50),
            self.at(99)
        );
    }

    pub(crate) fn print_times(&self, name: &str) {
        println!(
            "  {name}: median {:.2?}, 99 % within {:.2?}, the last {:.2?}",
            self.at(50),
            self.at(99),
            self.at(100)
        );
    }
}
