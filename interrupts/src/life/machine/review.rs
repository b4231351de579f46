//! What reviewers do before they decide.

use jiff::Timestamp;

use super::Draft;
use crate::digest::Digest;
use crate::life::effect::{Notice, ReviewStep};
use crate::life::event::{Actor, Role};
use crate::life::interrupt::Interrupt;
use crate::life::refusal::Refusal;
use crate::life::review::{Claim, Review, ReviewChange, Vote};
use crate::life::state::State;
use crate::names::RouteName;

impl Interrupt {
    pub(super) fn change_review(
        &self,
        actor: &Actor,
        version: u64,
        change: &ReviewChange,
        now: Timestamp,
    ) -> Result<Draft, Refusal> {
        check_role(actor, change)?;
        self.check_version(version)?;
        let mut draft = Draft::of(self, State::AwaitingReview);
        let Some(review) = &mut draft.next.review else {
            return Err(Refusal::ShownDiffers);
        };
        let mut step = ReviewStep::Unnamed;
        match change {
            ReviewChange::Claim { until } => {
                self.check_claim(actor, now)?;
                let claim = Claim {
                    by: actor.name.clone(),
                    until: *until,
                };
                review.claim = Some(claim.clone());
                step = ReviewStep::Claimed(claim);
            }
            ReviewChange::Release => {
                if actor.role != Role::Operator {
                    self.check_claim(actor, now)?;
                }
                review.claim = None;
                step = ReviewStep::Released;
            }
            ReviewChange::Assign { to } => review.assignee = Some(to.clone()),
            ReviewChange::Vote { verdict } => {
                self.check_verdict(*verdict)?;
                vote(review, actor, *verdict);
            }
            ReviewChange::Hold { by } => {
                if *by == self.id || self.held_by.is_some_and(|holder| holder != *by) {
                    return Err(Refusal::NotHeld { by: *by });
                }
                draft.next.hold(*by, now);
                step = ReviewStep::Held { by: *by };
            }
            ReviewChange::Unhold { by } => {
                if self.held_by != Some(*by) {
                    return Err(Refusal::NotHeld { by: *by });
                }
                draft.next.unhold(now);
            }
        }
        draft.tell(Notice::ReviewChanged { step });
        Ok(draft)
    }

    /// Asks it again with the schemas of another catalogue. Claims, votes and the shown digest belonged to the old ones.
    pub(super) fn ask_again(
        &self,
        actor: &Actor,
        catalogue: Digest,
        routes: &[RouteName],
    ) -> Result<Draft, Refusal> {
        actor.check_may_ask_again()?;
        let mut draft = Draft::of(self, self.state);
        draft.detail = Some(format!("it is asked under catalogue {catalogue} now"));
        let next = &mut draft.next;
        next.catalogue = Some(catalogue);
        // The origin may be the asking kind itself, which has no route.
        next.routes
            .retain(|route| routes.contains(route) || *route == self.origin);
        if let Some(review) = &mut next.review {
            let shown = Digest::of_parts(
                [review.shown.bytes(), catalogue.bytes()].map(<[u8; 32]>::as_slice),
            );
            *review = Review {
                assignee: review.assignee.take(),
                ..Review::of(shown)
            };
            draft.tell(Notice::ReviewChanged {
                step: ReviewStep::Unnamed,
            });
        }
        Ok(draft)
    }

    /// No one else has claimed it.
    pub(super) fn check_claim(&self, actor: &Actor, now: Timestamp) -> Result<(), Refusal> {
        let claim = self.review.as_ref().and_then(|review| review.claim_at(now));
        match claim {
            Some(claim) if claim.by != actor.name => Err(Refusal::Claimed {
                by: claim.by.clone(),
                until: claim.until,
            }),
            Some(_) | None => Ok(()),
        }
    }
}

fn vote(review: &mut Review, actor: &Actor, verdict: crate::life::Verdict) {
    review.votes.retain(|vote| vote.by != actor.name);
    review.votes.push(Vote {
        by: actor.name.clone(),
        verdict,
    });
}

fn check_role(actor: &Actor, change: &ReviewChange) -> Result<(), Refusal> {
    let may = match change {
        ReviewChange::Claim { .. } | ReviewChange::Release | ReviewChange::Vote { .. } => {
            matches!(
                actor.role,
                Role::Reviewer | Role::Supervisor | Role::Operator
            )
        }
        ReviewChange::Assign { .. } => matches!(actor.role, Role::Supervisor | Role::Operator),
        ReviewChange::Hold { .. } | ReviewChange::Unhold { .. } => actor.role == Role::System,
    };
    if may {
        Ok(())
    } else {
        Err(Refusal::Role {
            role: actor.role,
            event: change.name(),
        })
    }
}
