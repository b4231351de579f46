//! A standing rule as it is kept.

use interrupt_router::{DecisionId, InterruptId, NodeId, RuleId, RunId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::fingerprint::matter_of;
use super::refusal::RuleRefusal;
use super::remember::{Reach, Remember};
use crate::digest::Digest;
use crate::life::{Actor, Choosing, Interrupt, Verdict};
use crate::names::{KindName, RouteName};

/// Where a rule applies.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "reach", rename_all = "snake_case")]
pub enum RuleScope {
    /// For one agent of a run.
    Agent {
        /// The run.
        run: RunId,
        /// The agent's node.
        node: NodeId,
    },
    /// In one run.
    Run {
        /// The run.
        run: RunId,
    },
    /// In every run.
    Everywhere,
}

impl RuleScope {
    /// The run that it is confined to.
    pub const fn run(&self) -> Option<RunId> {
        match self {
            Self::Agent { run, .. } | Self::Run { run } => Some(*run),
            Self::Everywhere => None,
        }
    }

    fn covers(&self, interrupt: &Interrupt) -> bool {
        match self {
            Self::Agent { run, node } => *run == interrupt.run && *node == interrupt.node,
            Self::Run { run } => *run == interrupt.run,
            Self::Everywhere => true,
        }
    }
}

/// Why a rule no longer applies.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum RuleEnding {
    /// Its time was over.
    Time,
    /// It was used as often as it could be.
    Uses,
    /// An actor revoked it.
    Revoked {
        /// Who.
        by: Actor,
    },
}

impl RuleEnding {
    /// The name in the audit and in the feed.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Uses => "uses",
            Self::Revoked { .. } => "revoked",
        }
    }
}

/// When and why a rule ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RuleEnd {
    /// When.
    pub at: Timestamp,
    /// Why.
    #[serde(flatten)]
    pub ending: RuleEnding,
}

/// What a rule was made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RuleOrigin {
    /// The interrupt that a person was shown.
    pub interrupt: InterruptId,
    /// The digest of what was shown.
    pub shown: Digest,
    /// The kind of its agent.
    pub kind: KindName,
    /// Its reason, in words.
    pub reason: String,
}

/// A decision that also applies when the same question is asked again.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StandingRule {
    /// Its id.
    pub id: RuleId,
    /// The digest of what it answers: see [`matter_of`].
    pub matter: Digest,
    /// What it was made of.
    pub of: RuleOrigin,
    /// Where it applies.
    pub scope: RuleScope,
    /// What it decides.
    pub verdict: Verdict,
    /// The target, if it reroutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<RouteName>,
    /// The answer, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Who made it, and answers for what it decides.
    pub created_by: Actor,
    /// When.
    pub created_at: Timestamp,
    /// When it ends at the latest.
    pub expires_at: Timestamp,
    /// How often it may be used.
    pub most_uses: u32,
    /// How often it was.
    pub uses: u32,
    /// When it was used last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
    /// Its end, if it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<RuleEnd>,
}

impl StandingRule {
    /// The rule that a decision about an interrupt becomes.
    ///
    /// # Errors
    ///
    /// [`RuleRefusal`] if a person must see such an interrupt each time, no one was shown this one, or the demands of
    /// [`Remember::check`] are not met.
    pub fn made(
        interrupt: &Interrupt,
        choosing: &Choosing,
        remember: &Remember,
        by: &Actor,
        now: Timestamp,
    ) -> Result<Self, RuleRefusal> {
        remember.check(by.role, choosing.verdict)?;
        let matter = matter_of(interrupt)?;
        let review = interrupt.review.as_ref().ok_or(RuleRefusal::NotShown)?;
        let target_fits = match (&choosing.target, choosing.verdict) {
            (Some(target), Verdict::Reroute) => interrupt.allows_target(target),
            (target, verdict) => target.is_none() && verdict != Verdict::Reroute,
        };
        if !target_fits || !interrupt.allowed.contains(&choosing.verdict) {
            return Err(RuleRefusal::NotAllowed);
        }
        let scope = match remember.reach {
            Reach::Agent => RuleScope::Agent {
                run: interrupt.run,
                node: interrupt.node.clone(),
            },
            Reach::Run => RuleScope::Run { run: interrupt.run },
            Reach::Everywhere => RuleScope::Everywhere,
        };
        Ok(Self {
            id: remember.id,
            matter,
            of: RuleOrigin {
                interrupt: interrupt.id,
                shown: review.shown,
                kind: interrupt.kind.clone(),
                reason: interrupt.reason.clone(),
            },
            scope,
            verdict: choosing.verdict,
            target: choosing.target.clone(),
            content: choosing.content.clone(),
            created_by: by.clone(),
            created_at: now,
            expires_at: now.checked_add(remember.lifetime).unwrap_or(now),
            most_uses: remember.most_uses,
            uses: 0,
            last_used_at: None,
            end: None,
        })
    }

    /// Whether it may still be used at a time.
    pub fn holds_at(&self, now: Timestamp) -> bool {
        self.end.is_none() && self.expires_at > now && self.uses < self.most_uses
    }

    /// Whether it answers an interrupt at a time.
    pub fn answers(&self, interrupt: &Interrupt, now: Timestamp) -> bool {
        self.holds_at(now)
            && self.scope.covers(interrupt)
            && matter_of(interrupt).is_ok_and(|matter| matter == self.matter)
    }

    /// What it decides, with the id that the decision gets.
    pub fn choosing(&self, id: DecisionId) -> Choosing {
        Choosing {
            id,
            verdict: self.verdict,
            target: self.target.clone(),
            content: self.content.clone(),
        }
    }

    /// The rule after one more use.
    #[must_use]
    pub fn used(mut self, now: Timestamp) -> Self {
        self.uses = self.uses.saturating_add(1);
        self.last_used_at = Some(now);
        if self.uses >= self.most_uses {
            self = self.ended(RuleEnding::Uses, now);
        }
        self
    }

    /// The rule after its end. The first end is kept.
    #[must_use]
    pub fn ended(mut self, ending: RuleEnding, now: Timestamp) -> Self {
        self.end.get_or_insert(RuleEnd { at: now, ending });
        self
    }
}
