//! How often processes look for runs that have lost their process.

use std::time::Duration;

/// How often a process looks for runs that it could continue, and how many it reads at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanSchedule {
    /// How often a server looks for runs that have lost their process.
    pub of_server: Duration,
    /// How often a worker does: runs that other processes hand over wait for that.
    pub of_worker: Duration,
    /// How often a full worker checks whether it has room, for runs for which something has arrived.
    pub for_room: Duration,
    /// How many runs are read together.
    pub page: u32,
}

impl ScanSchedule {
    /// A server looks every 3 s, a worker every second and for room every 250 ms, and both read 200 runs at a time.
    pub const USUAL: Self = Self {
        of_server: Duration::from_secs(3),
        of_worker: Duration::from_secs(1),
        for_room: Duration::from_millis(250),
        page: 200,
    };
}
