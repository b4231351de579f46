//! A process of one's own: it takes tickets from a folder, and works on each until its run has ended.
//!
//! ```console
//! $ cargo run --bin desk-queue -- sqlite:desk.db tickets
//! ```

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs};

use desk::{CornerShop, Desk, Ticket};
use engine::RunSettings;
use engine::hosting::{HostError, RunHost, own_name};
use engine::run::{RunStatus, RunStore};
use interrupt_router::RunId;
use interrupts::OwnerName;
use interrupts::store::Store;
use llm::{RehearsalConfig, RehearsalModel};
use store::{StoreLocation, StoreSettings, notifier_at};

/// Works on tickets.
struct Worker {
    desk: Arc<Desk>,
    host: RunHost,
    store: Arc<dyn Store>,
    owner: OwnerName,
}

impl Worker {
    async fn open(location: &StoreLocation) -> Result<Self, Box<dyn Error>> {
        let (store, owner) = (location.open(StoreSettings::default()).await?, own_name()?);
        let notifier = notifier_at(location, &owner);
        Ok(Self {
            desk: Arc::new(Desk {
                shop: Arc::new(CornerShop),
            }),
            host: RunHost::named::<Desk>(Arc::clone(&store), notifier, owner.clone())?,
            store,
            owner,
        })
    }

    /// Begins the ticket's run, or goes on with it: the file's name is the run's id, so no ticket is begun twice.
    async fn work(&self, file: &Path) -> Result<(), Box<dyn Error>> {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let run: RunId = name.parse()?;
        let ticket: Ticket = serde_json::from_slice(&fs::read(file)?)?;
        let model = Arc::new(RehearsalModel::new(RehearsalConfig::default()));
        let kept = RunStore::new(Arc::clone(&self.store), self.owner.clone(), "");
        let settings = RunSettings::new(run, model, kept);
        let begun = self.host.begin(Arc::clone(&self.desk), settings, &ticket);
        let executed = match begun.await {
            // Another worker has it.
            Err(HostError::Take { .. }) => return Ok(()),
            executed => executed?,
        };
        match executed.report.status {
            // A person has to answer, or to end the pause: the ticket is looked at again.
            RunStatus::Waiting { .. } | RunStatus::Paused { .. } => {}
            RunStatus::Failed {
                resumable, error, ..
            } if resumable => eprintln!("{run}: {error}"),
            RunStatus::Completed { .. }
            | RunStatus::Cancelled { .. }
            | RunStatus::Failed { .. } => {
                println!("{run}: {:?}", executed.output);
                fs::remove_file(file)?;
            }
        }
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [location, folder] = &arguments[..] else {
        return Err("usage: desk-queue STORE FOLDER".into());
    };
    let worker = Worker::open(&location.parse()?).await?;
    loop {
        for file in fs::read_dir(folder)? {
            worker.work(&file?.path()).await?;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
