//! A row of the audit in words. Read from its JSON, so that rows of a newer program can be shown too.

use interrupts::store::AuditRow;
use jiff::Timestamp;
use serde_json::Value;

use crate::run_owner::{is_process, owner_words};
use crate::view::kept_json;

/// What a row says.
#[derive(Debug, Clone)]
pub(crate) struct AuditLine {
    /// The row's place.
    pub(crate) position: u64,
    /// When it happened.
    pub(crate) at: Option<Timestamp>,
    /// The run.
    pub(crate) run: Option<String>,
    /// What it is about: the id of an interrupt, an event, a run.
    pub(crate) subject: String,
    /// What happened.
    pub(crate) what: String,
    /// Who did it.
    pub(crate) who: Option<String>,
    /// In words.
    pub(crate) detail: Option<String>,
    /// The whole entry.
    pub(crate) entry: Value,
}

impl AuditLine {
    /// What a row says.
    pub(crate) fn of(row: &AuditRow) -> Self {
        let entry = kept_json(&row.entry);
        let text = |name: &str| text_of(&entry, name);
        let name_in = |name: &str| name_of(&entry, name);
        let run = text("run");
        let about = text("about").unwrap_or_else(|| "?".to_owned());
        let (subject, what, who, detail) = match about.as_str() {
            "interrupt" => (
                text("interrupt"),
                step(&entry),
                name_in("actor"),
                text("detail").as_deref().map(plain_detail),
            ),
            "reroute" => (
                text("event"),
                format!("reroute {}", text("change").unwrap_or_default()),
                None,
                None,
            ),
            "run" => {
                let event = text("event").unwrap_or_default();
                let state = text("state").unwrap_or_default();
                let what = match event.as_str() {
                    "create" => "run created".to_owned(),
                    "own" => "run taken up by a process".to_owned(),
                    "release" => "run left by its process".to_owned(),
                    "change" => format!("run is {state}"),
                    "catalogue" => "run goes on under a catalogue".to_owned(),
                    other => format!("run {other}, {state}"),
                };
                (run.clone(), what, None, text("reason"))
            }
            "fork" => (run.clone(), "forked".to_owned(), None, fork_of(&entry)),
            "checkpoint" => {
                let number = entry.get("number").and_then(Value::as_u64);
                let what = format!("checkpoint {} saved", number.unwrap_or(0));
                (run.clone(), what, None, None)
            }
            "message" => {
                let to = text("node").map(|node| format!("to {node}"));
                (run.clone(), "message".to_owned(), name_in("from"), to)
            }
            "rule" => rule(&entry),
            "token" => token(&entry),
            "purge" => {
                let through = entry.get("through").and_then(Value::as_u64);
                let what = format!("the audit was cut off after {}", through.unwrap_or(0));
                (text("anchor"), what, None, None)
            }
            other => (run.clone(), other.to_owned(), None, None),
        };
        Self {
            position: row.position,
            at: text("at").and_then(|at| at.parse().ok()),
            run,
            subject: subject.unwrap_or_else(|| "-".to_owned()),
            what,
            who,
            detail,
            entry,
        }
    }
}

impl AuditLine {
    /// Who did it, for a table: `irq`, unless a person or an external program did it.
    pub(crate) fn by(&self) -> &str {
        let named = self.who.as_deref().filter(|who| !is_process(who));
        named.unwrap_or("irq")
    }
}

/// The detail of a step; for the process that has the interrupt, what a person can find it by.
fn plain_detail(detail: &str) -> String {
    match detail.strip_prefix("delivered to ") {
        Some(owner) => format!("to {}", owner_words(owner)),
        None => detail.to_owned(),
    }
}

/// What a row is about, what happened, who did it, and more in words.
type Parts = (Option<String>, String, Option<String>, Option<String>);

fn name_of(entry: &Value, member: &str) -> Option<String> {
    entry.get(member).and_then(|actor| text_of(actor, "name"))
}

fn rule(entry: &Value) -> Parts {
    let what = format!("rule {}", text_of(entry, "event").unwrap_or_default());
    let about = text_of(entry, "interrupt").map(|id| format!("{id}, "));
    let detail = text_of(entry, "detail").map(|said| about.unwrap_or_default() + &said);
    (
        text_of(entry, "rule"),
        what,
        name_of(entry, "actor"),
        detail,
    )
}

fn token(entry: &Value) -> Parts {
    let holder = name_of(entry, "holder").unwrap_or_default();
    let event = text_of(entry, "event").unwrap_or_default();
    let what = format!("token of {holder} {event}");
    let detail = text_of(entry, "detail");
    (
        text_of(entry, "token"),
        what,
        name_of(entry, "actor"),
        detail,
    )
}

fn text_of(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(str::to_owned)
}

/// What happened to an interrupt, in plain words; an unknown event by its name.
fn step(entry: &Value) -> String {
    let event = text_of(entry, "event").unwrap_or_default();
    let to = text_of(entry, "to").unwrap_or_default();
    match (event.as_str(), to.as_str()) {
        ("admit", _) => "requested",
        ("take", _) => "delivered to the run's process",
        ("acknowledge", _) => "acknowledged by its agent",
        ("require_review", _) => "waits for a person",
        ("decide", "rerouted") => "decided, and sent elsewhere",
        ("decide", _) => "decided",
        ("deadline", _) => "expired",
        ("withdraw", "cancelled") => "withdrawn",
        ("withdraw", _) => "a request for it was withdrawn",
        ("ask", _) => "requested again",
        ("ask_again", _) => "asked again",
        ("delivery_failed", "dead_lettered") => "could not be delivered, and is not tried again",
        ("delivery_failed", _) => "could not be delivered",
        ("redrive", _) => "tried again",
        ("raise_mode", _) => "made immediate",
        ("claim", _) => "claimed",
        ("release", _) => "claim given back",
        _ => return event,
    }
    .to_owned()
}

fn fork_of(entry: &Value) -> Option<String> {
    let from = entry.get("from")?;
    let run = text_of(from, "run")?;
    let number = from.get("number").and_then(Value::as_u64)?;
    let effects = entry.get("effects").and_then(Value::as_u64).unwrap_or(0);
    Some(format!("from {run} at {number}, with {effects} results"))
}

#[cfg(test)]
mod tests {
    use interrupts::store::{AuditHead, AuditRow};

    use super::AuditLine;

    fn told(entry: &str) -> AuditLine {
        AuditLine::of(&AuditRow::following(&AuditHead::EMPTY, entry.to_owned()))
    }

    #[test]
    fn a_step_in_the_life_of_an_interrupt_is_told_with_who_did_it() {
        let told = told(
            r#"{"at":"2026-11-22T09:00:00Z","about":"interrupt","interrupt":"int_1","run":"run_1",
                "event":"decide","row":9,"from":"awaiting_review","to":"resolved","version":5,"epoch":1,
                "actor":{"name":"ada","role":"reviewer"},"detail":"Respond to ORIGIN"}"#,
        );
        assert_eq!(told.what, "decided");
        assert_eq!(told.by(), "ada");
        assert_eq!(told.subject, "int_1");
    }

    #[test]
    fn what_a_process_did_by_itself_is_told_without_its_name() {
        let told = told(
            r#"{"at":"2026-11-22T09:00:00Z","about":"interrupt","interrupt":"int_1","run":"run_1",
                "event":"take","row":2,"from":"requested","to":"delivered","version":2,"epoch":1,
                "detail":"delivered to irq-5e6c.4026531836-12686-222053"}"#,
        );
        assert_eq!(told.by(), "irq");
        assert_eq!(told.what, "delivered to the run's process");
        assert_eq!(told.detail.as_deref(), Some("to pid 12686 elsewhere"));
    }

    #[test]
    fn what_a_newer_program_wrote_is_told_as_far_as_it_is_known() {
        let told = told(r#"{"at":"2026-11-22T09:00:00Z","about":"eclipse","run":"run_1"}"#);
        assert_eq!(
            (told.what.as_str(), told.subject.as_str()),
            ("eclipse", "run_1")
        );
    }
}
