//! Texts that satisfy a schema's lengths, patterns and formats.

use rand_regex::Regex;
use serde_json::Value;

use crate::rehearsal::random::Random;
use crate::rehearsal::schema_view::Demands;

/// How often a part of a pattern is repeated at most.
const MOST_REPEATS: u32 = 8;

/// How many texts of a pattern are tried for one of the wanted length.
const TRIES: usize = 32;

/// The sentence, or what the schema has in place of sentences, at the wanted length.
pub(super) fn fitting(
    demands: &Demands,
    sentence: String,
    index: usize,
    random: &mut Random,
) -> Value {
    let text = demands
        .get("format")
        .and_then(Value::as_str)
        .and_then(|format| of_format(format, index))
        .unwrap_or(sentence);
    let bound = |keyword| demands.get(keyword).and_then(Value::as_u64);
    let least = usize::try_from(bound("minLength").unwrap_or(0)).unwrap_or(0);
    let most = bound("maxLength").map_or(usize::MAX, |most| {
        usize::try_from(most).unwrap_or(usize::MAX)
    });
    if let Some(Value::String(pattern)) = demands.get("pattern")
        && let Some(matching) = of_pattern(pattern, least, most, random)
    {
        return Value::String(matching);
    }
    Value::String(of_length(text, least, most))
}

/// A text that the pattern matches, of the wanted length where one is found.
fn of_pattern(pattern: &str, least: usize, most: usize, random: &mut Random) -> Option<String> {
    // An unanchored pattern matches anything around it, so the bare match will do.
    let bare = pattern.trim_start_matches('^').trim_end_matches('$');
    let source = Regex::compile(bare, MOST_REPEATS).ok()?;
    let mut best = None;
    for _try in 0..TRIES {
        let text = draw(&source, random);
        let length = text.chars().count();
        if (least..=most).contains(&length) {
            return Some(text);
        }
        best = Some(text);
    }
    best
}

fn draw(source: &Regex, random: &mut Random) -> String {
    use rand::distr::Distribution;
    source.sample(random.generator())
}

/// The text cut or repeated to a length, both in characters.
fn of_length(text: String, least: usize, most: usize) -> String {
    let length = text.chars().count();
    if length > most {
        return text.chars().take(most).collect();
    }
    if length < least {
        return text
            .chars()
            .chain(" ".chars())
            .cycle()
            .take(least)
            .collect();
    }
    text
}

fn of_format(format: &str, index: usize) -> Option<String> {
    let number = index % 10;
    Some(match format {
        "date-time" => format!("2026-01-0{}T09:00:00Z", number % 9 + 1),
        "date" => format!("2026-01-0{}", number % 9 + 1),
        "time" => format!("09:0{number}:00Z"),
        "duration" => format!("PT{}M", number + 1),
        "uuid" => format!("0190b5d2-6d1c-7d5e-8a3b-00000000000{number}"),
        "email" => format!("person{number}@example.org"),
        "hostname" => "example.org".to_owned(),
        "ipv4" => format!("192.0.2.{number}"),
        "ipv6" => format!("2001:db8::{number}"),
        "uri" | "uri-reference" | "iri" => format!("https://example.org/{number}"),
        _ => return None,
    })
}
