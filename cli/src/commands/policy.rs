//! `irq policy`: checks a policy file, and explains what it says of an interrupt.

use std::fmt::Write;

use serde_json::json;

use super::print;
use crate::address::find_interrupt;
use crate::arguments::{
    PolicyArguments, PolicyCheckArguments, PolicyCommand, PolicyExplainArguments, StoreArguments,
};
use crate::backend;
use crate::exit::Exit;
use crate::policy::{of, read};
use crate::storage::complete;
use crate::view::json_line;
use crate::visible::visible_lines;

/// Checks or explains.
///
/// # Errors
///
/// If the file cannot be read or is invalid, or there is no such interrupt.
pub(crate) fn policy(arguments: &PolicyArguments, store: &StoreArguments) -> anyhow::Result<Exit> {
    match &arguments.command {
        PolicyCommand::Check(arguments) => check(arguments),
        PolicyCommand::Explain(arguments) => explain(arguments, store),
    }
}

fn check(arguments: &PolicyCheckArguments) -> anyhow::Result<Exit> {
    let read = read(&arguments.file);
    let text = match (&read, arguments.json) {
        (Ok(_policy), true) => json_line(&json!({"file": arguments.file, "valid": true})),
        (Ok(_policy), false) => format!("{} is a policy.\n", arguments.file.display()),
        (Err(failure), true) => json_line(&json!({
            "file": arguments.file,
            "valid": false,
            "problem": failure.to_string(),
        })),
        (Err(_failure), false) => String::new(),
    };
    print(&text)?;
    read?;
    Ok(Exit::Success)
}

fn explain(arguments: &PolicyExplainArguments, store: &StoreArguments) -> anyhow::Result<Exit> {
    let policy = of(arguments.policy.as_deref())?;
    complete(async {
        let backend = backend::open(store).await?;
        let interrupt = find_interrupt(&*backend, &arguments.interrupt).await?;
        let explanation = policy.explain(&interrupt);
        let text = if arguments.json {
            json_line(&serde_json::to_value(&explanation)?)
        } else {
            let mut text = String::new();
            for line in visible_lines(&explanation.to_string()) {
                writeln!(text, "{line}")?;
            }
            text
        };
        print(&text)?;
        Ok(Exit::Success)
    })
}
