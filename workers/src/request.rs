//! The request of the one route: what a model may answer, and what becomes of its answer.

use futures_util::future::try_join;
use interrupt_router::answer::read_strictly;
use interrupt_router::handler::FilledBy;
use interrupt_router::{EventId, StopSource};
use interrupts::catalogue::{RouteEntry, misfits};
use interrupts::life::{Actor, Role, Verdict};
use interrupts::store::{Intent, JournalError, Repeating};
use interrupts::{ActorName, EffectId, KindName, Misfit};
use journal::entry::{InterruptEnd, InterruptOutcome, LeftOut};
use serde_json::{Map, Value, json};

use crate::error::WorkError;
use crate::key::WorkKey;
use crate::owned::Owned;
use crate::question_status::{
    ANSWERS, Decided, QuestionStatus, Route, takes_route, target_of, without_record,
};
use crate::raising::Raise;

/// The kind of the journal's entries for rejected answers.
const REJECTED: &str = "rejected_answer";

/// How many misfits of an answer are reported.
const MOST_TOLD: usize = 20;

/// The result of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Submitted {
    /// It is the request of the route.
    Taken(Box<QuestionStatus>),
    /// No more answers are read: a person is asked for the request.
    Asked(Box<QuestionStatus>),
}

impl Owned<'_> {
    /// Submits a model's answer for the one route: the record with its field, or its text. `attempt` names this try:
    /// one that is sent again because its answer was lost counts once.
    ///
    /// # Errors
    ///
    /// [`WorkError::Rejected`] says what does not fit and how many more answers are read;
    /// [`WorkError::NotDecided`], [`WorkError::Declined`], [`WorkError::NoRoute`]; [`WorkError::LeaseLost`].
    ///
    /// # Cancel safety
    ///
    /// Dropped, it was taken, counted as rejected, or neither. An answer that was taken stays taken: read the question.
    pub async fn submit(
        &self,
        key: &WorkKey,
        answer: &Value,
        attempt: Option<&str>,
    ) -> Result<Submitted, WorkError> {
        let status = self.protocol.question(&self.run, key).await?;
        let route = status.taken_route()?.clone();
        if status.request.is_some() {
            return Ok(Submitted::Taken(Box::new(self.settled(status).await?)));
        }
        if status.asked.is_some() {
            return Ok(Submitted::Asked(Box::new(status)));
        }
        match read(answer, &route.entry) {
            Ok(request) => {
                let filled = QuestionStatus {
                    request: Some(request),
                    ..status
                };
                self.settled(filled).await?;
                // Of two concurrent answers the first one wins: it is read again.
                let now = self.protocol.question(&self.run, key).await?;
                Ok(Submitted::Taken(Box::new(now)))
            }
            Err(found) => self.reject(status, &route, found, attempt).await,
        }
    }

    async fn reject(
        &self,
        status: QuestionStatus,
        route: &Route,
        found: Vec<Misfit>,
        attempt: Option<&str>,
    ) -> Result<Submitted, WorkError> {
        let is_counted = self.is_counted(&status, attempt).await?;
        let nth = status.rejected + u32::from(!is_counted);
        let place = status.key.rejected(nth);
        let effect = EffectId::in_run(self.run.id, &place);
        let reasons: Vec<String> = found.iter().map(ToString::to_string).collect();
        let intent = Intent {
            effect,
            run: self.run.id,
            node: status.interrupt.node.clone(),
            kind: KindName::new(REJECTED).map_err(WorkError::name("/answer"))?,
            repeating: Repeating::Idempotent,
            content: json!({"question": status.key.as_str(), "attempt": attempt}).to_string(),
            place: Some(place),
        };
        match self.store().begin(self.epoch(), intent).await {
            // Two concurrent answers count once.
            Ok(_) | Err(JournalError::OtherIntent { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let content = json!({"rejected": reasons}).to_string();
        match self.store().finish(self.epoch(), effect, content).await {
            Ok(_) | Err(JournalError::OtherResult { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        if nth < ANSWERS {
            return Err(WorkError::Rejected {
                misfits: found,
                left: ANSWERS - nth,
            });
        }
        self.ask_for_request(&status, route, &reasons).await?;
        let key = status.key.clone();
        let now = self.protocol.question(&self.run, &key).await?;
        Ok(Submitted::Asked(Box::new(now)))
    }

    /// Whether this very try was the last one rejected.
    async fn is_counted(
        &self,
        status: &QuestionStatus,
        attempt: Option<&str>,
    ) -> Result<bool, WorkError> {
        let Some(attempt) = attempt.filter(|_attempt| status.rejected > 0) else {
            return Ok(false);
        };
        let place = status.key.rejected(status.rejected);
        let entry = self.store().effect(EffectId::in_run(self.run.id, &place));
        let Some(entry) = entry.await? else {
            return Ok(false);
        };
        let kept: Value = serde_json::from_str(&entry.intent.content)?;
        Ok(kept["attempt"] == attempt)
    }

    /// Asks a person for a request that no model could fill in: the system is the asker.
    async fn ask_for_request(
        &self,
        status: &QuestionStatus,
        route: &Route,
        reasons: &[String],
    ) -> Result<(), WorkError> {
        let asked = &status.interrupt;
        let problem = reasons.join("; ");
        let mut request: Value = serde_json::from_str(&asked.content)?;
        let reason = format!(
            "The model could not fill in the request for {}: {problem}",
            route.entry.name
        );
        if let Some(members) = request.as_object_mut() {
            members.insert("reason".to_owned(), reason.clone().into());
        }
        let raise = Raise {
            row: (asked.node.clone(), asked.kind.clone()),
            ways: (route.entry.name.clone(), vec![route.entry.name.clone()]),
            reason,
            content: json!({"fills": asked.id, "request": request}),
            source: StopSource::System,
            by: Actor {
                name: ActorName::new("workflow").map_err(WorkError::name("/key"))?,
                role: Role::System,
            },
            allowed: vec![Verdict::Edit, Verdict::Reject],
            patience: None,
        };
        self.raise(&status.key.for_request(), raise).await
    }

    /// Records the outcome of a question, and that its decision is carried out, if nothing more comes of it.
    ///
    /// # Errors
    ///
    /// [`WorkError::LeaseLost`]; [`WorkError`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub async fn settled(&self, status: QuestionStatus) -> Result<QuestionStatus, WorkError> {
        if status.is_recorded || !status.is_settled() {
            return Ok(status);
        }
        let outcome = serde_json::to_string(&outcome_of(&status))?;
        let place = status.key.question();
        let effect = EffectId::in_run(self.run.id, &place);
        let carried_out = async {
            let Some(decision) = &status.interrupt.decision else {
                return Ok(());
            };
            let target = match &status.route {
                Some(route) => json!({"target": route.entry.name}).to_string(),
                None => "{}".to_owned(),
            };
            self.finished(decision.effect, target).await
        };
        // At once: the store writes both in one transaction.
        try_join(self.finished(effect, outcome), carried_out).await?;
        if let Some(asked) = &status.asked {
            let asked = self.protocol.question(&self.run, &asked.key).await?;
            Box::pin(self.settled(asked)).await?;
        }
        Ok(QuestionStatus {
            is_recorded: true,
            ..status
        })
    }

    /// What was recorded first wins.
    pub(crate) async fn finished(
        &self,
        effect: EffectId,
        content: String,
    ) -> Result<(), WorkError> {
        match self.store().finish(self.epoch(), effect, content).await {
            Ok(_) | Err(JournalError::OtherResult { .. } | JournalError::UnknownEffect { .. }) => {
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The result of an abandoned effect, with this reason.
pub(crate) fn left_out(reason: &str) -> Result<String, WorkError> {
    let left_out = reason.to_owned();
    Ok(serde_json::to_string(&LeftOut { left_out })?)
}

/// The outcome of a question, in the journal's form.
pub(crate) fn outcome_of(status: &QuestionStatus) -> InterruptOutcome {
    let interrupt = &status.interrupt;
    let reroute = interrupt.bound.as_ref().map(|bound| bound.event.clone());
    let end = match &status.decided {
        None => InterruptEnd::LeftOut {
            reason: "it was withdrawn".to_owned(),
        },
        Some(decided) if status.without_request.is_none() && takes_route(interrupt) => {
            routed(status, decided, reroute)
        }
        Some(decided) => InterruptEnd::Declined {
            decision: decided.id,
            verdict: decided.verdict,
            decided_by: decided.sort,
            answer: decided.answer.clone(),
            reroute,
        },
    };
    InterruptOutcome {
        requested: interrupt.bound.is_some(),
        end,
    }
}

fn routed(status: &QuestionStatus, decided: &Decided, reroute: Option<EventId>) -> InterruptEnd {
    let interrupt = &status.interrupt;
    let mut routing = Map::new();
    if let (Some(route), Some(request)) = (&status.route, &status.request) {
        routing.insert(route.entry.field.clone(), request.clone());
    }
    let by_person = decided.answer.edited_request.is_some() || status.asked.is_some();
    InterruptEnd::Routed {
        routing: Value::Object(routing),
        origin: interrupt.origin.to_string(),
        target: target_of(interrupt).to_string(),
        decision: decided.id,
        verdict: Some(decided.verdict),
        decided_by: decided.sort,
        filled_by: match (by_person, status.request.is_some()) {
            (_, false) => FilledBy::Unchanged,
            (true, true) => FilledBy::Person,
            (false, true) => FilledBy::Model {
                corrections: status.rejected,
            },
        },
        answer: decided.answer.clone(),
        reroute,
    }
}

/// The request in a model's answer, or what does not fit.
fn read(answer: &Value, route: &RouteEntry) -> Result<Value, Vec<Misfit>> {
    let answer = match answer.as_str() {
        Some(text) => parsed(text)?,
        None => answer.clone(),
    };
    let mut found = misfits(&route.schema, &answer);
    if found.is_empty() {
        return Ok(without_record(answer[&route.field].clone(), route));
    }
    // Some providers demand every property, and accept null for an omitted one.
    let stripped = without_nulls(answer);
    if misfits(&route.schema, &stripped).is_empty() {
        return Ok(stripped[&route.field].clone());
    }
    found.truncate(MOST_TOLD);
    Err(found)
}

fn parsed(text: &str) -> Result<Value, Vec<Misfit>> {
    read_strictly(text.as_bytes()).map_err(|error| {
        vec![Misfit {
            path: error.path().to_owned(),
            pointer: String::new(),
            reason: error.reason().to_string(),
        }]
    })
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members
                .into_iter()
                .filter(|(_name, value)| !value.is_null());
            let members = members.map(|(name, value)| (name, without_nulls(value)));
            Value::Object(members.collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => plain,
    }
}
