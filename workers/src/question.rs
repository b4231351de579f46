//! Asking: once for each key, on every worker and however often the code is executed.

use interrupt_router::{
    AnswerForm, Choice, ConfirmationItem, InterruptDetails, InterruptType, NodeId, StopSource,
};
use interrupts::ActorName;
use interrupts::catalogue::{Catalogue, KindEntry, misfits};
use interrupts::life::{Actor, Family, Role, State, Verdict, WithdrawCause};
use interrupts::store::ChangeError;
use jiff::SignedDuration;
use serde_json::{Map, Value};

use crate::error::WorkError;
use crate::key::WorkKey;
use crate::owned::Owned;
use crate::question_status::QuestionStatus;
use crate::raising::Raise;

/// The most bytes of a question.
const LARGEST: usize = 256 << 10;

/// Fields that mark a question of another sort: about a tool's call, or for a request.
const RESERVED: [&str; 4] = ["toolCall", "fills", "request", "rerouteToAgentType"];

/// What an agent asks.
#[derive(Debug, Clone, PartialEq)]
pub struct Asking {
    /// The agent.
    pub node: NodeId,
    /// Its kind.
    pub kind: String,
    /// Why it asks.
    pub reason: String,
    /// What a reviewer needs to know to decide.
    pub context: String,
    /// The answers to choose from.
    pub choices: Vec<Choice>,
    /// What must be confirmed.
    pub confirmations: Vec<ConfirmationItem>,
    /// What an answer is; if absent, an answer may be anything that the rest allows.
    pub answer_form: Option<AnswerForm>,
    /// The agent's own fields.
    pub fields: Map<String, Value>,
    /// What may be decided; empty for all that a question usually allows.
    pub allowed: Vec<Verdict>,
    /// How long it waits; if absent, as long as the policy says, or for ever.
    pub patience: Option<SignedDuration>,
}

impl Owned<'_> {
    /// Asks a person, once: a key that was used before for the same content returns the existing question and its
    /// outcome. A supervisor's reroute that waits for the agent is bound to the question: the answer goes to the target
    /// of the reroute.
    ///
    /// # Errors
    ///
    /// [`WorkError::OtherContent`] if the key was used by another agent, or for other content: an answer counts for
    /// nothing but what its person was asked; [`WorkError::UnknownKind`], [`WorkError::QuestionMisfits`];
    /// [`WorkError::LeaseLost`].
    ///
    /// # Cancel safety
    ///
    /// Dropped, it was asked or not. Ask again with the same key to be sure.
    pub async fn ask(
        &self,
        key: &WorkKey,
        asking: Asking,
    ) -> Result<(QuestionStatus, bool), WorkError> {
        if key.is_for_request() {
            let reason =
                "a question with this ending is asked by the server alone; use another key";
            return Err(WorkError::field("/key", reason));
        }
        let details = details_of(&asking)?;
        let content = content_of(&details, &asking)?;
        let shown = Shown {
            node: asking.node.clone(),
            kind: asking.kind.clone(),
            content: content.clone(),
        };
        if let Some(known) = self.protocol.find_question(&self.run, key).await? {
            shown.check(&known)?;
            if known.interrupt.state == State::Acknowledged {
                self.put_to_people(known.interrupt).await?;
                return Ok((self.protocol.question(&self.run, key).await?, false));
            }
            return Ok((known, false));
        }
        let catalogue = self.catalogue().await?;
        let kind = known_kind(&catalogue, &asking.kind)?;
        check_fields(&asking, kind)?;
        let agent = self.works(&asking.node, &asking.kind).await?;
        let requester = ActorName::new(agent.node.as_str());
        let ways = catalogue.ways(kind);
        let mut allowed = Family::Question.usual_verdicts().to_vec();
        if catalogue.route(ways.0.as_str()).is_none() {
            // There is no request that a person could edit.
            allowed.retain(|verdict| *verdict != Verdict::Edit);
        }
        if !asking.allowed.is_empty() {
            allowed.retain(|verdict| asking.allowed.contains(verdict));
        }
        let raise = Raise {
            ways,
            row: (agent.node, agent.kind),
            reason: asking.reason,
            content,
            source: StopSource::Programmatic,
            by: Actor {
                name: requester.map_err(WorkError::name("/agent_id"))?,
                role: Role::Requester,
            },
            allowed,
            patience: asking.patience,
        };
        self.raise(key, raise).await?;
        let asked = self.protocol.question(&self.run, key).await?;
        // Another one may have been asked with the key at the same moment.
        shown.check(&asked)?;
        Ok((asked, true))
    }

    /// Withdraws a question that is no longer wanted. A decided question stays decided.
    ///
    /// # Errors
    ///
    /// [`WorkError::UnknownQuestion`]; [`WorkError::LeaseLost`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub async fn withdraw(&self, key: &WorkKey) -> Result<QuestionStatus, WorkError> {
        let status = self.protocol.question(&self.run, key).await?;
        let by = status.interrupt.requested_by.clone();
        let cause = WithdrawCause::Withdrawn;
        let withdrawn = self.store().withdraw(status.interrupt.id, by, cause).await;
        match withdrawn {
            Ok(_) | Err(ChangeError::Refused(_)) => self.protocol.question(&self.run, key).await,
            Err(error) => Err(error.into()),
        }
    }
}

pub(crate) fn known_kind<'a>(
    catalogue: &'a Catalogue,
    kind: &str,
) -> Result<&'a KindEntry, WorkError> {
    catalogue.kind(kind).ok_or_else(|| WorkError::UnknownKind {
        kind: kind.to_owned(),
        known: catalogue
            .kinds()
            .iter()
            .map(|it| it.name.to_string())
            .collect(),
    })
}

/// What people are shown of a question: an answer counts for this and nothing else.
struct Shown {
    node: NodeId,
    kind: String,
    content: Value,
}

impl Shown {
    /// Whether this is what was asked with the key. Each question is kept whole, also by earlier versions.
    fn check(&self, known: &QuestionStatus) -> Result<(), WorkError> {
        let differing = |name: &&String| self.content.get(name) != known.content.get(name);
        let members = |content: &Value| content.as_object().cloned().unwrap_or_default();
        let mut all = members(&known.content);
        all.extend(members(&self.content));
        let is_same = [
            ("agent_id", self.node == known.interrupt.node),
            ("kind", self.kind == known.interrupt.kind.as_str()),
        ];
        let differs = is_same.iter().filter(|(_name, is_same)| !is_same);
        let differs = differs.map(|(name, _is_same)| (*name).to_owned());
        let differs: Vec<String> = differs
            .chain(all.keys().filter(differing).map(|name| in_body(name)))
            .collect();
        if differs.is_empty() {
            return Ok(());
        }
        Err(WorkError::OtherContent {
            key: known.key.clone(),
            differs,
        })
    }
}

/// The name that a member of a question has in the body of the request that asks it.
fn in_body(member: &str) -> String {
    match member {
        "type" | "reason" | "choices" => member.to_owned(),
        "contextForDecision" => "context".to_owned(),
        "confirmationItems" => "confirmations".to_owned(),
        "answerForm" => "answer_form".to_owned(),
        own => format!("fields.{own}"),
    }
}

/// Whether the agent's own fields fit the schema of its kind.
fn check_fields(asking: &Asking, kind: &KindEntry) -> Result<(), WorkError> {
    let Some(schema) = &kind.request else {
        return Ok(());
    };
    let found = misfits(schema, &Value::Object(asking.fields.clone()));
    if found.is_empty() {
        return Ok(());
    }
    Err(WorkError::QuestionMisfits(found))
}

/// The part that all questions have. A program is told where its form of an answer does not fit what it offers.
fn details_of(asking: &Asking) -> Result<InterruptDetails, WorkError> {
    let details = InterruptDetails {
        choices: asking.choices.clone(),
        confirmation_items: asking.confirmations.clone(),
        context_for_decision: asking.context.clone(),
        answer_form: asking.answer_form,
        ..InterruptDetails::new(InterruptType::HumanReview, &asking.reason)
    };
    match asking.answer_form {
        Some(form) if details.form() != Some(form) => {
            let reason = match form {
                AnswerForm::OneOf | AnswerForm::AnyOf => "there are no `choices` to choose from",
                AnswerForm::Words | AnswerForm::YesOrNo => {
                    "there are `choices`; use `one_of` or `any_of`, or leave them out"
                }
            };
            Err(WorkError::field("/answer_form", reason))
        }
        Some(_) | None => Ok(details),
    }
}

/// The question's content, in the form that all questions have.
fn content_of(details: &InterruptDetails, asking: &Asking) -> Result<Value, WorkError> {
    let mut content = serde_json::to_value(details)?;
    if let Some(members) = content.as_object_mut() {
        for (name, value) in &asking.fields {
            let mut ours = InterruptDetails::FIELDS.iter().chain(&RESERVED);
            if ours.any(|ours| ours == name) || members.contains_key(name) {
                let reason = format!("`{name}` is the name of a field that questions have already");
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
