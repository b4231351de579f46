//! What it costs to save a checkpoint durably, beside what the disk itself costs.
//!
//! Prints for 1 KB, 100 KB and 1 MB: a bare write of as many bytes that is flushed, the checkpoint, and what it
//! costs above the disk's own flush of one page. Then what it costs to wake another process by its notifier.

use std::fs::File;
use std::io::Write as _;
use std::time::{Duration, Instant};

use interrupt_router::RunId;
use interrupts::store::{CheckpointDraft, Checkpoints as _, NewRun, Runs as _};
use interrupts::{Notifier as _, OwnerName};
use store::{LocalNotifier, SqliteStore, StoreSettings};

const SIZES: [(&str, usize, usize); 3] = [
    ("1 KB", 1 << 10, 400),
    ("100 KB", 100 << 10, 200),
    ("1 MB", 1 << 20, 60),
];
const RINGS: usize = 2_000;
const PAGE: usize = 4_096;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        save().await?;
        notify().await
    })
}

async fn save() -> Result<(), Failure> {
    // In the target folder, for a folder of temporary files may lie in memory.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let store = SqliteStore::open(folder.path().join("store.db"), StoreSettings::default()).await?;
    let run = RunId::generate();
    let new = NewRun {
        root: None,
        id: run,
        alias: None,
        content: "{}".to_owned(),
    };
    store.create_run(new).await?;
    let mut bare = File::create(folder.path().join("bare"))?;
    for (name, size, rounds) in SIZES {
        let content = format!("\"{}\"", "x".repeat(size - 2));
        let (mut pages, mut writes, mut saves) = (Vec::new(), Vec::new(), Vec::new());
        for _round in 0..rounds {
            // In turns, so that all meet the same disk.
            pages.push(flushed(&mut bare, &content.as_bytes()[..size.min(PAGE)])?);
            writes.push(flushed(&mut bare, content.as_bytes())?);
            let draft = CheckpointDraft {
                run,
                epoch: 0,
                parent: None,
                form: 1,
                content: content.clone(),
                intents: Vec::new(),
                pending: Vec::new(),
            };
            let began = Instant::now();
            store.save(draft).await?;
            saves.push(began.elapsed());
        }
        let (page, write, save) = (median(pages), median(writes), median(saves));
        println!(
            "checkpoint of {name:>6}  p50 {save:>9.1?}  bare write {write:>9.1?}  \
             above one flush {:>9.1?}",
            save.saturating_sub(page)
        );
    }
    store.close().await?;
    Ok(())
}

fn flushed(file: &mut File, bytes: &[u8]) -> Result<Duration, Failure> {
    let began = Instant::now();
    file.write_all(bytes)?;
    file.sync_data()?;
    Ok(began.elapsed())
}

async fn notify() -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let store = folder.path().join("store.db");
    let (here, there) = (OwnerName::new("here")?, OwnerName::new("there")?);
    let own = LocalNotifier::open(&store, &here)?;
    let other = LocalNotifier::open(&store, &there)?;
    let answering = tokio::spawn(async move {
        for _ring in 0..RINGS {
            other.heard().await;
            other.notify(&here).await;
        }
    });
    let mut times = Vec::new();
    for _ring in 0..RINGS {
        let began = Instant::now();
        own.notify(&there).await;
        own.heard().await;
        times.push(began.elapsed() / 2);
    }
    answering.await?;
    println!("a notifier is heard after     p50 {:>9.1?}", median(times));
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
