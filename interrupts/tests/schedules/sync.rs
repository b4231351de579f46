//! The lock of the registry, controlled by the scheduler.

pub(crate) use std::sync::PoisonError;

pub(crate) use shuttle::sync::{Mutex, MutexGuard};
