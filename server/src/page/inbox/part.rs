//! The part of the inbox that one page shows.

use interrupts::life::Interrupt;
use jiff::Timestamp;
use routing_core::InterruptId;

use super::{InboxPageQuery, Tab, is_mine};
use crate::access::Caller;
use crate::app::App;
use crate::parameters::wrong;
use crate::problem::Problem;
use crate::routes::{InboxQuery, find_such_interrupts};

/// How many one page shows.
const SHOWN: usize = 100;

/// The part of the inbox that one page shows.
pub(super) struct Part {
    pub(super) found: Vec<Interrupt>,
    /// How many there are with these conditions, on all pages; `None` if they are not counted.
    pub(super) all: Option<usize>,
    /// Where the next part begins.
    pub(super) next: Option<String>,
}

impl Part {
    /// Waiting interrupts are sorted before a part is cut from them, so that what goes first is on the first page,
    /// however many wait.
    pub(super) async fn of(
        app: &App,
        caller: &Caller,
        shown: &InboxPageQuery,
        waiting: Vec<Interrupt>,
    ) -> Result<Self, Problem> {
        let wanted = shown.find.to_lowercase();
        let ended = match shown.tab {
            Tab::Open | Tab::Mine => {
                let now = app.now();
                let is_wanted = |one: &Interrupt| {
                    (shown.tab != Tab::Mine || is_mine(one, caller, now)) && has(one, &wanted)
                };
                let waiting = waiting.into_iter().filter(is_wanted).collect();
                return Self::of_waiting(waiting, &shown.cursor);
            }
            Tab::Resolved => "resolved",
            Tab::Expired => "expired",
        };
        let query = InboxQuery {
            status: Some(ended.to_owned()),
            cursor: (!shown.cursor.is_empty()).then(|| shown.cursor.clone()),
            ..InboxQuery::default()
        };
        let (found, next) = find_such_interrupts(app, &query, |one| has(one, &wanted)).await?;
        Ok(Self {
            found,
            all: None,
            next,
        })
    }

    fn of_waiting(mut waiting: Vec<Interrupt>, cursor: &str) -> Result<Self, Problem> {
        waiting.sort_by_key(InboxCursor::of);
        let all = Some(waiting.len());
        if !cursor.is_empty() {
            let ended = InboxCursor::read(cursor)
                .ok_or_else(|| wrong("cursor", "this is no cursor that was given out"))?;
            waiting.retain(|one| InboxCursor::of(one) > ended);
        }
        let goes_on = waiting.len() > SHOWN;
        waiting.truncate(SHOWN);
        let last = waiting.last().filter(|_one| goes_on);
        Ok(Self {
            next: last.map(|last| InboxCursor::of(last).text()),
            found: waiting,
            all,
        })
    }
}

/// The position of an interrupt among those that wait. It stays the same when others come and go, so a reloaded page
/// continues where it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct InboxCursor {
    priority: u8,
    since: Timestamp,
    id: InterruptId,
}

impl InboxCursor {
    fn of(interrupt: &Interrupt) -> Self {
        Self {
            priority: interrupt.lane().priority(),
            since: interrupt.requested_at,
            id: interrupt.id,
        }
    }

    fn text(self) -> String {
        format!("{} {} {}", self.priority, self.since, self.id)
    }

    fn read(text: &str) -> Option<Self> {
        let mut parts = text.split(' ');
        let place = Self {
            priority: parts.next()?.parse().ok()?,
            since: parts.next()?.parse().ok()?,
            id: parts.next()?.parse().ok()?,
        };
        parts.next().is_none().then_some(place)
    }
}

/// Whether an interrupt contains the words that are searched for.
fn has(interrupt: &Interrupt, wanted: &str) -> bool {
    wanted.is_empty()
        || [
            &*interrupt.reason,
            interrupt.node.as_str(),
            interrupt.kind.as_str(),
        ]
        .iter()
        .any(|text| text.to_lowercase().contains(wanted))
}

#[cfg(test)]
mod tests {
    use super::InboxCursor;
    use jiff::Timestamp;
    use routing_core::InterruptId;

    #[test]
    fn a_place_is_read_as_it_was_written_and_nothing_else_is() {
        let place = InboxCursor {
            priority: 10,
            since: Timestamp::from_microsecond(1_750_000_000_123_456).unwrap(),
            id: InterruptId::generate(),
        };
        assert_eq!(InboxCursor::read(&place.text()), Some(place));
        for text in ["", "101", "10 now x", &format!("{} 1", place.text())] {
            assert_eq!(InboxCursor::read(text), None, "{text}");
        }
    }
}
