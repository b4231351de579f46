//! What bounds one call.

use std::time::Duration;

/// What bounds one call to a provider, by its phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimits {
    /// The longest answer, in bytes.
    pub answer: usize,
    /// The longest time for the whole call.
    pub whole: Duration,
    /// The longest time until a connection is made.
    pub connect: Duration,
    /// The longest time until the first event of the answer. A server that reads a long prompt says nothing meanwhile.
    pub first: Duration,
    /// The longest time between two events of the stream, once there was one.
    pub silence: Duration,
    /// The most reads of the connection that bring neither an event nor the end: a line that never ends would be kept in
    /// memory for ever.
    pub line_reads: u32,
}

impl Default for CallLimits {
    /// 8 MiB; 10 minutes for the whole, 10 seconds for the connection, 2 minutes until the first event, 60 seconds between
    /// two, and 512 reads for one.
    fn default() -> Self {
        Self {
            answer: 8 * 1024 * 1024,
            whole: Duration::from_secs(600),
            connect: Duration::from_secs(10),
            first: Duration::from_secs(120),
            silence: Duration::from_secs(60),
            line_reads: 512,
        }
    }
}
