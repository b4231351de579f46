//! How long a server may take, as it is written.

use std::time::Duration;

use jiff::SignedDuration;
use serde::Deserialize;

use super::written::Fault;
use crate::mcp::limits::McpLimits;

/// The table `limits` of a server.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct Limits {
    start: Option<String>,
    list: Option<String>,
    call: Option<String>,
    cancel: Option<String>,
    quiet: Option<String>,
    close: Option<String>,
    message_bytes: Option<usize>,
    restarts: Option<usize>,
}

impl Limits {
    /// The limits, with the usual ones where none are given.
    pub(super) fn checked(self) -> Result<McpLimits, Fault> {
        let usual = McpLimits::default();
        let limits = McpLimits {
            start: duration("limits.start", self.start, usual.start)?,
            list: duration("limits.list", self.list, usual.list)?,
            call: match self.call.as_deref() {
                Some("none") => None,
                Some(text) => Some(parsed("limits.call", text)?),
                None => usual.call,
            },
            cancel: duration("limits.cancel", self.cancel, usual.cancel)?,
            quiet: duration("limits.quiet", self.quiet, usual.quiet)?,
            close: duration("limits.close", self.close, usual.close)?,
            message: self.message_bytes.unwrap_or(usual.message),
            restarts: self.restarts.unwrap_or(usual.restarts),
        };
        if limits.message < 1024 {
            return Err(Fault::new(
                "limits.message_bytes",
                "less than 1024 bytes hold no message",
                "raise it",
            ));
        }
        if limits.quiet > limits.cancel {
            let problem =
                "it is longer than `limits.cancel`, so no call could ever count as stopped";
            return Err(Fault::new(
                "limits.quiet",
                problem,
                "lower it, or raise `limits.cancel`",
            ));
        }
        Ok(limits)
    }
}

fn duration(field: &str, text: Option<String>, usual: Duration) -> Result<Duration, Fault> {
    text.map_or(Ok(usual), |text| parsed(field, &text))
}

fn parsed(field: &str, text: &str) -> Result<Duration, Fault> {
    let span: Option<SignedDuration> = text.parse().ok();
    span.filter(|span| span.is_positive())
        .and_then(|span| Duration::try_from(span).ok())
        .ok_or_else(|| {
            Fault::new(
                field,
                format!("`{text}` is no length of time"),
                "write it as `30s`, `250ms` or `10m`",
            )
        })
}
