//! What the integration tests of several crates share: servers that play the parts of providers, and an
//! auditor that finds out what was lost, doubled or invented.

pub mod auditor;
pub mod providers;
