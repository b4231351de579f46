//! `irq store copy`: all rows of a store, to another one.

use store::{CopyError, StoreLocation, StoreSettings, copy_store};

use crate::arguments::StoreCopyArguments;
use crate::exit::{Exit, Failure};
use crate::listing;
use crate::refused::by_store;
use crate::run_owner::has_process;
use crate::storage::no_location;

/// Copies a store to another place, and verifies the copy.
///
/// # Errors
///
/// If a store cannot be used, or is in use.
///
/// # Cancel safety
///
/// If dropped, the copy may have some of the rows; what is copied is unchanged.
pub(super) async fn copied(places: &StoreCopyArguments) -> anyhow::Result<Exit> {
    let (from, to) = (place("FROM", &places.from)?, place("TO", &places.to)?);
    refuse_executed(&from).await?;
    let copy = copy_store(&from, &to).await;
    let copy = copy.map_err(|error| not_copied(&from, &to, &error))?;
    println!(
        "Copied {} rows from {from} to {to}, and verified them. The audit goes on from row {}, {}.",
        copy.rows, copy.head.position, copy.head.digest
    );
    println!("From now on name the copy: what is written to {from} later is not in it.");
    Ok(Exit::Success)
}

fn place(name: &str, text: &str) -> Result<StoreLocation, Failure> {
    text.parse().map_err(|error| no_location(name, &error))
}

/// Refuses a store in use: a process that executes a run would keep writing to the old store.
async fn refuse_executed(from: &StoreLocation) -> Result<(), Failure> {
    let is_there = from.exists().await?;
    if !is_there {
        return Ok(());
    }
    let store = from.open(StoreSettings::default()).await?;
    let live = listing::live_runs_in(&*store).await?;
    match live.iter().find(|run| has_process(run)) {
        Some(run) => Err(Failure::new(
            Exit::Conflict,
            format!("{} is executed, and would go on in {from}", run.id),
        )
        .hint("stop every irq that uses the store, and copy it then")),
        None => Ok(()),
    }
}

fn not_copied(from: &StoreLocation, to: &StoreLocation, error: &CopyError) -> Failure {
    let text = format!("{from} was not copied to {to}: {error}");
    match error {
        CopyError::NoStore { .. } => {
            Failure::new(Exit::NotFound, text).hint("name the store that there is first")
        }
        CopyError::InMemory => {
            Failure::new(Exit::Usage, text).hint("name a path, or postgres://USER@HOST/DATABASE")
        }
        CopyError::NotEmpty { .. } => Failure::new(Exit::Conflict, text)
            .hint("name a file that is not there yet, or another schema: ?schema=NAME"),
        CopyError::Verify(_) | CopyError::Differs { .. } => Failure::new(Exit::Failure, text)
            .hint("`irq history --verify --store …` names all that does not fit"),
        CopyError::Store(error) => by_store(error),
        _ => Failure::new(Exit::Failure, text),
    }
}
