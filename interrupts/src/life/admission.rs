//! How an interrupt begins.

use interrupt_router::{
    AnswerForm, EventId, InterruptId, InterruptType, NodeId, RunId, StopMode, StopSource,
};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::Verdict;
use super::asking::{Asking, NewAsking};
use super::decision::ExpiryOutcome;
use super::effect::{Audited, Effect, Notice};
use super::event::Actor;
use super::interrupt::{Interrupt, Scope};
use super::lane::{Family, narrow};
use super::machine::Step;
use super::recurrence::Recurrence;
use super::run::RunState;
use super::state::State;
use crate::digest::Digest;
use crate::names::{IdempotencyKey, KindName, RouteName};

/// How large an interrupt may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of its reason.
    pub reason: usize,
    /// The most bytes of its content.
    pub content: usize,
    /// The most routes.
    pub routes: usize,
}

impl Default for Limits {
    /// 16 KiB of reason, 1 MiB of content, 64 routes.
    fn default() -> Self {
        Self {
            reason: 16 << 10,
            content: 1 << 20,
            routes: 64,
        }
    }
}

/// A request for an interrupt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Admission {
    /// The id that it gets. If a repeated request brings another id, the first one is kept.
    #[serde(skip)]
    pub id: InterruptId,
    /// The run that it concerns.
    pub run: RunId,
    /// The node that it concerns.
    pub node: NodeId,
    /// The kind of that node.
    pub kind: KindName,
    /// Where the answer goes by default: one of the routes.
    pub origin: RouteName,
    /// Where the answer may go.
    pub routes: Vec<RouteName>,
    /// What it does.
    pub interrupt_type: InterruptType,
    /// Who is behind it.
    pub source: StopSource,
    /// Who asks for it.
    pub requested_by: Actor,
    /// How to stop.
    pub mode: StopMode,
    /// How far it reaches.
    pub scope: Scope,
    /// Why, in words.
    pub reason: String,
    /// What it says or asks, as JSON. It is kept and compared as it is written.
    pub content: String,
    /// What identifies a repeated request: for a supervisor's event, the event's id.
    pub key: IdempotencyKey,
    /// What may be decided; empty for what its type allows.
    pub allowed: Vec<Verdict>,
    /// How long it may take, from its admission by the store's clock; `None` to wait for ever.
    pub patience: Option<SignedDuration>,
    /// What happens when that time has passed.
    pub on_expiry: ExpiryOutcome,
    /// The most deliveries.
    pub most_attempts: u32,
    /// Which later interrupts ask the same.
    #[serde(default, skip_serializing_if = "Recurrence::is_usual")]
    pub recurrence: Recurrence,
    /// Where the answer shall go instead of the origin: a reroute that waits for the node's interrupt.
    pub reroute: Option<RouteName>,
}

/// The default number of deliveries.
pub const USUAL_ATTEMPTS: u32 = 8;

/// How long a claim of a review lasts by default.
pub const USUAL_CLAIM: SignedDuration = SignedDuration::from_mins(5);

/// Why an interrupt was not admitted. Nothing was recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AdmissionError {
    /// A part is too large.
    #[error("{part} has {given} bytes or entries, and may have {most}")]
    TooLarge {
        /// Which part.
        part: &'static str,
        /// How large it is.
        given: usize,
        /// How large it may be.
        most: usize,
    },
    /// The content is not JSON.
    #[error("the content is no JSON")]
    NotJson,
    /// The origin or a target is none of the routes.
    #[error("{route} is not among the routes that the request names")]
    RouteUnknown {
        /// The route.
        route: RouteName,
    },
    /// No delivery is allowed.
    #[error("at least one delivery must be allowed")]
    NoAttempts,
    /// The time to wait is not positive.
    #[error("the time to wait must be positive")]
    NoPatience,
    /// The key is one of those that are kept for what the run's own agents raise.
    #[error(
        "an id that begins with `{run}/` names what an agent of that run asks: give another one"
    )]
    KeyReserved {
        /// The run.
        run: RunId,
    },
    /// The run has ended.
    #[error("the run is {state}")]
    RunEnded {
        /// How.
        state: RunState,
    },
}

impl Admission {
    /// The digest of the request: of everything but the id, so that a repeated request has the same one.
    pub fn digest(&self) -> Digest {
        // A struct of texts and numbers always serializes.
        let json = serde_json::to_vec(self).unwrap_or_default();
        Digest::of(&json)
    }

    /// The same request as one more asking of a stop that is under way.
    pub fn asking(&self) -> NewAsking {
        NewAsking {
            by: self.requested_by.clone(),
            source: self.source,
            mode: self.mode,
            reason: self.reason.clone(),
            content: self.content.clone(),
        }
    }

    /// The same request, answered in this form alone.
    #[must_use]
    pub fn answered_in(mut self, form: Option<AnswerForm>) -> Self {
        if form.is_some() && self.allowed.is_empty() {
            self.allowed = Family::of(self.interrupt_type).usual_verdicts().to_vec();
        }
        narrow(&mut self.allowed, form);
        self
    }

    /// Admits the interrupt: the first row of the table.
    ///
    /// The store checks whether its key was seen before.
    ///
    /// # Errors
    ///
    /// [`AdmissionError`] says which of the demands is not met.
    pub fn admit(
        &self,
        digest: Digest,
        run: RunState,
        limits: &Limits,
        now: Timestamp,
    ) -> Result<Step, AdmissionError> {
        self.check(run, limits)?;
        let interrupt = self.begin(digest, now);
        let mut effects = vec![
            Effect::Audit(Audited {
                event: "admit".to_owned(),
                row: Some(1),
                from: None,
                to: State::Requested,
                version: interrupt.version,
                epoch: interrupt.epoch,
                actor: Some(self.requested_by.clone()),
                // A question's text is its agent's content; the reason of a stop is recorded only here.
                detail: interrupt.askings().first().map(Asking::in_words),
                shown: None,
                answer: None,
            }),
            Effect::Tell(Notice::Admitted),
        ];
        if let Some(target) = &self.reroute
            && let Ok(event) = EventId::try_from(self.key.as_str().to_owned())
        {
            effects.push(Effect::StoreReroute {
                event,
                target: target.clone(),
            });
        }
        Ok(Step {
            interrupt,
            transition: None,
            effects,
        })
    }

    fn check(&self, run: RunState, limits: &Limits) -> Result<(), AdmissionError> {
        if run.is_final() {
            return Err(AdmissionError::RunEnded { state: run });
        }
        for (part, given, most) in [
            ("the reason", self.reason.len(), limits.reason),
            ("the content", self.content.len(), limits.content),
            ("the list of routes", self.routes.len(), limits.routes),
        ] {
            if given > most {
                return Err(AdmissionError::TooLarge { part, given, most });
            }
        }
        if serde_json::from_str::<serde::de::IgnoredAny>(&self.content).is_err() {
            return Err(AdmissionError::NotJson);
        }
        let outcome = match &self.on_expiry {
            ExpiryOutcome::Reroute { target } => Some(target),
            ExpiryOutcome::Reject | ExpiryOutcome::Cancel => None,
        };
        let named = [Some(&self.origin), self.reroute.as_ref(), outcome];
        if let Some(route) = named
            .into_iter()
            .flatten()
            .find(|route| !self.routes.contains(route))
        {
            let route = route.clone();
            return Err(AdmissionError::RouteUnknown { route });
        }
        if self.most_attempts == 0 {
            return Err(AdmissionError::NoAttempts);
        }
        if self
            .patience
            .is_some_and(|patience| !patience.is_positive())
        {
            return Err(AdmissionError::NoPatience);
        }
        Ok(())
    }

    fn begin(&self, digest: Digest, now: Timestamp) -> Interrupt {
        let allowed = if self.allowed.is_empty() {
            Family::of(self.interrupt_type).usual_verdicts().to_vec()
        } else {
            self.allowed.clone()
        };
        Interrupt {
            id: self.id,
            run: self.run,
            node: self.node.clone(),
            kind: self.kind.clone(),
            catalogue: None,
            origin: self.origin.clone(),
            routes: self.routes.clone(),
            interrupt_type: self.interrupt_type,
            source: self.source,
            requested_by: self.requested_by.clone(),
            mode: self.mode,
            scope: self.scope,
            reason: self.reason.clone(),
            asked: Vec::new(),
            content: self.content.clone(),
            key: self.key.clone(),
            digest,
            allowed,
            // A time past the end of the calendar counts as none.
            deadline: self
                .patience
                .and_then(|patience| now.checked_add(patience).ok()),
            on_expiry: self.on_expiry.clone(),
            most_attempts: self.most_attempts,
            recurrence: self.recurrence,
            state: State::Requested,
            version: 1,
            epoch: 0,
            attempts: 0,
            lease: None,
            last_error: None,
            bound: None,
            review: None,
            held_by: None,
            held_since: None,
            held_for: None,
            decision: None,
            requested_at: now,
            acknowledged_at: None,
            ended_at: None,
        }
    }
}
