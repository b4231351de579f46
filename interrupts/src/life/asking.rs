//! Who asks for a stop: any number of actors, each for itself.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::str::FromStr;

use interrupt_router::{InterruptId, StopMode, StopSource};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::event::Actor;
use super::interrupt::Interrupt;
use super::lane::Family;

/// The most askings of one kind of source that are kept at a time. Each kind has its own limit, so that programs leave
/// room for people.
pub const MOST_ASKINGS: usize = 32;

/// The number of a stop's first asking: the one with which it was admitted.
pub const FIRST_ASKING: u32 = 1;

/// The id of an asking: its interrupt's, and its number there, as `int_….2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AskingId {
    /// The stop.
    pub interrupt: InterruptId,
    /// Its number there, from 1.
    pub number: u32,
}

/// A text that is not the id of an asking.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is no asking's id; expected an interrupt's id, a dot and a number from 1")]
pub struct ParseAskingIdError {
    given: String,
}

impl Display for AskingId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.interrupt, self.number)
    }
}

impl FromStr for AskingId {
    type Err = ParseAskingIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseAskingIdError {
            given: text.to_owned(),
        };
        let (interrupt, number) = text.rsplit_once('.').ok_or_else(error)?;
        let digits = number.bytes().all(|byte| byte.is_ascii_digit());
        if !digits || number.starts_with('0') {
            return Err(error());
        }
        Ok(Self {
            interrupt: interrupt.parse().map_err(|_error| error())?,
            number: number.parse().map_err(|_error| error())?,
        })
    }
}

impl Serialize for AskingId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AskingId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A request for a stop that is under way.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NewAsking {
    /// Who asks.
    pub by: Actor,
    /// Who is behind it.
    pub source: StopSource,
    /// How to stop.
    pub mode: StopMode,
    /// Why, in words.
    pub reason: String,
    /// What is known beside the reason, as in an interrupt's content.
    pub content: String,
}

/// The withdrawal of an asking.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TakenBack {
    /// By whom.
    pub by: Actor,
    /// When, by the store's clock.
    pub at: Timestamp,
}

/// One request for a stop. It belongs to the actor who made it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Asking {
    /// Its number among those of its stop.
    pub number: u32,
    /// Who asked.
    pub by: Actor,
    /// Who is behind it.
    pub source: StopSource,
    /// How to stop; it never falls.
    pub mode: StopMode,
    /// Why, in words.
    pub reason: String,
    /// When, by the store's clock.
    pub at: Timestamp,
    /// That it was taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawn: Option<TakenBack>,
    /// What is known beside the reason, of what the machinery asks: which limit was reached. That of the first asking is
    /// the content of its interrupt.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub content: String,
}

impl Asking {
    /// Whether it is still in force: it was not taken back.
    pub const fn is_in_force(&self) -> bool {
        self.withdrawn.is_none()
    }

    /// Whether it asks the same, by the same actor.
    fn is_of(&self, new: &NewAsking) -> bool {
        self.is_in_force()
            && self.by == new.by
            && self.source == new.source
            && self.reason == new.reason
    }

    /// In one line, for the audit.
    pub(super) fn in_words(&self) -> String {
        let (source, mode) = (self.source.name(), self.mode.name());
        format!("{source}, {mode}: {}", self.reason)
    }
}

/// What asking did to a stop.
pub(super) enum AskingOutcome {
    /// The same was asked before, at least as hard.
    Known,
    /// This asking is new, or is harder now.
    Asked(Box<Asking>),
    /// Its source has no room for one more.
    TooMany,
}

impl Interrupt {
    /// Who has asked for the stop, the first one first. A question has none: its agent asks.
    pub fn askings(&self) -> Cow<'_, [Asking]> {
        match self.family() {
            Family::Question => Cow::Borrowed(&[]),
            // No one has joined it or taken anything back.
            Family::Stop if self.asked.is_empty() => Cow::Owned(vec![Asking {
                number: FIRST_ASKING,
                by: self.requested_by.clone(),
                source: self.source,
                mode: self.mode,
                reason: self.reason.clone(),
                at: self.requested_at,
                withdrawn: None,
                content: String::new(),
            }]),
            Family::Stop => Cow::Borrowed(&self.asked),
        }
    }

    /// Whether anyone still asks for the stop.
    pub fn is_asked_for(&self) -> bool {
        self.askings().iter().any(Asking::is_in_force)
    }

    /// Whether a person still asks for the stop: no policy ends it then.
    pub fn is_asked_by_person(&self) -> bool {
        let askings = self.askings();
        let mut in_force = askings.iter().filter(|asking| asking.is_in_force());
        in_force.any(|asking| asking.source == StopSource::User)
    }

    /// What is known beside the reasons of all who still ask for the stop.
    pub fn contents_in_force(&self) -> Vec<&str> {
        if self.asked.is_empty() {
            return vec![&self.content];
        }
        let in_force = self.asked.iter().filter(|asking| asking.is_in_force());
        let contents = in_force.map(|asking| match asking.number {
            FIRST_ASKING => self.content.as_str(),
            _later => asking.content.as_str(),
        });
        contents.filter(|content| !content.is_empty()).collect()
    }

    /// Who was behind the request that admitted it, regardless of who has joined it since.
    pub fn first_source(&self) -> StopSource {
        self.asked.first().map_or(self.source, |first| first.source)
    }

    /// Why, in the words of the request that admitted it.
    pub fn first_reason(&self) -> &str {
        self.asked
            .first()
            .map_or(&self.reason, |first| &first.reason)
    }

    /// Whose stop it is by now, if anyone has joined it or taken anything back.
    pub fn joined_source(&self) -> Option<StopSource> {
        (!self.asked.is_empty()).then_some(self.source)
    }

    /// The id of an asking of it.
    pub const fn asking_id(&self, number: u32) -> AskingId {
        AskingId {
            interrupt: self.id,
            number,
        }
    }

    /// Records a request. The modes are joined, and the fields that say whose stop it is are updated.
    pub(super) fn note_asking(&mut self, new: &NewAsking, now: Timestamp) -> AskingOutcome {
        let mut askings = self.askings().into_owned();
        let asking = match askings.iter_mut().find(|asking| asking.is_of(new)) {
            Some(known) if known.mode >= new.mode => return AskingOutcome::Known,
            Some(known) => {
                known.mode = new.mode;
                Asking {
                    content: String::new(),
                    ..known.clone()
                }
            }
            None => {
                let number = askings.last().map_or(FIRST_ASKING, |last| last.number + 1);
                if !has_room(&mut askings, new.source) {
                    return AskingOutcome::TooMany;
                }
                let asking = Asking {
                    number,
                    by: new.by.clone(),
                    source: new.source,
                    mode: new.mode,
                    reason: new.reason.clone(),
                    at: now,
                    withdrawn: None,
                    content: String::new(),
                };
                // The notice carries the reason only.
                askings.push(Asking {
                    content: kept_of(new),
                    ..asking.clone()
                });
                asking
            }
        };
        if new.source == StopSource::User && !self.is_asked_by_person() {
            // A stop that waits for a person has no deadline.
            self.deadline = None;
        }
        self.mode = self.mode.max(new.mode);
        self.asked = askings;
        self.follow_askings();
        AskingOutcome::Asked(Box::new(asking))
    }

    /// Records that askings were taken back.
    pub(super) fn note_withdrawn(&mut self, numbers: &[u32], by: &Actor, now: Timestamp) {
        let mut askings = self.askings().into_owned();
        for asking in &mut askings {
            if numbers.contains(&asking.number) && asking.is_in_force() {
                asking.withdrawn = Some(TakenBack {
                    by: by.clone(),
                    at: now,
                });
            }
        }
        self.asked = askings;
        self.follow_askings();
    }

    /// The stop belongs to the most human of those who ask for it, the first of them. If no one asks any more, it stays
    /// that of the last.
    fn follow_askings(&mut self) {
        let in_force = self.asked.iter().filter(|asking| asking.is_in_force());
        // Of equal ones the first is the least.
        let leading = in_force.min_by_key(|asking| asking.source.place());
        if let Some(leading) = leading.cloned() {
            self.source = leading.source;
            self.requested_by = leading.by;
            self.reason = leading.reason;
        }
    }
}

/// What is kept beside the reason: only the machinery's content, since others may send much, and often.
fn kept_of(new: &NewAsking) -> String {
    match new.source {
        StopSource::System => new.content.clone(),
        StopSource::User | StopSource::Programmatic => String::new(),
    }
}

/// Whether there is room for one more of a source. Askings that were taken back make room: the audit has them.
fn has_room(askings: &mut Vec<Asking>, source: StopSource) -> bool {
    let of_source = |asking: &Asking| asking.source == source;
    if askings.iter().filter(|it| of_source(it)).count() < MOST_ASKINGS {
        return true;
    }
    // The first one says how the stop began.
    let may_go = |it: &Asking| of_source(it) && !it.is_in_force() && it.number != FIRST_ASKING;
    let Some(oldest) = askings.iter().position(may_go) else {
        return false;
    };
    askings.remove(oldest);
    true
}

#[cfg(test)]
mod tests {
    use super::AskingId;
    use interrupt_router::InterruptId;

    #[test]
    fn an_asking_has_an_id_below_its_interrupts() {
        let interrupt = InterruptId::generate();
        let id = AskingId {
            interrupt,
            number: 12,
        };
        assert_eq!(id.to_string(), format!("{interrupt}.12"));
        assert_eq!(id.to_string().parse::<AskingId>(), Ok(id));
        for wrong in ["", ".", ".0", ".01", ".+1", ".x", ".1.2", ".99999999999"] {
            let text = format!("{interrupt}{wrong}");
            assert!(text.parse::<AskingId>().is_err(), "{text}");
        }
    }
}
