//! The keys of a review.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "most of a keyboard's keys mean nothing here, and what they mean would not be told from nothing"
)]

use crossterm::event::{KeyCode, KeyEvent};
use interrupt_router::{ConfirmationItem, InterruptId};
use interrupts::RouteName;
use interrupts::life::{Family, Interrupt, Verdict};
use tui_input::Input;

use super::action::Action;
use super::key::ask;
use super::modal::{Modal, PlanChange};
use super::overlay::{Overlay, Purpose};
use super::state::{Screen, ScreenState};
use crate::question;

/// What a key does in the review of an interrupt; `None` for a key that it has no use for.
pub(super) fn key(state: &mut ScreenState, id: InterruptId, key: KeyEvent) -> Option<Vec<Action>> {
    let interrupt = state.snapshot.interrupt(id)?.clone();
    Some(match key.code {
        KeyCode::Char('a') => decide(state, id, approval(&interrupt), None),
        KeyCode::Char('r') => prompt(state, "answer", Purpose::Respond(id)),
        KeyCode::Char('m') => prompt(state, "change of plan", Purpose::ModifyPlan(id)),
        KeyCode::Char('x') => confirm(state, id, Verdict::Reject, "Reject it?"),
        KeyCode::Char('i') => confirm(state, id, Verdict::Ignore, "Skip it?"),
        KeyCode::Char('e') => vec![Action::Edit { interrupt: id }],
        KeyCode::Char('R') => pick(state, &interrupt),
        KeyCode::Char('c') => vec![Action::Claim {
            interrupt: id,
            version: interrupt.version,
            take: interrupt
                .review
                .as_ref()
                .is_none_or(|review| review.claim_at(state.now).is_none()),
        }],
        KeyCode::Char('u') => {
            if !state.draft(id).undo() {
                state.tell("Nothing to undo; what was submitted stands.");
            }
            Vec::new()
        }
        KeyCode::Char('n') => step(state, id, 1),
        KeyCode::Char('p') => step(state, id, -1),
        KeyCode::Char(digit @ '1'..='9') => {
            choose(state, &interrupt, digit);
            Vec::new()
        }
        KeyCode::Enter if !state.draft(id).is_empty() => decide(state, id, Verdict::Respond, None),
        _ => return None,
    })
}

/// The verdict that lets an interrupt continue as it is.
fn approval(interrupt: &Interrupt) -> Verdict {
    match interrupt.family() {
        Family::Question => Verdict::Approve,
        Family::Stop => Verdict::Resume,
    }
}

fn prompt(state: &mut ScreenState, label: &'static str, purpose: Purpose) -> Vec<Action> {
    ask(state, label, purpose);
    Vec::new()
}

fn confirm(
    state: &mut ScreenState,
    id: InterruptId,
    verdict: Verdict,
    question: &str,
) -> Vec<Action> {
    let actions = decide(state, id, verdict, None);
    if !actions.is_empty() {
        state.overlay = Some(Overlay::Confirm {
            question: question.to_owned(),
            actions,
            over: None,
        });
    }
    Vec::new()
}

fn pick(state: &mut ScreenState, interrupt: &Interrupt) -> Vec<Action> {
    state.overlay = Some(Overlay::Routes {
        interrupt: interrupt.id,
        routes: interrupt.routes.clone(),
        at: 0,
    });
    Vec::new()
}

/// The keys of the list of targets.
pub(super) fn in_routes(
    state: &mut ScreenState,
    interrupt: InterruptId,
    routes: Vec<RouteName>,
    at: usize,
    key: KeyEvent,
) -> Vec<Action> {
    let last = routes.len().saturating_sub(1);
    let at = match key.code {
        KeyCode::Esc => return Vec::new(),
        KeyCode::Char('j') | KeyCode::Down => (at + 1).min(last),
        KeyCode::Char('k') | KeyCode::Up => at.saturating_sub(1),
        KeyCode::Enter => {
            let target = routes.get(at).cloned();
            return decide_to(state, interrupt, Verdict::Reroute, None, target);
        }
        _ => at,
    };
    state.overlay = Some(Overlay::Routes {
        interrupt,
        routes,
        at,
    });
    Vec::new()
}

/// The keys of an item that is to be confirmed or refused: nothing but a yes or a no is one.
pub(super) fn in_item(
    state: &mut ScreenState,
    (interrupt, verdict, text): (InterruptId, Verdict, Option<String>),
    item: Box<ConfirmationItem>,
    key: KeyEvent,
) -> Vec<Action> {
    match key.code {
        KeyCode::Char(said @ ('y' | 'Y' | 'n' | 'N')) => {
            let confirmed = said.eq_ignore_ascii_case(&'y');
            state.draft(interrupt).say(&item.id, confirmed);
            decide(state, interrupt, verdict, text)
        }
        KeyCode::Esc => {
            state.draft(interrupt).unsay();
            state.tell("Nothing was sent.");
            Vec::new()
        }
        _ => {
            state.overlay = Some(Overlay::Item {
                interrupt,
                verdict,
                text,
                item,
            });
            Vec::new()
        }
    }
}

/// The next or the last interrupt of the inbox.
fn step(state: &mut ScreenState, id: InterruptId, by: isize) -> Vec<Action> {
    let ids: Vec<InterruptId> = state.inbox().iter().map(|interrupt| interrupt.id).collect();
    let at = ids.iter().position(|other| *other == id);
    let next = at
        .and_then(|at| at.checked_add_signed(by))
        .and_then(|at| ids.get(at));
    match next {
        Some(next) => {
            state.screen = Screen::Review(*next);
            state.at = 0;
        }
        None => state.tell("There is no other one."),
    }
    Vec::new()
}

fn choose(state: &mut ScreenState, interrupt: &Interrupt, digit: char) {
    let index = usize::from(digit as u8 - b'1');
    let question = question::question(interrupt);
    let details = question.map_or_else(|_failure| interrupt.details(), |it| it.details);
    if index < details.choices.len() {
        state.draft(interrupt.id).toggle(index, details.form());
    } else {
        state.tell(format!("There is no choice {digit}."));
    }
}

/// The decision about what is shown, as an action; nothing if that decision is not possible.
pub(super) fn decide(
    state: &mut ScreenState,
    id: InterruptId,
    verdict: Verdict,
    text: Option<String>,
) -> Vec<Action> {
    decide_to(state, id, verdict, text, None)
}

/// The plan is to be changed: of a plan of steps the change is shown first, in the window of its interrupt.
pub(super) fn modify_plan(state: &mut ScreenState, id: InterruptId, text: &str) -> Vec<Action> {
    let Some(interrupt) = state.snapshot.interrupt(id).cloned() else {
        state.warn("It has ended.");
        return Vec::new();
    };
    let change = state.change_of(interrupt.run);
    let is_shown_first = interrupt.family() == Family::Stop && change != PlanChange::Unneeded;
    if !is_shown_first {
        return decide(state, id, Verdict::ModifyPlan, Some(text.to_owned()));
    }
    let node = Some(interrupt.node.clone());
    let draft = Input::new(text.to_owned());
    let mut modal = Modal::new(interrupt.run, node, draft, state.now, change);
    modal.interrupt = Some(id);
    modal.chosen = modal.submitted();
    match state.wanted(&modal) {
        Some(action) => state.carry_out(Box::new(modal), action),
        None => {
            state.overlay = Some(Overlay::Modal(Box::new(modal)));
            Vec::new()
        }
    }
}

fn decide_to(
    state: &mut ScreenState,
    id: InterruptId,
    verdict: Verdict,
    text: Option<String>,
    target: Option<RouteName>,
) -> Vec<Action> {
    let Some(interrupt) = state.snapshot.interrupt(id).cloned() else {
        state.warn("It has ended.");
        return Vec::new();
    };
    // For a stop it is no decision: its agent is asked to interrupt itself, and continues.
    let is_published = interrupt.family() == Family::Stop && target.is_some();
    if !is_published && !interrupt.verdicts().any(|allowed| allowed == verdict) {
        state.warn(format!("It does not take `{}`.", verdict.name()));
        return Vec::new();
    }
    let Some(review) = &interrupt.review else {
        state.warn("It does not wait for a person.");
        return Vec::new();
    };
    if interrupt.family() == Family::Stop {
        if let Some(target) = target {
            return vec![Action::RerouteAgent {
                run: interrupt.run,
                node: interrupt.node,
                interrupt: id,
                target,
            }];
        }
        return vec![Action::Resume {
            run: interrupt.run,
            interrupt: id,
            input: text,
        }];
    }
    let question = match question::question(&interrupt) {
        Ok(question) => question,
        Err(failure) => {
            state.warn(failure.to_string());
            return Vec::new();
        }
    };
    let says_yes_or_no = matches!(verdict, Verdict::Approve | Verdict::Respond);
    if says_yes_or_no && let Some(item) = state.draft(id).unsaid(&question) {
        let item = Box::new(item);
        state.overlay = Some(Overlay::Item {
            interrupt: id,
            verdict,
            text,
            item,
        });
        return Vec::new();
    }
    let mut answer = state.draft(id).answer(&question, text);
    answer.reroute_to = target.as_ref().map(ToString::to_string);
    vec![Action::Decide {
        interrupt: id,
        version: interrupt.version,
        shown: review.shown,
        verdict,
        target,
        answer,
    }]
}
