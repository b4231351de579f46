//! A whole run of the workflow with the rehearsal model at full speed, on a folder made for it.
//!
//! `cargo bench -p interrupt-router-agents --bench rehearsal`. One thread, for allocations are counted by thread. The
//! unit of throughput, `item/s`, is steps; the rows `alloc` are for the whole run, whose steps are
//! printed first.

use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use agents::run::{AgentsWorkflow, Goal};
use agents::workspace::Workspace;
use divan::counter::ItemsCount;
use divan::{AllocProfiler, Bencher};
use engine::run::{RunReport, RunSettings, RunStore};
use interrupt_router::{RunId, StopScope};
use interrupts::OwnerName;
use llm::{JsonSchemaConstraints, Pace, RehearsalConfig, RehearsalModel};
use store::{MemoryStore, StoreSettings};
use tokio::runtime::Runtime;

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

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

fn run(runtime: &Runtime, workspace: &Workspace, goal: &Goal) -> RunReport {
    let model = RehearsalModel::new(RehearsalConfig {
        seed: 1,
        pace: Pace::Unlimited,
        facts: workspace.facts(),
        script: None,
    });
    let store = RunStore::new(
        Arc::new(MemoryStore::new(StoreSettings::default())),
        OwnerName::new("bench").unwrap_or_else(|error| panic!("{error}")),
        "{}",
    );
    let mut settings = RunSettings::new(RunId::generate(), Arc::new(model), store);
    settings.constraints = Arc::new(JsonSchemaConstraints::new());
    let run = AgentsWorkflow::new(goal.clone(), workspace.clone()).run(settings);
    runtime.block_on(run.execute(&StopScope::new()))
}

#[divan::bench(sample_count = 50, sample_size = 1)]
fn whole_run(bencher: Bencher) {
    let prepared = tempfile::tempdir().and_then(|folder| {
        make_folder(folder.path())?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        Ok((folder, runtime))
    });
    let Ok((folder, runtime)) = prepared else {
        panic!("no folder to run on")
    };
    let (Ok(workspace), Ok(goal)) = (
        Workspace::open(folder.path()),
        Goal::new("Describe this project"),
    ) else {
        panic!("the folder or the goal was refused")
    };
    let report = run(&runtime, &workspace, &goal);
    println!("{} steps, ended as {:?}", report.steps, report.status);
    bencher
        .counter(ItemsCount::new(report.steps))
        .bench_local(|| run(&runtime, &workspace, &goal));
}

fn main() {
    divan::main();
}
