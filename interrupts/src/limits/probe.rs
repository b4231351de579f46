//! What the process uses of its machine.

use std::time::Duration;

/// What a process used at one moment, without what it started, such as tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceSample {
    /// The memory that it uses now, in bytes.
    pub memory: u64,
    /// The processor time that it has used since it began, of all processors together.
    pub cpu: Duration,
}

/// Why the use of a process is unknown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// This system does not report it, or not to us.
    #[error("this system does not say what a process uses, so it cannot be limited")]
    Unsupported,
    /// The system's report cannot be read.
    #[error("cannot read {path}")]
    Read {
        /// The file.
        path: &'static str,
        /// What went wrong.
        #[source]
        source: std::io::Error,
    },
    /// The system's report cannot be understood.
    #[error("{path} has no line `{wanted}`")]
    Understood {
        /// The file.
        path: &'static str,
        /// What was looked for.
        wanted: &'static str,
    },
}

/// Where samples come from.
pub trait ResourceProbe: Send + Sync {
    /// A sample of this moment. Called from time to time in an asynchronous task: it must not take long.
    ///
    /// # Errors
    ///
    /// [`ProbeError`] if there is none.
    fn sample(&self) -> Result<ResourceSample, ProbeError>;
}

/// Asks the system about this process. Known to work on Linux; elsewhere it gives [`ProbeError::Unsupported`].
#[derive(Debug, Clone, Copy, Default)]
pub struct ProcessProbe;

impl ResourceProbe for ProcessProbe {
    #[cfg(target_os = "linux")]
    fn sample(&self) -> Result<ResourceSample, ProbeError> {
        use rustix::time::{ClockId, clock_gettime};

        const PATH: &str = "/proc/self/status";
        let status = std::fs::read_to_string(PATH)
            .map_err(|source| ProbeError::Read { path: PATH, source })?;
        let memory = resident(&status).ok_or(ProbeError::Understood {
            path: PATH,
            wanted: RESIDENT,
        })?;
        let used = clock_gettime(ClockId::ProcessCPUTime);
        let seconds = u64::try_from(used.tv_sec).unwrap_or(0);
        let nanoseconds = u32::try_from(used.tv_nsec).unwrap_or(0);
        Ok(ResourceSample {
            memory,
            cpu: Duration::new(seconds, nanoseconds),
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn sample(&self) -> Result<ResourceSample, ProbeError> {
        Err(ProbeError::Unsupported)
    }
}

/// The line of the resident memory.
#[cfg(target_os = "linux")]
const RESIDENT: &str = "VmRSS:";

/// The resident memory in bytes; the system says it in units of 1,024 bytes that it calls kB.
#[cfg(target_os = "linux")]
fn resident(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(RESIDENT))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1_024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{ProcessProbe, ResourceProbe, resident};

    #[test]
    fn resident_memory_is_read_from_its_line() {
        let status = "Name:\tirq\nVmHWM:\t    9000 kB\nVmRSS:\t    8124 kB\nThreads:\t3\n";
        assert_eq!(resident(status), Some(8_124 * 1_024));
        assert_eq!(resident("Name:\tirq\n"), None);
    }

    #[test]
    fn this_process_holds_the_memory_that_it_fills_and_uses_the_time_that_it_burns() {
        let before = ProcessProbe.sample().unwrap();
        let filled = vec![7_u8; 64 << 20];
        let mut burnt = 0_u64;
        let mut after = ProcessProbe.sample().unwrap();
        while after.cpu <= before.cpu {
            burnt += filled.iter().map(|byte| u64::from(*byte)).sum::<u64>();
            after = ProcessProbe.sample().unwrap();
        }
        assert!(
            after.memory >= before.memory + (32 << 20),
            "{burnt}: {before:?}, {after:?}"
        );
    }
}
