//! An agent interrupts itself.

use std::sync::Arc;

use interrupt_router::answer::read_within;
use interrupt_router::handler::DecidedBy;
use interrupt_router::{
    AgentType as _, DecidedAs, InterruptId, InterruptRoutes as _, RouteSet, SealedInterrupt as _,
    Verdict,
};
use interrupts::store::NodeActivity;
use serde_json::json;

use super::Agent;
use crate::durable::decisions::declined_note;
use crate::run::raising::{Around, Handled};
use crate::run::{InterruptResult, RunEvent};
use crate::workflow::Workflow;
use crate::workflow::decided::{Decided, Declined, Routed};
use crate::workflow::exit::Exit;
use journal::entry::{InterruptEnd, InterruptOutcome};
use journal::error::KeepError;
use journal::place;

impl<W: Workflow> Agent<W> {
    /// Raises an interrupt, and waits for its decision: asked once, even after restarts, and decided once, no matter
    /// who answers. Where the answer takes a route, only that one remains, and its request is filled in; after a no
    /// there is none. Match what it returns before you do anything.
    ///
    /// # Errors
    ///
    /// An [`Exit`] if the run must wait for an answer, or if the interrupt was a STOP or a PRUNE that was granted.
    ///
    /// # Cancel safety
    ///
    /// Safe: the interrupt stays as it is, and is waited for when the run goes on.
    pub async fn interrupt(
        &mut self,
        request: impl Into<W::Request>,
    ) -> Result<Decided<W::Routing>, Exit> {
        self.turn += 1;
        self.asked_to_interrupt = false;
        let recorded = self
            .live()
            .recorded_interrupt::<W::Request>(self.raiser())?;
        let (interrupt, request, outcome) = match recorded {
            Some((interrupt, request, outcome)) => (Some(interrupt), request, outcome),
            None => (None, request.into(), None),
        };
        let outcome = outcome.filter(|outcome| !outcome.is_left_out());
        match (interrupt, outcome) {
            (Some(interrupt), Some(outcome)) => {
                self.live().raised(self.raiser(), interrupt, &request)?;
                self.live().told_again(&self.id, interrupt, &outcome);
                self.follow(interrupt, &request, outcome).await
            }
            (begun, _) => self.resolve(begun, request).await,
        }
    }

    async fn resolve(
        &mut self,
        begun: Option<InterruptId>,
        request: W::Request,
    ) -> Result<Decided<W::Routing>, Exit> {
        let live = self.live();
        if let Some(reason) = live.given_up() {
            return Err(Exit::stopped(reason));
        }
        live.journal.go_live();
        let interrupt = live
            .record_interrupt(self.raiser(), &request, begun)
            .await?;
        live.raised(self.raiser(), interrupt, &request)?;
        live.keep_nodes().await?;
        let around = Around {
            conversation: &self.conversation,
            blackboard: &self.shared().blackboard,
        };
        let handled = live
            .resolve_interrupt(
                &self.shared().handler,
                self.raiser(),
                around,
                (interrupt, request.clone()),
            )
            .await?;
        match handled {
            Handled::Resolved(outcome) => self.follow(interrupt, &request, *outcome).await,
            Handled::Interrupted(reason) => Err(Exit::interrupted(reason)),
            Handled::Waiting => Err(Exit::waiting()),
        }
    }

    /// Goes on as the interrupt ended.
    async fn follow(
        &mut self,
        interrupt: InterruptId,
        request: &W::Request,
        outcome: InterruptOutcome,
    ) -> Result<Decided<W::Routing>, Exit> {
        let open_interrupts = Arc::clone(&self.live().open_interrupts);
        match outcome.end {
            InterruptEnd::Stopped { reason } => {
                open_interrupts.ended(interrupt, InterruptResult::Stopped);
                Err(Exit::stopped(reason))
            }
            InterruptEnd::Pruned { reason } => {
                open_interrupts.ended(interrupt, InterruptResult::Pruned);
                self.run
                    .end(&self.id, self.kind.name(), NodeActivity::Pruned)
                    .await?;
                Err(Exit::pruned(reason))
            }
            InterruptEnd::Refused { reason } => {
                self.live().recorder.record(RunEvent::InterruptRefused {
                    interrupt,
                    reason: reason.clone(),
                });
                let refused = InterruptResult::Refused {
                    reason: reason.clone(),
                };
                open_interrupts.ended(interrupt, refused);
                Ok(Decided::Refused { reason })
            }
            routed @ InterruptEnd::Routed { .. } => Ok(self.routed(interrupt, request, routed)?),
            InterruptEnd::Declined {
                verdict,
                decided_by,
                answer,
                ..
            } => {
                let declined = InterruptResult::Declined {
                    verdict,
                    decided_by,
                    answer: answer.clone(),
                };
                open_interrupts.ended(interrupt, declined);
                Ok(self.declined(request, verdict, decided_by, answer.text))
            }
            InterruptEnd::Branched { .. } | InterruptEnd::LeftOut { .. } => {
                Err(self.diverged("interrupt that was carried out").into())
            }
        }
    }

    fn diverged(&self, what: &'static str) -> KeepError {
        KeepError::Diverged {
            place: place::interrupt(&self.id, self.turn),
            what,
        }
    }

    fn routed(
        &mut self,
        interrupt: InterruptId,
        request: &W::Request,
        routed: InterruptEnd,
    ) -> Result<Decided<W::Routing>, KeepError> {
        let InterruptEnd::Routed {
            routing,
            origin,
            target: name,
            verdict,
            decided_by,
            filled_by,
            answer,
            reroute,
            ..
        } = routed
        else {
            return Err(self.diverged("interrupt that was routed"));
        };
        let target = name.parse().map_err(|_unknown| self.diverged("target"))?;
        let only = RouteSet::<W::Routing>::only(W::Routing::route_to(target));
        let routing = read_within(routing.to_string().as_bytes(), only);
        let routing = routing.map_err(|_unfitting| self.diverged("request"))?;
        // Where the journal is older than verdicts, the code has to read the answer.
        let verdict = verdict.unwrap_or(Verdict::Respond);
        let decided_as = DecidedAs::of(verdict, decided_by, origin != name, &answer);
        let details = request.details();
        let decision = json!({
            "type": details.r#type,
            "reason": details.reason,
            "answer": answer,
            "decidedBy": decided_by,
            "goesOnAt": name,
        });
        let result = InterruptResult::Routed {
            target: name,
            decided_by,
            filled_by,
            answer: answer.clone(),
            reroute: reroute.clone(),
        };
        self.live().open_interrupts.ended(interrupt, result);
        self.set_state(NodeActivity::Running);
        self.tell(format!(
            "[decision]\nYour interrupt was decided:\n{decision:#}"
        ));
        let routed = Box::new(Routed {
            routing,
            target,
            decided_by,
            filled_by,
            answer,
            reroute,
        });
        Ok(match decided_as {
            DecidedAs::Approved => Decided::Approved(routed),
            DecidedAs::Rerouted => Decided::Rerouted(routed),
            // A no takes no route: one that an old journal has was carried out along it.
            DecidedAs::Answered | DecidedAs::Declined | DecidedAs::Expired => {
                Decided::Answered(routed)
            }
        })
    }

    /// Tells the agent that it is not to do what it asked about.
    fn declined(
        &mut self,
        request: &W::Request,
        verdict: Verdict,
        decided_by: DecidedBy,
        text: Option<String>,
    ) -> Decided<W::Routing> {
        self.set_state(NodeActivity::Running);
        let details = request.details();
        self.tell(declined_note(
            &details,
            verdict,
            decided_by,
            text.as_deref(),
        ));
        match decided_by {
            DecidedBy::Deadline => Decided::Expired,
            DecidedBy::Person | DecidedBy::Policy | DecidedBy::Rule | DecidedBy::Model { .. } => {
                Decided::Declined(Declined {
                    verdict,
                    decided_by,
                    text,
                })
            }
        }
    }
}
