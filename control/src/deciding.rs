//! A decision, from what a caller sends to what the store is asked: the same for every way in.

use interrupt_router::{DecisionId, RuleId};
use interrupts::Digest;
use interrupts::catalogue::Catalogue;
use interrupts::life::{Actor, Choosing, Interrupt, Judge};
use interrupts::rules::{Reach, Remember, RuleScope, StandingRule};
use interrupts::store::{Deciding, Store};
use jiff::{SignedDuration, Timestamp};
use planning::{PlanPreview, PlanRevision, RevisionError, StoredPlan, is_plan};
use serde::{Deserialize, Serialize};

use crate::decision::{DecisionContent, DecisionParts, check_decider};
use crate::refusal::{
    Code, NotDone, Refusal, misfit, not_decided, not_open, version_changed, version_needed,
};

/// A decision about an interrupt, as the caller sent it.
#[derive(Debug, Clone)]
pub struct NewDecision {
    /// The version that was shown.
    pub version: Option<u64>,
    /// The digest of what was shown, where it is known; of the named version otherwise.
    pub shown: Option<Digest>,
    /// What is decided.
    pub parts: DecisionParts,
    /// Whether it also applies when the same question is asked again, and for how long.
    pub remember: Option<RememberOrder>,
}

/// That a decision applies to the same question when it is asked again, in its one form on the wire too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RememberOrder {
    /// How far.
    #[serde(rename = "scope")]
    pub reach: Reach,
    /// How long, in seconds.
    #[serde(rename = "ttl_s")]
    pub seconds: u32,
    /// How often.
    #[serde(rename = "max_uses")]
    pub most_uses: u32,
}

impl Default for RememberOrder {
    fn default() -> Self {
        Self {
            reach: Reach::Run,
            seconds: 3_600,
            most_uses: 10,
        }
    }
}

impl RememberOrder {
    /// As the store wants it, for the rule with this id.
    pub fn with(self, id: RuleId) -> Remember {
        Remember {
            id,
            reach: self.reach,
            lifetime: SignedDuration::from_secs(self.seconds.into()),
            most_uses: self.most_uses,
        }
    }

    /// Whether a rule was made by such an order.
    pub fn made(self, rule: &StandingRule) -> bool {
        let reach = match rule.scope {
            RuleScope::Agent { .. } => Reach::Agent,
            RuleScope::Run { .. } => Reach::Run,
            RuleScope::Everywhere => Reach::Everywhere,
        };
        let lifetime = rule.expires_at.duration_since(rule.created_at);
        reach == self.reach
            && lifetime == SignedDuration::from_secs(self.seconds.into())
            && rule.most_uses == self.most_uses
    }
}

impl NewDecision {
    /// What the store chooses by it, under this id.
    ///
    /// # Errors
    ///
    /// The first part that does not fit the interrupt.
    pub fn choosing(
        &self,
        interrupt: &Interrupt,
        catalogue: Option<&Catalogue>,
        id: DecisionId,
    ) -> Result<Choosing, Refusal> {
        let fits = self.parts.content(interrupt, catalogue);
        let DecisionContent { content, target } = fits.map_err(|error| not_decided(&error))?;
        Ok(Choosing {
            id,
            verdict: self.parts.verdict,
            target,
            content: Some(content),
        })
    }

    /// What the store is asked, once all that can be checked without deciding is checked: that the interrupt is open, that
    /// this person may decide it, that the version that was shown is the present one, and that each part fits. Its rule, if
    /// it is remembered, has the decision's id.
    ///
    /// # Errors
    ///
    /// Why it cannot be decided so; or the store cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn deciding(
        &self,
        store: &dyn Store,
        (interrupt, catalogue): (&Interrupt, Option<&Catalogue>),
        (by, id): (&Actor, DecisionId),
        now: Timestamp,
    ) -> Result<Deciding, NotDone> {
        if let Some(refusal) = not_open(interrupt, now) {
            return Err(refusal.into());
        }
        check_decider(interrupt, by).map_err(|error| not_decided(&error))?;
        let version = self.version.ok_or_else(|| version_needed(interrupt))?;
        if version != interrupt.version {
            return Err(version_changed(interrupt, version).into());
        }
        self.check_plan(store, interrupt).await?;
        let choosing = self.choosing(interrupt, catalogue, id)?;
        let review = interrupt.review.as_ref();
        let shown = self.shown.or(review.map(|review| review.shown));
        let remember = self
            .remember
            .map(|it| it.with(RuleId::from_uuid(id.uuid())));
        Ok(Deciding {
            interrupt: interrupt.id,
            judge: Judge::Person {
                actor: by.clone(),
                version,
                shown: shown.unwrap_or(Digest::ZERO),
            },
            choosing,
            remember,
        })
    }

    /// Whether its steps fit the plan as it is now, and are those that were previewed if it says which.
    async fn check_plan(&self, store: &dyn Store, interrupt: &Interrupt) -> Result<(), NotDone> {
        if !self.parts.revises_plan() {
            return Ok(());
        }
        let revision = self.parts.revision().map_err(|error| not_decided(&error))?;
        let run = store.run(interrupt.run).await.map_err(NotDone::Store)?;
        let plan = match run.filter(is_plan) {
            Some(run) => StoredPlan::read(store, &run).await,
            None => Ok(None),
        };
        let plan = plan.map_err(|error| NotDone::Failed(error.into()))?;
        let plan = plan.ok_or_else(|| {
            let text = "the run carries out no plan of steps";
            misfit("/payload/plan", text)
        })?;
        preview(&plan, &revision)?;
        Ok(())
    }
}

/// What a change would do to a plan as it is now.
///
/// # Errors
///
/// The steps make no plan, or another change was previewed.
pub fn preview(plan: &StoredPlan, revision: &PlanRevision) -> Result<PlanPreview, Refusal> {
    match revision.check(plan.state()) {
        Ok(Some(preview)) => Ok(preview),
        Ok(None) => Err(misfit("/payload/plan", &RevisionError::Empty.to_string())),
        Err(unfit @ RevisionError::Other { .. }) => Err(Refusal::new(
            Code::StaleVersion,
            unfit.to_string(),
            "look at the plan as it is now, and preview the change again",
        )),
        Err(unfit) => Err(misfit("/payload/plan", &unfit.to_string())),
    }
}
