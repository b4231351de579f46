//! Standing rules.

use interrupt_router::{DecisionId, RuleId};
use interrupts::life::{Actor, Event, Interrupt, Judge, Role};
use interrupts::rules::{RuleEnding, RuleRefusal, StandingRule, matter_of};
use interrupts::store::{AuditSubject, NewRule, Notification, RuleError, RuleEvent, StoreError};

use super::{Halt, Operation};
use crate::tables::{Failed, PlacedRule, Tables};

/// Makes a rule.
pub(crate) struct PutRule {
    pub(crate) new: NewRule,
}

impl Operation for PutRule {
    type Output = StandingRule;
    type Error = RuleError;

    fn want(&self, tables: &mut Tables) {
        tables.heads.want(&());
        tables.interrupts.want(&self.new.interrupt);
        tables.rules.want(&self.new.remember.id);
    }

    fn run(&self, tables: &mut Tables) -> Result<StandingRule, Halt<RuleError>> {
        let NewRule {
            interrupt: id,
            shown,
            choosing,
            remember,
            by,
        } = &self.new;
        let Some(row) = tables.interrupts.get(id)? else {
            let interrupt = *id;
            return Err(Halt::Refused(RuleError::UnknownInterrupt { interrupt }));
        };
        let interrupt = row.interrupt.clone();
        if interrupt.review.as_ref().map(|review| review.shown) != Some(*shown) {
            let refusal = match interrupt.review {
                Some(_) => RuleRefusal::ShownDiffers,
                None => RuleRefusal::NotShown,
            };
            return Err(Halt::Refused(refusal.into()));
        }
        let rule = StandingRule::made(&interrupt, choosing, remember, by, tables.now)
            .map_err(|refusal| Halt::Refused(RuleError::from(refusal)))?;
        if let Some(known) = tables.rules.get(&rule.id)? {
            return if is_same(&known.rule, &rule) {
                Ok(known.rule.clone())
            } else {
                Err(Halt::Refused(RuleError::Taken { rule: rule.id }))
            };
        }
        keep_new(rule.clone(), tables)?;
        Ok(rule)
    }
}

/// Whether two rules were made by the same request, whenever.
fn is_same(one: &StandingRule, other: &StandingRule) -> bool {
    one.matter == other.matter
        && one.scope == other.scope
        && one.verdict == other.verdict
        && one.target == other.target
        && one.content == other.content
        && one.created_by == other.created_by
        && one.most_uses == other.most_uses
        && one.expires_at.duration_since(one.created_at)
            == other.expires_at.duration_since(other.created_at)
}

/// Keeps a new rule after all others; whether its id was free.
pub(super) fn keep_new(rule: StandingRule, tables: &mut Tables) -> Result<bool, Failed> {
    if tables.rules.get(&rule.id)?.is_some() {
        return Ok(false);
    }
    let mut heads = tables.heads()?;
    heads.rules += 1;
    let position = heads.rules;
    tables.heads.put((), heads);
    let detail = format!(
        "{} {} times until {}",
        rule.verdict.name(),
        rule.most_uses,
        rule.expires_at
    );
    tables.audit(AuditSubject::Rule {
        rule: rule.id,
        event: RuleEvent::Created,
        run: rule.scope.run(),
        interrupt: Some(rule.of.interrupt),
        actor: Some(rule.created_by.clone()),
        detail: Some(detail),
    })?;
    tables.tell(Notification::Rule {
        rule: rule.id,
        event: RuleEvent::Created,
        run: rule.scope.run(),
        interrupt: Some(rule.of.interrupt),
        why: None,
    })?;
    let id = rule.id;
    tables.rules.put(id, PlacedRule { position, rule });
    Ok(true)
}

/// Decides an interrupt by the first rule that answers it; `None` where none does, or none may.
pub(super) fn apply_rule(
    interrupt: &Interrupt,
    epoch: u64,
    tables: &mut Tables,
) -> Result<Option<Interrupt>, Failed> {
    // Most stores have no rules, and need not look for one.
    if tables.heads()?.rules == 0 {
        return Ok(None);
    }
    let Ok(matter) = matter_of(interrupt) else {
        return Ok(None);
    };
    for placed in tables.active_rules(matter)? {
        if placed.rule.answers(interrupt, tables.now) {
            return use_rule(interrupt, epoch, placed, tables);
        }
    }
    Ok(None)
}

fn use_rule(
    interrupt: &Interrupt,
    epoch: u64,
    placed: PlacedRule,
    tables: &mut Tables,
) -> Result<Option<Interrupt>, Failed> {
    let PlacedRule { position, rule } = placed;
    let event = Event::Decide {
        judge: Judge::Rule {
            epoch,
            rule: rule.id,
            name: rule.created_by.name.clone(),
        },
        // An interrupt has one decision at most, so its own bits name it.
        choosing: rule.choosing(DecisionId::from_uuid(interrupt.id.uuid())),
    };
    let Ok(step) = interrupt.after(&event, tables.now) else {
        return Ok(None);
    };
    let decided = tables.perform(step)?;
    let rule = rule.used(tables.now);
    let detail = format!(
        "{}, use {} of {}",
        rule.verdict.name(),
        rule.uses,
        rule.most_uses
    );
    tables.audit(AuditSubject::Rule {
        rule: rule.id,
        event: RuleEvent::Used,
        run: Some(interrupt.run),
        interrupt: Some(interrupt.id),
        actor: Some(rule.created_by.clone()),
        detail: Some(detail),
    })?;
    tables.tell(Notification::Rule {
        rule: rule.id,
        event: RuleEvent::Used,
        run: Some(interrupt.run),
        interrupt: Some(interrupt.id),
        why: None,
    })?;
    if rule.end.is_some() {
        tell_end(&rule, None, tables)?;
    }
    tables.rules.put(rule.id, PlacedRule { position, rule });
    Ok(Some(decided))
}

/// Revokes a rule.
pub(crate) struct RevokeRule {
    pub(crate) rule: RuleId,
    pub(crate) by: Actor,
}

impl Operation for RevokeRule {
    type Output = StandingRule;
    type Error = RuleError;

    fn want(&self, tables: &mut Tables) {
        tables.heads.want(&());
        tables.rules.want(&self.rule);
    }

    fn run(&self, tables: &mut Tables) -> Result<StandingRule, Halt<RuleError>> {
        let Some(PlacedRule { position, rule }) = tables.rules.get(&self.rule)?.cloned() else {
            return Err(Halt::Refused(RuleError::Unknown { rule: self.rule }));
        };
        let role = self.by.role;
        let is_own = rule.created_by.name == self.by.name && role == Role::Reviewer;
        if !(is_own || matches!(role, Role::Supervisor | Role::Operator)) {
            return Err(Halt::Refused(RuleRefusal::Role { role }.into()));
        }
        if rule.end.is_some() {
            return Ok(rule);
        }
        let by = self.by.clone();
        let rule = rule.ended(RuleEnding::Revoked { by: by.clone() }, tables.now);
        tell_end(&rule, Some(by), tables)?;
        let id = rule.id;
        let kept = rule.clone();
        tables.rules.put(id, PlacedRule { position, rule });
        Ok(kept)
    }
}

/// Ends a rule whose time is over. Anything else stays as it is.
pub(crate) struct ExpireRule {
    pub(crate) rule: RuleId,
}

impl Operation for ExpireRule {
    type Output = Option<RuleId>;
    type Error = StoreError;

    fn want(&self, tables: &mut Tables) {
        tables.heads.want(&());
        tables.rules.want(&self.rule);
    }

    fn run(&self, tables: &mut Tables) -> Result<Option<RuleId>, Halt<StoreError>> {
        let Some(PlacedRule { position, rule }) = tables.rules.get(&self.rule)?.cloned() else {
            return Ok(None);
        };
        if rule.end.is_some() || rule.expires_at > tables.now {
            return Ok(None);
        }
        let rule = rule.ended(RuleEnding::Time, tables.now);
        tell_end(&rule, None, tables)?;
        tables.rules.put(self.rule, PlacedRule { position, rule });
        Ok(Some(self.rule))
    }
}

/// Says that a rule has ended.
fn tell_end(rule: &StandingRule, by: Option<Actor>, tables: &mut Tables) -> Result<(), Failed> {
    let why = rule.end.as_ref().map(|end| end.ending.name().to_owned());
    tables.audit(AuditSubject::Rule {
        rule: rule.id,
        event: RuleEvent::Expired,
        run: rule.scope.run(),
        interrupt: None,
        actor: by,
        detail: why.clone(),
    })?;
    tables.tell(Notification::Rule {
        rule: rule.id,
        event: RuleEvent::Expired,
        run: rule.scope.run(),
        interrupt: None,
        why,
    })?;
    Ok(())
}
