//! When an answer starts to count: keys pressed before a question was seen do not answer it.

use std::time::Duration;

use tokio::time::Instant;
use tools::CallDigest;

/// How long a question must be shown without a key press before an answer counts. A key pressed just before the question was
/// drawn arrives within this time, and so does the next key of a person who is typing something else.
pub(super) const UNTOUCHED: Duration = Duration::from_millis(300);

/// The phase of the question that is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QuestionPhase {
    /// No one can have seen it yet.
    Undrawn,
    /// It is on the screen, and no key was pressed since.
    Untouched(Instant),
    /// Keys are now meant for the question.
    Open,
}

/// The question that is shown, and whether it takes answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ShownQuestion {
    /// The exact call that is asked about.
    of: CallDigest,
    phase: QuestionPhase,
    /// Whether the notice was shown that the typed text is kept.
    has_said: bool,
}

impl ShownQuestion {
    /// A question that is about to be drawn.
    pub(super) fn new(of: CallDigest) -> Self {
        Self {
            of,
            phase: QuestionPhase::Undrawn,
            has_said: false,
        }
    }

    /// Whether it is the question about this call.
    pub(super) fn is_of(&self, call: CallDigest) -> bool {
        self.of == call
    }

    /// Everything is on the screen.
    pub(super) fn drawn(&mut self, now: Instant) {
        if self.phase == QuestionPhase::Undrawn {
            self.phase = QuestionPhase::Untouched(now);
        }
    }

    /// A key was pressed.
    pub(super) fn touched(&mut self, now: Instant) {
        if let QuestionPhase::Untouched(since) = &mut self.phase {
            *since = now;
        }
    }

    /// When it starts to take answers; `None` if it already does or is not on the screen.
    pub(super) fn due(&self) -> Option<Instant> {
        match self.phase {
            QuestionPhase::Untouched(since) => Some(since + UNTOUCHED),
            QuestionPhase::Undrawn | QuestionPhase::Open => None,
        }
    }

    /// Takes answers from now on if its time has come; returns whether that just happened.
    pub(super) fn open(&mut self, now: Instant) -> bool {
        let opens = self.due().is_some_and(|due| due <= now);
        if opens {
            self.phase = QuestionPhase::Open;
        }
        opens
    }

    /// Whether what is typed is an answer.
    pub(super) fn takes_answers(&self) -> bool {
        self.phase == QuestionPhase::Open
    }

    /// Something was submitted too early; returns true the first time.
    pub(super) fn say(&mut self) -> bool {
        !std::mem::replace(&mut self.has_said, true)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{ShownQuestion, UNTOUCHED};

    #[test]
    fn an_answer_counts_once_the_question_stood_for_a_while_without_a_key() {
        let digest = serde_json::from_str(&format!("\"{}\"", "0".repeat(64))).unwrap();
        let (mut standing, begun) = (ShownQuestion::new(digest), Instant::now());
        let after = |times: u32| begun + UNTOUCHED * times;
        standing.touched(begun);
        assert!(!standing.open(after(9)), "nobody has seen it");
        standing.drawn(after(9));
        assert!(!standing.open(after(9)));
        standing.touched(after(10) - Duration::from_millis(1));
        assert!(!standing.open(after(10)), "somebody types");
        standing.drawn(after(10));
        assert!(!standing.takes_answers());
        assert!(standing.open(after(11)));
        assert!(standing.takes_answers());
        standing.touched(after(11));
        assert!(standing.takes_answers(), "the answer itself is typed");
    }
}
