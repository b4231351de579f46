//! Making and revoking standing rules.

use control::{Caller, RememberOrder, RevokeRule, Right, no_rule, rule_not_made};
use interrupt_router::{DecisionId, RuleId};
use interrupts::Digest;
use interrupts::life::Interrupt;
use interrupts::rules::StandingRule;
use interrupts::store::NewRule;

use super::decide::{DecisionOrder, choosing};
use crate::app::App;
use crate::problem::Problem;

/// Makes a rule from an interrupt that the caller was shown, whether it is decided or not. With the same key, a
/// repeated request makes the same rule.
pub(crate) async fn make_rule(
    app: &App,
    caller: &Caller,
    interrupt: &Interrupt,
    (shown, remember): (Digest, RememberOrder),
    order: &DecisionOrder,
) -> Result<StandingRule, Problem> {
    Right::Direct.demand(caller)?;
    let id = match order.key.as_deref() {
        Some(key) => RuleId::from_uuid(caller.keyed("rule", key)),
        None => RuleId::generate(),
    };
    let new = NewRule {
        interrupt: interrupt.id,
        shown,
        // A rule has no decision of its own: each use makes one.
        choosing: choosing(app, interrupt, DecisionId::from_uuid(id.uuid()), order).await?,
        remember: remember.with(id),
        by: caller.actor.clone(),
    };
    let made = app.store().put_rule(new).await;
    let made = made.map_err(rule_not_made)?;
    app.feed.nudge();
    Ok(made)
}

/// A rule, by the text of its id.
pub(crate) async fn rule_named(app: &App, text: &str) -> Result<StandingRule, Problem> {
    let id: RuleId = text.parse().map_err(|_error| no_rule(text))?;
    let rule = app.store().rule(id).await?;
    Ok(rule.ok_or_else(|| no_rule(text))?)
}

/// Revokes a rule. What it decided stays decided.
pub(crate) async fn revoke_rule(
    app: &App,
    caller: &Caller,
    text: &str,
) -> Result<StandingRule, Problem> {
    let rule = text.parse().map_err(|_error| no_rule(text))?;
    app.carry_out(caller, RevokeRule { rule }).await
}
