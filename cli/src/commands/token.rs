//! `irq token`: who may access a server that uses this store.

mod token_store;

use std::io;

use control::TokenView;
use serde_json::Value;

use super::print;
use crate::advice::advised;
use crate::arguments::{
    Global, StoreArguments, TokenArguments, TokenCommand, TokenCreateArguments, TokenListArguments,
    TokenRevokeArguments,
};
use crate::exit::{Exit, Failure, tell};
use crate::palette::{Palette, Tone};
use crate::storage::complete;
use crate::table::Table;
use crate::time::instant;
use crate::view::json_line;
use crate::visible::visible_line;
use token_store::{Makes, TokenStore};

/// Makes, lists or revokes tokens.
///
/// # Errors
///
/// If the store or the server cannot be used, or there is no such token.
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
    let token_store = TokenStore::open(store, Makes::AToken).await?;
    let made = token_store.make(arguments).await?;
    if arguments.json {
        let mut token = serde_json::to_value(&made.token)?;
        token["secret"] = Value::String(made.secret);
        print(&json_line(&token))?;
        return Ok(Exit::Success);
    }
    tell(format_args!(
        "The secret of {} ({}), shown once; {} takes it back.",
        visible_line(&made.token.name),
        made.token.role,
        advised(&format!("`irq token revoke {}`", made.token.id)),
    ));
    print(&format!("{}\n", made.secret))?;
    Ok(Exit::Success)
}

async fn list(
    arguments: &TokenListArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    let token_store = TokenStore::open(store, Makes::Nothing).await?;
    let mut tokens = token_store.tokens().await?;
    tokens.retain(|token| arguments.all || token.holds);
    if arguments.json {
        for token in &tokens {
            print(&json_line(&serde_json::to_value(token)?))?;
        }
        return Ok(Exit::Success);
    }
    if tokens.is_empty() {
        print(&advised(
            "There are no tokens. `irq token create --name NAME` makes one.\n",
        ))?;
        return Ok(Exit::Success);
    }
    let mut table = Table::new(&["ID", "ROLE", "MADE", "ENDS", "STATE", "BOUND TO", "NAME"]);
    for token in &tokens {
        let bound = token.agent_id.as_ref().or(token.run_id.as_ref());
        let bound = bound.or(token.workflow.as_ref());
        let bound = bound.map_or("-", String::as_str);
        let ends = token.expires_at.map_or_else(|| "-".to_owned(), instant);
        table.row(vec![
            (Tone::Strong, token.id.clone()),
            (Tone::Plain, token.role.clone()),
            (Tone::Plain, instant(token.created_at)),
            (Tone::Plain, ends),
            (Tone::Plain, state(token).to_owned()),
            (Tone::Route, bound.to_owned()),
            (Tone::Plain, visible_line(&token.name)),
        ]);
    }
    print(&table.text(Palette::for_stream(&io::stdout(), global.no_color)))?;
    Ok(Exit::Success)
}

async fn revoke(arguments: &TokenRevokeArguments, store: &StoreArguments) -> anyhow::Result<Exit> {
    let token_store = TokenStore::open(store, Makes::Nothing).await?;
    let tokens = token_store.tokens().await?;
    let given = &arguments.token;
    // The user may also give a longer part of the digest than the list shows.
    let mut named = tokens.iter().filter(|token| {
        token.id.starts_with(given.as_str()) || given.starts_with(token.id.as_str())
    });
    let (token, next) = (named.next(), named.next());
    let Some(token) = token.filter(|_| !given.is_empty()) else {
        let text = format!("there is no token `{}`", visible_line(given));
        return Err(Failure::new(Exit::NotFound, text)
            .hint("`irq token list --all` lists them")
            .into());
    };
    if next.is_some() {
        let text = format!("`{}` may be several tokens", visible_line(given));
        return Err(Failure::new(Exit::Usage, text)
            .hint("write more of its id")
            .into());
    }
    let revoked = token_store.revoke(token.id.clone()).await?;
    if arguments.json {
        print(&json_line(&serde_json::to_value(&revoked)?))?;
    } else {
        print(&format!(
            "The token {} of {} is revoked.\n",
            revoked.id,
            visible_line(&revoked.name)
        ))?;
    }
    Ok(Exit::Success)
}

const fn state(token: &TokenView) -> &'static str {
    if token.revoked_at.is_some() {
        "revoked"
    } else if token.once && token.used_at.is_some() {
        "used"
    } else if !token.holds {
        "ended"
    } else if token.once {
        "once"
    } else if token.bought_with.is_some() {
        "session"
    } else {
        "holds"
    }
}
