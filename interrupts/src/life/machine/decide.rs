//! Decisions: the one that a person or a policy makes, and the one that a deadline makes.

use interrupt_router::DecisionId;
use jiff::Timestamp;

use super::Draft;
use crate::digest::{Digest, EffectId};
use crate::life::Verdict;
use crate::life::decision::{Choosing, Decider, Decision, ExpiryOutcome, Judge};
use crate::life::effect::Effect;
use crate::life::event::{Actor, Role};
use crate::life::interrupt::Interrupt;
use crate::life::refusal::Refusal;
use crate::life::state::State;

impl Interrupt {
    pub(super) fn decide(
        &self,
        judge: &Judge,
        choosing: &Choosing,
        now: Timestamp,
    ) -> Result<Draft, Refusal> {
        let by = self.check_judge(judge, now)?;
        if let Judge::Person { .. } | Judge::PolicyLater { .. } = judge {
            self.check_persons_verdict(choosing.verdict)?;
        } else {
            self.check_verdict(choosing.verdict)?;
        }
        self.check_persons_stop(judge, choosing.verdict)?;
        if choosing.target.is_some() != (choosing.verdict == Verdict::Reroute) {
            return Err(Refusal::TargetMismatch);
        }
        if choosing.verdict == Verdict::Applied && by != Decider::Policy {
            return Err(Refusal::VerdictNotAllowed {
                verdict: choosing.verdict,
                allowed: self.allowed.clone(),
            });
        }
        // The decider's reroute, else the bound target, else the origin.
        let target = choosing
            .target
            .as_ref()
            .or(self.bound.as_ref().map(|bound| &bound.target))
            .unwrap_or(&self.origin)
            .clone();
        if !self.allows_target(&target) {
            return Err(Refusal::TargetNotAllowed { target });
        }
        let to = if target == self.origin {
            State::Resolved
        } else {
            State::Rerouted
        };
        let mut draft = Draft::of(self, to);
        if let Some(bound) = &self.bound {
            draft.effects.push(Effect::ConsumeReroute {
                event: bound.event.clone(),
                decision: choosing.id,
            });
        }
        if let Some(target) = &choosing.target {
            draft.effects.push(Effect::ChooseReroute {
                target: target.clone(),
                decision: choosing.id,
            });
        }
        draft.record(Decision {
            id: choosing.id,
            version: self.version + 1,
            verdict: choosing.verdict,
            target,
            by,
            at: now,
            effect: EffectId::of_dispatch(self.id, self.version + 1),
            content: choosing.content.clone(),
        });
        Ok(draft)
    }

    pub(super) fn expire(&self, id: DecisionId, now: Timestamp) -> Result<Draft, Refusal> {
        if self.due_at().is_none_or(|deadline| deadline > now) {
            return Err(Refusal::NotDue);
        }
        let target = match &self.on_expiry {
            ExpiryOutcome::Reroute { target } => target,
            ExpiryOutcome::Reject | ExpiryOutcome::Cancel => &self.origin,
        }
        .clone();
        let mut draft = Draft::of(self, State::Expired);
        draft.release_reroute();
        draft.record(Decision {
            id,
            version: self.version + 1,
            verdict: self.on_expiry.verdict(),
            target,
            by: Decider::Deadline,
            at: now,
            effect: EffectId::of_dispatch(self.id, self.version + 1),
            content: None,
        });
        Ok(draft)
    }

    /// A policy or a rule decides what was acknowledged, a person what awaits review.
    fn check_judge(&self, judge: &Judge, now: Timestamp) -> Result<Decider, Refusal> {
        match (judge, self.state) {
            (Judge::Policy { epoch }, State::Acknowledged) => {
                self.check_epoch(*epoch)?;
                Ok(Decider::Policy)
            }
            (Judge::Rule { epoch, rule, name }, State::Acknowledged) => {
                self.check_epoch(*epoch)?;
                if let Some(by) = self.held_by {
                    return Err(Refusal::Held { by });
                }
                Ok(Decider::Rule {
                    rule: *rule,
                    name: name.clone(),
                })
            }
            (
                Judge::Person {
                    actor,
                    version,
                    shown,
                },
                State::AwaitingReview,
            ) => {
                Self::check_role(actor)?;
                self.check_open(actor, *version, *shown, now)?;
                Ok(Decider::Person {
                    name: actor.name.clone(),
                })
            }
            (
                Judge::PolicyLater {
                    actor,
                    version,
                    shown,
                },
                State::AwaitingReview,
            ) => {
                self.check_open(actor, *version, *shown, now)?;
                Ok(Decider::Policy)
            }
            (
                Judge::Policy { .. }
                | Judge::Rule { .. }
                | Judge::Person { .. }
                | Judge::PolicyLater { .. },
                state,
            ) => Err(Refusal::Illegal {
                state,
                event: "decide",
            }),
        }
    }

    /// Only a person ends what a person asks for; anyone who has carried it out may say so.
    fn check_persons_stop(&self, judge: &Judge, verdict: Verdict) -> Result<(), Refusal> {
        let is_by_itself = match judge {
            Judge::Person { .. } => false,
            Judge::Policy { .. } | Judge::Rule { .. } | Judge::PolicyLater { .. } => {
                verdict != Verdict::Applied
            }
        };
        if is_by_itself && self.is_asked_by_person() {
            return Err(Refusal::AskedByPerson);
        }
        Ok(())
    }

    fn check_role(actor: &Actor) -> Result<(), Refusal> {
        match actor.role {
            Role::Reviewer | Role::Supervisor | Role::Operator => Ok(()),
            Role::Observer | Role::Requester | Role::Worker | Role::System => Err(Refusal::Role {
                role: actor.role,
                event: "decide",
            }),
        }
    }

    /// Whether it can be decided while it waits for a person.
    fn check_open(
        &self,
        actor: &Actor,
        version: u64,
        shown: Digest,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        if let Some(by) = self.held_by {
            return Err(Refusal::Held { by });
        }
        self.check_claim(actor, now)?;
        self.check_version(version)?;
        if self.review.as_ref().map(|review| review.shown) != Some(shown) {
            return Err(Refusal::ShownDiffers);
        }
        match self.deadline {
            Some(deadline) if deadline <= now => Err(Refusal::DeadlinePassed { deadline }),
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn check_verdict(&self, verdict: Verdict) -> Result<(), Refusal> {
        if self.allowed.contains(&verdict) {
            Ok(())
        } else {
            Err(Refusal::VerdictNotAllowed {
                verdict,
                allowed: self.allowed.clone(),
            })
        }
    }

    /// Refuses what no process carries out, even if an earlier version has stored that it is allowed.
    fn check_persons_verdict(&self, verdict: Verdict) -> Result<(), Refusal> {
        if self.verdicts().any(|allowed| allowed == verdict) {
            return Ok(());
        }
        Err(Refusal::VerdictNotAllowed {
            verdict,
            allowed: self.verdicts().collect(),
        })
    }
}

impl Draft {
    fn record(&mut self, decision: Decision) {
        self.detail = Some(decision_in_words(&decision));
        self.effects.push(Effect::Dispatch {
            effect: decision.effect,
            target: decision.target.clone(),
            decision: decision.id,
        });
        self.next.decision = Some(decision);
    }
}

fn decision_in_words(decision: &Decision) -> String {
    let Decision {
        verdict,
        target,
        by,
        ..
    } = decision;
    match by {
        // No one has decided this one, so the text names the owner of the rule.
        Decider::Rule { rule, name } => {
            format!("{verdict:?} to {target}, by the standing rule {rule} of {name}")
        }
        Decider::Person { .. } | Decider::Policy | Decider::Deadline => {
            format!("{verdict:?} to {target}")
        }
    }
}
