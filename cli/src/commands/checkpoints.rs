//! `irq checkpoints`: the points from which a run can go on.

use std::io;

use interrupts::store::Checkpoint;
use serde_json::{Value, json};

use super::print;
use crate::address::find_run;
use crate::arguments::{CheckpointsArguments, Global, StoreArguments};
use crate::backend;
use crate::exit::Exit;
use crate::listing;
use crate::palette::{Palette, Tone};
use crate::storage::complete;
use crate::table::Table;
use crate::time::instant;
use crate::view::{json_line, kept_json};
use crate::visible::visible_line;

/// Lists the checkpoints of a run.
///
/// # Errors
///
/// If there is no such run, or the store cannot be read.
pub(crate) fn checkpoints(
    arguments: &CheckpointsArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    complete(async {
        let backend = backend::open(store).await?;
        let run = find_run(&*backend, &arguments.run).await?;
        let checkpoints = listing::checkpoints(&*backend, run.id).await?;
        if arguments.json {
            let lines: String = checkpoints.iter().map(as_json).collect();
            print(&lines)?;
            return Ok(Exit::Success);
        }
        if checkpoints.is_empty() {
            print(&format!("{} has no checkpoints.\n", run.id))?;
            return Ok(Exit::Success);
        }
        let palette = Palette::for_stream(&io::stdout(), global.no_color);
        print(&table(&checkpoints).text(palette))?;
        Ok(Exit::Success)
    })
}

fn table(checkpoints: &[Checkpoint]) -> Table {
    let mut table = Table::new(&["NUMBER", "SAVED", "STEPS", "PENDING", "FORM", "WHY"]);
    for checkpoint in checkpoints {
        let content = kept_json(&checkpoint.content);
        let steps = content.get("steps").and_then(Value::as_u64);
        let reason = content.get("reason").and_then(Value::as_str);
        table.row(vec![
            (Tone::Strong, checkpoint.id.number.to_string()),
            (Tone::Plain, instant(checkpoint.at)),
            (
                Tone::Plain,
                steps.map_or_else(|| "-".to_owned(), |steps| steps.to_string()),
            ),
            (Tone::Plain, checkpoint.pending.len().to_string()),
            (Tone::Faint, checkpoint.form.to_string()),
            if checkpoint.is_whole() {
                (Tone::Plain, visible_line(reason.unwrap_or("-")))
            } else {
                (Tone::Bad, "damaged: nothing goes on from it".to_owned())
            },
        ]);
    }
    table
}

fn as_json(checkpoint: &Checkpoint) -> String {
    json_line(&json!({
        "id": checkpoint.id.to_string(),
        "run_id": checkpoint.id.run,
        "number": checkpoint.id.number,
        "parent": checkpoint.parent.map(|parent| parent.to_string()),
        "at": checkpoint.at,
        "form": checkpoint.form,
        "digest": checkpoint.digest,
        "damaged": !checkpoint.is_whole(),
        "pending": checkpoint.pending,
        "content": kept_json(&checkpoint.content),
    }))
}
