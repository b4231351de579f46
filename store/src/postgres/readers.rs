//! Connections that read, each for one question at a time.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use interrupts::store::StoreError;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::location::PostgresLocation;
use super::session::Session;
use super::writer::{PATIENCE, ServerClock, again};
use crate::relational::Database;
use crate::relational::Found;

/// How many questions of one process PostgreSQL answers at the same time.
const READS_AT_ONCE: usize = 8;

/// The connections, opened when they are needed first.
pub(super) struct Readers {
    location: Arc<PostgresLocation>,
    clock: Arc<ServerClock>,
    idle: Mutex<Vec<Session>>,
    seats: Arc<Semaphore>,
}

impl Readers {
    pub(super) fn new(location: Arc<PostgresLocation>, clock: Arc<ServerClock>) -> Self {
        Self {
            location,
            clock,
            idle: Mutex::new(Vec::new()),
            seats: Arc::new(Semaphore::new(READS_AT_ONCE)),
        }
    }

    /// Asks a question where it may block; again if the connection was lost. Dropped, it is answered all the same, and
    /// the answer is discarded.
    pub(super) async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        question: impl Fn(&mut dyn Database) -> Found<T> + Send + 'static,
    ) -> Found<T> {
        let seat = Arc::clone(&self.seats).acquire_owned().await;
        let seat = seat.map_err(|_closed| StoreError::Closed)?;
        let readers = Arc::clone(self);
        let asked = spawn_blocking(move || {
            let _seat = seat;
            readers.answer(question)
        });
        asked.await.map_err(|error| StoreError::Unavailable {
            detail: error.to_string(),
        })?
    }

    /// However often the connection is lost: a server that restarts may be gone again before it has answered.
    fn answer<T>(&self, question: impl Fn(&mut dyn Database) -> Found<T>) -> Found<T> {
        let begun = Instant::now();
        loop {
            let mut session = match self.take() {
                Some(session) => session,
                None => self.open()?,
            };
            let answer = question(&mut session);
            if !session.is_lost() {
                self.put_back(session);
                return answer;
            }
            // What else is idle was lost with it.
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            let lost = std::mem::take(&mut *idle);
            drop((idle, lost));
            if begun.elapsed() >= PATIENCE {
                return answer;
            }
        }
    }

    fn open(&self) -> Found<Session> {
        let session = again(&self.location)?;
        // Another server may have taken the place of the one that was known.
        self.clock.stands_at(session.opened_at());
        Ok(session)
    }

    fn take(&self) -> Option<Session> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.pop()
    }

    fn put_back(&self, session: Session) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(session);
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        while self.take().is_some() {}
    }
}
