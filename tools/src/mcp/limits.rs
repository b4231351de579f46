//! How long a server may take.

use std::time::Duration;

/// How long a server may take for what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpLimits {
    /// From its start, or the first request, to the end of the protocol's greeting.
    pub start: Duration,
    /// To list its tools.
    pub list: Duration,
    /// For one call, without the time in which a person is asked; `None` is without limit.
    pub call: Option<Duration>,
    /// From being told to stop a call until it is seen to have, before it is given up.
    pub cancel: Duration,
    /// How long nothing of a cancelled call may come until it counts as stopped.
    pub quiet: Duration,
    /// How long it may take to end by itself when it is no longer needed.
    pub close: Duration,
    /// The most bytes of one message of the server.
    pub message: usize,
    /// How often it may die by itself within ten minutes and be started again.
    pub restarts: usize,
}

impl Default for McpLimits {
    /// Thirty seconds to start, ten to list, ten minutes for a call, two seconds to heed a cancellation of which a
    /// quarter of a second must be quiet, two seconds to close, messages up to 8 MiB, five restarts.
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            list: Duration::from_secs(10),
            call: Some(Duration::from_secs(10 * 60)),
            cancel: Duration::from_secs(2),
            quiet: Duration::from_millis(250),
            close: Duration::from_secs(2),
            message: 8 * 1024 * 1024,
            restarts: 5,
        }
    }
}
