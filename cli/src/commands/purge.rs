//! `irq purge`: forgets runs that ended long ago.

use std::io::{self, IsTerminal};

use interrupts::store::Purged;
use serde_json::{Value, json};

use super::print;
use crate::arguments::{Global, PurgeArguments, StoreArguments};
use crate::exit::{Exit, Failure, tell};
use crate::palette::Palette;
use crate::reviewer::Alone;
use crate::storage::{Storage, complete};
use crate::view::json_line;

/// Purges, or says what a purge would remove.
///
/// # Errors
///
/// If it was not confirmed, or the store cannot be written.
pub(crate) fn purge(
    arguments: &PurgeArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    complete(async {
        let storage = Storage::open(store).await?;
        let found = storage.store.purgeable(arguments.older_than).await?;
        if arguments.dry_run {
            print(&summary(&found, arguments))?;
            return Ok(Exit::Success);
        }
        if !arguments.yes && !confirmed(&found, global)? {
            print("Nothing was removed.\n")?;
            return Ok(Exit::Success);
        }
        let removed = storage.store.purge(arguments.older_than).await?;
        forget_edits(&storage, &removed);
        print(&summary(&removed, arguments))?;
        Ok(Exit::Success)
    })
}

/// Deletes the saved edits: changes that the runs' tools made can no longer be undone.
fn forget_edits(storage: &Storage, removed: &Purged) {
    let folders = removed.runs.iter().filter_map(|run| storage.edits_of(*run));
    for folder in folders.filter(|folder| folder.exists()) {
        if let Err(error) = std::fs::remove_dir_all(&folder) {
            tell(format_args!(
                "note: {} could not be removed: {error}",
                folder.display()
            ));
        }
    }
}

fn confirmed(found: &Purged, global: Global) -> anyhow::Result<bool> {
    let runs = runs(found);
    let them = if found.runs.len() == 1 { "it" } else { "them" };
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        let text = format!("this would remove {runs} and all that belongs to {them}");
        return Err(Failure::new(Exit::Usage, text)
            .hint("say --yes, or look first with --dry-run")
            .into());
    }
    let alone = Alone::new(Palette::for_stream(&io::stderr(), global.no_color));
    let text = format!("Remove {runs} and all that belongs to {them}, for good? [y/N] ");
    Ok(alone.confirmed(&text)?)
}

fn summary(purged: &Purged, arguments: &PurgeArguments) -> String {
    if arguments.json {
        return json_line(&as_json(purged, arguments.dry_run));
    }
    let did = if arguments.dry_run {
        "It would remove"
    } else {
        "Removed"
    };
    format!(
        "{did} {} with {}, {}, {}, {}, {}; {} of the outbox and {} of the audit.\n",
        runs(purged),
        counted(purged.interrupts, "interrupt"),
        counted(purged.effects, "effect"),
        counted(purged.checkpoints, "checkpoint"),
        counted(purged.nodes, "agent"),
        counted(purged.messages, "message"),
        counted(purged.notifications, "row"),
        counted(purged.audit_rows, "row")
    )
}

/// Runs, in words.
fn runs(purged: &Purged) -> String {
    counted(u64::try_from(purged.runs.len()).unwrap_or(u64::MAX), "run")
}

fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

fn as_json(purged: &Purged, dry_run: bool) -> Value {
    let mut value = json!({"dry_run": dry_run});
    if let (Some(fields), Ok(Value::Object(counts))) =
        (value.as_object_mut(), serde_json::to_value(purged))
    {
        fields.extend(counts);
    }
    value
}
