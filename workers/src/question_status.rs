//! The state of a worker's question: asked, decided, and where its answer goes.

use interrupt_router::DecisionId;
use interrupt_router::handler::DecidedBy;
use interrupt_router::review::Answer;
use interrupts::catalogue::{RouteEntry, misfits};
use interrupts::life::{DecidedAs, Decider, Interrupt, State, Verdict};
use interrupts::store::{JournalEntry, Run};
use interrupts::{EffectId, RouteName};
use jiff::Timestamp;
use journal::entry::{InterruptEnd, InterruptIntent, InterruptOutcome};
use serde_json::Value;

use crate::error::WorkError;
use crate::key::WorkKey;
use crate::protocol::Protocol;

/// How many answers of a model are read: the first one, and three corrections.
pub(crate) const ANSWERS: u32 = 4;

/// Whether a question is still open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionState {
    /// It waits for its decision.
    Open,
    /// It is decided.
    Decided,
    /// No decision came in time.
    Expired,
    /// It was withdrawn, and will not be decided.
    Withdrawn,
}

impl QuestionState {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Open, Self::Decided, Self::Expired, Self::Withdrawn];

    fn of(interrupt: &Interrupt) -> Self {
        match interrupt.state {
            State::Requested | State::Delivered | State::Acknowledged | State::AwaitingReview => {
                Self::Open
            }
            State::Resolved | State::Rerouted => Self::Decided,
            State::Expired => Self::Expired,
            State::Cancelled | State::DeadLettered => Self::Withdrawn,
        }
    }

    /// Its name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Decided => "decided",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// What was decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    /// The decision's id.
    pub id: DecisionId,
    /// What.
    pub verdict: Verdict,
    /// The answer.
    pub answer: Answer,
    /// Who decided: a person's name, `a standing rule of` its maker, `policy` or `deadline`.
    pub by: String,
    /// Which sort of decider that is.
    pub(crate) sort: DecidedBy,
    /// When.
    pub at: Timestamp,
}

/// The one route that the answer takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// How the workflow describes it.
    pub entry: RouteEntry,
    /// Whether it differs from the route of the kind.
    pub rerouted: bool,
}

/// The question that asks a person for a request that no model could fill in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestQuestion {
    /// Its key.
    pub key: WorkKey,
    /// Whether it is still open.
    pub state: QuestionState,
}

/// The state of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionStatus {
    /// Its key.
    pub key: WorkKey,
    /// Its interrupt.
    pub interrupt: Interrupt,
    /// Whether it is still open.
    pub state: QuestionState,
    /// What was decided.
    pub decided: Option<Decided>,
    /// Where the answer goes; `None` before the decision, if that takes no route, and if the kind has no routes.
    pub route: Option<Route>,
    /// The request of that route, once it is filled in.
    pub request: Option<Value>,
    /// How many answers of a model were rejected.
    pub rejected: u32,
    /// The question that asks a person for the request, if there is one.
    pub asked: Option<RequestQuestion>,
    /// The interrupt of that question, if it ended without a request. Then this question has ended as that one did.
    pub(crate) without_request: Option<Box<Interrupt>>,
    /// What was asked, as its worker said it.
    pub(crate) content: Value,
    /// Whether its outcome is recorded in the journal.
    pub(crate) is_recorded: bool,
}

impl QuestionStatus {
    /// How many corrections a model may still make before a person is asked.
    pub fn corrections_left(&self) -> u32 {
        ANSWERS.saturating_sub(self.rejected.max(1))
    }

    /// Whether its worker has taken the outcome: [`Owned::settled`](crate::Owned::settled) has recorded it.
    pub const fn is_taken(&self) -> bool {
        self.is_recorded
    }

    /// What became of it, for the code that asked; `None` while it is open. The names are those of [`DecidedAs`], and
    /// `withdrawn`.
    pub fn decided_as(&self) -> Option<&'static str> {
        match self.state {
            QuestionState::Withdrawn => Some(self.state.name()),
            QuestionState::Open | QuestionState::Decided | QuestionState::Expired => {
                let counts = self.without_request.as_deref().unwrap_or(&self.interrupt);
                counts.decided_as().map(DecidedAs::name)
            }
        }
    }

    /// The route whose request is filled in.
    ///
    /// # Errors
    ///
    /// [`WorkError::NotDecided`], [`WorkError::Declined`], [`WorkError::NoRoute`].
    pub fn taken_route(&self) -> Result<&Route, WorkError> {
        if let Some(route) = &self.route {
            return Ok(route);
        }
        let key = self.key.clone();
        Err(match self.decided_as() {
            None => WorkError::NotDecided { key },
            Some(_) if takes_route(&self.interrupt) => WorkError::NoRoute { key },
            Some(decided_as) => WorkError::Declined { key, decided_as },
        })
    }

    /// Whether no person needs to answer any more: neither for the decision nor for the request.
    pub fn is_over(&self) -> bool {
        let is_open = |asked: &RequestQuestion| asked.state == QuestionState::Open;
        self.state != QuestionState::Open && !self.asked.as_ref().is_some_and(is_open)
    }

    /// Whether nothing more comes of it: it is over, and the request is there, or there will be none.
    pub fn is_settled(&self) -> bool {
        // A person who was asked for the request, and gave none, is not asked again.
        let is_filled = self.route.is_none() || self.request.is_some() || self.asked.is_some();
        self.is_over() && is_filled
    }
}

impl Protocol<'_> {
    /// The question that was asked with a key.
    ///
    /// # Errors
    ///
    /// [`WorkError::UnknownQuestion`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn question(&self, run: &Run, key: &WorkKey) -> Result<QuestionStatus, WorkError> {
        let found = self.find_question(run, key).await?;
        found.ok_or_else(|| WorkError::UnknownQuestion { key: key.clone() })
    }

    pub(crate) async fn find_question(
        &self,
        run: &Run,
        key: &WorkKey,
    ) -> Result<Option<QuestionStatus>, WorkError> {
        let effect = EffectId::in_run(run.id, &key.question());
        let Some(entry) = self.store.effect(effect).await? else {
            return Ok(None);
        };
        let intent: InterruptIntent = serde_json::from_str(&entry.intent.content)?;
        let Some(interrupt) = self.store.interrupt(intent.interrupt).await? else {
            return Ok(None);
        };
        let mut status = self.status(run, key, interrupt).await?;
        status.content = intent.request;
        status.is_recorded = entry.result.is_some();
        status.request = routed_to(&entry, status.route.as_ref())?;
        if status.request.is_none() && status.route.is_some() {
            self.look_for_request(run, &mut status).await?;
        }
        Ok(Some(status))
    }

    async fn status(
        &self,
        run: &Run,
        key: &WorkKey,
        interrupt: Interrupt,
    ) -> Result<QuestionStatus, WorkError> {
        let state = QuestionState::of(&interrupt);
        let decided = decided(&interrupt)?;
        let route = self.route(&interrupt).await?;
        let rejected = match &route {
            Some(_) => self.rejected(run, key).await?,
            None => 0,
        };
        Ok(QuestionStatus {
            key: key.clone(),
            interrupt,
            state,
            decided,
            route,
            request: None,
            rejected,
            asked: None,
            without_request: None,
            content: Value::Null,
            is_recorded: false,
        })
    }

    async fn route(&self, interrupt: &Interrupt) -> Result<Option<Route>, WorkError> {
        if !takes_route(interrupt) {
            return Ok(None);
        }
        let target = target_of(interrupt);
        let catalogue = self.catalogues.of_interrupt(self.store, interrupt).await?;
        let entry = catalogue.and_then(|it| it.route(target.as_str()).cloned());
        Ok(entry.map(|entry| Route {
            rerouted: *target != interrupt.origin,
            entry,
        }))
    }

    /// The request that a person gave: with the decision, or when asked for it after the model's answers were exhausted.
    async fn look_for_request(
        &self,
        run: &Run,
        status: &mut QuestionStatus,
    ) -> Result<(), WorkError> {
        let Some(route) = &status.route else {
            return Ok(());
        };
        let given = |decided: Option<&Decided>| {
            let request = decided?.answer.edited_request.clone()?;
            let request = without_record(request, &route.entry);
            let fits = misfits(&route.entry.request_schema(), &request).is_empty();
            fits.then_some(request)
        };
        status.request = given(status.decided.as_ref());
        if status.request.is_some() {
            return Ok(());
        }
        let key = status.key.for_request();
        let effect = EffectId::in_run(run.id, &key.question());
        let Some(entry) = self.store.effect(effect).await? else {
            return Ok(());
        };
        let intent: InterruptIntent = serde_json::from_str(&entry.intent.content)?;
        if let Some(asked) = self.store.interrupt(intent.interrupt).await? {
            let said = decided(&asked)?;
            status.request = given(said.as_ref());
            let state = QuestionState::of(&asked);
            status.asked = Some(RequestQuestion { key, state });
            // Without a request the answer takes no route, whatever was decided before.
            if state != QuestionState::Open && !takes_route(&asked) {
                status.route = None;
                status.state = state;
                status.decided = said;
                status.without_request = Some(Box::new(asked));
            }
        }
        Ok(())
    }

    /// How many answers to a question were rejected.
    async fn rejected(&self, run: &Run, key: &WorkKey) -> Result<u32, WorkError> {
        for nth in 1..=ANSWERS {
            let effect = EffectId::in_run(run.id, &key.rejected(nth));
            if self.store.effect(effect).await?.is_none() {
                return Ok(nth - 1);
            }
        }
        Ok(ANSWERS)
    }
}

/// The request in the journal's entry, once it is filled in.
fn routed_to(entry: &JournalEntry, route: Option<&Route>) -> Result<Option<Value>, WorkError> {
    let (Some(result), Some(route)) = (&entry.result, route) else {
        return Ok(None);
    };
    let outcome: InterruptOutcome = serde_json::from_str(&result.content)?;
    Ok(match outcome.end {
        InterruptEnd::Routed { routing, .. } => routing.get(&route.entry.field).cloned(),
        InterruptEnd::Declined { .. }
        | InterruptEnd::Stopped { .. }
        | InterruptEnd::Pruned { .. }
        | InterruptEnd::Branched { .. }
        | InterruptEnd::Refused { .. }
        | InterruptEnd::LeftOut { .. } => None,
    })
}

/// A request that a person may have given with the record around it.
pub(crate) fn without_record(request: Value, route: &RouteEntry) -> Value {
    let inner = |request: &Value| {
        let members = request.as_object().filter(|members| members.len() == 1)?;
        members.get(&route.field).cloned()
    };
    let own_schema = route.request_schema();
    match inner(&request) {
        Some(inner) if !misfits(&own_schema, &request).is_empty() => inner,
        Some(_) | None => request,
    }
}

/// Whether it is decided, and the answer takes a route.
pub(crate) fn takes_route(interrupt: &Interrupt) -> bool {
    interrupt.decided_as().is_some_and(DecidedAs::takes_route)
}

/// Where its answer goes.
pub(crate) fn target_of(interrupt: &Interrupt) -> &RouteName {
    let decision = interrupt.decision.as_ref();
    decision.map_or(&interrupt.origin, |decision| &decision.target)
}

fn decided(interrupt: &Interrupt) -> Result<Option<Decided>, WorkError> {
    let Some(decision) = &interrupt.decision else {
        return Ok(None);
    };
    let (answer, confidence) = decision.answer()?;
    Ok(Some(Decided {
        id: decision.id,
        verdict: decision.verdict,
        answer,
        by: match &decision.by {
            Decider::Person { name } => name.to_string(),
            Decider::Rule { name, .. } => format!("a standing rule of {name}"),
            Decider::Policy => "policy".to_owned(),
            Decider::Deadline => "deadline".to_owned(),
        },
        sort: decision.by.decided_by(confidence),
        at: decision.at,
    }))
}
