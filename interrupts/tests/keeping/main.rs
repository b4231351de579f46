//! Keeping runs: what is asked of them reaches them, takes hold, and is recorded.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod askers;
mod delivering;
mod elsewhere;
mod failing;
mod faulty;
mod full;
mod hooking;
mod jumping;
mod lanes;
mod late;
mod leaving;
mod limited;
mod never_lost;
mod remains;
mod scene;
mod signalled;
mod stopping;
