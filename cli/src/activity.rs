//! What an agent does, in the same sign, tone and words on every screen and in every line.

use interrupts::store::NodeActivity;

use crate::palette::Tone;

/// Its sign, and how important that is.
pub(crate) const fn sign(activity: NodeActivity) -> (&'static str, Tone) {
    match activity {
        NodeActivity::Pending => ("○", Tone::Faint),
        NodeActivity::Ready => ("◌", Tone::Plain),
        NodeActivity::Running => ("●", Tone::Active),
        NodeActivity::WaitingReview => ("?", Tone::Waiting),
        NodeActivity::Paused => ("‖", Tone::Waiting),
        NodeActivity::Completed => ("✓", Tone::Good),
        NodeActivity::Failed => ("✗", Tone::Bad),
        NodeActivity::Cancelled => ("■", Tone::Faint),
        NodeActivity::Pruned => ("╳", Tone::Faint),
    }
}

/// How important its words are.
pub(crate) const fn tone(activity: NodeActivity) -> Tone {
    match activity {
        NodeActivity::WaitingReview | NodeActivity::Paused => Tone::Waiting,
        NodeActivity::Failed => Tone::Bad,
        NodeActivity::Running => Tone::Plain,
        NodeActivity::Pending
        | NodeActivity::Ready
        | NodeActivity::Completed
        | NodeActivity::Cancelled
        | NodeActivity::Pruned => Tone::Faint,
    }
}

/// A few words.
pub(crate) const fn words(activity: NodeActivity) -> &'static str {
    match activity {
        NodeActivity::Pending => "pending",
        NodeActivity::Ready => "waits for its turn",
        NodeActivity::Running => "running",
        NodeActivity::WaitingReview => "waits for a decision",
        NodeActivity::Paused => "paused",
        NodeActivity::Completed => "completed",
        NodeActivity::Failed => "failed",
        NodeActivity::Cancelled => "cancelled",
        NodeActivity::Pruned => "pruned",
    }
}
