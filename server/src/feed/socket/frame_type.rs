//! The types of frames that are carried out.

/// What a frame asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameType {
    Subscribe,
    Unsubscribe,
    Interrupt,
    Decision,
    Resume,
    Cancel,
    Ping,
    Pong,
}

impl FrameType {
    /// All of them. A type that is missing here is never carried out.
    pub(crate) const ALL: [Self; 8] = [
        Self::Subscribe,
        Self::Unsubscribe,
        Self::Interrupt,
        Self::Decision,
        Self::Resume,
        Self::Cancel,
        Self::Ping,
        Self::Pong,
    ];

    /// The type of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// The value of `type`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Subscribe => "subscribe",
            Self::Unsubscribe => "unsubscribe",
            Self::Interrupt => "interrupt",
            Self::Decision => "decision",
            Self::Resume => "resume",
            Self::Cancel => "cancel",
            Self::Ping => "ping",
            Self::Pong => "pong",
        }
    }

    /// What it asks for, in words.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Subscribe => {
                "Events of `run_id`, `thread_id` or `agent_id`, with names by `topics`, after `after_seq`."
            }
            Self::Unsubscribe => "No more events of `subscription_id`.",
            Self::Interrupt => {
                "Pauses the run `thread_id`, or its agent `agent_id`; updates follow until it has taken hold."
            }
            Self::Decision => {
                "Decides `interrupt_id` in its `version`; with `reroute`, to `reroute_to`."
            }
            Self::Resume => "Goes on with the run `run_id`, or from its `checkpoint`.",
            Self::Cancel => "Ends the run `run_id`.",
            Self::Ping => "Is answered by `pong` with the same payload.",
            Self::Pong => "Is taken in; nothing comes of it.",
        }
    }
}
