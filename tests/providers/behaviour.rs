//! What a double does with a request that it does not refuse.

use std::time::Duration;

/// What a double does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Behaviour {
    /// Answers whole.
    Answers,
    /// Answers, and takes so long for each event.
    AnswersSlowly(Duration),
    /// Answers, and says that the length limit was reached.
    ReachesLengthLimit,
    /// Answers, and says that the rest is withheld for what it says.
    Withholds,
    /// Answers with an error status and these headers.
    Refuses {
        /// The status.
        status: u16,
        /// Headers beside the usual ones, such as `retry-after`.
        headers: Vec<(&'static str, String)>,
    },
    /// Answers with an error status and this body, as it is.
    RefusesWith {
        /// The status.
        status: u16,
        /// The body.
        body: String,
    },
    /// Answers with an error status and a body without an end.
    RefusesEndlessly(u16),
    /// Sends this stream, as it is, and ends it orderly.
    Sends(String),
    /// Sends these bytes as content of this type, and ends them orderly.
    SendsAs {
        /// The content type.
        kind: &'static str,
        /// The bytes.
        body: Vec<u8>,
    },
    /// Answers, one byte after the other, with such a pause between two.
    Drips(Duration),
    /// Breaks the connection after so many events.
    BreaksAfter(usize),
    /// Ends the body orderly after so many events, without the provider's end mark.
    EndsAfter(usize),
    /// Ends the body orderly in the midst of the event after so many.
    EndsWithin(usize),
    /// Says nothing more after so many events.
    StallsAfter(usize),
    /// Says nothing more in the midst of the event after so many.
    StallsWithin(usize),
    /// Says nothing more after so many bytes of the stream.
    StallsAtByte(usize),
    /// Never sends headers.
    StallsBeforeHeaders,
    /// Sends comments that keep the connection open, and nothing else, for ever.
    KeepsAlive,
    /// Sends pieces of text for ever.
    Endless,
    /// Sends one line without an end.
    EndlessLine,
    /// Sends a whole answer in one line of so many bytes.
    OneLine(usize),
    /// Reports an error after so many events of the stream.
    FailsAfter(usize),
    /// Answers, with an event that is no JSON after so many events.
    GarblesAfter(usize),
    /// Answers with a page that is no stream of events.
    Page,
    /// Answers with events that are no JSON.
    Garbage,
}

impl Behaviour {
    /// An error status without further headers.
    pub fn refuses(status: u16) -> Self {
        Self::Refuses {
            status,
            headers: Vec::new(),
        }
    }

    /// A 429 that asks to wait.
    pub fn asks_to_wait(retry_after: impl Into<String>) -> Self {
        Self::Refuses {
            status: 429,
            headers: vec![("retry-after", retry_after.into())],
        }
    }
}

/// Why an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Whole,
    CutOff,
    Withheld,
}

impl Behaviour {
    /// Why its answers end, where they do.
    pub(super) fn ending(&self) -> Ending {
        match self {
            Self::ReachesLengthLimit => Ending::CutOff,
            Self::Withholds => Ending::Withheld,
            Self::Answers
            | Self::AnswersSlowly(_)
            | Self::Refuses { .. }
            | Self::RefusesWith { .. }
            | Self::RefusesEndlessly(_)
            | Self::Sends(_)
            | Self::SendsAs { .. }
            | Self::Drips(_)
            | Self::BreaksAfter(_)
            | Self::EndsAfter(_)
            | Self::EndsWithin(_)
            | Self::StallsAfter(_)
            | Self::StallsWithin(_)
            | Self::StallsAtByte(_)
            | Self::StallsBeforeHeaders
            | Self::KeepsAlive
            | Self::Endless
            | Self::EndlessLine
            | Self::OneLine(_)
            | Self::FailsAfter(_)
            | Self::GarblesAfter(_)
            | Self::Page
            | Self::Garbage => Ending::Whole,
        }
    }
}
