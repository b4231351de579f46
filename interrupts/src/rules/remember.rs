//! What a person says when a decision is to be remembered.

use interrupt_router::RuleId;
use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use super::refusal::RuleRefusal;
use crate::life::{Role, Verdict};

/// The longest lifetime of a rule: 30 days.
pub const LONGEST_RULE: SignedDuration = SignedDuration::from_hours(30 * 24);
/// The most often that a rule may be used.
pub const MOST_USES: u32 = 1_000;

/// How far a rule reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// The agent that asked, in its run.
    Agent,
    /// Agents of that kind in the same run.
    Run,
    /// Agents of that kind in every run. Only supervisors and operators may say so.
    Everywhere,
}

/// That a decision also applies when the same question is asked again, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remember {
    /// The id of the rule; repeated with it, the rule is the same one.
    pub id: RuleId,
    /// How far it reaches.
    pub reach: Reach,
    /// How long it lasts, from now by the store's clock.
    pub lifetime: SignedDuration,
    /// How often it may be used.
    pub most_uses: u32,
}

impl Remember {
    /// Whether a role may make such a rule of such a decision.
    ///
    /// # Errors
    ///
    /// [`RuleRefusal`] says which demand is not met.
    pub fn check(&self, role: Role, verdict: Verdict) -> Result<(), RuleRefusal> {
        let may = match self.reach {
            Reach::Agent | Reach::Run => {
                matches!(role, Role::Reviewer | Role::Supervisor | Role::Operator)
            }
            Reach::Everywhere => matches!(role, Role::Supervisor | Role::Operator),
        };
        if !may {
            return Err(RuleRefusal::Role { role });
        }
        match verdict {
            Verdict::Approve | Verdict::Respond | Verdict::Reject | Verdict::Reroute => {}
            // These are about this one question, or no answer at all.
            Verdict::Edit
            | Verdict::Ignore
            | Verdict::ModifyPlan
            | Verdict::Cancel
            | Verdict::Resume
            | Verdict::Applied => return Err(RuleRefusal::Verdict { verdict }),
        }
        if self.lifetime < SignedDuration::from_secs(1) || self.lifetime > LONGEST_RULE {
            let longest_s = LONGEST_RULE.as_secs();
            return Err(RuleRefusal::Lifetime { longest_s });
        }
        if !(1..=MOST_USES).contains(&self.most_uses) {
            return Err(RuleRefusal::Uses { most: MOST_USES });
        }
        Ok(())
    }
}
