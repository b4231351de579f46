//! The store: whether it can be opened and trusted, and whether there is room for more.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use interrupts::OwnerName;
use interrupts::life::RunState;
use interrupts::store::{Store, StoreError, VerifyError};
use rustix::fs::statvfs;
use store::{LocalNotifier, StoreLocation, StoreSettings, StoreStatus};

use super::finding::Finding;
use crate::advice::{advised, continuing};
use crate::arguments::StoreArguments;
use crate::exit::causes;
use crate::listing;
use crate::run_owner::has_process;
use crate::run_owner::own_name;
use crate::storage::StoreChoice;

/// Below this much free space the user should act.
const LITTLE: u64 = 200 << 20;

/// The findings about the store.
///
/// # Cancel safety
///
/// Safe: it only reads, and brings the file's schema up to date as every command does.
pub(super) async fn findings(arguments: &StoreArguments) -> Vec<Finding> {
    let place = match StoreChoice::of(arguments) {
        Ok(place) => place,
        Err(failure) => {
            let remedy = "name a path with --store, or set HOME";
            return vec![Finding::problem("store", failure.to_string(), remedy)];
        }
    };
    match &place.location {
        StoreLocation::Memory => vec![Finding::note(
            "store",
            "in memory: nothing outlives its process",
            "leave out --store and IRQ_STORE to keep runs",
        )],
        StoreLocation::File(path) => of_file(path, &place).await,
        StoreLocation::Postgres(_) => of_server(&place.location).await,
    }
}

/// The findings about a store in a file.
async fn of_file(path: &Path, place: &StoreChoice) -> Vec<Finding> {
    let mut findings = vec![space(path)];
    let locked = locked(path);
    let may_be_made = locked.is_none();
    findings.extend(locked);
    if !path.exists() && !may_be_made {
        return findings;
    }
    if !path.exists() {
        findings.push(Finding::well(
            "store",
            format!(
                "{} is not there yet; the first run makes it",
                path.display()
            ),
        ));
        return findings;
    }
    match place.location.look(StoreSettings::default()).await {
        Ok(opened) => {
            findings.push(status(path, &opened.status));
            findings.extend(shared(path));
            findings.push(audit(&*opened.store).await);
            findings.push(unfinished_runs(&*opened.store).await);
        }
        Err(error @ StoreError::Foreign) => findings.push(Finding::problem(
            "store",
            format!("{} cannot be opened: {error}", path.display()),
            "name another file: --store PATH",
        )),
        Err(error @ StoreError::Corrupt { .. }) => findings.push(Finding::problem(
            "store",
            format!("{} cannot be opened: {error}", path.display()),
            "keep the file as it is, and go on with a backup: --store PATH",
        )),
        Err(error) => findings.push(Finding::problem(
            "store",
            format!("{} cannot be opened: {}", path.display(), causes(&error)),
            "free some space where there is little; check who may read and write it; a file of a newer version needs that version of irq",
        )),
    }
    findings.push(notifier(&place.location));
    findings
}

/// The findings about a store in PostgreSQL.
async fn of_server(location: &StoreLocation) -> Vec<Finding> {
    match location.exists().await {
        Ok(true) => {}
        Ok(false) => {
            let found = format!("{location} is not there yet; the first run makes it");
            return vec![Finding::well("store", found)];
        }
        Err(error) => return vec![unreached(location, &error)],
    }
    match location.look(StoreSettings::default()).await {
        Ok(opened) => {
            let found = match opened.notice {
                Some(notice) => Finding::note(
                    "store",
                    format!("{location}; {notice}"),
                    "give the server a standby, and name it in synchronous_standby_names",
                ),
                None => Finding::well("store", location.to_string()),
            };
            vec![
                found,
                audit(&*opened.store).await,
                unfinished_runs(&*opened.store).await,
            ]
        }
        Err(error) => vec![unreached(location, &error)],
    }
}

fn unreached(location: &StoreLocation, error: &StoreError) -> Finding {
    Finding::problem(
        "store",
        format!("{location} cannot be opened: {}", causes(error)),
        "check the address, the user and the password; ?sslmode=disable where the server speaks no TLS, ?schema=NAME for another schema",
    )
}

fn status(path: &Path, status: &StoreStatus) -> Finding {
    let path = path.display();
    match status {
        StoreStatus::Damaged { detail } => Finding::problem(
            "store",
            format!("{path} is damaged, and can only be looked at: {detail}"),
            "keep the file as it is, and go on with a backup: --store PATH",
        ),
        StoreStatus::ReadOnly => Finding::note(
            "store",
            format!("{path} lies where nothing can be written, and can only be looked at"),
            "to go on with it, copy it to where you may write: --store PATH",
        ),
        StoreStatus::Whole | _ => Finding::well("store", path.to_string()),
    }
}

async fn audit(store: &dyn Store) -> Finding {
    match store.verify_audit().await {
        Ok(found) => Finding::well(
            "audit",
            format!(
                "whole, with all that it vouches for: {} rows, head {}",
                found.head.position, found.head.digest
            ),
        ),
        Err(VerifyError::Store(error)) => Finding::problem(
            "audit",
            causes(&error),
            "the file may be damaged: keep a copy, then restore a backup",
        ),
        Err(error) => Finding::problem(
            "audit",
            format!("it cannot be trusted: {error}"),
            "keep the file as it is; compare with a head that was kept elsewhere",
        ),
    }
}

/// The runs that have not ended: which process owns them, and which of them have lost their process.
async fn unfinished_runs(store: &dyn Store) -> Finding {
    let live = match listing::live_runs_in(store).await {
        Ok(live) => live,
        Err(error) => {
            let remedy = "the file may be damaged: keep a copy, then restore a backup";
            return Finding::problem("runs", causes(&error), remedy);
        }
    };
    // A paused or waiting run needs no process: a server unloads it until a person decides.
    let (mut executed, mut waiting, mut left) = (0_usize, 0_usize, Vec::new());
    for run in &live {
        match run.state {
            _ if has_process(run) => executed += 1,
            RunState::Waiting | RunState::Paused => waiting += 1,
            RunState::Created
            | RunState::Running
            | RunState::Stopping
            | RunState::Completed
            | RunState::Failed
            | RunState::Cancelled => left.push(run),
        }
    }
    let mut found = vec![format!("{executed} are executed")];
    if waiting > 0 {
        let wait = format!("{waiting} wait for people (irq review)");
        found.push(advised(&wait));
    }
    match left.first() {
        None => Finding::well("runs", found.join(", ")),
        Some(first) => {
            found.push(format!("{} have lost their process", left.len()));
            Finding::note(
                "runs",
                found.join(", "),
                format!("{} goes on", continuing(first)),
            )
        }
    }
}

/// Reports that others on this machine may read the store, if they may: it contains what agents were told and answered.
fn shared(path: &Path) -> Option<Finding> {
    let whole = path.canonicalize().ok()?;
    let mode = |path: &Path| fs::metadata(path).map_or(0, |found| found.permissions().mode());
    let file = mode(&whole);
    let come_in = |bit: u32| {
        whole
            .ancestors()
            .skip(1)
            .all(|folder| mode(folder) & bit != 0)
    };
    let who = match (
        file & 0o004 != 0 && come_in(0o001),
        file & 0o040 != 0 && come_in(0o010),
    ) {
        (true, _) => "every user of this machine",
        (false, true) => "the users of its group",
        (false, false) => return None,
    };
    Some(Finding::note(
        "store",
        format!(
            "{} can be read by {who}: its mode is {:03o}",
            path.display(),
            file & 0o777
        ),
        format!("chmod 600 {0} {0}-wal {0}-shm", path.display()),
    ))
}

/// The folder that the store is in, or in which the first run creates the store's own.
fn folder_of(path: &Path) -> &Path {
    let folder = path.ancestors().skip(1).find(|folder| folder.is_dir());
    folder.unwrap_or(Path::new("."))
}

/// Reports that the store's folder is not writable, if so: the store's journal is written there, and nothing is saved
/// without it.
fn locked(path: &Path) -> Option<Finding> {
    let folder = folder_of(path);
    // It has no name and disappears at once.
    tempfile::tempfile_in(folder).err().map(|error| {
        Finding::problem(
            "store",
            format!("nothing can be written in {}: {error}", folder.display()),
            "give this user the right to write there, or name another file: --store PATH",
        )
    })
}

fn space(path: &Path) -> Finding {
    let folder = folder_of(path);
    match statvfs(folder) {
        Ok(system) => {
            let free = system.f_bavail.saturating_mul(system.f_frsize);
            let found = format!("{} MiB free in {}", free >> 20, folder.display());
            if free < LITTLE {
                Finding::problem(
                    "space",
                    found,
                    advised("make room, or forget old runs: irq purge --older-than 30d"),
                )
            } else {
                Finding::well("space", found)
            }
        }
        Err(error) => Finding::problem(
            "space",
            format!("{}: {error}", folder.display()),
            "check who may read the folder",
        ),
    }
}

fn notifier(location: &StoreLocation) -> Finding {
    let Some(path) = location.path() else {
        return Finding::well("bell", "none is needed");
    };
    let hung = own_name()
        .and_then(|name| OwnerName::new(format!("{name}-doctor")))
        .map_err(|error| causes(&error))
        .and_then(|name| LocalNotifier::open(path, &name).map_err(|error| causes(&error)));
    match hung {
        Ok(_bell) => Finding::well("bell", "other processes are heard at once"),
        Err(error) => Finding::problem(
            "bell",
            format!("{error}; other processes are heard twice a second"),
            "put the store on a local file system, in a folder with a shorter path that you may write",
        ),
    }
}
