//! `irq send`: a message to a running agent.

use std::io::Read;

use interrupts::IdempotencyKey;
use interrupts::store::NewMessage;
use serde_json::json;
use uuid::Uuid;

use super::print;
use crate::actor::actor;
use crate::address::{find_agent, full};
use crate::arguments::{SendArguments, StoreArguments};
use crate::exit::{Exit, Failure};
use crate::refused::by_mailbox;
use crate::storage::{Storage, complete, is_owned};
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
    let from = actor()?;
    complete(async {
        let storage = Storage::open(store).await?;
        let (run, row) = find_agent(&*storage.store, &arguments.agent).await?;
        let message = NewMessage {
            run: run.id,
            node: row.node.clone(),
            text,
            from,
            key,
        };
        let stored = storage.store.send_message(message).await;
        let stored = stored.map_err(|error| by_mailbox(&error))?;
        storage.ring(&run).await;
        let address = full(run.id, &row.node);
        if arguments.json {
            print(&json_line(&json!({
                "message": stored.position,
                "address": address,
                "at": stored.at,
                "key": stored.message.key,
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
