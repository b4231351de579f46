//! Who answers questions: the script, a person at the terminal, or no one.

mod alone;
mod begun;
mod consent;
mod counted;
mod dialogue;
mod editor;
mod lines;
mod scripted;
mod terminal;
mod typing;

pub(crate) use alone::{Alone, Reply, StandardInput, Typed};
pub(crate) use consent::{Consent, suggested, yes_or_no};
pub(crate) use counted::InterruptCount;
pub(crate) use interrupt_router::review::NoReviewer;
pub(crate) use lines::{LONGEST_LINE, Lines, NoLine, line_of};
pub(crate) use scripted::Scripted;
pub(crate) use terminal::Terminal;
pub(crate) use typing::Typing;
