//! How far a run may go.

use std::num::NonZeroUsize;

use interrupt_router::ask::DEFAULT_CORRECTIONS;
use serde::{Deserialize, Serialize};

/// How far a run may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunLimits {
    /// How many steps the run may take; it fails if it needs more.
    pub max_steps: u32,
    /// How many workers of a dispatch node work at the same time.
    pub parallel_workers: NonZeroUsize,
    /// How many times a wrong answer is explained to the model and asked for again.
    pub corrections: u32,
}

impl Default for RunLimits {
    /// 200 steps, 4 workers at a time, 3 corrections.
    fn default() -> Self {
        Self {
            max_steps: 200,
            parallel_workers: const { NonZeroUsize::new(4).expect("four is not zero") },
            corrections: DEFAULT_CORRECTIONS,
        }
    }
}
