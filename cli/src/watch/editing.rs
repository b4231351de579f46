//! Filling in a request in the person's own editor.

use std::io;

use interrupts::life::Verdict;
use llm::JsonSchemaConstraints;
use routing_core::InterruptId;
use routing_core::review::Answer;

use super::action::Action;
use super::state::State;
use crate::asked;
use crate::exit::{Exit, Failure};
use crate::palette::Palette;
use crate::reviewer::Alone;

/// The decision with the request that the person wrote; `None` where they went back.
///
/// # Errors
///
/// Where there is no editor, the interrupt has ended, or what was written does not fit.
pub(super) fn edit(state: &State, id: InterruptId) -> Result<Option<Action>, Failure> {
    let gone = || Failure::new(Exit::Conflict, "it does not wait for a person any more");
    let interrupt = state.snapshot.interrupt(id).ok_or_else(gone)?;
    let review = interrupt.review.as_ref().ok_or_else(gone)?;
    let question = asked::question(interrupt)?;
    let alone = Alone::new(Palette::for_stream(&io::stderr(), true));
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
    asked::check(&answer, &question, &JsonSchemaConstraints::new())
        .map_err(|problem| Failure::new(Exit::Usage, problem))?;
    Ok(Some(Action::Decide {
        interrupt: id,
        version: interrupt.version,
        shown: review.shown,
        verdict: Verdict::Edit,
        target: None,
        answer,
    }))
}
