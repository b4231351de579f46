//! What bounds one call.

use std::time::Duration;

/// What bounds one call to a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimits {
    /// The longest answer, in bytes.
    pub answer: usize,
    /// The longest time for the whole call.
    pub whole: Duration,
    /// The longest time until the provider begins to answer.
    pub headers: Duration,
    /// The longest time between two events of the stream.
    pub silence: Duration,
}

impl Default for CallLimits {
    /// 8 MiB, 10 minutes for the whole, 60 seconds until the answer begins and between two events.
    fn default() -> Self {
        Self {
            answer: 8 * 1024 * 1024,
            whole: Duration::from_secs(600),
            headers: Duration::from_secs(60),
            silence: Duration::from_secs(60),
        }
    }
}
