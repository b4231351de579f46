//! The part of the inbox that one page shows.

use control::Caller;
use interrupts::ActorName;
use interrupts::life::Interrupt;
use interrupts::store::{StoreError, WaitingPosition};

use super::{InboxCounts, InboxPageQuery, Tab};
use crate::app::App;
use crate::parameters::wrong;
use crate::problem::Problem;
use crate::routes::{InboxQuery, find_such_interrupts};

/// How many one page shows.
const SHOWN: u32 = 100;

/// How many are read at once where words are looked for.
const READ: u32 = 1_000;

/// Waiting interrupts, each with its position.
type Waiting = Vec<(WaitingPosition, Interrupt)>;

/// The part of the inbox that one page shows.
pub(super) struct Part {
    pub(super) found: Vec<Interrupt>,
    /// How many there are with these conditions, on all pages; `None` if they are not counted.
    pub(super) all: Option<u64>,
    /// Where the next part begins.
    pub(super) next: Option<String>,
}

impl Part {
    /// What goes first of what waits is on the first page, however many wait.
    pub(super) async fn of(
        app: &App,
        caller: &Caller,
        shown: &InboxPageQuery,
        counts: &InboxCounts,
    ) -> Result<Self, Problem> {
        let wanted = shown.find.to_lowercase();
        let (of, counted) = match shown.tab {
            Tab::Open => (None, counts.open),
            Tab::Mine => (Some(&caller.actor.name), counts.mine),
            Tab::Resolved => return Self::of_ended(app, "resolved", shown, &wanted).await,
            Tab::Expired => return Self::of_ended(app, "expired", shown, &wanted).await,
        };
        let after = match &*shown.cursor {
            "" => WaitingPosition::default(),
            cursor => position_at(cursor)
                .ok_or_else(|| wrong("cursor", "this is no cursor that was given out"))?,
        };
        let (mut rows, all) = match wanted.is_empty() {
            true => (app.store().waiting(of, after, SHOWN + 1).await?, counted),
            false => with_words(app, of, &wanted, after).await?,
        };
        let goes_on = rows.len() > SHOWN as usize;
        rows.truncate(SHOWN as usize);
        let last = rows.last().filter(|_last| goes_on);
        Ok(Self {
            next: last.map(|(position, _last)| cursor(*position)),
            found: rows.into_iter().map(|(_position, one)| one).collect(),
            all: Some(all),
        })
    }

    async fn of_ended(
        app: &App,
        ended: &str,
        shown: &InboxPageQuery,
        wanted: &str,
    ) -> Result<Self, Problem> {
        let query = InboxQuery {
            status: Some(ended.to_owned()),
            cursor: (!shown.cursor.is_empty()).then(|| shown.cursor.clone()),
            ..InboxQuery::default()
        };
        let (found, next) = find_such_interrupts(app, &query, |one| has(one, wanted)).await?;
        Ok(Self {
            found,
            all: None,
            next,
        })
    }
}

/// What waits and contains these words: one more than a page shows, from after a position on, and how many there are in
/// all. No index has the words, so each of those that wait is read.
async fn with_words(
    app: &App,
    of: Option<&ActorName>,
    wanted: &str,
    after: WaitingPosition,
) -> Result<(Waiting, u64), StoreError> {
    let (mut found, mut all, mut last) = (Waiting::new(), 0, WaitingPosition::default());
    loop {
        let rows = app.store().waiting(of, last, READ).await?;
        let is_full = rows.len() == READ as usize;
        for (position, interrupt) in rows {
            last = position;
            if has(&interrupt, wanted) {
                all += 1;
                if position > after && found.len() <= SHOWN as usize {
                    found.push((position, interrupt));
                }
            }
        }
        if !is_full {
            return Ok((found, all));
        }
    }
}

/// A position as the address of a page has it.
fn cursor(position: WaitingPosition) -> String {
    format!("{} {}", position.priority, position.admitted)
}

/// The position in the address of a page.
fn position_at(cursor: &str) -> Option<WaitingPosition> {
    let (priority, admitted) = cursor.split_once(' ')?;
    let admitted: i64 = admitted.parse().ok()?;
    Some(WaitingPosition {
        priority: priority.parse().ok()?,
        admitted: admitted.try_into().ok()?,
    })
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
    use interrupts::store::WaitingPosition;

    use super::{cursor, position_at};

    #[test]
    fn a_position_is_read_as_it_was_written_and_nothing_else_is() {
        let position = WaitingPosition {
            priority: 10,
            admitted: 4_711,
        };
        let written = cursor(position);
        assert_eq!(position_at(&written), Some(position));
        let too_far = format!("10 {}", u64::MAX);
        for text in [
            "",
            "101",
            "10 x",
            "10 -1",
            &too_far,
            &format!("{written} 1"),
        ] {
            assert_eq!(position_at(text), None, "{text}");
        }
    }
}
