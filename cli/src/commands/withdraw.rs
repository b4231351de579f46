//! `irq withdraw` and `irq redrive`: giving an interrupt up, and trying one again.

use interrupts::life::{Interrupt, WithdrawCause};
use interrupts::store::ChangeError;

use super::print;
use crate::actor::actor;
use crate::address::find_interrupt;
use crate::arguments::{RedriveArguments, StoreArguments, WithdrawArguments};
use crate::exit::Exit;
use crate::refused::{by_change, by_store};
use crate::storage::{Storage, complete};
use crate::view::{self, json_line};

/// Withdraws an interrupt.
///
/// # Errors
///
/// Where there is no such interrupt, or it has ended.
pub(crate) fn withdraw(
    arguments: &WithdrawArguments,
    store: &StoreArguments,
) -> anyhow::Result<Exit> {
    let actor = actor()?;
    complete(async {
        let storage = Storage::open(store).await?;
        let interrupt = find_interrupt(&*storage.store, &arguments.interrupt).await?;
        let changed = storage
            .store
            .withdraw(interrupt.id, actor, WithdrawCause::Withdrawn)
            .await;
        tell(&storage, &interrupt, changed, arguments.json).await
    })
}

/// Lets an interrupt that could not be delivered be tried again.
///
/// # Errors
///
/// Where there is no such interrupt, or it is not dead-lettered.
pub(crate) fn redrive(
    arguments: &RedriveArguments,
    store: &StoreArguments,
) -> anyhow::Result<Exit> {
    let actor = actor()?;
    complete(async {
        let storage = Storage::open(store).await?;
        let interrupt = find_interrupt(&*storage.store, &arguments.interrupt).await?;
        let changed = storage.store.redrive(interrupt.id, actor).await;
        tell(&storage, &interrupt, changed, arguments.json).await
    })
}

async fn tell(
    storage: &Storage,
    before: &Interrupt,
    changed: Result<Interrupt, ChangeError>,
    json: bool,
) -> anyhow::Result<Exit> {
    let after = changed.map_err(|error| by_change(before.id, &error))?;
    let run = storage.store.run(after.run).await;
    if let Some(run) = run.map_err(|error| by_store(&error))? {
        storage.ring(&run).await;
    }
    if json {
        print(&json_line(&view::interrupt(&after)))?;
    } else {
        print(&format!(
            "{} was {} and is {}.\n",
            after.id, before.state, after.state
        ))?;
    }
    Ok(Exit::Success)
}
