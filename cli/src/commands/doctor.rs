//! `irq doctor`: what is wrong with this installation, and how to fix it.

mod finding;
mod machine;
mod model;
mod server;
mod servers;
mod store;

use std::io;

use super::print;
use crate::arguments::{DoctorArguments, Global, StoreArguments};
use crate::backend::Whereabouts;
use crate::exit::Exit;
use crate::palette::{Palette, Tone};
use crate::storage::complete;
use crate::table::Table;
use crate::view::json_line;
use crate::visible::visible_line;

use finding::{Finding, Health};

/// Checks everything that the program needs.
///
/// # Errors
///
/// If what was found cannot be written. A problem that was found is an exit code, not an error.
pub(crate) fn doctor(
    arguments: &DoctorArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    complete(async {
        let mut findings = match Whereabouts::of(store)? {
            Whereabouts::Server(place) => server::findings(&place).await,
            Whereabouts::Store => {
                let mut found = store::findings(store).await;
                found.push(machine::user());
                found
            }
        };
        findings.extend(machine::findings());
        if let Some(name) = &arguments.model {
            findings.extend(model::findings(name, arguments).await?);
        }
        if let Some(file) = &arguments.mcp {
            findings.extend(servers::findings(file).await);
        }
        let text = if arguments.json {
            findings
                .iter()
                .map(|finding| json_line(&finding.as_json()))
                .collect()
        } else {
            report(
                &findings,
                Palette::for_stream(&io::stdout(), global.no_color),
            )
        };
        print(&text)?;
        let is_ill = findings
            .iter()
            .any(|finding| finding.health == Health::Problem);
        Ok(if is_ill { Exit::Failure } else { Exit::Success })
    })
}

fn report(findings: &[Finding], palette: Palette) -> String {
    let mut table = Table::new(&["", "WHAT", "FOUND"]);
    for finding in findings {
        let (tone, word) = match finding.health {
            Health::Well => (Tone::Good, "ok"),
            Health::Note => (Tone::Faint, "note"),
            Health::Problem => (Tone::Bad, "problem"),
        };
        table.row(vec![
            (tone, word.to_owned()),
            (Tone::Strong, finding.what.to_owned()),
            (Tone::Plain, visible_line(&finding.found)),
        ]);
        if let Some(remedy) = &finding.remedy {
            table.row(vec![
                (Tone::Plain, String::new()),
                (Tone::Plain, String::new()),
                (Tone::Plain, format!("→ {}", visible_line(remedy))),
            ]);
        }
    }
    table.text(palette)
}
