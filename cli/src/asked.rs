//! The question that a stored interrupt asks, made from its content.

use agents::plan_execute::plan_kind;
use agents::records::InterruptRouting;
use agents::{AgentKind, RouteType};
use engine::tools::ToolMatter;
use interrupts::RouteName;
use interrupts::life::{Family, Interrupt};
use routing_core::answer::ConstraintCheck;
use routing_core::model::Dialect;
use routing_core::review::{Answer, Question, QuestionKind};
use routing_core::{
    AgentType, Choice, ConfirmationItem, InterruptDetails, InterruptId, RouteId, Routing,
};
use serde::Deserialize;
use serde_json::Value;

use crate::exit::{Exit, Failure};
use crate::view::kept_json;

/// The shared part of a typed request, as far as it is there.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Shared {
    reason: Option<String>,
    choices: Vec<Choice>,
    confirmation_items: Vec<ConfirmationItem>,
    context_for_decision: String,
}

impl Shared {
    fn details(self, interrupt: &Interrupt) -> InterruptDetails {
        InterruptDetails {
            r#type: interrupt.interrupt_type,
            reason: self.reason.unwrap_or_else(|| interrupt.reason.clone()),
            choices: self.choices,
            confirmation_items: self.confirmation_items,
            context_for_decision: self.context_for_decision,
        }
    }
}

/// The content of a question about a request that no model could fill in.
#[derive(Debug, Deserialize)]
struct Unfilled {
    fills: InterruptId,
    kind: UnfilledKind,
    request: Value,
}

/// Why it could not.
#[derive(Debug, Deserialize)]
struct UnfilledKind {
    problem: String,
}

/// What a person is asked by a question.
///
/// # Errors
///
/// Where the interrupt stops rather than asks, or is of a workflow that this program does not know.
pub(crate) fn question(interrupt: &Interrupt) -> Result<Question, Failure> {
    if interrupt.family() == Family::Stop {
        let stop = format!("{} stops, it asks nothing", interrupt.id);
        return Err(Failure::new(Exit::Usage, stop));
    }
    if let Some(kind) = plan_kind(interrupt.kind.as_str()) {
        let question = of_plan(interrupt, kind);
        return Ok(match matter(interrupt) {
            Some(matter) => matter.shown_in(question),
            None => question,
        });
    }
    let kind: AgentKind = interrupt
        .kind
        .as_str()
        .parse()
        .map_err(|_unknown| foreign(interrupt, interrupt.kind.as_str()))?;
    let decided = interrupt.decision.as_ref().map(|decision| &decision.target);
    let bound = interrupt.bound.as_ref().map(|bound| &bound.target);
    let target = decided.or(bound).unwrap_or(&interrupt.origin);
    let target = route(interrupt, target)?;
    let routes = interrupt
        .routes
        .iter()
        .map(|name| route(interrupt, name).map(AgentType::name))
        .collect::<Result<_, _>>()?;
    let content = kept_json(&interrupt.content);
    let unfilled: Option<Unfilled> = serde_json::from_value(content.clone()).ok();
    // A request that no model could fill in is a question of its own, about the interrupt that it fills.
    let (why, payload) = match unfilled {
        Some(Unfilled {
            fills,
            kind: UnfilledKind { problem },
            request,
        }) => (QuestionKind::UnfilledRequest { problem, fills }, request),
        None => (QuestionKind::HumanReview, content),
    };
    let shared: Shared = serde_json::from_value(payload.clone()).unwrap_or_default();
    let (field, request_schema) = request_of(target)?;
    let question = Question {
        interrupt: interrupt.id,
        run: interrupt.run,
        node: interrupt.node.clone(),
        agent_type: kind.name(),
        kind: why,
        details: shared.details(interrupt),
        payload,
        target: target.name(),
        target_field: field,
        routes,
        request_schema,
        problem: None,
    };
    Ok(match matter(interrupt) {
        Some(matter) => matter.shown_in(question),
        None => question,
    })
}

/// What the interrupt asks about a tool, where it does.
pub(crate) fn matter(interrupt: &Interrupt) -> Option<ToolMatter> {
    ToolMatter::of(&interrupt.content)
}

/// The question of a plan's agent, or of a plan that cannot go on: its answer goes back to who asks.
fn of_plan(interrupt: &Interrupt, kind: &'static str) -> Question {
    let payload = kept_json(&interrupt.content);
    let shared: Shared = serde_json::from_value(payload.clone()).unwrap_or_default();
    Question {
        interrupt: interrupt.id,
        run: interrupt.run,
        node: interrupt.node.clone(),
        agent_type: kind,
        kind: QuestionKind::HumanReview,
        details: shared.details(interrupt),
        payload,
        target: kind,
        target_field: "",
        routes: vec![kind],
        request_schema: serde_json::json!({}),
        problem: None,
    }
}

fn route(interrupt: &Interrupt, name: &RouteName) -> Result<RouteType, Failure> {
    name.as_str()
        .parse()
        .map_err(|_unknown| foreign(interrupt, name.as_str()))
}

/// The interrupt is of a workflow with other agents than this program's.
fn foreign(interrupt: &Interrupt, name: &str) -> Failure {
    let text = format!(
        "{} names the agent type `{name}`, which this program does not have",
        interrupt.id
    );
    Failure::new(Exit::Failure, text).hint("decide with --decision and --message or --payload")
}

fn id_of(target: RouteType) -> Result<RouteId<InterruptRouting>, Failure> {
    let route = RouteId::<InterruptRouting>::from_agent_type(target.name());
    route.ok_or_else(|| Failure::new(Exit::Failure, format!("no answer leads to {target}")))
}

/// The field that leads to a target, and the schema of the record with that field alone.
fn request_of(target: RouteType) -> Result<(&'static str, Value), Failure> {
    let route = id_of(target)?;
    let schema = InterruptRouting::schemas().narrowed(route, Dialect::JsonSchema);
    Ok((route.field(), schema.value().clone()))
}

/// Whether an answer belongs to its question, the edited request included.
///
/// # Errors
///
/// In words, what is wrong and where.
pub(crate) fn check(
    answer: &Answer,
    question: &Question,
    constraints: &dyn ConstraintCheck,
) -> Result<(), String> {
    answer.check(question).map_err(|error| error.to_string())?;
    let Some(edited) = &answer.edited_request else {
        return Ok(());
    };
    if let QuestionKind::Tool { .. } = question.kind {
        return tools::check_arguments(&question.request_schema, edited)
            .map_err(|error| format!("the edited request: {error}"));
    }
    let target = answer.reroute_to.as_deref().unwrap_or(question.target);
    let target: RouteType = target
        .parse()
        .map_err(|error: routing_core::UnknownAgentType| error.to_string())?;
    let route = id_of(target).map_err(|failure| failure.to_string())?;
    let schema = InterruptRouting::schemas().narrowed(route, Dialect::JsonSchema);
    let fits = |record: &Value| constraints.check(schema, record.to_string().as_bytes());
    // The request itself is wanted; the record around it, as the schema shows it, is understood too.
    let bare = serde_json::json!({ route.field(): edited });
    match fits(&bare) {
        Ok(()) => Ok(()),
        Err(error) if fits(edited).is_err() => Err(format!("the edited request: {error}")),
        Err(_is_the_record) => Ok(()),
    }
}

/// The parts of a text that an interrupt's content has, where it is of a workflow that is not known here.
pub(crate) fn reason(interrupt: &Interrupt) -> String {
    let shared: Shared = serde_json::from_value(kept_json(&interrupt.content)).unwrap_or_default();
    shared.reason.unwrap_or_else(|| interrupt.reason.clone())
}
