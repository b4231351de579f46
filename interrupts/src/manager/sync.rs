//! The lock of the registry, named here so that a test may put another one in its place.

pub(crate) use std::sync::{Mutex, MutexGuard, PoisonError};
