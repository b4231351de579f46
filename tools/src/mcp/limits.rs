//! How long a server may take.

use std::time::Duration;

use jiff::SignedDuration;
use serde::de::{Deserialize as _, Deserializer, Error as _};

/// How long a server may take for what.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpLimits {
    /// From its start, or the first request, to the end of the protocol's greeting.
    #[serde(deserialize_with = "time")]
    pub start: Duration,
    /// To list its tools.
    #[serde(deserialize_with = "time")]
    pub list: Duration,
    /// For one call, without the time in which a person is asked; `None` is without limit.
    #[serde(deserialize_with = "time_or_none")]
    pub call: Option<Duration>,
    /// From being told to stop a call until it is seen to have, before it is given up.
    #[serde(deserialize_with = "time")]
    pub cancel: Duration,
    /// How long nothing of a cancelled call may come until it counts as stopped.
    #[serde(deserialize_with = "time")]
    pub quiet: Duration,
    /// How long it may take to end by itself when it is no longer needed.
    #[serde(deserialize_with = "time")]
    pub close: Duration,
    /// The most bytes of one message of the server.
    #[serde(rename = "message_bytes")]
    pub message: usize,
    /// How often it may die by itself within ten minutes and be started again.
    pub restarts: usize,
}

impl Default for McpLimits {
    /// Thirty seconds to start, ten to list, ten minutes for a call, two seconds to heed a cancellation of which a
    /// quarter of a second must be quiet, two seconds to close, messages up to 8 MiB, five restarts.
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            list: Duration::from_secs(10),
            call: Some(Duration::from_secs(10 * 60)),
            cancel: Duration::from_secs(2),
            quiet: Duration::from_millis(250),
            close: Duration::from_secs(2),
            message: 8 * 1024 * 1024,
            restarts: 5,
        }
    }
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    read(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

fn time_or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let time = (text != "none").then(|| read(&text));
    time.transpose().map_err(D::Error::custom)
}

fn read(text: &str) -> Result<Duration, String> {
    let span = text.parse().ok().filter(SignedDuration::is_positive);
    span.and_then(|span| span.try_into().ok()).ok_or_else(|| {
        format!("`{text}` is no length of time; write it as `30s`, `250ms` or `10m`")
    })
}
