//! `irq send`: sends a message to a running agent, and takes back what it has not read.

use std::io::Read;

use control::{SendMessage, TakeBack};
use interrupts::IdempotencyKey;
use interrupts::store::{MessageState, StoredMessage};
use jiff::Timestamp;
use serde_json::json;
use uuid::Uuid;

use super::print;
use crate::address::{find_agent, full};
use crate::arguments::{SendArguments, StoreArguments};
use crate::backend;
use crate::exit::{Exit, Failure};
use crate::listing;
use crate::run_owner::has_process;
use crate::storage::complete;
use crate::time::ago;
use crate::view::json_line;
use crate::visible::visible_line;

/// The most that is read from standard input; the store takes less.
const LONGEST: u64 = 2 << 20;

/// Sends a message.
///
/// # Errors
///
/// If there is no such agent, it has ended, or the store cannot be written.
pub(crate) fn send(arguments: &SendArguments, store: &StoreArguments) -> anyhow::Result<Exit> {
    if let Some(number) = arguments.take_back {
        return take_back(arguments, number, store);
    }
    let Some(text) = &arguments.text else {
        return list(arguments, store);
    };
    let text = read_text(text)?;
    let key = match &arguments.key {
        Some(key) => key.clone(),
        None => format!("send-{}", Uuid::now_v7()),
    };
    let key = IdempotencyKey::new(key)
        .map_err(|error| Failure::new(Exit::Usage, format!("--key: {error}")))?;
    complete(async {
        let backend = backend::open(store).await?;
        let (run, row) = find_agent(&*backend, &arguments.agent).await?;
        let message = SendMessage {
            run: run.id,
            node: row.node.clone(),
            text,
            key: Some(key.to_string()),
        };
        let sent = backend.carry_out(message).await?;
        let address = full(run.id, &row.node);
        if arguments.json {
            print(&json_line(&json!({
                "message": sent.position,
                "address": address,
                "at": sent.at,
                "key": key,
                "is_owned": has_process(&run),
            })))?;
        } else {
            let when = if has_process(&run) {
                "at the start of its next turn"
            } else {
                "when its run is resumed"
            };
            print(&format!("{address} reads it {when}.\n"))?;
        }
        Ok(Exit::Success)
    })
}

/// What the agent has not read yet.
fn list(arguments: &SendArguments, store: &StoreArguments) -> anyhow::Result<Exit> {
    complete(async {
        let backend = backend::open(store).await?;
        let (run, row) = find_agent(&*backend, &arguments.agent).await?;
        let messages = listing::messages(&*backend, run.id).await?;
        let is_own = |it: &&StoredMessage| it.message.node == row.node;
        let own = messages.iter().filter(is_own);
        let (waiting, others): (Vec<&StoredMessage>, Vec<_>) =
            own.partition(|it| it.state.is_waiting());
        let is_unread = |it: &&&StoredMessage| matches!(it.state, MessageState::Unread { .. });
        let unread = others.iter().filter(is_unread).count();
        let mut text = String::new();
        for stored in &waiting {
            text.push_str(&if arguments.json {
                json_line(&json!({
                    "message": stored.position,
                    "address": full(run.id, &row.node),
                    "text": stored.message.text,
                    "from": stored.message.from.name,
                    "at": stored.at,
                }))
            } else {
                let said = visible_line(&stored.message.text);
                let from = visible_line(stored.message.from.name.as_str());
                let age = ago(stored.at, Timestamp::now());
                format!("{}  {from}, {age}: {said}\n", stored.position)
            });
        }
        if waiting.is_empty() && !arguments.json {
            let address = full(run.id, &row.node);
            text = match unread {
                0 => format!("Nothing waits for {address}.\n"),
                1 => format!("Nothing waits for {address}: it ended before it read one message.\n"),
                count => {
                    format!(
                        "Nothing waits for {address}: it ended before it read {count} messages.\n"
                    )
                }
            };
        }
        print(&text)?;
        Ok(Exit::Success)
    })
}

/// Takes a message back.
fn take_back(
    arguments: &SendArguments,
    number: u64,
    store: &StoreArguments,
) -> anyhow::Result<Exit> {
    complete(async {
        let backend = backend::open(store).await?;
        let (run, row) = find_agent(&*backend, &arguments.agent).await?;
        let messages = listing::messages(&*backend, run.id).await?;
        let is_it = |it: &&StoredMessage| it.message.node == row.node && it.position == number;
        let message = messages.iter().find(is_it).ok_or_else(|| {
            let text = format!("{} has no message {number}", full(run.id, &row.node));
            Failure::new(Exit::NotFound, text)
                .hint("`irq send AGENT --waiting` lists what it has not read")
        })?;
        let take_back = TakeBack {
            run: run.id,
            node: Some(row.node.clone()),
            message: number,
        };
        backend.carry_out(take_back).await?;
        if arguments.json {
            print(&json_line(&json!({
                "message": number,
                "address": full(run.id, &row.node),
                "state": "withdrawn",
                "text": message.message.text,
            })))?;
        } else {
            print(&format!(
                "Message {number} is taken back; it will not be read.\n"
            ))?;
        }
        Ok(Exit::Success)
    })
}

fn read_text(given: &str) -> anyhow::Result<String> {
    if given != "-" {
        return Ok(given.to_owned());
    }
    let mut text = String::new();
    std::io::stdin().take(LONGEST).read_to_string(&mut text)?;
    Ok(text)
}
