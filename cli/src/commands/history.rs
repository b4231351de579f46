//! `irq history`: the audit, row by row, and its verification.

use std::io::{self, Write};
use std::path::Path;

use control::AskAudit;
use interrupts::Digest;
use interrupts::store::{AuditRow, Page, Pages, Verification};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::address::{find_interrupt, find_run};
use crate::arguments::{Global, HistoryArguments, HistoryFormat, StoreArguments};
use crate::audited::AuditLine;
use crate::backend::{self, Backend, Verified};
use crate::exit::{Exit, Failure};
use crate::layout::fit;
use crate::listing;
use crate::palette::{Palette, Tone};
use crate::storage::complete;
use crate::time::instant;
use crate::view::json_line;
use crate::visible::{visible_json, visible_line};

/// The widths of the columns but the last: position, time, who.
const WIDTHS: [usize; 3] = [8, 20, 12];

/// Which rows are wanted.
struct HistoryFilter {
    run: Option<String>,
    interrupt: Option<String>,
    since: Option<jiff::Timestamp>,
    actor: Option<String>,
}

impl HistoryFilter {
    fn has(&self, told: &AuditLine) -> bool {
        let run = self.run.is_none() || told.run == self.run;
        let interrupt = self
            .interrupt
            .as_ref()
            .is_none_or(|interrupt| told.subject == *interrupt);
        let since = self
            .since
            .is_none_or(|since| told.at.is_some_and(|at| at >= since));
        let actor = self.actor.is_none() || told.who == self.actor;
        run && interrupt && since && actor
    }
}

/// Prints the audit, or verifies it.
///
/// # Errors
///
/// If the store cannot be read, or its audit has changed since it was written.
pub(crate) fn history(
    arguments: &HistoryArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    complete(async {
        let backend = backend::open(store).await?;
        if arguments.verify || arguments.head || arguments.against.is_some() {
            return verify(&*backend, arguments).await;
        }
        let wanted = wanted(&*backend, arguments).await?;
        let format = if arguments.json {
            HistoryFormat::Ndjson
        } else {
            arguments.format
        };
        let palette = Palette::for_stream(&io::stdout(), global.no_color);
        write_rows(&*backend, &wanted, format, palette).await?;
        Ok(Exit::Success)
    })
}

async fn wanted(
    from: &dyn Backend,
    arguments: &HistoryArguments,
) -> Result<HistoryFilter, Failure> {
    let run = match &arguments.run {
        // A run that was purged is still in the audit.
        Some(run) if run.parse::<interrupt_router::RunId>().is_ok() => Some(run.clone()),
        Some(run) => Some(find_run(from, run).await?.id.to_string()),
        None => None,
    };
    let interrupt = match &arguments.interrupt {
        Some(id) if id.parse::<interrupt_router::InterruptId>().is_ok() => Some(id.clone()),
        Some(id) => Some(find_interrupt(from, id).await?.id.to_string()),
        None => None,
    };
    Ok(HistoryFilter {
        run,
        interrupt,
        since: arguments.since,
        actor: arguments.actor.clone(),
    })
}

/// Writes the rows page by page: an audit may be longer than memory is large.
async fn write_rows(
    from: &dyn Backend,
    wanted: &HistoryFilter,
    format: HistoryFormat,
    palette: Palette,
) -> anyhow::Result<()> {
    let mut output = io::BufWriter::new(io::stdout().lock());
    let mut writer = RowWriter {
        format,
        palette,
        written: 0,
    };
    output.write_all(writer.head()?.as_bytes())?;
    let mut pages = Pages::of(listing::PAGE);
    while let Some(rows) = pages.next(|page| from.ask(AskAudit { page })).await? {
        for row in &rows {
            let told = AuditLine::of(row);
            if wanted.has(&told) {
                output.write_all(writer.row(row, &told)?.as_bytes())?;
            }
        }
    }
    output.write_all(writer.end().as_bytes())?;
    output.flush()?;
    Ok(())
}

struct RowWriter {
    format: HistoryFormat,
    palette: Palette,
    written: usize,
}

impl RowWriter {
    fn head(&self) -> anyhow::Result<String> {
        Ok(match self.format {
            HistoryFormat::Table => {
                let heads = ["POSITION", "WHEN", "WHO"].map(str::to_owned);
                self.palette.paint(Tone::Strong, &line(&heads, "WHAT")) + "\n"
            }
            HistoryFormat::Json => "[".to_owned(),
            HistoryFormat::Ndjson => String::new(),
            HistoryFormat::Csv => csv_line(&[
                "position", "at", "run", "subject", "what", "who", "detail", "digest",
            ])?,
        })
    }

    fn row(&mut self, row: &AuditRow, told: &AuditLine) -> anyhow::Result<String> {
        self.written += 1;
        Ok(match self.format {
            HistoryFormat::Table => table_line(told),
            HistoryFormat::Json => {
                let comma = if self.written == 1 { "\n" } else { ",\n" };
                format!("{comma}{}", visible_json(&as_json(row, told).to_string()))
            }
            HistoryFormat::Ndjson => json_line(&as_json(row, told)),
            HistoryFormat::Csv => csv_line(&[
                &row.position.to_string(),
                &told.at.map(|at| at.to_string()).unwrap_or_default(),
                told.run.as_deref().unwrap_or_default(),
                &told.subject,
                &told.what,
                told.who.as_deref().unwrap_or_default(),
                told.detail.as_deref().unwrap_or_default(),
                &row.digest.to_string(),
            ])?,
        })
    }

    fn end(&self) -> &'static str {
        match self.format {
            HistoryFormat::Json if self.written == 0 => "]\n",
            HistoryFormat::Json => "\n]\n",
            HistoryFormat::Table | HistoryFormat::Ndjson | HistoryFormat::Csv => "",
        }
    }
}

fn as_json(row: &AuditRow, told: &AuditLine) -> Value {
    let mut value = json!({"position": row.position});
    if let (Some(value), Some(entry)) = (value.as_object_mut(), told.entry.as_object()) {
        value.extend(entry.clone());
        value.insert("digest".to_owned(), json!(row.digest));
    }
    value
}

fn table_line(told: &AuditLine) -> String {
    let cells = [
        told.position.to_string(),
        told.at.map(instant).unwrap_or_default(),
        visible_line(told.by()),
    ];
    let mut what = format!(
        "{} · {}",
        visible_line(&told.what),
        visible_line(&told.subject)
    );
    if let Some(detail) = &told.detail {
        what = format!("{what} · {}", visible_line(detail));
    }
    line(&cells, &what) + "\n"
}

fn line(cells: &[String; 3], last: &str) -> String {
    let mut line = String::new();
    for (cell, width) in cells.iter().zip(WIDTHS) {
        line.push_str(&fit(cell, width));
        line.push_str("  ");
    }
    line + last
}

/// One record. The library does the quoting; texts are not changed, so a spreadsheet has to be told that they are text.
fn csv_line(fields: &[&str]) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(fields)?;
    let bytes = writer
        .into_inner()
        .map_err(|error| io::Error::other(error.to_string()))?;
    Ok(String::from_utf8(bytes)?)
}

/// A head of the audit that is saved elsewhere.
#[derive(Debug, Serialize, Deserialize)]
struct SavedHead {
    store: Option<String>,
    position: u64,
    digest: Digest,
    at: jiff::Timestamp,
}

async fn verify(from: &dyn Backend, arguments: &HistoryArguments) -> anyhow::Result<Exit> {
    let as_json = arguments.json || arguments.head;
    let found = match from.verify_audit().await? {
        Verified::Whole(found) => found,
        Verified::Broken(problem) => return untrusted(&problem, as_json),
    };
    if let Some(path) = &arguments.against
        && let Some(problem) = does_not_go_on(from, &found, path).await?
    {
        return untrusted(&problem, as_json);
    }
    let text = if arguments.head {
        json_line(&serde_json::to_value(SavedHead {
            store: found.store,
            position: found.head.position,
            digest: found.head.digest,
            at: jiff::Timestamp::now(),
        })?)
    } else if as_json {
        let mut value = serde_json::to_value(&found)?;
        if let Some(members) = value.as_object_mut() {
            members.insert("verified".to_owned(), json!(true));
        }
        json_line(&value)
    } else {
        in_words(&found, arguments.against.as_deref())
    };
    super::print(&text)?;
    Ok(Exit::Success)
}

fn in_words(found: &Verification, against: Option<&Path>) -> String {
    let head = &found.head;
    let mut text = format!(
        "The audit is whole, and all that it vouches for is what was written: {} rows, and its head is\n{} {}\n",
        head.position, head.position, head.digest
    );
    if let Some(path) = against {
        text += &format!("It goes on from the head in {}.\n", path.display());
    }
    if found.unbound > 0 {
        text += &format!(
            "{} entries are unbound: an older version wrote them, and nothing vouches for them.\n",
            found.unbound
        );
    }
    if found.purged > 0 {
        text += &format!(
            "{} runs were purged; of them digests are left.\n",
            found.purged
        );
    }
    text
}

/// Why the audit does not continue a saved head; `None` if it does.
async fn does_not_go_on(
    from: &dyn Backend,
    found: &Verification,
    path: &Path,
) -> anyhow::Result<Option<String>> {
    let unreadable = |error: &dyn std::fmt::Display| {
        Failure::new(Exit::NotFound, format!("{}: {error}", path.display()))
            .hint("it is what `irq history --head` printed")
    };
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(&error))?;
    let kept: SavedHead = serde_json::from_str(&text).map_err(|error| unreadable(&error))?;
    if kept.store.is_some() && found.store.is_some() && kept.store != found.store {
        return Ok(Some(format!(
            "{} is the head of another store",
            path.display()
        )));
    }
    if kept.position == 0 {
        return Ok(None);
    }
    let page = Page {
        after: kept.position - 1,
        limit: 1,
    };
    let row = from.ask(AskAudit { page }).await?.into_iter().next();
    Ok(match row {
        Some(row) if row.position == kept.position && row.digest == kept.digest => None,
        Some(row) if row.position == kept.position => Some(format!(
            "it does not go on from the head in {}: row {} is another one than then",
            path.display(),
            kept.position
        )),
        Some(row) => Some(format!(
            "it begins at row {}: a purge has cut it off after the head in {}",
            row.position,
            path.display()
        )),
        None => Some(format!(
            "it ends at row {}, before the head in {}, which is row {}",
            found.head.position,
            path.display(),
            kept.position
        )),
    })
}

fn untrusted(problem: &str, as_json: bool) -> anyhow::Result<Exit> {
    if as_json {
        super::print(&json_line(&json!({"verified": false, "problem": problem})))?;
    }
    let text = format!("the audit cannot be trusted: {problem}");
    Err(Failure::new(Exit::Failure, text)
        .hint("keep the file as it is; compare with a backup, and with a head that was kept elsewhere: irq history --verify --against FILE")
        .into())
}
