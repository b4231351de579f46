//! `irq rules`: remembered decisions, and revoking them.

use std::io;

use control::{AskRules, RevokeRule, no_rule};
use interrupt_router::RuleId;
use interrupts::rules::{RuleScope, StandingRule};
use interrupts::store::Pages;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::print;
use crate::advice::advised;
use crate::arguments::{
    Global, RulesArguments, RulesCommand, RulesListArguments, RulesRevokeArguments, StoreArguments,
};
use crate::backend::{self, Backend};
use crate::exit::{Exit, Failure};
use crate::palette::{Palette, Tone};
use crate::storage::complete;
use crate::table::Table;
use crate::time::instant;
use crate::view::{json_line, kept_json};
use crate::visible::visible_line;

/// How many rules are read at a time.
const PAGE: u32 = 500;

/// Lists or revokes standing rules.
///
/// # Errors
///
/// If the backend cannot be used, there is no such rule, or only another user may revoke it.
pub(crate) fn rules(
    arguments: &RulesArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    complete(async {
        let backend = backend::open(store).await?;
        match &arguments.command {
            RulesCommand::List(arguments) => list(arguments, &*backend, global).await,
            RulesCommand::Revoke(arguments) => revoke(arguments, &*backend).await,
        }
    })
}

async fn all(backend: &dyn Backend) -> Result<Vec<StandingRule>, Failure> {
    Pages::of(PAGE)
        .values(|page| backend.ask(AskRules { page }))
        .await
}

async fn list(
    arguments: &RulesListArguments,
    backend: &dyn Backend,
    global: Global,
) -> anyhow::Result<Exit> {
    let now = Timestamp::now();
    let mut rules = all(backend).await?;
    rules.retain(|rule| arguments.all || rule.holds_at(now));
    if arguments.json {
        let lines: String = rules
            .iter()
            .map(|rule| json_line(&as_json(rule, now)))
            .collect();
        print(&lines)?;
        return Ok(Exit::Success);
    }
    if rules.is_empty() {
        print(&advised(
            "There are no standing rules. `irq review INTERRUPT --decision approve --remember run` makes one.\n",
        ))?;
        return Ok(Exit::Success);
    }
    let mut table = Table::new(&["RULE", "DECIDES", "REACH", "USED", "BY", "ENDS", "QUESTION"]);
    for rule in &rules {
        let ends = match &rule.end {
            Some(end) => format!("{} ({})", instant(end.at), end.ending.name()),
            None => instant(rule.expires_at),
        };
        table.row(vec![
            (Tone::Strong, rule.id.to_string()),
            (Tone::Plain, decides(rule)),
            (Tone::Plain, visible_line(&reach(rule))),
            (Tone::Plain, format!("{}/{}", rule.uses, rule.most_uses)),
            (Tone::Plain, visible_line(rule.created_by.name.as_str())),
            (Tone::Plain, ends),
            (Tone::Plain, visible_line(&rule.of.reason)),
        ]);
    }
    print(&table.text(Palette::for_stream(&io::stdout(), global.no_color)))?;
    Ok(Exit::Success)
}

fn decides(rule: &StandingRule) -> String {
    match &rule.target {
        Some(target) => format!("{} to {target}", rule.verdict.name()),
        None => rule.verdict.name().to_owned(),
    }
}

fn reach(rule: &StandingRule) -> String {
    match &rule.scope {
        RuleScope::Agent { run, node } => format!("{run}/{node}"),
        RuleScope::Run { run } => run.to_string(),
        RuleScope::Everywhere => "everywhere".to_owned(),
    }
}

async fn revoke(arguments: &RulesRevokeArguments, backend: &dyn Backend) -> anyhow::Result<Exit> {
    let id: RuleId = arguments
        .rule
        .parse()
        .map_err(|_error| Failure::from(no_rule(&arguments.rule)))?;
    let revoked = backend.carry_out(RevokeRule { rule: id }).await?;
    if arguments.json {
        print(&json_line(&as_json(&revoked, Timestamp::now())))?;
    } else {
        let ending = revoked.end.as_ref().map_or("-", |end| end.ending.name());
        print(&format!("{id} answers nothing any more ({ending}).\n"))?;
    }
    Ok(Exit::Success)
}

fn as_json(rule: &StandingRule, now: Timestamp) -> Value {
    json!({
        "id": rule.id,
        "holds": rule.holds_at(now),
        "decision": rule.verdict.name(),
        "target": rule.target,
        "payload": rule.content.as_deref().map(kept_json),
        "scope": rule.scope,
        "made_of": rule.of,
        "matter": rule.matter,
        "created_by": rule.created_by.name,
        "created_at": rule.created_at,
        "expires_at": rule.expires_at,
        "max_uses": rule.most_uses,
        "uses": rule.uses,
        "last_used_at": rule.last_used_at,
        "end": rule.end,
    })
}
