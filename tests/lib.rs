//! What the integration tests of several crates share: servers that play the parts of providers and of a collector of
//! telemetry, a broker, an auditor that finds out what was lost, doubled or invented, who is alive, and what is said.

pub mod auditor;
pub mod collector;
pub mod nats;
pub mod place;
pub mod postgres;
pub mod processes;
pub mod providers;
pub mod saying;
