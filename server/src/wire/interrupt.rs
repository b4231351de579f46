//! An interrupt as callers see it.

use control::{AgentAddress, QuestionContent, decider, reason_of, target_of};
use interrupt_router::{InterruptId, InterruptType, StopSource};
use interrupts::catalogue::Catalogue;
use interrupts::life::{Asking, AskingId, Decider, Decision, ExpiryOutcome, Interrupt, Lane};
use interrupts::manager::{StopCause, StopNote};
use jiff::Timestamp;
use journal::tool::{ToolQuestionContent, ToolQuestionKind};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::label::label;
use super::named::{DecisionName, ModeName, ScopeName, TypeName};
use super::names::{
    AnswerFormName, ExpiryName, InterruptKindName, InterruptStateName, SourceName, VerdictName,
};
use super::response_schema::ResponseSchema;

/// One of the answers that an interrupt offers.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ChoiceView {
    /// What people read.
    pub(crate) label: String,
    /// What is sent when it is chosen.
    pub(crate) value: String,
    /// What it means.
    pub(crate) description: String,
}

/// Something that must be confirmed or refused.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ConfirmationView {
    /// Names the item in the answer.
    pub(crate) id: String,
    /// What is to be confirmed.
    pub(crate) prompt: String,
    /// What is suggested to the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) default_value: Option<bool>,
    /// What a refusal leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) impact_if_no: Option<String>,
}

/// A place where the answer could go.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct RouteView {
    /// The type of agent.
    pub(crate) agent_type: String,
    /// Its name for people.
    pub(crate) label: String,
    /// Whether it goes there unless somebody sends it elsewhere. The others are left out of the schema that the
    /// model fills in.
    pub(crate) allowed: bool,
}

/// Somebody who looks at a review now.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ClaimView {
    /// Who.
    pub(crate) by: String,
    /// Until when.
    pub(crate) until: String,
}

/// The one decision of an interrupt.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct DecisionView {
    /// Its id.
    pub(crate) decision_id: String,
    /// The interrupt.
    pub(crate) interrupt_id: String,
    /// What was decided.
    #[schema(value_type = VerdictName)]
    pub(crate) decision: String,
    /// Where the run goes on.
    pub(crate) target: String,
    /// Who decided.
    pub(crate) by: String,
    /// The standing rule that gave the answer of an earlier decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rule_id: Option<String>,
    /// When.
    pub(crate) at: String,
    /// The interrupt's version that it made.
    pub(crate) version: u64,
    /// The answer, as it is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub(crate) payload: Option<Box<RawValue>>,
}

impl DecisionView {
    /// The decision of an interrupt, if it has one.
    pub(crate) fn of(interrupt: &Interrupt) -> Option<Self> {
        let decision: &Decision = interrupt.decision.as_ref()?;
        Some(Self {
            decision_id: decision.id.to_string(),
            interrupt_id: interrupt.id.to_string(),
            decision: decision.verdict.name().to_owned(),
            target: decision.target.as_str().to_owned(),
            by: decider(&decision.by).into_owned(),
            rule_id: match &decision.by {
                Decider::Rule { rule, .. } => Some(rule.to_string()),
                Decider::Person { .. } | Decider::Policy | Decider::Deadline => None,
            },
            at: decision.at.to_string(),
            version: decision.version,
            payload: decision
                .content
                .as_deref()
                .and_then(|content| RawValue::from_string(content.to_owned()).ok()),
        })
    }
}

/// Who took an asking back.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct TakenBackView {
    /// Who.
    pub(crate) by: String,
    /// When.
    pub(crate) at: String,
}

/// One request for a stop: as many ask for it as have asked, each for himself.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct AskingView {
    /// Its id, below the interrupt's: `DELETE /v1/interrupts/{id}` takes it back.
    pub(crate) id: String,
    /// Who asked.
    pub(crate) by: String,
    /// Who is behind it.
    #[schema(value_type = SourceName)]
    pub(crate) source: String,
    /// How to stop.
    #[schema(value_type = ModeName)]
    pub(crate) mode: String,
    /// Why, in words.
    pub(crate) reason: String,
    /// When.
    pub(crate) requested_at: String,
    /// That it was taken back. The stop stands as long as one of its askings was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) withdrawn: Option<TakenBackView>,
}

impl AskingView {
    /// An asking of an interrupt.
    pub(crate) fn of(interrupt: InterruptId, asking: &Asking) -> Self {
        let number = asking.number;
        Self {
            id: AskingId { interrupt, number }.to_string(),
            by: asking.by.name.as_str().to_owned(),
            source: asking.source.name().to_owned(),
            mode: asking.mode.name().to_owned(),
            reason: asking.reason.clone(),
            requested_at: asking.at.to_string(),
            withdrawn: asking.withdrawn.as_ref().map(|taken| TakenBackView {
                by: taken.by.name.as_str().to_owned(),
                at: taken.at.to_string(),
            }),
        }
    }

    /// Those of a stop; a question has none.
    fn all(interrupt: &Interrupt) -> Vec<Self> {
        let askings = interrupt.askings();
        let views = askings.iter().map(|it| Self::of(interrupt.id, it));
        views.collect()
    }
}

/// An interrupt as callers see it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct InterruptView {
    /// Its id.
    pub(crate) id: String,
    /// The run that it concerns.
    pub(crate) run_id: String,
    /// The agent that it concerns.
    pub(crate) agent_id: String,
    /// The kind of that agent.
    pub(crate) agent_type: String,
    /// What it does.
    #[schema(value_type = TypeName)]
    pub(crate) r#type: String,
    /// What it is about, for inboxes.
    #[schema(value_type = InterruptKindName)]
    pub(crate) kind: String,
    /// Who is behind it. Of a stop the most human of its askings that stand.
    #[schema(value_type = SourceName)]
    pub(crate) source: String,
    /// Who asked for it. Of a stop the first of the most human of those who do.
    pub(crate) requested_by: String,
    /// Who asks for the stop, the first one first. Empty where it is a question.
    pub(crate) askings: Vec<AskingView>,
    /// How to stop, the harder of all that was asked.
    #[schema(value_type = ModeName)]
    pub(crate) mode: String,
    /// How far it reaches.
    #[schema(value_type = ScopeName)]
    pub(crate) scope: String,
    /// The order of inboxes; smaller goes first.
    pub(crate) priority: u8,
    /// Where it stands.
    #[schema(value_type = InterruptStateName)]
    pub(crate) state: String,
    /// Why, in words.
    pub(crate) reason: String,
    /// What one needs to know to decide.
    pub(crate) context_for_decision: String,
    /// The answers to choose from.
    pub(crate) choices: Vec<ChoiceView>,
    /// What must be confirmed.
    pub(crate) confirmation_items: Vec<ConfirmationView>,
    /// What an answer is, where the asker says so.
    #[schema(value_type = Option<AnswerFormName>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answer_form: Option<String>,
    /// The agent's own fields.
    pub(crate) fields: Map<String, Value>,
    /// What may be decided.
    #[schema(value_type = Vec<DecisionName>)]
    pub(crate) allowed_decisions: Vec<String>,
    /// The schema of the payload of a decision.
    #[schema(value_type = Value)]
    pub(crate) response_schema: ResponseSchema,
    /// Where the answer could go, and where it does.
    pub(crate) routes: Vec<RouteView>,
    /// Where the bound event sends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reroute_to_agent_type: Option<String>,
    /// Who shall look at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) assignee: Option<String>,
    /// Who looks at it now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) claimed_by: Option<ClaimView>,
    /// The user's interrupt that goes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) held_by: Option<String>,
    /// When it expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<String>,
    /// What then happens.
    #[schema(value_type = ExpiryName)]
    pub(crate) on_expiry: String,
    /// When it was admitted.
    pub(crate) requested_at: String,
    /// When it took hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) acknowledged_at: Option<String>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resolved_at: Option<String>,
    /// The digest of what people are shown; a decision may name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shown_digest: Option<String>,
    /// Its decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decision: Option<DecisionView>,
    /// What went wrong with its delivery.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_error: Option<String>,
    /// Counts its changes; the `ETag`.
    pub(crate) version: u64,
}

/// A part of the inbox.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct InterruptPage {
    /// The interrupts.
    #[schema(value_type = Vec<InterruptView>)]
    pub(crate) interrupts: Vec<Box<RawValue>>,
    /// Where the next part begins; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
}

impl InterruptView {
    /// An interrupt as it is seen at a time.
    pub(crate) fn of(interrupt: &Interrupt, catalogue: Option<&Catalogue>, now: Timestamp) -> Self {
        let question = QuestionContent::of(interrupt);
        let response_schema = ResponseSchema::of(interrupt, catalogue, &question.details);
        let review = interrupt.review.as_ref();
        let address = AgentAddress {
            run: interrupt.run,
            node: interrupt.node.clone(),
        };
        let time = |time: &Option<Timestamp>| time.map(|time| time.to_string());
        Self {
            id: interrupt.id.to_string(),
            run_id: interrupt.run.to_string(),
            agent_id: address.to_string(),
            agent_type: interrupt.kind.as_str().to_owned(),
            r#type: interrupt.interrupt_type.name().to_owned(),
            kind: kind_of(interrupt).to_owned(),
            source: interrupt.source.name().to_owned(),
            requested_by: interrupt.requested_by.name.as_str().to_owned(),
            askings: AskingView::all(interrupt),
            mode: interrupt.mode.name().to_owned(),
            scope: interrupt.scope.name().to_owned(),
            priority: Lane::of(interrupt.source).priority(),
            state: interrupt.state.name().to_owned(),
            reason: reason_of(interrupt).into_owned(),
            answer_form: question.details.form().map(|form| form.name().to_owned()),
            context_for_decision: question.details.context_for_decision,
            choices: question.details.choices.into_iter().map(choice).collect(),
            confirmation_items: question
                .details
                .confirmation_items
                .into_iter()
                .map(confirmation)
                .collect(),
            fields: question.own_fields,
            allowed_decisions: allowed(interrupt),
            response_schema,
            routes: routes(interrupt),
            reroute_to_agent_type: interrupt
                .bound
                .as_ref()
                .map(|bound| bound.target.as_str().to_owned()),
            assignee: review.and_then(|review| Some(review.assignee.as_ref()?.as_str().to_owned())),
            claimed_by: review
                .and_then(|review| review.claim_at(now))
                .map(|claim| ClaimView {
                    by: claim.by.as_str().to_owned(),
                    until: claim.until.to_string(),
                }),
            held_by: interrupt.held_by.map(|holder| holder.to_string()),
            expires_at: time(&interrupt.due_at()),
            on_expiry: outcome(&interrupt.on_expiry).to_owned(),
            requested_at: interrupt.requested_at.to_string(),
            acknowledged_at: time(&interrupt.acknowledged_at),
            resolved_at: time(&interrupt.ended_at),
            shown_digest: review.map(|review| review.shown.to_string()),
            decision: DecisionView::of(interrupt),
            last_error: interrupt.last_error.clone(),
            version: interrupt.version,
        }
    }
}

fn allowed(interrupt: &Interrupt) -> Vec<String> {
    let verdicts = interrupt.verdicts();
    verdicts.map(|verdict| verdict.name().to_owned()).collect()
}

fn routes(interrupt: &Interrupt) -> Vec<RouteView> {
    let target = target_of(interrupt);
    interrupt
        .routes
        .iter()
        .map(|route| RouteView {
            agent_type: route.as_str().to_owned(),
            label: label(route.as_str()),
            allowed: route == target,
        })
        .collect()
}

fn choice(choice: interrupt_router::Choice) -> ChoiceView {
    ChoiceView {
        label: choice.label,
        value: choice.value,
        description: choice.description,
    }
}

fn confirmation(item: interrupt_router::ConfirmationItem) -> ConfirmationView {
    ConfirmationView {
        id: item.id,
        prompt: item.prompt,
        default_value: item.default_value,
        impact_if_no: item.impact_if_no,
    }
}

/// What interrupts can be about.
pub(crate) const KINDS: [&str; 14] = [
    "human_review",
    "agent_review",
    "permission",
    "tool_call",
    "human_input",
    "user_escape",
    "budget",
    "timeout",
    "resource",
    "system_error",
    "shutdown",
    "hook",
    "code",
    "policy",
];

/// What an interrupt is about, for inboxes and their filters.
pub(crate) fn kind_of(interrupt: &Interrupt) -> &'static str {
    if let Some(matter) = ToolQuestionContent::of(&interrupt.content) {
        return match matter.tool_call.asks {
            ToolQuestionKind::Permission => "permission",
            ToolQuestionKind::UnknownOutcome => "tool_call",
            ToolQuestionKind::Input => "human_input",
        };
    }
    match interrupt.interrupt_type {
        InterruptType::HumanReview => return "human_review",
        InterruptType::AgentReview => return "agent_review",
        InterruptType::Pause
        | InterruptType::Stop
        | InterruptType::Prune
        | InterruptType::Branch => {}
    }
    let note: Option<StopNote> = serde_json::from_str(&interrupt.content).ok();
    match (note.map(|note| note.cause), interrupt.source) {
        (Some(StopCause::UserEscape), _) | (None, StopSource::User) => "user_escape",
        (Some(StopCause::Permission), _) => "permission",
        (Some(StopCause::Budget), _) => "budget",
        (Some(StopCause::Timeout), _) => "timeout",
        (Some(StopCause::Resource), _) => "resource",
        (Some(StopCause::SystemError), _) | (None, StopSource::System) => "system_error",
        (Some(StopCause::Shutdown), _) => "shutdown",
        (Some(StopCause::Hook), _) => "hook",
        (Some(StopCause::Code), _) => "code",
        (Some(StopCause::Policy), _) | (None, StopSource::Programmatic) => "policy",
    }
}

const fn outcome(outcome: &ExpiryOutcome) -> &'static str {
    match outcome {
        ExpiryOutcome::Reject => "reject",
        ExpiryOutcome::Cancel => "cancel",
        ExpiryOutcome::Reroute { .. } => "reroute",
    }
}
