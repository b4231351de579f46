//! What the integration tests of several crates share: servers that play the parts of providers and of a collector of
//! telemetry, and an auditor that finds out what was lost, doubled or invented.

pub mod auditor;
pub mod collector;
pub mod providers;
