//! `irq send`: a message to a running agent.

use std::io::Read;

use interrupts::IdempotencyKey;
use serde_json::json;
use uuid::Uuid;

use super::print;
use crate::address::{find_agent, full};
use crate::arguments::{SendArguments, StoreArguments};
use crate::exit::{Exit, Failure};
use crate::installation::{self, NewText};
use crate::storage::{complete, is_owned};
use crate::view::json_line;

/// The most that is read from standard input; the store takes less.
const LONGEST: u64 = 2 << 20;

/// Sends a message.
///
/// # Errors
///
/// Where there is no such agent, it has ended, or the store cannot be written.
pub(crate) fn send(arguments: &SendArguments, store: &StoreArguments) -> anyhow::Result<Exit> {
    let text = text(&arguments.text)?;
    let key = match &arguments.key {
        Some(key) => key.clone(),
        None => format!("send-{}", Uuid::now_v7()),
    };
    let key = IdempotencyKey::new(key)
        .map_err(|error| Failure::new(Exit::Usage, format!("--key: {error}")))?;
    complete(async {
        let installation = installation::open(store).await?;
        let (run, row) = find_agent(&*installation, &arguments.agent).await?;
        let message = NewText {
            run: run.id,
            node: row.node.clone(),
            text,
            key: key.clone(),
        };
        let sent = installation.send(message).await?;
        let address = full(run.id, &row.node);
        if arguments.json {
            print(&json_line(&json!({
                "message": sent.position,
                "address": address,
                "at": sent.at,
                "key": key,
                "is_owned": is_owned(&run),
            })))?;
        } else {
            let when = if is_owned(&run) {
                "at the start of its next turn"
            } else {
                "when somebody resumes its run"
            };
            print(&format!("{address} reads it {when}.\n"))?;
        }
        Ok(Exit::Success)
    })
}

fn text(given: &str) -> anyhow::Result<String> {
    let text = if given == "-" {
        let mut text = String::new();
        std::io::stdin().take(LONGEST).read_to_string(&mut text)?;
        text
    } else {
        given.to_owned()
    };
    if text.trim().is_empty() {
        return Err(Failure::new(Exit::Usage, "the message is empty").into());
    }
    Ok(text)
}
