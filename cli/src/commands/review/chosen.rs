//! What a person chose: on the command line, in a conversation, in an editor.

use std::io::Read;

use control::{DecisionParts, not_open};
use interrupt_router::review::Answer;
use interrupts::RouteName;
use interrupts::life::{Family, Interrupt, Verdict};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::arguments::ReviewArguments;
use crate::exit::{Exit, Failure};
use crate::keyboard::DraftAnswer;
use crate::question;
use crate::refused::by_invalid;
use crate::reviewer::{Alone, Reply, Typed};

/// The most bytes of an answer.
const LONGEST: u64 = 1 << 20;

/// What the command line chooses.
///
/// # Errors
///
/// [`Exit::Usage`] if the parts do not make a decision of this interrupt.
pub(super) fn of_arguments(
    interrupt: &Interrupt,
    verdict: Verdict,
    arguments: &ReviewArguments,
) -> anyhow::Result<DecisionParts> {
    let payload = match &arguments.payload {
        Some(payload) => Some(read_payload(payload)?),
        None => said(arguments),
    };
    let parts = DecisionParts {
        verdict,
        payload,
        message: arguments.message.clone(),
        reroute_to: arguments.to.as_ref().map(RouteName::to_string),
    };
    Ok(fitting(interrupt, parts)?)
}

/// What is chosen and confirmed by arguments of its own; `None` if nothing is.
fn said(arguments: &ReviewArguments) -> Option<Value> {
    if arguments.choose.is_empty() && arguments.confirm.is_empty() {
        return None;
    }
    let confirmations: Map<String, Value> = arguments
        .confirm
        .iter()
        .map(|(id, said)| (id.clone(), Value::from(*said)))
        .collect();
    Some(json!({"selectedChoices": arguments.choose, "confirmations": confirmations}))
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

/// These parts, if they make a decision of this interrupt.
///
/// # Errors
///
/// [`Exit::Usage`] if they do not fit the question, [`Exit::Conflict`] if nothing is asked any more.
pub(super) fn fitting(
    interrupt: &Interrupt,
    parts: DecisionParts,
) -> Result<DecisionParts, Failure> {
    if let Some(refusal) = not_open(interrupt, Timestamp::now()) {
        return Err(refusal.into());
    }
    match question::content(interrupt, &parts) {
        Ok(_fits) => Ok(parts),
        Err(error) => Err(by_invalid(interrupt, parts.verdict, &error)),
    }
}

/// What a typed answer chooses.
///
/// # Errors
///
/// In words, what does not fit.
fn of_answer(interrupt: &Interrupt, answer: &Answer) -> Result<DecisionParts, String> {
    let verdict = verdict_of(interrupt, answer)?;
    DecisionParts::with_answer(verdict, answer)
        .and_then(|parts| question::content(interrupt, &parts).map(|_fits| parts))
        .map_err(|error| error.to_string())
}

/// The verdict of an answer. An empty answer decides nothing about a tool.
///
/// # Errors
///
/// In words, what a clear answer would be.
fn verdict_of(interrupt: &Interrupt, answer: &Answer) -> Result<Verdict, String> {
    match question::matter(interrupt) {
        Some(matter) => matter
            .verdict(answer)
            .ok_or_else(|| "choose one of the choices, or edit what is shown".to_owned()),
        None => Ok(answer.verdict()),
    }
}

/// Asks the person at the terminal, who types where `typed` says and may have begun before. Blocks.
///
/// # Errors
///
/// If the terminal is broken, or the interrupt belongs to a workflow that this program does not know.
pub(in crate::commands) fn of_person(
    interrupt: &Interrupt,
    alone: Alone,
    (typed, begun): (&dyn Typed, Option<DraftAnswer>),
) -> anyhow::Result<Reply<DecisionParts>> {
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
            ..DecisionParts::new(verdict)
        };
        return Ok(Reply::Given(fitting(interrupt, parts)?));
    }
    let question = question::question(interrupt)?;
    let answer = alone.answer(&question, (typed, begun), |answer| {
        of_answer(interrupt, answer).map(drop)
    })?;
    Ok(match answer {
        Reply::Given(answer) => {
            let chosen = of_answer(interrupt, &answer);
            Reply::Given(chosen.map_err(|problem| Failure::new(Exit::Usage, problem))?)
        }
        Reply::Left => Reply::Left,
        Reply::Escaped(begun) => Reply::Escaped(begun),
        Reply::Withdrawn => Reply::Withdrawn,
    })
}

/// Lets the person write the target's request; `None` if nothing was written. Blocks.
///
/// # Errors
///
/// If there is no editor, or what was written does not fit.
pub(super) fn of_editor(
    interrupt: &Interrupt,
    alone: Alone,
) -> anyhow::Result<Option<DecisionParts>> {
    if let Some(refusal) = not_open(interrupt, Timestamp::now()) {
        return Err(Failure::from(refusal).into());
    }
    let question = question::question(interrupt)?;
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
    let parts = DecisionParts::with_answer(Verdict::Edit, &answer);
    let parts = parts.map_err(|error| by_invalid(interrupt, Verdict::Edit, &error))?;
    Ok(Some(fitting(interrupt, parts)?))
}
