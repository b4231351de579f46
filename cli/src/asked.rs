//! The question that a stored interrupt asks, made from its content.

use interrupts::catalogue::misfits;
use interrupts::life::{Family, Interrupt};
use journal::tool::ToolMatter;
use routing_core::review::{Answer, Question, QuestionKind};
use routing_core::{Choice, ConfirmationItem, InterruptDetails, InterruptId};
use serde::Deserialize;
use serde_json::Value;

use crate::exit::{Exit, Failure};
use crate::view::kept_json;
use crate::workflows::{self, lasting};

/// The shared part of a typed request, as far as it is there.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CommonRequestFields {
    reason: Option<String>,
    choices: Vec<Choice>,
    confirmation_items: Vec<ConfirmationItem>,
    context_for_decision: String,
}

impl CommonRequestFields {
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
    let catalogue = workflows::of_interrupt(interrupt);
    let catalogue = catalogue.ok_or_else(|| foreign(interrupt, interrupt.kind.as_str()))?;
    let kind = catalogue.kind(interrupt.kind.as_str());
    let kind = kind.ok_or_else(|| foreign(interrupt, interrupt.kind.as_str()))?;
    if catalogue.route(kind.origin.as_str()).is_none() {
        let question = back(interrupt);
        return Ok(match matter(interrupt) {
            Some(matter) => matter.shown_in(question),
            None => question,
        });
    }
    let decided = interrupt.decision.as_ref().map(|decision| &decision.target);
    let bound = interrupt.bound.as_ref().map(|bound| &bound.target);
    let target = decided.or(bound).unwrap_or(&interrupt.origin);
    let route = catalogue.route(target.as_str());
    let route = route.ok_or_else(|| foreign(interrupt, target.as_str()))?;
    let routes = interrupt.routes.iter();
    let routes = routes.map(|name| lasting(name.as_str())).collect();
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
    let shared: CommonRequestFields = serde_json::from_value(payload.clone()).unwrap_or_default();
    let question = Question {
        interrupt: interrupt.id,
        run: interrupt.run,
        node: interrupt.node.clone(),
        agent_type: lasting(kind.name.as_str()),
        kind: why,
        details: shared.details(interrupt),
        payload,
        target: lasting(target.as_str()),
        target_field: lasting(&route.field),
        routes,
        request_schema: route.schema.clone(),
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

/// The question of an agent without routes, such as one of a plan: its answer goes back to who asks.
fn back(interrupt: &Interrupt) -> Question {
    let kind = lasting(interrupt.kind.as_str());
    let payload = kept_json(&interrupt.content);
    let shared: CommonRequestFields = serde_json::from_value(payload.clone()).unwrap_or_default();
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

/// The interrupt is of a workflow with other agents than this program's.
fn foreign(interrupt: &Interrupt, name: &str) -> Failure {
    let text = format!(
        "{} names the agent type `{name}`, which this program does not have",
        interrupt.id
    );
    Failure::new(Exit::Failure, text).hint("decide with --decision and --message or --payload")
}

/// Whether an answer belongs to its question, the edited request included.
///
/// # Errors
///
/// In words, what is wrong and where.
pub(crate) fn check(
    answer: &Answer,
    question: &Question,
    interrupt: &Interrupt,
) -> Result<(), String> {
    answer.check(question).map_err(|error| error.to_string())?;
    let Some(edited) = &answer.edited_request else {
        return Ok(());
    };
    let found = match question.kind {
        QuestionKind::Tool { .. } => misfits(&question.request_schema, edited),
        QuestionKind::HumanReview
        | QuestionKind::UnsureReview { .. }
        | QuestionKind::UnfilledRequest { .. } => {
            let target = answer.reroute_to.as_deref().unwrap_or(question.target);
            let catalogue = workflows::of_interrupt(interrupt);
            let route = catalogue.as_deref().and_then(|it| it.route(target));
            route.map_or_else(Vec::new, |route| route.misfits(edited))
        }
    };
    match found.first() {
        Some(misfit) => Err(format!("the edited request: {misfit}")),
        None => Ok(()),
    }
}

/// The parts of a text that an interrupt's content has, where it is of a workflow that is not known here.
pub(crate) fn reason(interrupt: &Interrupt) -> String {
    let shared: CommonRequestFields =
        serde_json::from_value(kept_json(&interrupt.content)).unwrap_or_default();
    shared.reason.unwrap_or_else(|| interrupt.reason.clone())
}
