//! The name of this process as an owner, and whether the process behind another name is gone.
//!
//! A name says what distinguishes a process from all others of its machine: the boot and the namespace of processes,
//! the process id, and when it began. A reader can later check whether the process exists, regardless of its lease's
//! time; but not for a process in another container, which cannot be seen, nor for one stopped with Ctrl+Z, which
//! renews nothing. For those the lease decides, by the store's clock.

use std::fs;
use std::path::Path;

use interrupts::life::Lease;
use interrupts::store::Run;
use interrupts::{NameError, OwnerName};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use uuid::Uuid;

/// The ticks of a second, in what the kernel reports of processes (proc(5)).
const TICKS: i64 = 100;

/// The name of this process.
///
/// # Errors
///
/// [`NameError`] if it cannot be a name.
pub fn own_name() -> Result<OwnerName, NameError> {
    let process = std::process::id();
    match (boot(), OwnerProcess::of(process)) {
        (Some(boot), Some(OwnerProcess { began, .. })) => {
            OwnerName::new(format!("irq-{boot}-{process}-{began}"))
        }
        // Without them no one can tell that the process is gone, so its lease runs out.
        (_, _) => OwnerName::new(format!("irq-{}", Uuid::now_v7().simple())),
    }
}

/// A process by its name as an owner, in a form that helps a person find it: its id, and when it was started. A name
/// with neither is returned as it is.
pub fn in_words(owner: &str) -> String {
    let Some((of_boot, process, began)) = parts(owner) else {
        return owner.to_owned();
    };
    let started = boot()
        .filter(|boot| boot == of_boot)
        .and_then(|_boot| started_at(began));
    match started {
        Some(started) => {
            let started = started.to_zoned(TimeZone::UTC);
            format!("pid {process}, started {}", started.strftime("%H:%MZ"))
        }
        None => format!("pid {process} elsewhere"),
    }
}

/// Whether a name is that of a process.
pub fn is_process(name: &str) -> bool {
    parts(name).is_some()
}

/// The boot, the process id and the start time in a name; further details of the process may follow.
fn parts(owner: &str) -> Option<(&str, &str, &str)> {
    let mut parts = owner.split('-');
    if parts.next() != Some("irq") {
        return None;
    }
    let (boot, process, began) = (parts.next()?, parts.next()?, parts.next()?);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    (boot.contains('.') && is_number(process) && is_number(began)).then_some((boot, process, began))
}

/// When a process began, from the ticks since the boot.
fn started_at(ticks: &str) -> Option<Timestamp> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let booted = stat.lines().find_map(|line| line.strip_prefix("btime "))?;
    let seconds = ticks.parse::<i64>().ok()? / TICKS;
    Timestamp::from_second(booted.trim().parse::<i64>().ok()? + seconds).ok()
}

/// The owner of a run, if its process is known to be gone.
pub fn gone_owner(run: &Run) -> Option<OwnerName> {
    let lease = run.lease.as_ref();
    lease.map(|lease| lease.owner.clone()).filter(is_gone)
}

/// Whether a process has a run, as far as can be known here, by the clock of this machine: for display. A caller that
/// may take the run uses [`has_process_at`].
pub fn has_process(run: &Run) -> bool {
    has_process_at(run, Timestamp::now())
}

/// Whether a process has a run, as far as can be known here, at a time by the clock of the store that has the run.
pub fn has_process_at(run: &Run, now: Timestamp) -> bool {
    run.lease.as_ref().is_some_and(|lease| holds(lease, now))
}

/// Whether the owner of a lease has its run: on this machine if its process exists, elsewhere until the lease runs out.
fn holds(lease: &Lease, now: Timestamp) -> bool {
    match seen(&lease.owner) {
        ProcessStatus::AtWork => true,
        ProcessStatus::Gone => false,
        ProcessStatus::Unknown => lease.until > now,
    }
}

/// Whether the process behind a name is known to be gone: it ran on this machine since its last boot, among the
/// processes that can be seen here, and it does not exist any more.
pub fn is_gone(owner: &OwnerName) -> bool {
    seen(owner) == ProcessStatus::Gone
}

/// What is known here of the process behind a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProcessStatus {
    /// It is there, and can do something.
    AtWork,
    /// It is not there any more.
    Gone,
    /// It cannot be seen here, or was stopped.
    Unknown,
}

fn seen(owner: &OwnerName) -> ProcessStatus {
    let mut parts = owner.as_str().split('-');
    let (Some("irq"), Some(of_boot), Some(process), Some(began_then), None) = (
        parts.next(),
        parts.next(),
        parts.next(),
        parts.next(),
        parts.next(),
    ) else {
        return ProcessStatus::Unknown;
    };
    let Ok(process) = process.parse::<u32>() else {
        return ProcessStatus::Unknown;
    };
    if boot().is_none_or(|boot| boot != of_boot) {
        return ProcessStatus::Unknown;
    }
    match OwnerProcess::of(process) {
        None if is_hidden(process, Path::new("/proc")) => ProcessStatus::Unknown,
        None => ProcessStatus::Gone,
        Some(found) if found.began != began_then => ProcessStatus::Gone,
        Some(OwnerProcess {
            is_stopped: true, ..
        }) => ProcessStatus::Unknown,
        Some(_) => ProcessStatus::AtWork,
    }
}

/// Whether a process exists whose details are hidden here: another user's, if `/proc` hides those (`hidepid`). A zombie
/// is not hidden.
fn is_hidden(process: u32, told_in: &Path) -> bool {
    if told_in.join(process.to_string()).join("stat").exists() {
        return false;
    }
    let id = i32::try_from(process).ok().and_then(Pid::from_raw);
    id.is_some_and(|id| !matches!(test_kill_process(id), Err(Errno::SRCH)))
}

/// This machine's last boot, and the processes among which this one is: containers of one machine share the boot, and
/// see their own processes alone.
fn boot() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let id: String = id.chars().filter(char::is_ascii_hexdigit).collect();
    let among = fs::read_link("/proc/self/ns/pid").ok()?;
    let among: String = among
        .to_str()?
        .chars()
        .filter(char::is_ascii_digit)
        .collect();
    (!id.is_empty() && !among.is_empty()).then(|| format!("{id}.{among}"))
}

/// A process that is there.
struct OwnerProcess {
    /// When it began, in ticks since the boot.
    began: String,
    /// Whether it is stopped until it is continued.
    is_stopped: bool,
}

impl OwnerProcess {
    /// `None` if it does not exist, or is a zombie.
    fn of(process: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name in brackets may contain anything, even a bracket.
        let (_name, rest) = stat.rsplit_once(')')?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?;
        if state == "Z" || state == "X" {
            return None;
        }
        Some(Self {
            // The 22nd field of the line; the state is the third.
            began: fields.nth(18)?.to_owned(),
            is_stopped: state == "T" || state == "t",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::{Child, Command};

    use interrupts::OwnerName;
    use interrupts::life::Lease;
    use jiff::Timestamp;
    use rustix::process::{Pid, Signal, kill_process};

    use super::{
        OwnerProcess, boot, holds, in_words, is_gone, is_hidden, own_name, parts, started_at,
    };

    /// A process that does nothing, and its name.
    fn sleeping() -> (Child, OwnerName) {
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        let id = child.id();
        let began = OwnerProcess::of(id).unwrap().began;
        let name = OwnerName::new(format!("irq-{}-{id}-{began}", boot().unwrap()));
        (child, name.unwrap())
    }

    fn until(owner: &OwnerName, until: Timestamp) -> bool {
        let owner = owner.clone();
        holds(&Lease { owner, until }, Timestamp::now())
    }

    #[test]
    fn a_process_that_lives_is_not_gone_and_one_that_ended_is() {
        assert!(!is_gone(&own_name().unwrap()));
        let (mut child, name) = sleeping();
        assert!(!is_gone(&name));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_gone(&name));
    }

    #[test]
    fn a_process_that_is_hidden_from_this_user_is_not_gone() {
        let shows_none = tempfile::tempdir().unwrap();
        let (mut child, _name) = sleeping();
        assert!(is_hidden(child.id(), shows_none.path()));
        assert!(!is_hidden(child.id(), Path::new("/proc")));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_hidden(child.id(), shows_none.path()));
    }

    #[test]
    fn whatever_the_clock_says_a_process_has_its_run_while_it_is_there_and_not_longer() {
        let (mut child, name) = sleeping();
        let (long_ago, far_off) = (Timestamp::UNIX_EPOCH, Timestamp::MAX);
        assert!(until(&name, long_ago), "the clock was set forward");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!until(&name, far_off), "the clock was set back");
        let elsewhere = OwnerName::new("irq-0000-1-2").unwrap();
        assert!(!until(&elsewhere, long_ago));
        assert!(until(&elsewhere, far_off));
    }

    #[test]
    fn a_process_that_was_stopped_has_its_run_until_its_lease_runs_out() {
        let (mut child, name) = sleeping();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::STOP).unwrap();
        while !OwnerProcess::of(child.id()).unwrap().is_stopped {
            std::thread::yield_now();
        }
        assert!(until(&name, Timestamp::MAX));
        assert!(!until(&name, Timestamp::UNIX_EPOCH));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_process_among_others_than_can_be_seen_here_is_not_known_to_be_gone() {
        let here = boot().unwrap();
        let (id, among) = here.split_once('.').unwrap();
        let none = u32::MAX;
        let gone = |boot: &str| is_gone(&OwnerName::new(format!("irq-{boot}-{none}-1")).unwrap());
        assert!(gone(&here));
        assert!(!gone(&format!("{id}.{among}0")), "of another container");
        assert!(!gone(id), "of a version that did not say so");
    }

    #[test]
    fn a_process_is_told_by_its_id_and_its_beginning_and_not_by_its_name() {
        let own = own_name().unwrap();
        let told = in_words(own.as_str());
        let pid = std::process::id();
        assert!(told.starts_with(&format!("pid {pid}, started ")), "{told}");
        let seconds = |at: Timestamp| at.as_second();
        let (_boot, _pid, began) = parts(own.as_str()).unwrap();
        let started = started_at(began).unwrap();
        assert!((seconds(Timestamp::now()) - seconds(started)).abs() < 3_600);
        assert_eq!(in_words("irq-0.1-2-3-http"), "pid 2 elsewhere");
        assert_eq!(in_words("ada"), "ada");
    }

    #[test]
    fn of_another_boot_or_another_program_nobody_can_say() {
        for name in ["irq-0000-1-2", "somebody", "irq-x", "irq-a-b-c"] {
            assert!(!is_gone(&OwnerName::new(name).unwrap()), "{name}");
        }
    }
}
