//! The steps that a person wrote: JSON, or one a line.

use std::io::Read;

use serde::Deserialize;

use crate::exit::{Exit, Failure};

/// The most bytes that are read.
const LONGEST: u64 = 1 << 20;

/// A list of steps, alone or named.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Alone(Vec<String>),
    Plan { plan: Vec<String> },
    Steps { steps: Vec<String> },
}

/// The steps of `@FILE`, of `-` for standard input, or of JSON.
///
/// # Errors
///
/// [`Exit::Usage`] if it holds no steps.
pub(super) fn tasks(given: &str) -> anyhow::Result<Vec<String>> {
    let (text, is_file) = if given == "-" {
        (read(std::io::stdin())?, true)
    } else if let Some(path) = given.strip_prefix('@') {
        let unread = |error| {
            Failure::new(
                Exit::NotFound,
                format!("--preview: cannot read {path}: {error}"),
            )
        };
        (read(std::fs::File::open(path).map_err(unread)?)?, true)
    } else {
        (given.to_owned(), false)
    };
    if text.trim_start().starts_with(['[', '{']) {
        return Ok(match serde_json::from_str(&text) {
            Ok(
                Written::Alone(tasks)
                | Written::Plan { plan: tasks }
                | Written::Steps { steps: tasks },
            ) => tasks,
            Err(error) => {
                let text = format!("--preview: this is no plan: {error}");
                return Err(Failure::new(Exit::Usage, text)
                    .hint("a plan is [\"one\", \"two\"], or {\"plan\": [\"one\", \"two\"]}")
                    .into());
            }
        });
    }
    if is_file {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        return Ok(lines.map(str::to_owned).collect());
    }
    let text = "--preview: these are no steps";
    Err(Failure::new(Exit::Usage, text)
        .hint("write a JSON list, @FILE or - with one step a line; in words it is --suggest TEXT")
        .into())
}

fn read(from: impl Read) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    from.take(LONGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST {
        let text = format!("--preview: more than {LONGEST} bytes are no plan");
        return Err(Failure::new(Exit::Usage, text).into());
    }
    Ok(String::from_utf8(bytes)
        .map_err(|_bytes| Failure::new(Exit::Usage, "--preview: this is no text in UTF-8"))?)
}
