//! Times as people type and read them.

use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp, Unit};

/// Reads a length of time: `90s`, `2h`, `30d`, `1h 30m`. A day has 24 hours, a week 7 days.
///
/// # Errors
///
/// In words, if the text is none, or is not positive.
pub(crate) fn parse_duration(text: &str) -> Result<SignedDuration, String> {
    let wrong = || format!("`{text}` is no length of time; write 90s, 15m, 2h or 30d");
    let span: Span = text.parse().map_err(|_invalid| wrong())?;
    let duration = span
        .to_duration(SpanRelativeTo::days_are_24_hours())
        .map_err(|_uneven| wrong())?;
    if duration.is_positive() {
        Ok(duration)
    } else {
        Err(wrong())
    }
}

/// How long a graceful stop may last: `None` for as long as the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grace(pub(crate) Option<SignedDuration>);

impl Grace {
    /// After Ctrl+C, SIGTERM and SIGHUP.
    pub(crate) const OF_SIGNALS: Self = Self(Some(SignedDuration::from_secs(5)));
    /// After Esc.
    pub(crate) const OF_ESCAPE: Self = Self(Some(SignedDuration::from_secs(2)));

    /// As a process waits it.
    pub(crate) fn duration(self) -> Option<std::time::Duration> {
        self.0.map(SignedDuration::unsigned_abs)
    }

    /// As a request carries it, in milliseconds.
    pub(crate) fn millis(self) -> Option<u64> {
        let millis = |grace: std::time::Duration| u64::try_from(grace.as_millis());
        self.duration()
            .map(|grace| millis(grace).unwrap_or(u64::MAX))
    }
}

/// Reads the grace of a stop: a length of time, or `none`.
///
/// # Errors
///
/// In words, if the text is neither.
pub(crate) fn parse_grace(text: &str) -> Result<Grace, String> {
    if text.eq_ignore_ascii_case("none") {
        return Ok(Grace(None));
    }
    let wrong = |problem| format!("{problem}, or `none`");
    parse_duration(text).map(Some).map(Grace).map_err(wrong)
}

/// Reads a time, or an age that is counted back from now.
///
/// # Errors
///
/// In words, if the text is neither.
pub(crate) fn parse_since(text: &str) -> Result<Timestamp, String> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    let wrong =
        || format!("`{text}` is no time; write 2026-11-22T09:00:00Z, or an age such as 2h or 7d");
    let age = parse_duration(text).map_err(|_no_age| wrong())?;
    Timestamp::now().checked_sub(age).map_err(|_early| wrong())
}

/// A time for people, in UTC and whole seconds.
pub(crate) fn instant(time: Timestamp) -> String {
    let seconds = time.round(Unit::Second).unwrap_or(time);
    format!("{seconds}").replace('T', " ")
}

/// How long ago something was, short: `now`, `12s`, `5m`, `3h`, `9d`.
pub(crate) fn age(since: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(since).as_secs();
    match seconds {
        ..1 => "now".to_owned(),
        1..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// How long ago something was, as part of a sentence: `just now`, `12s ago`.
pub(crate) fn ago(since: Timestamp, now: Timestamp) -> String {
    match age(since, now).as_str() {
        "now" => "just now".to_owned(),
        age => format!("{age} ago"),
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::{age, instant, parse_duration, parse_since};

    #[test]
    fn lengths_of_time_are_read_as_people_write_them() {
        for (text, seconds) in [
            ("90s", 90),
            ("15m", 900),
            ("2h", 7_200),
            ("30d", 2_592_000),
            ("1h 30m", 5_400),
            ("1w", 604_800),
        ] {
            assert_eq!(
                parse_duration(text),
                Ok(SignedDuration::from_secs(seconds)),
                "{text}"
            );
        }
        for text in ["", "5", "soon", "-2h", "0s", "1 month"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_beginning_is_a_time_or_an_age() {
        let time: Timestamp = "2026-11-22T09:00:00Z".parse().unwrap();
        assert_eq!(parse_since("2026-11-22T09:00:00Z"), Ok(time));
        let hour_ago = parse_since("1h").unwrap();
        assert!(hour_ago < Timestamp::now());
        assert!(parse_since("yesterday").is_err());
    }

    #[test]
    fn times_and_ages_are_short() {
        let time: Timestamp = "2026-11-22T09:00:00.25Z".parse().unwrap();
        assert_eq!(instant(time), "2026-11-22 09:00:00Z");
        for (seconds, text) in [(0, "now"), (59, "59s"), (3_599, "59m"), (7_200, "2h")] {
            assert_eq!(age(time, time + SignedDuration::from_secs(seconds)), text);
        }
    }
}
