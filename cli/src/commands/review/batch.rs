//! Many decisions at once: one JSON object a line.

use std::io::{Read, Write as _};
use std::path::Path;

use control::{DecisionParts, NewDecision, RememberOrder, direction};
use interrupt_router::InterruptId;
use interrupts::life::{Interrupt, Verdict};
use serde::Deserialize;
use serde_json::{Value, json};

use super::chosen::fitting;
use super::deciding::deciding;
use crate::address::find_interrupt;
use crate::advice::advised;
use crate::arguments::parse_verdict;
use crate::backend::Backend;
use crate::commands::print;
use crate::exit::{Exit, Failure};
use crate::view::json_line;

/// The most bytes of a batch.
const LONGEST: u64 = 64 << 20;

/// A line of a batch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchLine {
    interrupt: String,
    decision: String,
    #[serde(default)]
    payload: Option<Value>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    reroute_to: Option<String>,
    #[serde(default)]
    version: Option<u64>,
    #[serde(default)]
    remember: Option<RememberOrder>,
}

/// Decides each line. A line that fails does not keep the others from being decided. A line that cannot be read does: the
/// file is not what was meant.
///
/// # Errors
///
/// [`Exit::Partial`] if some lines were decided and others not; if none was, the code of the first that was refused.
///
/// # Cancel safety
///
/// If dropped, some were decided: run it again, and the decided ones are reported as conflicts.
pub(super) async fn decide_all(
    backend: &dyn Backend,
    path: &Path,
    together: Together,
    as_json: bool,
) -> anyhow::Result<Exit> {
    let wanted = read(path)?;
    if wanted.is_empty() {
        // No line on standard output, as none was decided; standard error says why.
        writeln!(
            std::io::stderr(),
            "The batch has no line: nothing was decided."
        )?;
        return Ok(Exit::Success);
    }
    if together == Together::AllOrNothing {
        return all_or_nothing(backend, wanted, as_json).await;
    }
    let count = wanted.len();
    let mut failed: Vec<Exit> = Vec::new();
    for line in wanted {
        let id = line.interrupt.clone();
        match one(backend, line).await {
            Ok(decided) => print(&done(&decided, as_json))?,
            Err(error) => {
                let failure = error.downcast_ref::<Failure>();
                let exit = failure.map_or(Exit::Failure, |failure| failure.exit);
                failed.push(exit);
                print(&undone(&id, exit, &error, as_json))?;
            }
        }
    }
    let Some(first) = failed.first().copied() else {
        return Ok(Exit::Success);
    };
    let (exit, text) = if failed.len() == count {
        (first, nothing_decided(count, count))
    } else {
        let text = format!("{} of {count} were not decided", failed.len());
        (Exit::Partial, text)
    };
    Err(Failure::new(exit, text)
        .hint("each line of the output says what became of it")
        .into())
}

/// Whether a batch is one transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Together {
    /// Each line commits alone.
    EachAlone,
    /// All lines commit together, or none.
    AllOrNothing,
}

/// Decides all lines in one transaction: if one is refused, none is decided. Reports each line that was refused.
async fn all_or_nothing(
    backend: &dyn Backend,
    wanted: Vec<BatchLine>,
    as_json: bool,
) -> anyhow::Result<Exit> {
    let names: Vec<String> = wanted.iter().map(|line| line.interrupt.clone()).collect();
    let (mut ready, mut refused) = (Vec::new(), Vec::new());
    for (place, line) in wanted.into_iter().enumerate() {
        match prepared(backend, line).await {
            Ok(deciding) => ready.push(deciding),
            Err(error) => match error.downcast::<Failure>() {
                Ok(failure) => refused.push((place, failure)),
                Err(error) => return Err(error),
            },
        }
    }
    if refused.is_empty() {
        match backend.decide_together(ready).await? {
            Ok(decided) => {
                for one in &decided {
                    print(&done(one, as_json))?;
                }
                return Ok(Exit::Success);
            }
            Err(lost) => refused = lost,
        }
    }
    let (first, count) = (
        refused.first().map(|(_, failure)| failure.exit),
        refused.len(),
    );
    for (place, failure) in refused {
        let name = names.get(place).map_or("?", String::as_str);
        let exit = failure.exit;
        print(&undone(name, exit, &failure.into(), as_json))?;
    }
    let text = nothing_decided(count, names.len());
    Err(Failure::new(first.unwrap_or(Exit::Failure), text)
        .hint("take them out of the file, or leave --all-or-nothing out")
        .into())
}

fn nothing_decided(refused: usize, of: usize) -> String {
    format!("nothing was decided: {refused} of {of} are refused")
}

fn read(path: &Path) -> anyhow::Result<Vec<BatchLine>> {
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin().take(LONGEST).read_to_string(&mut text)?;
    } else {
        let file = std::fs::File::open(path).map_err(|error| {
            let text = format!("cannot read {}: {error}", path.display());
            Failure::new(Exit::NotFound, text)
        })?;
        file.take(LONGEST).read_to_string(&mut text)?;
    }
    let mut wanted = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        wanted.push(serde_json::from_str(line).map_err(|error| {
            let text = format!("line {}: {error}; nothing was decided", index + 1);
            Failure::new(Exit::Usage, text).hint(
                "a line has interrupt, decision, and where wanted payload, message, reroute_to, version, remember",
            )
        })?);
    }
    Ok(wanted)
}

async fn one(backend: &dyn Backend, wanted: BatchLine) -> anyhow::Result<Interrupt> {
    let (id, deciding) = prepared(backend, wanted).await?;
    Ok(backend.decide(id, deciding).await?)
}

async fn prepared(
    backend: &dyn Backend,
    wanted: BatchLine,
) -> anyhow::Result<(InterruptId, NewDecision)> {
    let verdict: Verdict =
        parse_verdict(&wanted.decision).map_err(|problem| Failure::new(Exit::Usage, problem))?;
    let interrupt = find_interrupt(backend, &wanted.interrupt).await?;
    let parts = DecisionParts {
        verdict,
        payload: wanted.payload,
        message: wanted.message,
        reroute_to: wanted.reroute_to,
    };
    let chosen = fitting(&interrupt, parts)?;
    let (version, remember) = (wanted.version, wanted.remember);
    let deciding = deciding(backend, &interrupt, chosen, version, remember).await?;
    Ok((interrupt.id, deciding))
}

fn done(decided: &Interrupt, as_json: bool) -> String {
    let decision = decided.decision.as_ref();
    let verdict = decision.map_or("-", |decision| decision.verdict.name());
    let target = decision.map(|decision| decision.target.to_string());
    if as_json {
        return json_line(&json!({
            "interrupt": decided.id,
            "ok": true,
            "state": decided.state,
            "decision": verdict,
            "target": target,
            "version": decided.version,
        }));
    }
    format!(
        "{}: {verdict}{}.\n",
        decided.id,
        decision.map(direction).unwrap_or_default()
    )
}

fn undone(id: &str, exit: Exit, error: &anyhow::Error, as_json: bool) -> String {
    if as_json {
        let advice = error
            .downcast_ref::<Failure>()
            .and_then(Failure::advice)
            .map(advised);
        return json_line(&json!({
            "interrupt": id,
            "ok": false,
            "code": exit.code(),
            "problem": error.to_string(),
            "hint": advice,
        }));
    }
    let problem = crate::visible::visible_line(&error.to_string());
    format!(
        "{}: not decided: {problem}\n",
        crate::visible::visible_line(id)
    )
}
