//! `irq token`: who may come into a server that uses this store.

use std::io;

use interrupts::store::TokenRow;
use interrupts::{ActorName, Digest};
use jiff::Timestamp;
use serde_json::{Value, json};
use server::{TokenOrder, issue_token, role_name};

use super::print;
use crate::actor::actor;
use crate::arguments::{
    Global, StoreArguments, TokenArguments, TokenCommand, TokenCreateArguments, TokenListArguments,
    TokenRevokeArguments,
};
use crate::exit::{Exit, Failure, causes};
use crate::palette::{Palette, Tone};
use crate::refused::by_store;
use crate::storage::{Storage, complete};
use crate::table::Table;
use crate::time::instant;
use crate::view::json_line;
use crate::visible::visible_line;

/// How many digits of a digest name a token.
const ID: usize = 16;

/// Makes, lists or revokes tokens.
///
/// # Errors
///
/// Where the store cannot be used, or there is no such token.
pub(crate) fn token(
    arguments: &TokenArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    complete(async {
        match &arguments.command {
            TokenCommand::Create(arguments) => create(arguments, store).await,
            TokenCommand::List(arguments) => list(arguments, store, global).await,
            TokenCommand::Revoke(arguments) => revoke(arguments, store).await,
        }
    })
}

async fn create(arguments: &TokenCreateArguments, store: &StoreArguments) -> anyhow::Result<Exit> {
    let name = ActorName::new(arguments.name.clone())
        .map_err(|error| Failure::new(Exit::Usage, format!("--name: {error}")))?;
    let storage = Storage::create(store).await?;
    let order = TokenOrder {
        name,
        role: arguments.role.role(),
        lifetime: arguments.lifetime,
        once: false,
        by: Some(actor()?),
    };
    let issued = issue_token(&*storage.store, order).await;
    let issued = issued.map_err(|error| Failure::new(Exit::Failure, causes(&error)))?;
    if arguments.json {
        let mut token = as_json(&issued.row, true);
        token["secret"] = Value::String(issued.secret);
        print(&json_line(&token))?;
        return Ok(Exit::Success);
    }
    eprintln!(
        "The secret of {} ({}), shown once; {} takes it back.",
        visible_line(issued.row.name.as_str()),
        role_name(issued.row.role),
        format_args!("`irq token revoke {}`", id(issued.row.digest)),
    );
    print(&format!("{}\n", issued.secret))?;
    Ok(Exit::Success)
}

async fn list(
    arguments: &TokenListArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    let storage = Storage::open(store).await?;
    let now = Timestamp::now();
    let rows = storage.store.tokens().await;
    let all: Vec<TokenRow> = rows.map_err(|error| by_store(&error))?;
    let rows: Vec<&TokenRow> = all
        .iter()
        .filter(|row| arguments.all || row.holds_among(&all, now))
        .collect();
    if arguments.json {
        let lines: String = rows
            .iter()
            .map(|row| json_line(&as_json(row, row.holds_among(&all, now))))
            .collect();
        print(&lines)?;
        return Ok(Exit::Success);
    }
    if rows.is_empty() {
        print("There are no tokens. `irq token create --name NAME` makes one.\n")?;
        return Ok(Exit::Success);
    }
    let mut table = Table::new(&["ID", "ROLE", "MADE", "ENDS", "STATE", "NAME"]);
    for row in rows {
        let ends = row.expires_at.map_or_else(|| "-".to_owned(), instant);
        table.row(vec![
            (Tone::Strong, id(row.digest)),
            (Tone::Plain, role_name(row.role).to_owned()),
            (Tone::Plain, instant(row.created_at)),
            (Tone::Plain, ends),
            (Tone::Plain, state(row, &all, now).to_owned()),
            (Tone::Plain, visible_line(row.name.as_str())),
        ]);
    }
    print(&table.text(Palette::for_stream(&io::stdout(), global.no_color)))?;
    Ok(Exit::Success)
}

async fn revoke(arguments: &TokenRevokeArguments, store: &StoreArguments) -> anyhow::Result<Exit> {
    let storage = Storage::open(store).await?;
    let rows = storage.store.tokens().await;
    let rows = rows.map_err(|error| by_store(&error))?;
    let mut named = rows
        .iter()
        .filter(|row| row.digest.to_string().starts_with(&arguments.token));
    let (row, next) = (named.next(), named.next());
    let Some(row) = row.filter(|_| !arguments.token.is_empty()) else {
        let text = format!("there is no token `{}`", arguments.token);
        return Err(Failure::new(Exit::NotFound, text)
            .hint("`irq token list --all` lists them")
            .into());
    };
    if next.is_some() {
        let text = format!("`{}` may be several tokens", arguments.token);
        return Err(Failure::new(Exit::Usage, text)
            .hint("write more of its id")
            .into());
    }
    let revoked = storage.store.revoke_token(row.digest, Some(actor()?)).await;
    let revoked = revoked.map_err(|error| by_store(&error))?;
    let row = revoked.as_ref().unwrap_or(row);
    if arguments.json {
        print(&json_line(&as_json(row, false)))?;
    } else {
        print(&format!(
            "The token {} of {} lets nobody in any more.\n",
            id(row.digest),
            visible_line(row.name.as_str())
        ))?;
    }
    Ok(Exit::Success)
}

fn id(digest: Digest) -> String {
    digest.to_string().chars().take(ID).collect()
}

fn state(row: &TokenRow, all: &[TokenRow], now: Timestamp) -> &'static str {
    if row.revoked_at.is_some() {
        "revoked"
    } else if row.once && row.used_at.is_some() {
        "used"
    } else if !row.holds_among(all, now) {
        "ended"
    } else if row.once {
        "once"
    } else if row.of.is_some() {
        "session"
    } else {
        "holds"
    }
}

fn as_json(row: &TokenRow, holds: bool) -> Value {
    json!({
        "id": id(row.digest),
        "name": row.name,
        "role": role_name(row.role),
        "created_at": row.created_at,
        "expires_at": row.expires_at,
        "once": row.once,
        "revoked_at": row.revoked_at,
        "holds": holds,
        "bought_with": row.of.map(id),
    })
}
