//! Reading a list that may be long, page by page.

use std::future::Future;

use super::{AuditRow, Checkpoint, JournalEntry, OutboxRow, Page, StoredMessage};

/// A row that has a place in its list.
pub trait Positioned {
    /// Its position, which grows along the list.
    fn position(&self) -> u64;
}

impl<T> Positioned for (u64, T) {
    fn position(&self) -> u64 {
        self.0
    }
}

impl Positioned for JournalEntry {
    fn position(&self) -> u64 {
        self.position
    }
}

impl Positioned for OutboxRow {
    fn position(&self) -> u64 {
        self.position
    }
}

impl Positioned for StoredMessage {
    fn position(&self) -> u64 {
        self.position
    }
}

impl Positioned for Checkpoint {
    fn position(&self) -> u64 {
        self.id.number
    }
}

impl Positioned for AuditRow {
    fn position(&self) -> u64 {
        self.position
    }
}

/// Reads a list from a position to its end.
///
/// A page that is not full is the last one: what comes into the list later is announced, or found by reading on from
/// [`Pages::position`].
#[derive(Debug, Clone)]
pub struct Pages {
    next: Page,
    is_over: bool,
}

impl Pages {
    /// All of a list, so many rows at a time.
    pub const fn of(limit: u32) -> Self {
        Self::after(0, limit)
    }

    /// What comes after a position, so many rows at a time.
    pub const fn after(after: u64, limit: u32) -> Self {
        Self {
            next: Page { after, limit },
            is_over: false,
        }
    }

    /// The position of the last row that was read.
    pub const fn position(&self) -> u64 {
        self.next.after
    }

    /// The next rows; `None` at the end of the list.
    ///
    /// # Errors
    ///
    /// That of the reading. Called again, it is read again.
    ///
    /// # Cancel safety
    ///
    /// Safe: the same rows are read next time.
    pub async fn next<T, E, F>(&mut self, read: impl FnOnce(Page) -> F) -> Result<Option<Vec<T>>, E>
    where
        T: Positioned,
        F: Future<Output = Result<Vec<T>, E>>,
    {
        if self.is_over {
            return Ok(None);
        }
        let rows = read(self.next).await?;
        self.is_over = rows.len() < self.next.limit as usize;
        Ok(rows.last().map(Positioned::position).map(|last| {
            self.next.after = last;
            rows
        }))
    }

    /// All rows that are left.
    ///
    /// # Errors
    ///
    /// That of the reading.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn rest<T, E, F>(mut self, mut read: impl FnMut(Page) -> F) -> Result<Vec<T>, E>
    where
        T: Positioned,
        F: Future<Output = Result<Vec<T>, E>>,
    {
        let mut all = Vec::new();
        while let Some(mut rows) = self.next(&mut read).await? {
            all.append(&mut rows);
        }
        Ok(all)
    }

    /// As [`Pages::rest`], without the positions.
    ///
    /// # Errors
    ///
    /// That of the reading.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn values<V, E, F>(self, read: impl FnMut(Page) -> F) -> Result<Vec<V>, E>
    where
        F: Future<Output = Result<Vec<(u64, V)>, E>>,
    {
        let rows = self.rest(read).await?;
        Ok(rows.into_iter().map(|(_position, value)| value).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::Pages;

    #[tokio::test]
    async fn a_list_is_read_to_its_end_and_no_page_after_one_that_is_not_full() {
        for (rows, limit, pages) in [(0, 2, 1), (1, 2, 1), (2, 2, 2), (5, 2, 3)] {
            let list: Vec<(u64, u64)> = (1..=rows).map(|at| (at * 10, at)).collect();
            let (mut reading, mut read, mut times) = (Pages::of(limit), Vec::new(), 0);
            loop {
                let next = reading.next(|page| {
                    times += 1;
                    let after = list.iter().filter(move |(at, _)| *at > page.after);
                    let found: Vec<_> = after.take(limit as usize).copied().collect();
                    async move { Ok::<_, Infallible>(found) }
                });
                match next.await.unwrap() {
                    Some(found) => read.extend(found),
                    None => break,
                }
            }
            assert_eq!(read, list);
            assert_eq!(times, pages, "{rows} rows, {limit} at a time");
            assert_eq!(reading.position(), rows * 10);
        }
    }
}
