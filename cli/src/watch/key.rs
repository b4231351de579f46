//! What each key does on each screen.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "most of a keyboard's keys mean nothing here, and what they mean would not be told from nothing"
)]

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use interrupt_router::{NodeId, RunId};
use interrupts::life::{Family, RunState, Verdict};
use tui_input::Input;
use tui_input::backend::crossterm::EventHandler;

use super::action::Action;
use super::modal::Modal;
use super::modal_key::in_modal;
use super::overlay::{Overlay, Purpose};
use super::review;
use super::seen::DecisionSubject;
use super::state::{Screen, ScreenState, TreeRow};
use crate::advice::continuing_as;

/// What a terminal's event means.
pub(super) fn pressed(state: &mut ScreenState, event: &Event) -> Vec<Action> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => press(state, *key),
        Event::Paste(text) => {
            paste(state, text);
            Vec::new()
        }
        Event::Key(_)
        | Event::Resize(_, _)
        | Event::FocusGained
        | Event::FocusLost
        | Event::Mouse(_) => Vec::new(),
    }
}

/// A pasted text goes where text is written; it is never read as keys.
fn paste(state: &mut ScreenState, text: &str) {
    // One line is what a field shows.
    let line: String = text
        .chars()
        .map(|character| {
            if character.is_control() {
                ' '
            } else {
                character
            }
        })
        .collect();
    let field = match &mut state.overlay {
        Some(Overlay::Modal(modal)) => {
            modal.is_rewritten();
            Some(&mut modal.text)
        }
        Some(Overlay::Prompt { text, .. }) => Some(text),
        Some(Overlay::Confirm { .. } | Overlay::Item { .. } | Overlay::Routes { .. }) | None => {
            None
        }
    };
    if let Some(field) = field {
        for character in line.chars() {
            let _changed = field.handle(tui_input::InputRequest::InsertChar(character));
        }
    }
}

fn press(state: &mut ScreenState, key: KeyEvent) -> Vec<Action> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let has_left = std::mem::take(&mut state.has_left);
    match key.code {
        KeyCode::Char('c') if control => return control_c(state),
        KeyCode::Char('d') if control => return state.quit(),
        _ => {}
    }
    if let Some(subject) = DecisionSubject::of(state)
        && subject.is_to_be_read_before(key.code)
        && !state.seen.is_read(&subject, state.now)
    {
        state.tell("That was typed before you could read it: look, and press it again.");
        return Vec::new();
    }
    match state.overlay.take() {
        Some(Overlay::Modal(modal)) => in_modal(state, modal, key),
        Some(Overlay::Confirm {
            question,
            actions,
            over,
        }) => in_confirm(state, question, actions, over, key),
        Some(Overlay::Item {
            interrupt,
            verdict,
            text,
            item,
        }) => review::in_item(state, (interrupt, verdict, text), item, key),
        Some(Overlay::Routes {
            interrupt,
            routes,
            at,
        }) => review::in_routes(state, interrupt, routes, at, key),
        Some(Overlay::Prompt {
            label,
            text,
            purpose,
        }) => in_prompt(state, label, text, purpose, key),
        // What is chosen is being carried out; the screens go then.
        None if state.is_visit => Vec::new(),
        None if key.code == KeyCode::Esc => escape(state, has_left),
        None => on_screen(state, key),
    }
}

/// Ctrl+C: closes a line of text and keeps it; makes a pause that is under way immediate; otherwise leaves at the second press.
fn control_c(state: &mut ScreenState) -> Vec<Action> {
    if let Some(Overlay::Modal(modal)) = &mut state.overlay
        && let Some(interrupt) = modal.interrupt
        && !modal.hardened
    {
        modal.hardened = true;
        return vec![Action::Harden { interrupt }];
    }
    if let Some(Overlay::Prompt { text, purpose, .. }) = state.overlay.take_if(is_prompt) {
        remember_text(state, purpose, &text);
        state.tell("Kept as it is written; the same key opens it again.");
        return Vec::new();
    }
    state.leave()
}

const fn is_prompt(overlay: &mut Overlay) -> bool {
    matches!(overlay, Overlay::Prompt { .. })
}

/// The words of a line that is closed are there when it is opened again.
fn remember_text(state: &mut ScreenState, purpose: Purpose, text: &Input) {
    match purpose {
        Purpose::Respond(id) => state.draft(id).words = text.clone(),
        Purpose::ModifyPlan(id) => state.draft(id).change = text.clone(),
    }
}

/// Esc with nothing open: interrupts the focused agent, and opens its window at once. In a review or the help, it
/// leaves that. Pressed once more, or among the questions, it asks first.
pub(super) fn escape(state: &mut ScreenState, has_left: bool) -> Vec<Action> {
    match state.screen {
        Screen::Help => {
            state.has_left = state.go_back();
            return Vec::new();
        }
        Screen::Review(_) => {
            state.has_left = true;
            if !state.go_back() {
                state.go(Screen::Inbox);
            }
            return Vec::new();
        }
        Screen::Agents | Screen::Run(_) | Screen::Inbox => {}
    }
    let Some((run, node)) = state.to_interrupt() else {
        let is_paused = state
            .focused()
            .and_then(|(run, _node)| state.snapshot.run(run))
            .filter(|view| view.run.state == RunState::Paused);
        match is_paused {
            Some(view) => {
                let id = super::draw::short(&view.run.id.to_string());
                let told = format!(
                    "It is paused already. To go on: {}",
                    continuing_as(&view.run, &id)
                );
                state.tell(told);
            }
            None if state.marked.has_gone => {
                state.tell("What was marked has gone; ↑ and ↓ mark something else.");
            }
            None => state.tell("Nothing runs here. q goes back, Ctrl+D leaves."),
        }
        return Vec::new();
    };
    if has_left || state.screen == Screen::Inbox {
        let grace = state.grace;
        let who = node
            .as_ref()
            .map_or_else(|| run.to_string(), NodeId::to_string);
        state.overlay = Some(Overlay::Confirm {
            question: format!("Pause {who}?"),
            actions: vec![Action::Interrupt { run, node, grace }],
            over: None,
        });
        return Vec::new();
    }
    interrupt(state, run, node)
}

/// Asks for a pause and opens its window, with what was written in an earlier one and not sent.
fn interrupt(state: &mut ScreenState, run: RunId, node: Option<NodeId>) -> Vec<Action> {
    let change = state.change_of(run);
    let words = state.take_words(run);
    let modal = Modal::new(run, node.clone(), words, state.now, change);
    state.overlay = Some(Overlay::Modal(Box::new(modal)));
    vec![Action::Interrupt {
        run,
        node,
        grace: state.grace,
    }]
}

fn in_confirm(
    state: &mut ScreenState,
    question: String,
    actions: Vec<Action>,
    over: Option<Box<Modal>>,
    key: KeyEvent,
) -> Vec<Action> {
    match key.code {
        KeyCode::Char('y' | 'Y') => {
            if let Some(modal) = over {
                state.keep_words(modal.run, &modal.text);
            }
            match actions.as_slice() {
                [Action::Interrupt { run, node, .. }] => interrupt(state, *run, node.clone()),
                _ => actions,
            }
        }
        KeyCode::Char('n' | 'N') | KeyCode::Esc => {
            state.overlay = over.map(Overlay::Modal);
            state.tell("Nothing was done.");
            Vec::new()
        }
        _ => {
            state.overlay = Some(Overlay::Confirm {
                question,
                actions,
                over,
            });
            Vec::new()
        }
    }
}

fn in_prompt(
    state: &mut ScreenState,
    label: &'static str,
    mut text: Input,
    purpose: Purpose,
    key: KeyEvent,
) -> Vec<Action> {
    match key.code {
        KeyCode::Esc => {
            remember_text(state, purpose, &text);
            Vec::new()
        }
        KeyCode::Enter => {
            // If it is refused, it can be edited.
            remember_text(state, purpose, &text);
            submit(state, text.value().trim(), purpose)
        }
        _ => {
            let _changed = text.handle_event(&Event::Key(key));
            state.overlay = Some(Overlay::Prompt {
                label,
                text,
                purpose,
            });
            Vec::new()
        }
    }
}

fn submit(state: &mut ScreenState, text: &str, purpose: Purpose) -> Vec<Action> {
    match purpose {
        Purpose::Respond(id) => review::decide(state, id, Verdict::Respond, Some(text.to_owned())),
        Purpose::ModifyPlan(id) => review::modify_plan(state, id, text),
    }
}

fn on_screen(state: &mut ScreenState, key: KeyEvent) -> Vec<Action> {
    if let Screen::Review(id) = state.screen
        && let Some(actions) = review::key(state, id, key)
    {
        return actions;
    }
    let last = state.rows().saturating_sub(1);
    // In a review digits choose, even if there is nothing to choose.
    let goes_to_tabs = !matches!(state.screen, Screen::Review(_));
    match key.code {
        KeyCode::Char('j') | KeyCode::Down => state.mark((state.at + 1).min(last)),
        KeyCode::Char('k') | KeyCode::Up => state.mark(state.at.saturating_sub(1)),
        KeyCode::PageDown => state.mark((state.at + 10).min(last)),
        KeyCode::PageUp => state.mark(state.at.saturating_sub(10)),
        KeyCode::Char('g') | KeyCode::Home => state.mark(0),
        KeyCode::Char('G') | KeyCode::End => state.mark(last),
        KeyCode::Char('1') if goes_to_tabs => state.go(Screen::Agents),
        KeyCode::Char('2') if goes_to_tabs => state.go(Screen::Inbox),
        KeyCode::Char('?') => state.go(Screen::Help),
        KeyCode::Char('q') | KeyCode::Backspace => {
            let _there_was = state.go_back();
        }
        KeyCode::Enter => enter(state),
        _ => {}
    }
    Vec::new()
}

pub(super) fn ask(state: &mut ScreenState, label: &'static str, purpose: Purpose) {
    let (id, mut text) = match purpose {
        Purpose::Respond(id) => (id, state.draft(id).words.clone()),
        Purpose::ModifyPlan(id) => (id, state.draft(id).change.clone()),
    };
    // What was written in the window of a pause answers that pause as well.
    let pause = state
        .snapshot
        .interrupt(id)
        .filter(|it| it.family() == Family::Stop);
    if text.value().is_empty()
        && let Some(run) = pause.map(|pause| pause.run)
    {
        text = state.take_words(run);
    }
    state.overlay = Some(Overlay::Prompt {
        label,
        text,
        purpose,
    });
}

fn enter(state: &mut ScreenState) {
    let next = match state.screen {
        Screen::Agents => match state
            .marked_row()
            .and_then(|at| state.tree().get(at).copied())
        {
            Some(TreeRow::Run(view) | TreeRow::Node(view, _)) => Some(Screen::Run(view.run.id)),
            None => None,
        },
        Screen::Inbox => {
            let marked = state
                .marked_row()
                .and_then(|at| state.inbox().get(at).copied());
            marked.map(|interrupt| Screen::Review(interrupt.id))
        }
        Screen::Run(run) => state
            .snapshot
            .inbox()
            .find(|interrupt| interrupt.run == run)
            .map(|interrupt| Screen::Review(interrupt.id)),
        Screen::Review(_) | Screen::Help => None,
    };
    if let Some(screen) = next {
        state.go(screen);
    }
}
