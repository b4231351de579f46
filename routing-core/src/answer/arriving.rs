//! Checking an answer while it arrives: whether it can still become valid.
//!
//! The beginning of an answer is read by the same code that reads whole ones. It is at fault if that reading stops at
//! anything but the end of the text, since reading goes from left to right and nothing that follows repairs what it
//! met. So no answer is rejected early that would have been accepted.

use super::body::{body, body_so_far};
use super::read::fault_before_end;
use super::{AnswerError, AnswerFault};
use crate::route_set::RouteSet;
use crate::routing::Routing;

/// An answer is looked at again when it has grown by this part of itself, so that all looking together
/// costs a few readings of the whole, however long it gets.
const GROWTH: usize = 8;

/// And not before it has grown by so many bytes.
const LEAST_GROWTH: usize = 16;

/// How many bytes of plain words are waited for: a model that says why it cannot is heard.
const WORDS: usize = 1_000;

/// An answer that arrives piece by piece.
#[derive(Debug)]
pub(crate) struct ArrivingAnswer<R: Routing> {
    allowed: RouteSet<R>,
    text: String,
    /// The length at which it is looked at again.
    next_look: usize,
    fault: Option<AnswerError>,
}

impl<R: Routing> ArrivingAnswer<R> {
    /// An answer that may hold one of these routes, of which nothing has arrived.
    pub(crate) fn new(allowed: RouteSet<R>) -> Self {
        Self {
            allowed,
            text: String::new(),
            next_look: 1,
            fault: None,
        }
    }

    /// Takes the next piece. Returns the fault that no further piece can repair, once there is one.
    ///
    /// A fault is noticed soon, not at once: the answer is looked at whenever it has grown by an eighth.
    pub(crate) fn push(&mut self, piece: &str) -> Option<&AnswerError> {
        if self.fault.is_some() {
            return self.fault.as_ref();
        }
        self.text.push_str(piece);
        if self.text.len() >= self.next_look {
            let growth = (self.text.len() / GROWTH).max(LEAST_GROWTH);
            self.next_look = self.text.len().saturating_add(growth);
            let is_heard = is_in_words(&self.text) && self.text.len() < WORDS;
            self.fault = fault_so_far(&self.text, self.allowed).filter(|_fault| !is_heard);
        }
        self.fault.as_ref()
    }

    /// Begins again: what has arrived does not count.
    pub(crate) fn restart(&mut self) {
        *self = Self::new(self.allowed);
    }
}

/// Whether an answer is plain words, which are no JSON.
pub(crate) fn is_in_words(answer: &str) -> bool {
    answer.trim_start().starts_with(char::is_alphabetic)
}

/// The fault of an answer that begins so, regardless of what follows; `None` while it may still become one that
/// [`read_within`](super::read_within) takes.
pub fn fault_so_far<R: Routing>(beginning: &str, allowed: RouteSet<R>) -> Option<AnswerError> {
    if let Err(error) = body(beginning.as_bytes())
        && matches!(error.fault(), AnswerFault::TooLong)
    {
        return Some(error);
    }
    let text = match body_so_far(beginning.as_bytes()) {
        Ok(text) => text?,
        Err(error) => return Some(error),
    };
    if allowed.is_empty() {
        return None;
    }
    fault_before_end(text, allowed)
}
