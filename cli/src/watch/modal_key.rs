//! The keys of the window of an interrupt.

use crossterm::event::{Event, KeyCode, KeyEvent};
use interrupts::life::{Scope, State as Life};
use tui_input::backend::crossterm::EventHandler;

use super::action::Action;
use super::modal::{Button, Chosen, Focus, Modal};
use super::overlay::Overlay;
use super::state::ScreenState;

/// What a key does in the window of an interrupt.
pub(super) fn in_modal(
    state: &mut ScreenState,
    mut modal: Box<Modal>,
    key: KeyEvent,
) -> Vec<Action> {
    if modal
        .interrupt
        .is_some_and(|id| state.snapshot.has_ended(id))
        && matches!(key.code, KeyCode::Esc | KeyCode::Enter)
    {
        state.was_too_late(&modal);
        return Vec::new();
    }
    let mut chosen = None;
    match (key.code, modal.focus) {
        (KeyCode::Esc, _) if state.is_stopping(&modal) => return stop_at_once(state, modal),
        (KeyCode::Esc, _) => chosen = Some(Chosen::ResumeUnchanged),
        (KeyCode::Tab, _) => modal.tab(false),
        (KeyCode::BackTab, _) => modal.tab(true),
        (KeyCode::Enter, Focus::Text | Focus::Button(Button::Submit)) => {
            chosen = modal.submitted();
        }
        (KeyCode::Enter, Focus::Button(Button::ResumeUnchanged)) => {
            chosen = Some(Chosen::ResumeUnchanged);
        }
        (KeyCode::Enter, Focus::Button(Button::Reroute)) => return pick_route(state, modal),
        (KeyCode::Enter, Focus::Button(Button::WholeRun)) => return widen(state, modal),
        (KeyCode::Enter, Focus::Button(Button::StopRun)) => {
            end_run(state, modal);
            return Vec::new();
        }
        (_, Focus::Text) => {
            let before = modal.text.value().to_owned();
            let _changed = modal.text.handle_event(&Event::Key(key));
            if modal.text.value() != before {
                modal.is_rewritten();
            }
        }
        (KeyCode::Left, Focus::Button(_)) => modal.tab(true),
        (KeyCode::Right, Focus::Button(_)) => modal.tab(false),
        (_, Focus::Button(_)) => {}
    }
    if let Some(choice) = chosen {
        modal.chosen = Some(choice);
        if let Some(action) = state.wanted(&modal) {
            return state.carry_out(modal, action);
        }
    }
    state.overlay = Some(Overlay::Modal(modal));
    Vec::new()
}

/// Esc while a stop is under way: whoever presses it again wants the stop, and wants it sooner.
fn stop_at_once(state: &mut ScreenState, mut modal: Box<Modal>) -> Vec<Action> {
    let interrupt = modal.interrupt.filter(|_| !modal.hardened);
    modal.hardened |= interrupt.is_some();
    state.overlay = Some(Overlay::Modal(modal));
    let harden = interrupt.map(|interrupt| Action::Harden { interrupt });
    harden.into_iter().collect()
}

/// The routes that the paused agent's answer can take, once it has stopped.
fn pick_route(state: &mut ScreenState, modal: Box<Modal>) -> Vec<Action> {
    let pause = modal
        .interrupt
        .and_then(|id| state.snapshot.interrupt(id))
        .filter(|pause| pause.state == Life::AwaitingReview);
    match pause {
        Some(pause) => {
            let (interrupt, routes) = (pause.id, pause.routes.clone());
            state.keep_words(modal.run, &modal.text);
            state.overlay = Some(Overlay::Routes {
                interrupt,
                routes,
                at: 0,
            });
        }
        None => {
            state.tell("It has not stopped yet.");
            state.overlay = Some(Overlay::Modal(modal));
        }
    }
    Vec::new()
}

/// The pause of the agent becomes one of the whole run, once it is accepted.
fn widen(state: &mut ScreenState, mut modal: Box<Modal>) -> Vec<Action> {
    let narrow = modal.interrupt.take();
    if narrow.is_some() {
        modal.node = None;
        modal.since = state.now;
        modal.focus = Focus::Text;
    }
    let run = modal.run;
    state.overlay = Some(Overlay::Modal(modal));
    let widened = narrow.map(|interrupt| Action::Widen { run, interrupt });
    widened.into_iter().collect()
}

/// Ends a run for good, after a question.
fn end_run(state: &mut ScreenState, modal: Box<Modal>) {
    let (run, scope) = (modal.run, Scope::Run);
    state.overlay = Some(Overlay::Confirm {
        question: format!("End {run} for good? It cannot be resumed."),
        actions: vec![Action::Stop { run, scope }],
        over: Some(modal),
    });
}
