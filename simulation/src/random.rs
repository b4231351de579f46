//! Choices that depend on the seed alone.

use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A stream of choices, the same on every machine.
#[derive(Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number from 0 to below 1.
    pub fn share(&mut self) -> f64 {
        // As many bits as a number of this type can have.
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number below `bound`; 0 if the bound is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.share() * bound as f64) as usize
    }

    /// A time from zero to below `longest`.
    pub fn up_to(&mut self, longest: Duration) -> Duration {
        longest.mul_f64(self.share())
    }

    /// The time until the next of events that come at random, `mean` apart on average.
    pub fn until_next(&mut self, mean: Duration) -> Duration {
        mean.mul_f64(-(1.0 - self.share()).ln())
    }
}
