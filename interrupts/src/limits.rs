//! Limits: guards that ask for a stop when a run has used up its time, steps, money, memory or processor time.
//!
//! A guard knows nothing of runs. It reports what was reached to a [`StopSink`], once, and the sink stops the run.
//! Starting a guard never waits; one that is stopped or dropped leaves no task behind. The guard of money is
//! [`Budget`](crate::money::Budget).

mod guard;
mod probe;
mod reached;
mod resources;
mod steps;
mod time;
mod watch;

pub use guard::LimitGuard;
pub use probe::{ProbeError, ProcessProbe, ResourceProbe, ResourceSample};
pub use reached::{LimitKind, LimitReached, LimitWarning, StopSink};
pub use resources::ResourceGuard;
pub use steps::StepLimit;
pub use time::TimeLimit;
pub use watch::{CpuLoad, Finding, ResourceLimits, ResourceWatch};
