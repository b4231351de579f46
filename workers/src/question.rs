//! Asking: once for each key, whichever worker executes the code and however often.

use interrupts::catalogue::{Catalogue, KindEntry, misfits};
use interrupts::life::{
    Actor, Admission, Evidence, ExpiryOutcome, Interrupt, Recurrence, Refusal, Role, Scope, State,
    USUAL_ATTEMPTS, Verdict, WithdrawCause,
};
use interrupts::life::{Choosing, Judge};
use interrupts::policy::{Automatic, Policy};
use interrupts::store::{
    AdmitError, Begun, ChangeError, Filter, Intent, JournalError, Page, RaisedQuestion, Repeating,
};
use interrupts::{ActorName, Digest, EffectId, KindName, RouteName};
use jiff::SignedDuration;
use journal::entry::InterruptIntent;
use journal::kind::INTERRUPT;
use routing_core::reroute::RerouteState;
use routing_core::{
    Choice, ConfirmationItem, DecisionId, EventId, InterruptDetails, InterruptId, InterruptType,
    NodeId, StopMode, StopSource,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::WorkError;
use crate::key::WorkKey;
use crate::owned::Owned;
use crate::standing::QuestionStanding;

/// The most bytes of a question.
const LARGEST: usize = 256 << 10;

/// The most bytes of a reason.
const LONGEST_REASON: usize = 16 << 10;

/// How many interrupts are read together.
const PAGE: u32 = 200;

/// What an agent asks.
#[derive(Debug, Clone, PartialEq)]
pub struct Asking {
    /// The agent.
    pub node: NodeId,
    /// Its kind.
    pub kind: String,
    /// Why it asks.
    pub reason: String,
    /// What one needs to know to decide.
    pub context: String,
    /// The answers to choose from.
    pub choices: Vec<Choice>,
    /// What must be confirmed.
    pub confirmations: Vec<ConfirmationItem>,
    /// The agent's own fields.
    pub fields: Map<String, Value>,
    /// How long it waits; for ever, or as long as the policy says, where it is absent.
    pub patience: Option<SignedDuration>,
}

/// What admits a question, before it has an id.
pub(crate) struct Raise {
    pub(crate) row: (NodeId, KindName),
    pub(crate) ways: (RouteName, Vec<RouteName>),
    pub(crate) reason: String,
    pub(crate) content: Value,
    pub(crate) source: StopSource,
    pub(crate) by: Actor,
    pub(crate) allowed: Vec<Verdict>,
    pub(crate) patience: Option<SignedDuration>,
}

impl Owned<'_> {
    /// Asks a person, once: with a key that was used before it is the question that is there, and what became of it. An
    /// event of a supervisor that waits for the agent is taken by it: the answer goes where that says.
    ///
    /// # Errors
    ///
    /// [`WorkError::OtherQuestion`] where the key was used by another agent; [`WorkError::UnknownKind`],
    /// [`WorkError::QuestionMisfits`]; [`WorkError::LeaseLost`].
    ///
    /// # Cancel safety
    ///
    /// Dropped, it was asked or not. Ask again with the same key to be sure.
    pub async fn ask(
        &self,
        key: &WorkKey,
        asking: Asking,
    ) -> Result<(QuestionStanding, bool), WorkError> {
        let known = self.protocol.find_question(&self.run, key).await?;
        if let Some(known) = known.filter(|it| !is_unraised(&it.interrupt)) {
            if known.interrupt.node != asking.node {
                return Err(WorkError::OtherQuestion {
                    key: key.clone(),
                    node: known.interrupt.node,
                });
            }
            if known.interrupt.state == State::Acknowledged {
                self.put_to_people(known.interrupt).await?;
                return Ok((self.protocol.question(&self.run, key).await?, false));
            }
            return Ok((known, false));
        }
        let catalogue = self.catalogue().await?;
        let kind = known_kind(&catalogue, &asking.kind)?;
        let content = content_of(&asking, kind)?;
        let agent = self.works(&asking.node, &asking.kind).await?;
        let requester = ActorName::new(agent.node.as_str());
        let raise = Raise {
            ways: catalogue.ways(kind),
            row: (agent.node, agent.kind),
            reason: asking.reason,
            content,
            source: StopSource::Programmatic,
            by: Actor {
                name: requester.map_err(WorkError::name("/agent_id"))?,
                role: Role::Requester,
            },
            allowed: Vec::new(),
            patience: asking.patience,
        };
        self.raise(key, raise).await?;
        Ok((self.protocol.question(&self.run, key).await?, true))
    }

    /// Withdraws a question that is not wanted any more. One that is decided stays decided.
    ///
    /// # Errors
    ///
    /// [`WorkError::UnknownQuestion`]; [`WorkError::LeaseLost`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub async fn withdraw(&self, key: &WorkKey) -> Result<QuestionStanding, WorkError> {
        let standing = self.protocol.question(&self.run, key).await?;
        let by = standing.interrupt.requested_by.clone();
        let cause = WithdrawCause::Withdrawn;
        let withdrawn = self
            .store()
            .withdraw(standing.interrupt.id, by, cause)
            .await;
        match withdrawn {
            Ok(_) | Err(ChangeError::Refused(_)) => self.protocol.question(&self.run, key).await,
            Err(error) => Err(error.into()),
        }
    }

    /// Raises a question under a key: first the intent, which names its interrupt, then that.
    pub(crate) async fn raise(&self, key: &WorkKey, raise: Raise) -> Result<(), WorkError> {
        let (node, kind) = &raise.row;
        let waiting = self.event_for(node).await?;
        let id = waiting
            .as_ref()
            .map_or_else(InterruptId::generate, |it| it.id);
        let event = waiting
            .map(|it| serde_json::from_str(&it.content))
            .transpose()?;
        let intent = InterruptIntent {
            interrupt: id,
            request: raise.content.clone(),
            event,
        };
        let place = key.question();
        let begun = self.store().begin(
            self.epoch(),
            Intent {
                effect: EffectId::in_run(self.run.id, &place),
                run: self.run.id,
                node: node.clone(),
                kind: KindName::new(INTERRUPT).map_err(WorkError::name("/key"))?,
                repeating: Repeating::Idempotent,
                content: serde_json::to_string(&intent)?,
                place: Some(place),
            },
        );
        let intent = match begun.await {
            Ok(Begun::New(_)) => intent,
            // A worker died before it was raised, or the same was asked at the same moment: its words stand.
            Ok(Begun::Known(entry)) => serde_json::from_str(&entry.intent.content)?,
            Err(JournalError::OtherIntent { effect }) => {
                let entry = self.store().effect(effect).await?;
                let entry = entry.ok_or_else(|| WorkError::UnknownQuestion { key: key.clone() })?;
                if entry.intent.node != *node {
                    return Err(WorkError::OtherQuestion {
                        key: key.clone(),
                        node: entry.intent.node,
                    });
                }
                serde_json::from_str(&entry.intent.content)?
            }
            Err(error) => return Err(error.into()),
        };
        let content = intent.request.to_string();
        let raised = match self.store().interrupt(intent.interrupt).await? {
            Some(asked_for) => self.acknowledge(asked_for, content).await?,
            None => {
                let mut admission = self.admission(key, intent.interrupt, content, kind, &raise)?;
                self.set_terms(&mut admission).await?;
                let delivery = self.delivery(None);
                let question = RaisedQuestion {
                    admission,
                    delivery,
                };
                match self.store().raise(question).await {
                    Ok(admitted) => admitted.into_interrupt(),
                    // It was asked at the same moment with other words: those stand.
                    Err(AdmitError::OtherContent { interrupt, .. }) => {
                        match self.store().interrupt(interrupt).await? {
                            Some(first) => first,
                            None => return Ok(()),
                        }
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        };
        self.supersede(&raised).await?;
        self.put_to_people(raised).await?;
        Ok(())
    }

    fn admission(
        &self,
        key: &WorkKey,
        id: InterruptId,
        content: String,
        kind: &KindName,
        raise: &Raise,
    ) -> Result<Admission, WorkError> {
        let (origin, routes) = raise.ways.clone();
        let end = raise.reason.floor_char_boundary(LONGEST_REASON);
        Ok(Admission {
            id,
            run: self.run.id,
            node: raise.row.0.clone(),
            kind: kind.clone(),
            origin,
            routes,
            interrupt_type: InterruptType::HumanReview,
            source: raise.source,
            requested_by: raise.by.clone(),
            mode: StopMode::Graceful,
            scope: Scope::Agent,
            reason: raise.reason.get(..end).unwrap_or_default().to_owned(),
            content,
            key: self.key(key.as_str())?,
            allowed: raise.allowed.clone(),
            patience: raise.patience,
            on_expiry: ExpiryOutcome::Reject,
            most_attempts: USUAL_ATTEMPTS,
            recurrence: Recurrence::Verbatim,
            reroute: None,
        })
    }

    /// How long it may wait: as it was said first, else as the policy says.
    async fn set_terms(&self, admission: &mut Admission) -> Result<(), WorkError> {
        match self.store().interrupt_of(&admission.key).await? {
            Some(first) => first.keep_terms(admission),
            None => self.protocol.policy.apply(admission),
        }
        Ok(())
    }

    /// The interrupt that a supervisor's event asks an agent for.
    pub(crate) async fn event_for(&self, node: &NodeId) -> Result<Option<Interrupt>, WorkError> {
        let filter = Filter {
            run: Some(self.run.id),
            node: Some(node.clone()),
            states: vec![State::Requested, State::Delivered],
        };
        let page = Page {
            after: 0,
            limit: PAGE,
        };
        for (_position, interrupt) in self.store().interrupts(&filter, page).await? {
            let Ok(event) = EventId::try_from(interrupt.key.as_str().to_owned()) else {
                continue;
            };
            let reroute = self.store().reroute(&event).await?;
            if reroute.is_some_and(|row| row.state == RerouteState::Pending) {
                return Ok(Some(interrupt));
            }
        }
        Ok(None)
    }

    /// The agent has said what it asks, as an event wanted it to.
    async fn acknowledge(
        &self,
        interrupt: Interrupt,
        content: String,
    ) -> Result<Interrupt, WorkError> {
        let is_open = matches!(interrupt.state, State::Requested | State::Delivered);
        if !is_open {
            return Ok(interrupt);
        }
        let delivery = self.delivery(interrupt.lease.as_ref());
        let taken = self.store().deliver(interrupt.id, delivery).await?;
        let evidence = Evidence::Request { content };
        let acknowledged = self.store().acknowledge(taken.id, taken.epoch, evidence);
        Ok(acknowledged.await?)
    }

    /// An event whose reroute has gone to another question asks for nothing any more.
    async fn supersede(&self, raised: &Interrupt) -> Result<(), WorkError> {
        let Some(bound) = &raised.bound else {
            return Ok(());
        };
        if bound.event.as_str() == raised.key.as_str() {
            return Ok(());
        }
        let key = interrupts::IdempotencyKey::new(bound.event.as_str());
        let key = key.map_err(WorkError::name("/key"))?;
        let Some(asked) = self.store().interrupt_of(&key).await? else {
            return Ok(());
        };
        let by = asked.requested_by.clone();
        let cause = WithdrawCause::Superseded { by: raised.id };
        match self.store().withdraw(asked.id, by, cause).await {
            Ok(_) | Err(ChangeError::Refused(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Decides what a standing rule or the policy decides by itself; else a person is asked.
    async fn put_to_people(&self, raised: Interrupt) -> Result<(), WorkError> {
        if raised.state != State::Acknowledged {
            return Ok(());
        }
        let mut row = raised;
        // It may have been taken by a worker before this one.
        if self.run.lease.as_ref().map(|it| &it.owner) != row.lease.as_ref().map(|it| &it.owner) {
            let delivery = self.delivery(row.lease.as_ref());
            row = self.store().deliver(row.id, delivery).await?;
        }
        match self.store().apply_rule(row.id, row.epoch).await {
            Ok(None) => {}
            Ok(Some(_)) | Err(ChangeError::Refused(_)) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        if self.decided_by_policy(&row).await? {
            return Ok(());
        }
        let shown = Digest::of(row.content.as_bytes());
        match self.store().require_review(row.id, row.epoch, shown).await {
            Ok(_) | Err(ChangeError::Refused(Refusal::Ended { .. } | Refusal::Illegal { .. })) => {
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn decided_by_policy(&self, row: &Interrupt) -> Result<bool, WorkError> {
        let policy = self.protocol.policy;
        if *policy == Policy::default() {
            return Ok(false);
        }
        // An interrupt has one decision at most, so its own bits name it.
        let Automatic::Decide { choosing, after } =
            policy.decide(row, DecisionId::from_uuid(row.id.uuid()))
        else {
            return Ok(false);
        };
        if !after.is_zero() {
            return Ok(false);
        }
        self.decide(row, choosing).await
    }

    pub(crate) async fn decide(
        &self,
        row: &Interrupt,
        choosing: Choosing,
    ) -> Result<bool, WorkError> {
        let judge = Judge::Policy { epoch: row.epoch };
        match self.store().decide(row.id, judge, choosing).await {
            Ok(_) => Ok(true),
            Err(ChangeError::Refused(_)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

fn known_kind<'a>(catalogue: &'a Catalogue, kind: &str) -> Result<&'a KindEntry, WorkError> {
    catalogue.kind(kind).ok_or_else(|| WorkError::UnknownKind {
        kind: kind.to_owned(),
        known: catalogue
            .kinds()
            .iter()
            .map(|it| it.name.to_string())
            .collect(),
    })
}

/// What is asked, in the form that all questions have.
fn content_of(asking: &Asking, kind: &KindEntry) -> Result<Value, WorkError> {
    let details = InterruptDetails {
        r#type: InterruptType::HumanReview,
        reason: asking.reason.clone(),
        choices: asking.choices.clone(),
        confirmation_items: asking.confirmations.clone(),
        context_for_decision: asking.context.clone(),
    };
    if let Some(schema) = &kind.request {
        let found = misfits(schema, &Value::Object(asking.fields.clone()));
        if !found.is_empty() {
            return Err(WorkError::QuestionMisfits(found));
        }
    }
    let mut content = serde_json::to_value(details)?;
    if let Some(members) = content.as_object_mut() {
        for (name, value) in &asking.fields {
            if members.contains_key(name) {
                let reason = format!("`{name}` is a field that every question has");
                return Err(WorkError::field("/fields", reason));
            }
            members.insert(name.clone(), value.clone());
        }
    }
    if content.to_string().len() > LARGEST {
        let reason = format!("a question may have {LARGEST} bytes");
        return Err(WorkError::field("", reason));
    }
    Ok(content)
}

/// Which event a question may be for is told by its content.
#[derive(Deserialize)]
pub(crate) struct AskedByEvent {
    #[serde(rename = "rerouteToAgentType", default)]
    pub(crate) reroute_to: Option<String>,
}

/// Whether an event asks for it, and no agent has said so itself.
fn is_unraised(interrupt: &Interrupt) -> bool {
    matches!(interrupt.state, State::Requested | State::Delivered)
}
