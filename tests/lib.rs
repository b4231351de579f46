//! What the integration tests of several crates share: servers that play the parts of providers.

pub mod providers;
