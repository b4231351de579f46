//! The question that a stored interrupt asks, made from its content.

use control::{DecisionContent, DecisionParts, InvalidDecision, own_fields, target_of};
use interrupt_router::InterruptId;
use interrupt_router::review::{Question, QuestionKind};
use interrupts::life::{Family, Interrupt};
use journal::tool::ToolQuestionContent;
use serde::Deserialize;
use serde_json::Value;

use crate::exit::{Exit, Failure};
use crate::view::kept_json;
use crate::workflows::{self, lasting};

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

/// The question that an interrupt asks a person.
///
/// # Errors
///
/// If the interrupt stops rather than asks, or is of a workflow that this program does not know.
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
    let target = target_of(interrupt);
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
    let question = Question {
        interrupt: interrupt.id,
        run: interrupt.run,
        node: interrupt.node.clone(),
        agent_type: lasting(kind.name.as_str()),
        kind: why,
        details: interrupt.details(),
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

/// What the interrupt asks about a tool, if it does.
pub(crate) fn matter(interrupt: &Interrupt) -> Option<ToolQuestionContent> {
    ToolQuestionContent::of(&interrupt.content)
}

/// The question of an agent without routes, such as one of a plan: its answer goes back to the agent that asks.
fn back(interrupt: &Interrupt) -> Question {
    let kind = lasting(interrupt.kind.as_str());
    let payload = kept_json(&interrupt.content);
    Question {
        interrupt: interrupt.id,
        run: interrupt.run,
        node: interrupt.node.clone(),
        agent_type: kind,
        kind: QuestionKind::HumanReview,
        details: interrupt.details(),
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

/// The asker's own fields, each as a label and a line: a text as it is, texts one after the other, the rest as JSON.
pub(crate) fn own_rows(payload: &Value) -> Vec<(String, String)> {
    let own = own_fields(payload);
    own.iter()
        .filter_map(|(name, value)| Some((words(name), line(value)?)))
        .collect()
}

/// The name of a field in words: `lagSeconds` and `lag_seconds` are lag seconds.
fn words(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        match letter {
            '_' | '-' => words.push(' '),
            letter if letter.is_uppercase() => {
                words.push(' ');
                words.extend(letter.to_lowercase());
            }
            letter => words.push(letter),
        }
    }
    words.trim().to_owned()
}

/// A value on one line; `None` if it says nothing.
fn line(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Array(items) => {
            let lines: Vec<String> = items.iter().filter_map(line).collect();
            Some(lines.join(", ")).filter(|text| !text.is_empty())
        }
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => Some(value.to_string()),
    }
}

/// The content of a decision, if each part of it fits what is asked.
///
/// # Errors
///
/// [`InvalidDecision`].
pub(crate) fn content(
    interrupt: &Interrupt,
    parts: &DecisionParts,
) -> Result<DecisionContent, InvalidDecision> {
    parts.content(interrupt, workflows::of_interrupt(interrupt).as_deref())
}

/// Why it is asked, in the asker's words; if there are none, as the interrupt was admitted.
pub(crate) fn reason(interrupt: &Interrupt) -> String {
    interrupt.details().reason
}
