//! The form of a reviewer who came too late: it can still be read, and copied to where it is wanted.

use control::QuestionContent;
use maud::{Markup, html};

use super::CONFIRM;
use crate::body::FormFields;
use crate::page::form;
use crate::page::matter::words_of;
use crate::visible::visible;
use crate::wire::label;

/// What was filled in, beside the decision that won; nothing if nothing was filled in.
pub(super) fn kept(question: &QuestionContent, filled: Option<&FormFields>) -> Markup {
    let said: Vec<(String, String)> = filled
        .into_iter()
        .flat_map(|fields| &fields.0)
        .filter(|(_name, value)| !value.trim().is_empty())
        .filter_map(|(name, value)| named(question, filled, name, value))
        .collect();
    html! {
        @if !said.is_empty() {
            section aria-labelledby="kept" data-testid="kept" {
                h2 id="kept" { "What you had filled in" }
                p.hint { "It was not sent to the agent." }
                dl { @for (name, value) in &said { dt { (visible(name)) } dd { div.text { (visible(value)) } } } }
            }
        }
    }
}

/// A field in the words of the form; `None` if a person has not filled it in.
fn named(
    question: &QuestionContent,
    filled: Option<&FormFields>,
    name: &str,
    value: &str,
) -> Option<(String, String)> {
    let of = |name: &str| Some((name.to_owned(), value.to_owned()));
    if let Some(id) = name.strip_prefix(CONFIRM) {
        let items = &question.details.confirmation_items;
        let prompt = items.iter().find(|item| item.id == id);
        return of(prompt.map_or(id, |item| &item.prompt));
    }
    if let Some(field) = name.strip_prefix(form::PREFIX) {
        return of(&words_of(field));
    }
    let decided = filled.and_then(|fields| fields.first("decision"));
    match name {
        "decision" => Some(("Your decision".to_owned(), label(value))),
        "choice" => {
            let choice = question
                .details
                .choices
                .iter()
                .find(|choice| choice.value == value);
            let shown = choice.map_or(value, |choice| &choice.label);
            Some(("Chosen".to_owned(), shown.to_owned()))
        }
        "text" => of("In your own words"),
        "plan" => of("The steps of the plan"),
        // It is preset, and counts only with its own button.
        "reroute_to" if decided == Some("reroute") => Some(("To".to_owned(), label(value))),
        "remember" => Some(("Remembered for".to_owned(), label(value))),
        _ => None,
    }
}
