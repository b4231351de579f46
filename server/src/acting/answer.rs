//! The answer in a decision: checked against what was asked before it reaches the store.

use interrupts::catalogue::Catalogue;
use interrupts::life::{Family, Interrupt, Verdict};
use interrupts::{Misfit, RouteName};
use routing_core::review::{Answer, Resume};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::decide::DecisionOrder;
use super::plan::{revises, revision_of};
use crate::problem::{Kind, Problem};
use crate::wire::{Offered, request_misfits};

/// Why a change of a plan is none.
const NO_CHANGE: &str =
    "there are neither steps nor words that change the plan; `resume` goes on with it as it is";

/// What a decision carries.
pub(super) struct DecisionContent {
    /// The answer, as JSON.
    pub(super) content: Option<String>,
    /// Where to go instead.
    pub(super) target: Option<RouteName>,
}

/// The answer of an order, where it fits the interrupt.
pub(super) fn answer_of(
    interrupt: &Interrupt,
    catalogue: Option<&Catalogue>,
    order: &DecisionOrder,
) -> Result<DecisionContent, Problem> {
    let target = target_of(interrupt, order)?;
    if revises(order) {
        return Ok(DecisionContent {
            content: Some(to_text(&revision_of(order)?)?),
            target,
        });
    }
    let content = match interrupt.family() {
        Family::Question => question((interrupt, catalogue), order, target.as_ref())?,
        Family::Stop => pause(order)?,
    };
    Ok(DecisionContent {
        content: Some(content),
        target,
    })
}

fn target_of(interrupt: &Interrupt, order: &DecisionOrder) -> Result<Option<RouteName>, Problem> {
    let in_payload = order
        .payload
        .as_ref()
        .and_then(|payload| payload.get("rerouteTo")?.as_str());
    let given = order.reroute_to.as_deref().or(in_payload);
    let reroutes = order.verdict == Verdict::Reroute;
    let known = given.and_then(|given| {
        interrupt
            .routes
            .iter()
            .find(|route| route.as_str() == given)
    });
    match (given, known) {
        (None, _) if !reroutes => Ok(None),
        (Some(_), Some(route)) if reroutes && in_payload.is_none_or(|of| of == route.as_str()) => {
            Ok(Some(route.clone()))
        }
        (given, _) => {
            let routes: Vec<Value> = interrupt
                .routes
                .iter()
                .map(|route| Value::from(route.as_str()))
                .collect();
            let detail = match given {
                Some(given) if reroutes && known.is_some() => format!(
                    "`reroute_to` names `{given}`, and `rerouteTo` in the payload another target"
                ),
                Some(given) if reroutes => format!("`{given}` is not where it can go"),
                Some(_) => "a target is given, and the decision is not `reroute`".to_owned(),
                None => "the decision is `reroute`, and `reroute_to` names no target".to_owned(),
            };
            Err(Problem::new(
                Kind::RouteNotAllowed,
                detail,
                "name one of the routes in `reroute_to`, with the decision `reroute`",
            )
            .with("routes", routes))
        }
    }
}

fn question(
    (interrupt, catalogue): (&Interrupt, Option<&Catalogue>),
    order: &DecisionOrder,
    target: Option<&RouteName>,
) -> Result<String, Problem> {
    let mut answer: Answer = read_payload(order)?;
    if let Some(message) = &order.message {
        if answer.text.is_some() {
            return Err(misfit("/message", "the payload has a `text` already"));
        }
        answer.text = Some(message.clone());
    }
    answer.reroute_to = target.map(|target| target.as_str().to_owned());
    check_choices(interrupt, &answer)?;
    if order.verdict == Verdict::ModifyPlan && !says_something(&answer) {
        return Err(misfit("/payload/text", NO_CHANGE));
    }
    if order.verdict == Verdict::Respond && !says_something(&answer) {
        return Err(misfit(
            "/payload",
            "nothing is chosen, confirmed or written, so there is no answer; `ignore` lets the agent go on without one",
        ));
    }
    match (&answer.edited_request, order.verdict) {
        (Some(request), Verdict::Edit | Verdict::Reroute) => {
            let found = request_misfits(interrupt, catalogue, target, request);
            check_request(&found)?;
        }
        (Some(_), _) => {
            return Err(misfit(
                "/payload/editedRequest",
                "an edited request comes with the decision `edit` or `reroute`",
            ));
        }
        (None, Verdict::Edit) => {
            return Err(misfit(
                "/payload/editedRequest",
                "the decision `edit` needs it",
            ));
        }
        (None, _) => {}
    }
    to_text(&answer)
}

fn pause(order: &DecisionOrder) -> Result<String, Problem> {
    let mut resume: Resume = read_payload(order)?;
    if let Some(message) = &order.message {
        if resume.input.is_some() {
            return Err(misfit("/message", "the payload has an `input` already"));
        }
        resume.input = Some(message.clone());
    }
    let input = resume.input.as_deref().unwrap_or_default();
    if order.verdict == Verdict::ModifyPlan && input.trim().is_empty() {
        return Err(misfit("/payload/plan", NO_CHANGE));
    }
    to_text(&resume)
}

fn read_payload<T: DeserializeOwned + Default>(order: &DecisionOrder) -> Result<T, Problem> {
    match &order.payload {
        None => Ok(T::default()),
        Some(payload @ Value::Object(_)) => {
            T::deserialize(payload).map_err(|error| misfit("/payload", &error.to_string()))
        }
        Some(_) => Err(misfit("/payload", "this is no object")),
    }
}

fn to_text(answer: &impl serde::Serialize) -> Result<String, Problem> {
    serde_json::to_string(answer).map_err(|error| misfit("/payload", &error.to_string()))
}

/// Whether there is anything in it that the agent could read.
fn says_something(answer: &Answer) -> bool {
    let text = answer.text.as_deref().unwrap_or_default();
    !text.trim().is_empty()
        || !answer.selected_choices.is_empty()
        || !answer.confirmations.is_empty()
}

fn check_choices(interrupt: &Interrupt, answer: &Answer) -> Result<(), Problem> {
    // Most answers choose nothing: what was offered is not read for them.
    if answer.selected_choices.is_empty() && answer.confirmations.is_empty() {
        return Ok(());
    }
    let offered = Offered::of(interrupt);
    for (place, given) in answer.selected_choices.iter().enumerate() {
        if answer.selected_choices[..place].contains(given) {
            return Err(misfit(
                "/payload/selectedChoices",
                &format!("`{given}` is chosen twice"),
            ));
        }
        if !offered.choices.iter().any(|choice| choice.value == *given) {
            return Err(misfit(
                "/payload/selectedChoices",
                &format!("`{given}` was not offered"),
            ));
        }
    }
    for given in answer.confirmations.keys() {
        if !offered
            .confirmation_items
            .iter()
            .any(|item| item.id == *given)
        {
            return Err(misfit(
                "/payload/confirmations",
                &format!("there is no item `{given}`"),
            ));
        }
    }
    Ok(())
}

/// A request that a person filled in fits the schema of its target, or is refused with all that is wrong with it.
fn check_request(found: &[Misfit]) -> Result<(), Problem> {
    if found.is_empty() {
        return Ok(());
    }
    let error = |misfit: &Misfit| {
        json!({
            "pointer": format!("/payload/editedRequest{}", misfit.pointer),
            "message": misfit.reason,
        })
    };
    let errors: Vec<Value> = found.iter().map(error).collect();
    Err(Problem::new(
        Kind::ResponseSchema,
        "the edited request does not fit the schema of its target",
        "`response_schema` of the interrupt says what fits",
    )
    .with("errors", errors))
}

pub(super) fn misfit(pointer: &str, message: &str) -> Problem {
    Problem::new(
        Kind::ResponseSchema,
        format!("{pointer}: {message}"),
        "`response_schema` of the interrupt says what fits",
    )
    .with("errors", json!([{"pointer": pointer, "message": message}]))
}
