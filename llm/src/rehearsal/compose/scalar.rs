//! Texts and numbers within what a schema allows.

use rand::distr::Distribution;
use rand_regex::Regex;
use serde_json::{Map, Value, json};

use super::bound;
use crate::rehearsal::random::Random;

/// How often a part of a pattern is repeated at most.
const MOST_REPEATS: u32 = 8;

/// How many texts of a pattern are tried for one of the wanted length.
const TRIES: usize = 32;

/// The words, or what the schema has in place of words, at the wanted length.
pub(super) fn text(keywords: &Map<String, Value>, words: String, random: &mut Random) -> Value {
    let least = bound(keywords, "minLength").unwrap_or(0);
    let most = bound(keywords, "maxLength").unwrap_or(usize::MAX);
    let named = |keyword| keywords.get(keyword).and_then(Value::as_str);
    let matching = named("pattern").and_then(|pattern| {
        // A pattern without anchors matches anything around it, so the bare match will do.
        let bare = pattern.trim_start_matches('^').trim_end_matches('$');
        let source = Regex::compile(bare, MOST_REPEATS).ok()?;
        let mut drawn = (0..TRIES).map(|_try| source.sample(random.generator()));
        drawn.find(|text: &String| (least..=most).contains(&text.chars().count()))
    });
    let text = matching
        .or_else(|| named("format").and_then(of_format).map(str::to_owned))
        .unwrap_or(words);
    let length = text.chars().count();
    let padding = std::iter::repeat_n('.', least.saturating_sub(length));
    Value::String(text.chars().chain(padding).take(most).collect())
}

fn of_format(format: &str) -> Option<&'static str> {
    Some(match format {
        "date-time" => "2026-01-01T09:00:00Z",
        "date" => "2026-01-01",
        "time" => "09:00:00Z",
        "duration" => "PT1M",
        "uuid" => "0190b5d2-6d1c-7d5e-8a3b-000000000001",
        "email" => "person@example.org",
        "hostname" => "example.org",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "uri" | "uri-reference" | "iri" => "https://example.org/",
        _ => return None,
    })
}

/// The number nearest to the usual one that is within bounds.
pub(super) fn number(keywords: &Map<String, Value>, usual: u32, is_whole: bool) -> Value {
    let bound = |keyword| keywords.get(keyword).and_then(Value::as_f64);
    let beyond = |bound: f64, next: fn(f64) -> f64, step: f64| {
        if is_whole { bound + step } else { next(bound) }
    };
    let least = bound("exclusiveMinimum").map(|bound| beyond(bound, f64::next_up, 1.0));
    let least = least.or(bound("minimum")).unwrap_or(f64::MIN);
    let most = bound("exclusiveMaximum").map(|bound| beyond(bound, f64::next_down, -1.0));
    let most = most.or(bound("maximum")).unwrap_or(f64::MAX);
    let mut value = f64::from(usual).min(most).max(least);
    if is_whole {
        value = value.ceil();
    }
    if let Some(step) = bound("multipleOf").filter(|step| *step > 0.0) {
        let up = (value / step).ceil() * step;
        value = if up > most { up - step } else { up };
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a bound beyond the range of integers saturates"
    )]
    if is_whole {
        json!(value as i64)
    } else {
        json!(value)
    }
}
