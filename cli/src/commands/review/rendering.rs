//! One interrupt as people see it.

use control::Destination;
use interrupt_router::AnswerForm;
use interrupt_router::handler::ReviewDecision;
use interrupts::life::{ExpiryOutcome, Family, Interrupt, State, Verdict};
use journal::Suggestion;

use crate::address::full;
use crate::advice::advised;
use crate::asking;
use crate::layout::screen_size;
use crate::palette::{Palette, Tone};
use crate::question;
use crate::quoted::quoted;
use crate::refused::decided;
use crate::reviewer::Alone;
use crate::state_words::state_words;
use crate::time::instant;
use crate::view::{in_words, kept_json};
use crate::visible::visible_line;

/// Everything known of it.
pub(super) fn page(
    interrupt: &Interrupt,
    suggestion: Option<&Suggestion>,
    palette: Palette,
) -> String {
    let mut facts = vec![
        ("state", state(interrupt)),
        ("type", interrupt.interrupt_type.to_string()),
        ("agent", full(interrupt.run, &interrupt.node)),
        ("of kind", interrupt.kind.to_string()),
        ("asked by", interrupt.requested_by.name.to_string()),
        ("requested", instant(interrupt.requested_at)),
    ];
    for asking in asking::lines(interrupt) {
        facts.push(("asking", asking));
    }
    if let Some(at) = interrupt.acknowledged_at {
        facts.push(("confirmed", instant(at)));
    }
    if let Some(at) = interrupt.due_at() {
        let mut outcome = interrupt.on_expiry.verdict().name().to_owned();
        if let ExpiryOutcome::Reroute { target } = &interrupt.on_expiry {
            outcome.push_str(&format!(" to {target}"));
        }
        facts.push(("expires", format!("{}, then: {outcome}", instant(at))));
    }
    if let Some(bound) = &interrupt.bound {
        facts.push(("reroute", format!("to {} by {}", bound.target, bound.event)));
    }
    if let Some(review) = &interrupt.review {
        facts.push(("shown", review.shown.to_string()));
        if let Some(claim) = &review.claim {
            let until = instant(claim.until);
            facts.push(("claimed by", format!("{} until {until}", claim.by)));
        }
    }
    if let Some(by) = interrupt.held_by {
        facts.push(("held by", by.to_string()));
    }
    if let Some(error) = &interrupt.last_error {
        facts.push(("last error", error.clone()));
    }
    if let Some(suggestion) = suggestion {
        facts.push(("suggestion", suggested(suggestion)));
    }
    if let Some(decision) = &interrupt.decision {
        facts.push(("decision", decided(decision)));
        if let Some(content) = &decision.content {
            facts.push(("answer", in_words(&kept_json(content))));
        }
    }
    let mut text = format!(
        "{}\n",
        palette.paint(Tone::Strong, &interrupt.id.to_string())
    );
    for (name, value) in facts {
        let name = palette.paint(Tone::Faint, &format!("{name:>11}"));
        text.push_str(&format!("{name}  {}\n", visible_line(&value)));
    }
    text + &asked_text(interrupt, palette) + &how(interrupt)
}

/// What a model would have decided.
fn suggested(suggestion: &Suggestion) -> String {
    let ReviewDecision {
        selected_choices,
        text,
        confirmations,
        confidence,
    } = &suggestion.answer;
    let mut said = selected_choices.clone();
    said.extend(confirmations.iter().map(|item| {
        let word = if item.confirmed { "yes" } else { "no" };
        format!("{}: {word}", item.id)
    }));
    said.extend((!text.is_empty()).then(|| text.clone()));
    format!("{} (a model, {confidence} % sure)", said.join("; "))
}

fn state(interrupt: &Interrupt) -> String {
    format!(
        "{}, version {}",
        state_words(interrupt.state),
        interrupt.version
    )
}

/// What it asks: its question if it has one, else its reason.
fn asked_text(interrupt: &Interrupt, palette: Palette) -> String {
    match question::question(interrupt) {
        Ok(question) => {
            let page = Alone::new(palette).page(&question);
            let goes = visible_line(&Destination::of(interrupt).to_string());
            format!("{page}\n    {}\n", palette.paint(Tone::Faint, &goes))
        }
        Err(_no_question) => {
            let (columns, _rows) = screen_size();
            let author = format!("    {} writes:", interrupt.requested_by.name);
            let reason = question::reason(interrupt);
            let words = quoted((Tone::Plain, &reason), columns, "    ").into_iter();
            let words: String = words.map(|(_tone, line)| line + "\n").collect();
            format!("\n{}\n{words}", palette.paint(Tone::Faint, &author))
        }
    }
}

fn how(interrupt: &Interrupt) -> String {
    advised(&way_on(interrupt))
}

fn way_on(interrupt: &Interrupt) -> String {
    match (interrupt.state, interrupt.family()) {
        (State::AwaitingReview, Family::Question) => {
            let allowed: Vec<Verdict> = interrupt.verdicts().collect();
            let is_tool = question::matter(interrupt).is_some();
            let decision = match allowed.as_slice() {
                [Verdict::Edit, ..] if !is_tool && !allowed.contains(&Verdict::Respond) => {
                    r#"edit --payload '{"editedRequest": ...}'"#.to_owned()
                }
                allowed if !is_tool && allowed.contains(&Verdict::Respond) => {
                    let is_choice = interrupt.details().form() == Some(AnswerForm::OneOf);
                    let said = if is_choice {
                        "--choose VALUE"
                    } else {
                        "--message TEXT"
                    };
                    format!("respond {said}")
                }
                allowed => {
                    let names: Vec<&str> = allowed.iter().copied().map(Verdict::name).collect();
                    names.join("|")
                }
            };
            format!(
                "\nDecide with: irq review {} --decision {decision}\n",
                interrupt.id
            )
        }
        (State::AwaitingReview, Family::Stop) => {
            format!("\nGo on with: irq resume {}\n", interrupt.run)
        }
        (State::DeadLettered, _) => format!(
            "\nTry again with: irq redrive {0}\nGive up with: irq withdraw {0}\n",
            interrupt.id
        ),
        (
            State::Requested
            | State::Delivered
            | State::Acknowledged
            | State::Resolved
            | State::Rerouted
            | State::Expired
            | State::Cancelled,
            _,
        ) => String::new(),
    }
}
