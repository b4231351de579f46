//! What it takes to go on with a run of 10,000 journal entries, in another process as far as the store is concerned.
//!
//! `cargo bench -p interrupt-router-agents --bench resuming`. Prints both sides: reading the journal out of its file, and going on,
//! from the opened store until the run calls its model for the first time. Nothing that the journal knows is
//! produced again: the model counts its calls.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io};

use agents::catalogue;
use agents::run::{AgentsWorkflow, Goal};
use agents::workspace::Workspace;
use async_trait::async_trait;
use engine::run::{RunSettings, RunStatus, RunStore};
use interrupt_router::model::{
    Dialect, LanguageModel, ModelCall, ModelError, ModelReply, PartialReply,
};
use interrupt_router::{Outcome, RunId, StopScope};
use interrupts::OwnerName;
use interrupts::store::{Journal as _, Page, Store};
use llm::{JsonSchemaConstraints, Pace, RehearsalConfig, RehearsalModel, Script};
use store::{SqliteStore, StoreSettings};

const ENTRIES: u32 = 10_000;
const ROUNDS: u32 = 10;
/// A collector that always sends the workflow back to its beginning.
const IN_CIRCLES: &str = r#"{"version": 1, "steps": [{"agent": "DISCOVERY_COLLECTOR", "turn": 1,
    "answer": {"orchestratorRequest": {"goal": "look again"}}}]}"#;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// As in `irq`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The rehearsal model, and when it was called.
struct Counted {
    inner: RehearsalModel,
    calls: AtomicUsize,
    first: Mutex<Option<Instant>>,
}

#[async_trait]
impl LanguageModel for Counted {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }

    async fn call(
        &self,
        call: ModelCall,
        scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.first
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert_with(Instant::now);
        self.inner.call(call, scope).await
    }
}

fn main() -> Result<(), Failure> {
    // Test runners ask a bench to list its tests: it has none, and must not measure then.
    if std::env::args().any(|argument| argument == "--list") {
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(measure())
}

/// Three folders of four small files.
fn make_folder(root: &Path) -> io::Result<()> {
    for folder in ["store", "server", "docs"] {
        fs::create_dir_all(root.join(folder))?;
        for file in 0..4 {
            let text = format!("//! The {folder}'s part {file}.\n\nfn part_{file}() {{}}\n");
            fs::write(root.join(folder).join(format!("part_{file}.rs")), text)?;
        }
    }
    Ok(())
}

async fn measure() -> Result<(), Failure> {
    // In the target folder, for a folder of temporary files may lie in memory.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let about = tempfile::tempdir()?;
    make_folder(about.path())?;
    let workspace = Workspace::open(about.path())?;
    let file = folder.path().join("store.sqlite");
    let run = RunId::generate();

    let mut steps = ENTRIES;
    let (_, calls) = execute_to(&file, &workspace, run, steps).await?;
    println!("a run of {calls} model calls was kept");
    let (mut read, mut gone_on) = (Vec::new(), Vec::new());
    for _round in 0..ROUNDS {
        let store = SqliteStore::open(file.clone(), StoreSettings::default()).await?;
        let began = Instant::now();
        let entries = count(&store, run).await?;
        read.push(began.elapsed());
        drop(store);
        steps += 1;
        let (first, calls) = execute_to(&file, &workspace, run, steps).await?;
        gone_on.push(first);
        println!(
            "  {entries} entries: {:.1?} until the model is called, {calls} calls",
            first
        );
    }
    for (name, mut times) in [
        ("reading the journal", read),
        ("going on with the run", gone_on),
    ] {
        times.sort_unstable();
        let at = |part: usize| times.get(times.len() * part / 100).copied();
        let (middle, high) = (at(50).unwrap_or_default(), at(99).unwrap_or_default());
        println!("{name:<24} p50 {middle:>9.1?}  most {high:>9.1?}");
    }
    Ok(())
}

async fn count(store: &SqliteStore, run: RunId) -> Result<usize, Failure> {
    let (mut after, mut entries) = (0, 0);
    loop {
        let page = Page { after, limit: 500 };
        let found = store.journal(run, page).await?;
        entries += found.len();
        match found.last() {
            Some(entry) => after = entry.position,
            None => return Ok(entries),
        }
    }
}

/// Executes the run until it has taken so many steps. How long it took from the opened store to the first call of
/// the model, and how many calls there were.
async fn execute_to(
    file: &Path,
    workspace: &Workspace,
    run: RunId,
    max_steps: u32,
) -> Result<(Duration, usize), Failure> {
    let store: Arc<dyn Store> =
        Arc::new(SqliteStore::open(file.to_owned(), StoreSettings::default()).await?);
    let model = Arc::new(Counted {
        inner: RehearsalModel::new(RehearsalConfig {
            seed: 1,
            pace: Pace::Unlimited,
            facts: workspace.facts(),
            script: Some(Script::parse(IN_CIRCLES, &catalogue::script_vocabulary())?),
        }),
        calls: AtomicUsize::new(0),
        first: Mutex::new(None),
    });
    let stored = RunStore::new(store, OwnerName::new("bench")?, "{}");
    let mut settings = RunSettings::new(run, Arc::clone(&model) as Arc<_>, stored);
    settings.constraints = Arc::new(JsonSchemaConstraints::new());
    settings.limits.max_steps = max_steps;
    let began = Instant::now();
    let agents = AgentsWorkflow::new(Goal::new("Describe this project")?, workspace.clone());
    let report = agents.run(settings).execute(&StopScope::new()).await;
    if !matches!(
        report.status,
        RunStatus::Failed {
            resumable: true,
            ..
        }
    ) {
        return Err(format!("the run ended otherwise: {:?}", report.status).into());
    }
    let first = *model.first.lock().unwrap_or_else(PoisonError::into_inner);
    let first = first.ok_or("the model was not called")?;
    Ok((
        first.duration_since(began),
        model.calls.load(Ordering::Relaxed),
    ))
}
