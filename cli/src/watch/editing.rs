//! Filling in a request in the person's own editor, or what a tool asks for, field by field.

use std::io;

use control::{DecisionParts, InvalidDecision};
use interrupt_router::InterruptId;
use interrupt_router::review::{Answer, Question};
use interrupts::life::{Interrupt, Review, Verdict};
use journal::tool::ToolQuestionKind;

use super::action::Action;
use super::state::ScreenState;
use crate::exit::{Exit, Failure};
use crate::palette::Palette;
use crate::question;
use crate::refused::by_invalid;
use crate::reviewer::{Alone, StandardInput};

/// The decision with the request that the person wrote; `None` if they went back.
///
/// # Errors
///
/// If there is no editor, the interrupt has ended, or what was written does not fit.
pub(super) fn edit(state: &ScreenState, id: InterruptId) -> Result<Option<Action>, Failure> {
    let gone = || Failure::new(Exit::Conflict, "it does not wait for a person any more");
    let interrupt = state.snapshot.interrupt(id).ok_or_else(gone)?;
    let review = interrupt.review.as_ref().ok_or_else(gone)?;
    let question = question::question(interrupt)?;
    let alone = Alone::new(Palette::for_stream(&io::stderr(), true));
    if ToolQuestionKind::of(&question) == Some(ToolQuestionKind::Input) {
        return filled_in(interrupt, review, &question, alone);
    }
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
    check(interrupt, Verdict::Edit, &answer)
        .map_err(|error| by_invalid(interrupt, Verdict::Edit, &error))?;
    Ok(Some(decided(interrupt, review, Verdict::Edit, answer)))
}

/// The decision with what the person typed, field by field.
fn filled_in(
    interrupt: &Interrupt,
    review: &Review,
    question: &Question,
    alone: Alone,
) -> Result<Option<Action>, Failure> {
    let reply = alone
        .answer(question, (&StandardInput, None), |answer| {
            check(interrupt, verdict_of(answer), answer).map_err(|error| error.to_string())
        })
        .map_err(|error| Failure::new(Exit::Failure, error.to_string()))?;
    let Some(answer) = reply.given() else {
        return Ok(None);
    };
    Ok(Some(decided(
        interrupt,
        review,
        verdict_of(&answer),
        answer,
    )))
}

const fn verdict_of(answer: &Answer) -> Verdict {
    if answer.edited_request.is_some() {
        Verdict::Edit
    } else {
        Verdict::Reject
    }
}

fn check(interrupt: &Interrupt, verdict: Verdict, answer: &Answer) -> Result<(), InvalidDecision> {
    let parts = DecisionParts::with_answer(verdict, answer)?;
    question::content(interrupt, &parts).map(drop)
}

fn decided(interrupt: &Interrupt, review: &Review, verdict: Verdict, answer: Answer) -> Action {
    Action::Decide {
        interrupt: interrupt.id,
        version: interrupt.version,
        shown: review.shown,
        verdict,
        target: None,
        answer,
    }
}
