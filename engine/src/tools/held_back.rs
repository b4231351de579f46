//! Pieces of an answer that may turn out to be only the words before a request for tools.

use std::sync::{Arc, Mutex, PoisonError};

use interrupt_router::model::{CallNote, ChunkSink};

/// What an answer begins with: JSON, or the fence around it.
const BEGINNINGS: [char; 2] = ['{', '`'];

/// Holds back the pieces of a text that does not begin like an answer. A consumer behind it would reject it as a wrong
/// answer, before the request for tools that it leads to has arrived.
pub(super) struct HeldBack {
    inner: Arc<dyn ChunkSink>,
    state: Mutex<HeldBackState>,
}

#[derive(Default)]
struct HeldBackState {
    held: String,
    /// Whether pieces go on as they arrive.
    passes: bool,
}

impl HeldBack {
    pub(super) fn before(inner: Arc<dyn ChunkSink>) -> Arc<Self> {
        Arc::new(Self {
            inner,
            state: Mutex::default(),
        })
    }

    /// It was an answer after all: passes on what was held back.
    pub(super) fn release(&self) {
        let held = self.change(|state| std::mem::take(&mut state.held));
        if !held.is_empty() {
            self.inner.chunk(&held);
        }
    }

    /// It was none: drops what was held back, and voids what was passed on.
    pub(super) fn forget(&self) {
        let state = self.change(std::mem::take);
        if state.passes {
            self.inner.restarted();
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut HeldBackState) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ChunkSink for HeldBack {
    fn chunk(&self, text: &str) {
        let passing = self.change(|state| {
            if state.passes {
                return Some(text.to_owned());
            }
            state.held.push_str(text);
            state.passes = state.held.trim_start().starts_with(BEGINNINGS);
            state.passes.then(|| std::mem::take(&mut state.held))
        });
        if let Some(text) = passing {
            self.inner.chunk(&text);
        }
    }

    fn restarted(&self) {
        self.forget();
    }

    fn noted(&self, note: &CallNote) {
        self.inner.noted(note);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use interrupt_router::model::ChunkSink;

    use super::HeldBack;

    #[derive(Default)]
    struct Seen(Mutex<Vec<String>>);

    impl ChunkSink for Seen {
        fn chunk(&self, text: &str) {
            self.0.lock().unwrap().push(text.to_owned());
        }

        fn restarted(&self) {
            self.0.lock().unwrap().push("restarted".to_owned());
        }
    }

    fn seen(pieces: &[&str], end: impl FnOnce(&HeldBack)) -> Vec<String> {
        let seen = Arc::new(Seen::default());
        let held = HeldBack::before(Arc::clone(&seen) as Arc<dyn ChunkSink>);
        for piece in pieces {
            held.chunk(piece);
        }
        end(&held);
        seen.0.lock().unwrap().clone()
    }

    #[test]
    fn an_answer_goes_on_as_it_arrives() {
        let pieces = seen(&[" ", "{\"a\"", ":1}"], |_held| {});
        assert_eq!(pieces, [" {\"a\"", ":1}"]);
    }

    #[test]
    fn words_before_a_request_are_never_seen_and_words_alone_are_seen_at_the_end() {
        assert!(seen(&["Let me ", "look."], HeldBack::forget).is_empty());
        assert_eq!(
            seen(&["Let me ", "look."], HeldBack::release),
            ["Let me look."]
        );
    }

    #[test]
    fn an_answer_that_turns_into_a_request_does_not_count() {
        assert_eq!(seen(&["{"], HeldBack::forget), ["{", "restarted"]);
    }
}
