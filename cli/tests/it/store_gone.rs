//! A store that is deleted, replaced or cut off while it is in use: whatever comes afterwards is refused, and a file that
//! took its place is never written.

use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::{Ended, lines, spawn};
use crate::served::Served;

/// What becomes of the file.
#[derive(Debug, Clone, Copy)]
enum Fate {
    Deleted,
    DeletedWithItsLog,
    Replaced,
    CutOff,
    Emptied,
    LogEmptied,
}

static FATES: [Fate; 6] = [
    Fate::Deleted,
    Fate::DeletedWithItsLog,
    Fate::Replaced,
    Fate::CutOff,
    Fate::Emptied,
    Fate::LogEmptied,
];

/// What is tried: the last one, which the tests of the store try too, only where many rounds are wanted.
fn fates() -> &'static [Fate] {
    if rounds() > 1 { &FATES } else { &FATES[..5] }
}

impl Fate {
    /// It happens. What lies in the file's place afterwards.
    fn befalls(self, store: &Path) -> Option<Vec<u8>> {
        let beside = |end: &str| {
            let mut name = store.as_os_str().to_owned();
            name.push(end);
            std::path::PathBuf::from(name)
        };
        match self {
            Self::Deleted => std::fs::remove_file(store).unwrap(),
            Self::DeletedWithItsLog => {
                for end in ["", "-wal", "-shm"] {
                    std::fs::remove_file(beside(end)).unwrap();
                }
            }
            Self::Replaced => {
                let other = Place::new();
                other.end_of_run(&[]).exits_with(0);
                std::fs::rename(other.store(), store).unwrap();
            }
            Self::CutOff => truncate(store, 4_096 * 3),
            Self::Emptied => truncate(store, 0),
            Self::LogEmptied => truncate(&beside("-wal"), 0),
        }
        std::fs::read(store).ok()
    }

    /// Whether another file is there now, which is somebody else's.
    const fn puts_another_there(self) -> bool {
        matches!(self, Self::Replaced)
    }
}

fn truncate(store: &Path, length: u64) {
    let file = std::fs::OpenOptions::new().write(true).open(store).unwrap();
    file.set_len(length).unwrap();
}

/// How often each fate is tried, each time at another moment.
fn rounds() -> u64 {
    std::env::var("STORES_GONE").map_or(1, |rounds| rounds.parse().unwrap())
}

/// How far a run has come when it happens.
fn moment(round: u64) -> Duration {
    Duration::from_millis(round.wrapping_mul(397) % 1_500)
}

/// A program that goes on although its store is gone ends, with a failure that says so.
fn ends(mut child: std::process::Child, fate: Fate) -> Ended {
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            let mut told = String::new();
            child
                .stderr
                .take()
                .unwrap()
                .read_to_string(&mut told)
                .unwrap();
            panic!("{fate:?}: it goes on: {told}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().unwrap().into()
}

/// The file meets its fate while a program uses it, which ends with a failure that says so.
fn fails_once_its_store_is_gone(place: &Place, child: std::process::Child, fate: Fate, round: u64) {
    std::thread::sleep(moment(round));
    let left = fate.befalls(&place.store());
    let ended = ends(child, fate);
    assert_eq!(ended.code, Some(1), "{fate:?}: {ended:#?}");
    let told = &ended.error_output;
    assert!(told.contains("the store is gone"), "{fate:?}: {ended:#?}");
    assert!(!told.contains("irq resume"), "{fate:?}: {ended:#?}");
    if fate.puts_another_there() {
        assert_eq!(std::fs::read(place.store()).ok(), left, "{fate:?}");
    }
}

#[test]
fn a_run_whose_store_is_gone_ends_with_a_failure_that_says_so() {
    for round in 0..rounds() {
        for fate in fates().iter().copied() {
            let place = Place::new();
            let child = spawn(&mut place.run(&["--pace", "150"]));
            place.wait_for_steps(1);
            fails_once_its_store_is_gone(&place, child, fate, round);
        }
    }
}

#[test]
fn a_resume_whose_store_is_gone_ends_with_a_failure_that_says_so() {
    for round in 0..rounds() {
        for fate in fates().iter().copied() {
            let place = Place::new();
            let mut child = spawn(&mut place.run(&["--pace", "150"]));
            place.wait_for_steps(1);
            child.kill().unwrap();
            child.wait().unwrap();
            let run = place.only_run();
            let resume = ["resume", &run, "--no-input", "--pace", "150"];
            let child = spawn(&mut place.irq(&resume));
            place.wait_for_steps(2);
            fails_once_its_store_is_gone(&place, child, fate, round);
        }
    }
}

/// What a server says of its readiness.
fn readiness(served: &Served) -> (u16, String) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let told = tls::get(format!("{}/readyz", served.url));
        let told = told.await.unwrap();
        (told.status().as_u16(), told.text().await.unwrap())
    })
}

#[test]
fn a_server_whose_store_is_gone_acknowledges_nothing_and_is_not_ready() {
    for round in 0..rounds() {
        for fate in fates().iter().copied() {
            let place = Place::new();
            let mut served = Served::paced(&place.store(), "150");
            let (status, _text) = readiness(&served);
            assert_eq!(status, 200);
            let begun = ["run", "Describe the bakery", "--detach"];
            served.end(&begun).exits_with(0);
            let run = lines(&served.end(&["ps", "--json"]).exits_with(0).output);
            let run = run[0]["id"].as_str().unwrap().to_owned();
            std::thread::sleep(moment(round));
            let left = fate.befalls(&place.store());
            for asked in [
                &begun[..],
                &["interrupt", &run, "--reason", "stop it"],
                &["ps"],
                &["policy", "test", &run],
            ] {
                let ended = served.end(asked);
                assert_ne!(ended.code, Some(0), "{fate:?}: {ended:#?}");
            }
            let (status, told) = readiness(&served);
            assert_eq!(status, 503, "{fate:?}");
            let told: Value = serde_json::from_str(&told).unwrap();
            assert_eq!(told["code"], json!("store-gone"), "{fate:?}: {told}");
            let ended = served.ends_after(Signal::TERM);
            assert_eq!(ended, Some(1), "{fate:?}");
            if fate.puts_another_there() {
                assert_eq!(std::fs::read(place.store()).ok(), left, "{fate:?}");
            }
        }
    }
}
