//! What somebody chose: from the command line, from a conversation, from an editor.

use std::io::Read;

use interrupts::RouteName;
use interrupts::life::{Family, Interrupt, Verdict};
use planning::{PlanRevision, plan_kind};
use routing_core::review::{Answer, Resume};
use serde_json::Value;

use super::deciding::not_open;
use crate::arguments::{ReviewArguments, verdict_name};
use crate::asked;
use crate::exit::{Exit, Failure};
use crate::keyboard::DraftAnswer;
use crate::reviewer::{Alone, Reply, Typed};

/// The most bytes of an answer.
const LONGEST: u64 = 1 << 20;

/// Why a change of a plan is none.
const NO_CHANGE: &str = "neither steps nor words change the plan";

/// How a plan is changed.
const CHANGED_PLAN: &str = "write {\"plan\":[\"one step\",\"another\"]}, or --message TEXT";

/// A decision that was not made yet.
#[derive(Debug, Clone)]
pub(in crate::commands) struct Chosen {
    /// What.
    pub(in crate::commands) verdict: Verdict,
    /// Where to, with a reroute.
    pub(in crate::commands) target: Option<RouteName>,
    /// The answer, as JSON.
    pub(in crate::commands) content: Option<String>,
}

/// The parts of a decision as somebody wrote them.
#[derive(Debug, Default)]
pub(super) struct DecisionParts {
    /// The answer.
    pub(super) payload: Option<Value>,
    /// The answer in words.
    pub(super) message: Option<String>,
    /// Where to.
    pub(super) to: Option<String>,
}

/// What the command line chooses.
///
/// # Errors
///
/// [`Exit::Usage`] where the parts do not make a decision of this interrupt.
pub(super) fn of_arguments(
    interrupt: &Interrupt,
    verdict: Verdict,
    arguments: &ReviewArguments,
) -> anyhow::Result<Chosen> {
    let payload = match &arguments.payload {
        Some(payload) => Some(read_payload(payload)?),
        None => None,
    };
    let parts = DecisionParts {
        payload,
        message: arguments.message.clone(),
        to: arguments.to.as_ref().map(RouteName::to_string),
    };
    Ok(of_parts(interrupt, verdict, parts)?)
}

fn read_payload(given: &str) -> anyhow::Result<Value> {
    let text = if given == "-" {
        let mut text = String::new();
        std::io::stdin().take(LONGEST).read_to_string(&mut text)?;
        text
    } else if let Some(path) = given.strip_prefix('@') {
        std::fs::read_to_string(path)
            .map_err(|error| Failure::new(Exit::NotFound, format!("cannot read {path}: {error}")))?
    } else {
        given.to_owned()
    };
    let value = serde_json::from_str(&text).map_err(|error| {
        Failure::new(Exit::Usage, format!("--payload is no JSON: {error}"))
            .hint("an answer in words is --message TEXT")
    })?;
    Ok(value)
}

/// What these parts choose.
///
/// # Errors
///
/// As [`of_arguments`].
pub(super) fn of_parts(
    interrupt: &Interrupt,
    verdict: Verdict,
    parts: DecisionParts,
) -> Result<Chosen, Failure> {
    if interrupt.review.is_none() || interrupt.state.is_final() {
        return Err(not_open(interrupt));
    }
    if interrupt.family() == Family::Stop {
        return of_stop(verdict, parts);
    }
    let is_plans = plan_kind(interrupt.kind.as_str()).is_some();
    if is_plans
        && verdict == Verdict::ModifyPlan
        && parts
            .payload
            .as_ref()
            .is_some_and(|it| it.get("plan").is_some())
    {
        return of_stop(verdict, parts);
    }
    let mut answer: Answer = match parts.payload {
        Some(payload) => serde_json::from_value(payload).map_err(|error| {
            Failure::new(Exit::Usage, format!("the payload is no answer: {error}")).hint(
                "an answer has selectedChoices, text, confirmations, editedRequest, rerouteTo",
            )
        })?,
        None => Answer::default(),
    };
    if parts.message.is_some() {
        answer.text = parts.message;
    }
    if parts.to.is_some() {
        answer.reroute_to = parts.to;
    }
    demand(verdict, &answer)?;
    if let Ok(question) = asked::question(interrupt) {
        asked::check(&answer, &question, interrupt)
            .map_err(|problem| Failure::new(Exit::Usage, problem))?;
    }
    chosen(verdict, &answer)
}

/// A stop is not answered but gone on from, perhaps with new input.
fn of_stop(verdict: Verdict, parts: DecisionParts) -> Result<Chosen, Failure> {
    let content = match (parts.payload, parts.message) {
        (Some(payload), None) => Some(input_of(verdict, payload)?),
        (None, Some(input)) => {
            let resume = Resume { input: Some(input) };
            Some(to_json(&resume)?)
        }
        (None, None) => None,
        (Some(_), Some(_)) => {
            let text = "a payload and a message are two answers";
            return Err(Failure::new(Exit::Usage, text));
        }
    };
    if verdict == Verdict::ModifyPlan && !changes_plan(content.as_deref()) {
        return Err(Failure::new(Exit::Usage, NO_CHANGE).hint(CHANGED_PLAN));
    }
    let target = parts.to.map(route).transpose()?;
    Ok(Chosen {
        verdict,
        target,
        content,
    })
}

/// Whether there are steps or words in it.
fn changes_plan(content: Option<&str>) -> bool {
    let content: Value = content
        .and_then(|content| serde_json::from_str(content).ok())
        .unwrap_or_default();
    let words = content.get("input").and_then(Value::as_str);
    let has_steps = content.get("plan").is_some_and(|plan| !plan.is_null());
    has_steps || words.is_some_and(|words| !words.trim().is_empty())
}

/// New input as a payload. A changed plan may say more than what the agent is told.
fn input_of(verdict: Verdict, payload: Value) -> Result<String, Failure> {
    let is_input = if verdict == Verdict::ModifyPlan {
        // What it does to the steps is looked at where it is decided.
        serde_json::from_value::<PlanRevision>(payload.clone()).is_ok()
    } else {
        serde_json::from_value::<Resume>(payload.clone()).is_ok()
    };
    if is_input {
        return Ok(payload.to_string());
    }
    let (text, hint) = if verdict == Verdict::ModifyPlan {
        ("the payload is no change of a plan", CHANGED_PLAN)
    } else {
        (
            "the payload is no new input",
            "write {\"input\":\"…\"}, or --message TEXT",
        )
    };
    Err(Failure::new(Exit::Usage, text).hint(hint))
}

/// Whether the answer has what its verdict says.
fn demand(verdict: Verdict, answer: &Answer) -> Result<(), Failure> {
    let says_something = answer.text.is_some()
        || !answer.selected_choices.is_empty()
        || !answer.confirmations.is_empty();
    let wrong = match verdict {
        Verdict::Reroute if answer.reroute_to.is_none() => "a reroute needs --to AGENT_TYPE",
        Verdict::Edit if answer.edited_request.is_none() => {
            "an edit needs the target's request: --payload '{\"editedRequest\":{…}}', or --edit"
        }
        Verdict::Approve
        | Verdict::Reject
        | Verdict::Respond
        | Verdict::Ignore
        | Verdict::Cancel
        | Verdict::ModifyPlan
        | Verdict::Resume
        | Verdict::Applied
            if answer.edited_request.is_some() =>
        {
            "an edited request comes with --decision edit, or reroute"
        }
        Verdict::ModifyPlan if !says_something => {
            "a change of a plan needs --message TEXT, or --payload '{\"plan\":[…]}'"
        }
        Verdict::Respond if !says_something => {
            "a response needs --message TEXT, or --payload '{\"selectedChoices\":[…]}'"
        }
        Verdict::Approve
        | Verdict::Reject
        | Verdict::Respond
        | Verdict::Ignore
        | Verdict::Cancel
        | Verdict::ModifyPlan
        | Verdict::Resume
        | Verdict::Applied
            if answer.reroute_to.is_some() =>
        {
            "only a reroute goes elsewhere: --decision reroute"
        }
        Verdict::Approve
        | Verdict::Edit
        | Verdict::Reject
        | Verdict::Respond
        | Verdict::Ignore
        | Verdict::Reroute
        | Verdict::ModifyPlan
        | Verdict::Cancel
        | Verdict::Resume
        | Verdict::Applied => return Ok(()),
    };
    Err(Failure::new(Exit::Usage, wrong))
}

/// Whether the interrupt may be decided so.
fn takes(interrupt: &Interrupt, verdict: Verdict) -> Result<(), String> {
    if interrupt.verdicts().any(|allowed| allowed == verdict) {
        return Ok(());
    }
    let allowed: Vec<&str> = interrupt.verdicts().map(verdict_name).collect();
    Err(format!(
        "`{}` is not taken here, but: {}",
        verdict_name(verdict),
        allowed.join(", ")
    ))
}

fn chosen(verdict: Verdict, answer: &Answer) -> Result<Chosen, Failure> {
    let target = match verdict {
        Verdict::Reroute => answer.reroute_to.clone().map(route).transpose()?,
        Verdict::Approve
        | Verdict::Edit
        | Verdict::Reject
        | Verdict::Respond
        | Verdict::Ignore
        | Verdict::ModifyPlan
        | Verdict::Cancel
        | Verdict::Resume
        | Verdict::Applied => None,
    };
    Ok(Chosen {
        verdict,
        target,
        content: Some(to_json(answer)?),
    })
}

fn route(name: String) -> Result<RouteName, Failure> {
    RouteName::new(name).map_err(|error| Failure::new(Exit::Usage, error.to_string()))
}

fn to_json(value: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(|error| Failure::new(Exit::Failure, error.to_string()))
}

/// What an answer amounts to. About a tool nothing is decided by saying nothing.
///
/// # Errors
///
/// In words, what would be clear.
fn verdict_of(interrupt: &Interrupt, answer: &Answer) -> Result<Verdict, String> {
    match asked::matter(interrupt) {
        Some(matter) => matter
            .verdict(answer)
            .ok_or_else(|| "choose one of the choices, or edit what is shown".to_owned()),
        None => Ok(plain_verdict(answer)),
    }
}

fn plain_verdict(answer: &Answer) -> Verdict {
    let says_nothing = answer.text.is_none()
        && answer.selected_choices.is_empty()
        && answer.confirmations.is_empty();
    if answer.reroute_to.is_some() {
        Verdict::Reroute
    } else if answer.edited_request.is_some() {
        Verdict::Edit
    } else if says_nothing {
        Verdict::Approve
    } else {
        Verdict::Respond
    }
}

/// Asks the person at the terminal, who types where it is said and may have begun before. Blocks.
///
/// # Errors
///
/// Where the terminal is broken, or the interrupt is of a workflow that this program does not know.
pub(in crate::commands) fn of_person(
    interrupt: &Interrupt,
    alone: Alone,
    (typed, begun): (&dyn Typed, Option<DraftAnswer>),
) -> anyhow::Result<Reply<Chosen>> {
    if interrupt.family() == Family::Stop {
        let text = alone.pause(interrupt.node.as_str(), &interrupt.reason);
        let Some(line) = alone.line(&text)? else {
            return Ok(Reply::Left);
        };
        let input = Some(line.trim().to_owned()).filter(|input| !input.is_empty());
        let verdict = if input.is_some() {
            Verdict::Respond
        } else {
            Verdict::Resume
        };
        let parts = DecisionParts {
            message: input,
            ..DecisionParts::default()
        };
        return Ok(Reply::Given(of_stop(verdict, parts)?));
    }
    let question = asked::question(interrupt)?;
    let answer = alone.answer(&question, (typed, begun), |answer| {
        takes(interrupt, verdict_of(interrupt, answer)?)?;
        asked::check(answer, &question, interrupt)
    })?;
    Ok(match answer {
        Reply::Given(answer) => {
            let verdict = verdict_of(interrupt, &answer)
                .map_err(|problem| Failure::new(Exit::Usage, problem))?;
            Reply::Given(chosen(verdict, &answer)?)
        }
        Reply::Left => Reply::Left,
        Reply::Escaped(begun) => Reply::Escaped(begun),
        Reply::Withdrawn => Reply::Withdrawn,
    })
}

/// Lets the person write the target's request; `None` where nothing was written. Blocks.
///
/// # Errors
///
/// Where there is no editor, or what was written does not fit.
pub(super) fn of_editor(interrupt: &Interrupt, alone: Alone) -> anyhow::Result<Option<Chosen>> {
    if interrupt.review.is_none() || interrupt.state.is_final() {
        return Err(not_open(interrupt).into());
    }
    let question = asked::question(interrupt)?;
    let edited = alone
        .request(&question)
        .map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
    let Some(request) = edited else {
        return Ok(None);
    };
    let answer = Answer {
        edited_request: Some(request),
        ..Answer::default()
    };
    asked::check(&answer, &question, interrupt)
        .map_err(|problem| Failure::new(Exit::Usage, problem))?;
    Ok(Some(chosen(Verdict::Edit, &answer)?))
}
