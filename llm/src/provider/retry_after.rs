//! How long a provider asks to wait.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;
use serde_json::Value;

/// The wait that the headers of a refusal ask for: in milliseconds, in seconds, or as a date.
pub(crate) fn asked_for(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |name| text(name)?.parse::<f64>().ok();
    number("retry-after-ms")
        .map(|milliseconds| milliseconds / 1000.0)
        .or_else(|| number("retry-after"))
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .or_else(|| {
            let date = httpdate::parse_http_date(text("retry-after")?).ok()?;
            // A date that has passed asks for no wait.
            Some(date.duration_since(now).unwrap_or_default())
        })
}

/// The wait that the body of a refusal asks for: Gemini says it there, as `retryDelay`.
pub(crate) fn asked_for_in(body: &Value) -> Option<Duration> {
    let body = body.get(0).unwrap_or(body);
    let details = body.pointer("/error/details")?.as_array()?;
    let said = details
        .iter()
        .find_map(|detail| detail.get("retryDelay")?.as_str())?;
    let seconds = said.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

    use serde_json::json;

    use super::{asked_for, asked_for_in};

    #[test]
    fn what_stands_in_the_body_is_read_too() {
        let said = |delay: &str| {
            json!({"error": {"code": 429, "details": [{"@type": "type.googleapis.com/google.rpc.Help"},
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]}})
        };
        assert_eq!(
            asked_for_in(&said("34.5s")),
            Some(Duration::from_millis(34_500))
        );
        assert_eq!(asked_for_in(&said("soon")), None);
        assert_eq!(asked_for_in(&json!({"error": "no"})), None);
    }

    #[test]
    fn every_form_is_read() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        for (name, value, expected) in [
            ("retry-after", "7", Some(7_000)),
            ("retry-after", "0.25", Some(250)),
            ("retry-after-ms", "1500", Some(1_500)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT", Some(10_000)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:30 GMT", Some(0)),
            ("retry-after", "soon", None),
            ("retry-after", "-1", None),
            ("retry-after", "1e300", None),
            ("x-other", "7", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
            let expected = expected.map(Duration::from_millis);
            assert_eq!(asked_for(&headers, now), expected, "{name}: {value}");
        }
    }
}
