//! Disks with hardly any room: a store is put in place whole or not at all.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use interrupt_router::RunId;
use interrupts::store::{Audit as _, NewRun, RunError, Runs as _, StoreError};
use store::{SqliteStore, StoreSettings, StoreStatus};

/// Where the child finds its disk.
const DISK: &str = "IRQ_TEST_NARROW_DISK";

/// Runs a test of this program with a disk of so many kilobytes; `None` where this machine makes none for its users.
fn on_a_disk_of(kilobytes: u32, test: &str, more: &[(&str, &Path)]) -> Option<()> {
    let folder = tempfile::tempdir().unwrap();
    let with_disk = || {
        let mount = format!("mount -t tmpfs -o size={kilobytes}k disk \"${DISK}\" && exec \"$@\"");
        let mut command = Command::new("unshare");
        command
            .args(["--user", "--map-root-user", "--mount", "sh", "-c"])
            .args([&mount, "sh"])
            .env(DISK, folder.path());
        command
    };
    let is_made = with_disk().arg("true").status();
    is_made.ok().filter(std::process::ExitStatus::success)?;
    let mut child = with_disk();
    child
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", test])
        .envs(more.iter().copied());
    let ended = child.output().unwrap();
    assert!(
        ended.status.success(),
        "{kilobytes} kB: {}",
        String::from_utf8_lossy(&ended.stderr)
    );
    Some(())
}

fn disk() -> Option<PathBuf> {
    std::env::var_os(DISK).map(PathBuf::from)
}

fn names(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap();
    files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn a_new_store_is_put_in_place_whole_or_not_at_all() {
    for kilobytes in (200..=800).step_by(20) {
        let child = "narrow::child_that_makes_a_store";
        if on_a_disk_of(kilobytes, child, &[]).is_none() {
            return;
        }
    }
}

/// Without a disk it is no child, and there is nothing to do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child_that_makes_a_store() {
    let Some(disk) = disk() else { return };
    let path = disk.join("store.sqlite");
    match SqliteStore::open(&path, StoreSettings::default()).await {
        Ok(store) => {
            assert_eq!(store.status(), &StoreStatus::Whole);
            store.close().await.unwrap();
        }
        Err(error) => assert_eq!(error, StoreError::Full),
    }
    if names(&disk).is_empty() {
        return;
    }
    // What is in place is a store, however little room there is for more.
    let again = SqliteStore::open(&path, StoreSettings::default()).await;
    match again {
        Ok(store) => drop(store.verify_audit().await.unwrap()),
        Err(error) => {
            assert_eq!(error, StoreError::Full);
            let read = rusqlite::Connection::open(&path).unwrap();
            let found: String = read
                .query_row("PRAGMA integrity_check", (), |row| row.get(0))
                .unwrap();
            assert_eq!(found, "ok");
        }
    }
}

#[test]
fn a_store_on_a_full_disk_can_be_looked_at() {
    let _made = on_a_disk_of(2_000, "narrow::child_that_looks_on_a_full_disk", &[]);
}

/// Without a disk it is no child, and there is nothing to do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child_that_looks_on_a_full_disk() {
    let Some(disk) = disk() else { return };
    let path = disk.join("store.sqlite");
    let open = || SqliteStore::open(&path, StoreSettings::default());
    let new = || NewRun {
        root: None,
        id: RunId::generate(),
        alias: None,
        content: "{}".to_owned(),
    };
    let store = open().await.unwrap();
    let run = store.create_run(new()).await.unwrap();
    store.close().await.unwrap();
    let mut rest = std::fs::File::create(disk.join("rest")).unwrap();
    while rest.write_all(&[0; 512]).is_ok() {}
    let store = open().await.unwrap();
    assert_eq!(store.status(), &StoreStatus::Full);
    assert_eq!(store.run(run.id).await, Ok(Some(run)));
    let refused = store.create_run(new()).await;
    assert_eq!(refused, Err(RunError::Store(StoreError::Full)));
}

#[cfg(feature = "postgres")]
mod copying {
    use std::path::{Path, PathBuf};

    use interrupts::store::{Interrupts as _, StoreError};
    use store::{CopyError, SqliteStore, StoreLocation, StoreSettings, copy_store};

    use super::{disk, names, on_a_disk_of};
    use crate::scene::{Scene, question};

    const SOURCE: &str = "IRQ_TEST_NARROW_SOURCE";

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_copy_is_the_file_alone_or_there_is_none() {
        let scene = Scene::in_sqlite().await;
        let run = scene.run().await;
        for number in 0..200 {
            let asked = question(&run, format!("asked-{number}"));
            scene.store.admit(asked).await.unwrap();
        }
        let source = scene.folder.as_ref().unwrap().path().join("store.sqlite");
        let store = std::sync::Arc::into_inner(scene.store).unwrap();
        store.close().await.unwrap();
        for kilobytes in (500..=2_500).step_by(100) {
            let child = "narrow::copying::child_that_copies_a_store";
            let more: [(&str, &Path); 1] = [(SOURCE, &source)];
            if on_a_disk_of(kilobytes, child, &more).is_none() {
                return;
            }
        }
    }

    /// Without a disk it is no child, and there is nothing to do.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn child_that_copies_a_store() {
        let Some(disk) = disk() else { return };
        let source = PathBuf::from(std::env::var_os(SOURCE).unwrap());
        let copy = disk.join("copy.sqlite");
        let file = |path: &Path| StoreLocation::File(path.to_owned());
        match copy_store(&file(&source), &file(&copy)).await {
            Ok(_copied) => {
                // Taken away without what SQLite has beside it.
                let alone = tempfile::tempdir().unwrap();
                let path = alone.path().join("alone.sqlite");
                std::fs::copy(&copy, &path).unwrap();
                let store = SqliteStore::open(&path, StoreSettings::default()).await;
                let kept = store
                    .unwrap()
                    .interrupts(&Default::default(), crate::scene::ALL)
                    .await;
                assert_eq!(kept.unwrap().len(), 200);
            }
            Err(CopyError::Store(StoreError::Full)) => assert!(names(&disk).is_empty()),
            Err(error) => panic!("{error:?}"),
        }
    }
}
