//! What a key would decide about, and since when a person can see it: what was typed before that was not meant for it.

use crossterm::event::KeyCode;
use interrupt_router::InterruptId;
use interrupts::Digest;
use jiff::{SignedDuration, Timestamp};

use super::overlay::Overlay;
use super::state::{Screen, ScreenState};

/// No person reads a question sooner, and keys that were typed blind arrive sooner.
const LOOK: SignedDuration = SignedDuration::from_millis(300);

/// What a key would decide about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DecisionSubject {
    /// An interrupt, by the digest of what is shown of it: a claim changes nothing of that.
    Review(InterruptId, Digest),
    /// A question that is answered with yes or no.
    Confirm(String),
    /// The choice of another target for an answer.
    Routes(InterruptId),
}

impl DecisionSubject {
    /// The subject of a decision on these screens, as they are now.
    pub(super) fn of(state: &ScreenState) -> Option<Self> {
        match (&state.overlay, state.screen) {
            (Some(Overlay::Confirm { question, .. }), _) => Some(Self::Confirm(question.clone())),
            // Each confirmation is one to read: a yes to the one before is none to the next.
            (Some(Overlay::Item { item, .. }), _) => {
                Some(Self::Confirm(format!("{}: {}", item.id, item.prompt)))
            }
            (Some(Overlay::Routes { interrupt, .. }), _) => Some(Self::Routes(*interrupt)),
            (None, Screen::Review(id)) => {
                let interrupt = state.snapshot.interrupt(id)?;
                let shown = interrupt.review.as_ref().map(|review| review.shown);
                Some(Self::Review(id, shown.unwrap_or(Digest::ZERO)))
            }
            (None | Some(Overlay::Modal(_) | Overlay::Prompt { .. }), _) => None,
        }
    }

    /// Whether a key is meant for a person who has read it. The others look around, or lead away.
    pub(super) const fn is_to_be_read_before(&self, key: KeyCode) -> bool {
        let looks_around = matches!(
            key,
            KeyCode::Esc
                | KeyCode::Up
                | KeyCode::Down
                | KeyCode::PageUp
                | KeyCode::PageDown
                | KeyCode::Home
                | KeyCode::End
                | KeyCode::Char('j' | 'k')
        );
        let leads_away = match self {
            Self::Review(..) => matches!(
                key,
                KeyCode::Backspace | KeyCode::Char('g' | 'G' | 'n' | 'p' | 'q' | '?')
            ),
            Self::Confirm(_) => matches!(key, KeyCode::Char('n' | 'N')),
            Self::Routes(_) => false,
        };
        !looks_around && !leads_away
    }
}

/// What the terminal shows.
#[derive(Debug, Default)]
pub(super) struct DisplayedSubject {
    shown: Option<(DecisionSubject, Timestamp)>,
}

impl DisplayedSubject {
    /// The terminal has taken a picture that shows this subject.
    pub(super) fn is_on_terminal(&mut self, subject: Option<DecisionSubject>, now: Timestamp) {
        let before = self.shown.take();
        self.shown = subject.map(|subject| match before {
            Some((same, since)) if same == subject => (same, since),
            _ => (subject, now),
        });
    }

    /// Whether a person can have read it by now.
    pub(super) fn is_read(&self, subject: &DecisionSubject, now: Timestamp) -> bool {
        self.shown
            .as_ref()
            .is_some_and(|(shown, since)| shown == subject && now.duration_since(*since) >= LOOK)
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::{DecisionSubject, DisplayedSubject, LOOK};

    #[test]
    fn what_has_just_appeared_or_changed_is_not_read_yet() {
        let subject = |text: &str| DecisionSubject::Confirm(text.to_owned());
        let mut seen = DisplayedSubject::default();
        let start = Timestamp::UNIX_EPOCH;
        assert!(!seen.is_read(&subject("one"), start));
        seen.is_on_terminal(Some(subject("one")), start);
        assert!(!seen.is_read(&subject("one"), start));
        let later = start + LOOK;
        seen.is_on_terminal(Some(subject("one")), later);
        assert!(
            seen.is_read(&subject("one"), later),
            "drawn again as it was"
        );
        assert!(!seen.is_read(&subject("two"), later));
        seen.is_on_terminal(Some(subject("two")), later);
        assert!(!seen.is_read(&subject("two"), later + SignedDuration::from_millis(1)));
        seen.is_on_terminal(None, later + LOOK);
        assert!(!seen.is_read(&subject("two"), later + LOOK));
    }
}
