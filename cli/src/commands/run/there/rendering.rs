//! A server's events of a run, in lines for people.

use interrupt_router::NodeId;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::palette::{Palette, Tone};
use crate::report::Detail;
use crate::visible::visible_line;

/// The text around the name of an event's type.
const AROUND: (&str, &str) = ("dev.irq.", ".v1");

/// An event of the feed.
pub(in crate::commands) struct FeedEntry {
    /// Its name, as `interrupt.opened`.
    pub(super) topic: String,
    data: Value,
    /// When it was written.
    pub(super) at: Option<Timestamp>,
    /// Its position in the feed; 0 if it has none.
    pub(super) position: u64,
}

impl FeedEntry {
    /// Reads a CloudEvent; `None` if it is none of ours.
    pub(in crate::commands) fn read(json: &str) -> Option<Self> {
        let mut event: Value = serde_json::from_str(json).ok()?;
        let topic = event.get("type")?.as_str()?;
        let topic = topic.strip_prefix(AROUND.0)?.strip_suffix(AROUND.1)?;
        let text = |name| event.get(name).and_then(Value::as_str);
        let (at, position) = (text("time"), text("sequence"));
        let at = at.and_then(|at| at.parse().ok());
        let position = position.and_then(|position| position.parse().ok());
        let topic = topic.to_owned();
        Some(Self {
            topic,
            at,
            position: position.unwrap_or_default(),
            data: event.get_mut("data")?.take(),
        })
    }

    /// Whether it may change the state of the run, or what the run waits for.
    pub(super) fn changes_the_run(&self) -> bool {
        ["run.", "interrupt.", "stream."]
            .iter()
            .any(|group| self.topic.starts_with(group))
    }

    /// A member of its data.
    pub(super) fn member(&self, name: &str) -> Option<&Value> {
        self.data.get(name)
    }

    /// A text member of its data.
    pub(super) fn text_of(&self, name: &str) -> Option<&str> {
        self.member(name)?.as_str()
    }

    /// A member of its data, if it has this form.
    pub(super) fn read_member<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        T::deserialize(self.member(name)?).ok()
    }

    /// Its data, if they have this form.
    pub(super) fn data_as<T: DeserializeOwned>(&self) -> Option<T> {
        T::deserialize(&self.data).ok()
    }

    /// The agent that it is about.
    pub(super) fn node(&self) -> Option<NodeId> {
        let (_run, node) = self.text_of("agent_id")?.split_once('/')?;
        NodeId::new(node).ok()
    }

    fn text(&self, name: &str) -> String {
        let text = self.data.get(name).and_then(Value::as_str);
        visible_line(text.unwrap_or_default())
    }

    /// The agent's id in its run.
    fn agent(&self) -> String {
        let address = self.text("agent_id");
        match address.split_once('/') {
            Some((_run, node)) => node.to_owned(),
            None => address,
        }
    }

    /// The line for it; `None` if it is not shown at this detail.
    pub(in crate::commands) fn line(&self, detail: Detail, palette: Palette) -> Option<String> {
        let (tone, symbol, text) = self.words(detail)?;
        Some(format!("{} {text}", palette.paint(tone, symbol)))
    }

    fn words(&self, detail: Detail) -> Option<(Tone, &'static str, String)> {
        if detail == Detail::Little {
            return None;
        }
        Some(match self.topic.as_str() {
            "agent.status_changed" => self.working(detail)?,
            "agent.finished" => self.finished(),
            "agent.message_added" => (Tone::Active, "✉", format!("{} has a message", self.agent())),
            "checkpoint.saved" if detail == Detail::Much => {
                let number = self.data.get("number").and_then(Value::as_u64);
                (
                    Tone::Faint,
                    "·",
                    format!("checkpoint {} saved", number.unwrap_or_default()),
                )
            }
            "stream.reset" => (
                Tone::Waiting,
                "…",
                "some events are gone; what follows is how the run is now".to_owned(),
            ),
            topic if topic.starts_with("interrupt.") => self.interrupted(detail)?,
            topic if topic.starts_with("reroute.") && detail == Detail::Much => {
                (Tone::Route, "↪", topic.replace('.', " "))
            }
            topic if topic.starts_with("run.") => {
                let state = self.text("state");
                (Tone::Strong, "▶", format!("the run is {state}"))
            }
            topic if topic.starts_with("tool.") => {
                let (tone, symbol, text) = self.tool();
                (tone, symbol, format!("{} {text}", self.agent()))
            }
            _ => return None,
        })
    }

    /// What to print besides the run events that it stands for.
    pub(super) fn aside(&self, detail: Detail) -> Option<(Tone, &'static str, String)> {
        match self.topic.as_str() {
            topic if topic.starts_with("tool.") => Some(self.tool()),
            "reroute.pending" => {
                let target = self.text("target");
                let what =
                    format!("a supervisor asks it to interrupt itself and go on to {target}");
                Some((Tone::Route, "⚑", what))
            }
            "llm.call_started" => {
                let correction = self.read_member::<u32>("correction").unwrap_or_default();
                let what = format!("the answer does not fit, correction {correction}");
                (correction > 0).then_some((Tone::Waiting, "✎", what))
            }
            "llm.call_cancelled" => {
                let partial = self.text("partial");
                let what = format!("was interrupted in its answer [partial]: {partial}");
                (!partial.is_empty()).then_some((Tone::Waiting, "⊘", what))
            }
            "stream.reset" | "checkpoint.saved" => self.words(detail),
            "interrupt.claimed"
            | "interrupt.released"
            | "interrupt.expired"
            | "interrupt.cancelled"
            | "interrupt.dead_lettered" => self.interrupted(detail),
            _ => None,
        }
    }

    /// What a tool call does, or how it has ended.
    pub(super) fn tool(&self) -> (Tone, &'static str, String) {
        let tool = self.text("tool");
        let said = match self.text("message") {
            message if message.is_empty() => self.text("outcome").replace('_', " "),
            message => message,
        };
        match (self.topic.as_str(), self.text("outcome").as_str()) {
            ("tool.started", _) => (Tone::Plain, "⚒", format!("uses {tool}")),
            ("tool.finished", "finished") => (Tone::Good, "✓", format!("{tool}: {said}")),
            ("tool.finished", "denied") => (Tone::Waiting, "✗", format!("{tool}: {said}")),
            ("tool.finished", _) => (Tone::Bad, "✗", format!("{tool}: {said}")),
            _ => (Tone::Waiting, "⊘", said),
        }
    }

    fn working(&self, detail: Detail) -> Option<(Tone, &'static str, String)> {
        let (tone, symbol, does) = match self.text("status").as_str() {
            "running" => (Tone::Active, "●", "works"),
            "waiting_review" => (Tone::Waiting, "?", "waits for an answer"),
            "paused" => (Tone::Waiting, "‖", "is paused"),
            "ready" if detail == Detail::Much => (Tone::Plain, "◌", "is ready"),
            _ => return None,
        };
        let step = self.data.get("step").and_then(Value::as_u64);
        let step = match step {
            Some(step) if step > 0 => format!(" (step {step})"),
            Some(_) | None => String::new(),
        };
        Some((tone, symbol, format!("{} {does}{step}", self.agent())))
    }

    fn finished(&self) -> (Tone, &'static str, String) {
        let status = self.text("status");
        let (tone, symbol) = match status.as_str() {
            "completed" => (Tone::Good, "✓"),
            "failed" => (Tone::Bad, "✗"),
            _ => (Tone::Faint, "■"),
        };
        (tone, symbol, format!("{} {status}", self.agent()))
    }

    fn interrupted(&self, detail: Detail) -> Option<(Tone, &'static str, String)> {
        let did = self.topic.strip_prefix("interrupt.")?;
        let is_told = matches!(
            did,
            "requested"
                | "opened"
                | "resolved"
                | "rerouted"
                | "expired"
                | "cancelled"
                | "dead_lettered"
        );
        if !is_told && detail < Detail::Much {
            return None;
        }
        let tone = match did {
            "resolved" | "rerouted" => Tone::Route,
            "expired" | "dead_lettered" => Tone::Bad,
            _ => Tone::Waiting,
        };
        let to = match self.text("target") {
            target if target.is_empty() => String::new(),
            target => format!(", to {target}"),
        };
        let by = self.data.pointer("/claimed_by/by").and_then(Value::as_str);
        let by = by.map_or_else(String::new, |by| format!(" by {}", visible_line(by)));
        let text = format!(
            "{} of {} {}{by}{to}",
            self.text("type"),
            self.agent(),
            did.replace('_', " ")
        );
        Some((tone, "‖", format!("{text} ({})", self.text("interrupt_id"))))
    }
}

#[cfg(test)]
mod tests {
    use super::FeedEntry;
    use crate::palette::Palette;
    use crate::report::Detail;

    fn told(kind: &str, data: &str, detail: Detail) -> Option<String> {
        let json = format!(r#"{{"type": "dev.irq.{kind}.v1", "data": {data}}}"#);
        let event = FeedEntry::read(&json).unwrap();
        event.line(detail, Palette::PLAIN)
    }

    #[test]
    fn what_moves_a_run_on_is_told_in_a_line() {
        let works =
            r#"{"agent_id": "run_1/orchestrator/discovery", "status": "running", "step": 3}"#;
        let line = told("agent.status_changed", works, Detail::Usual);
        assert_eq!(line.unwrap(), "● orchestrator/discovery works (step 3)");
        let opened = r#"{"agent_id": "run_1/orchestrator", "type": "HUMAN_REVIEW", "interrupt_id": "int_1"}"#;
        let line = told("interrupt.opened", opened, Detail::Usual);
        assert_eq!(
            line.unwrap(),
            "‖ HUMAN_REVIEW of orchestrator opened (int_1)"
        );
        assert_eq!(told("interrupt.opened", opened, Detail::Little), None);
        assert_eq!(told("llm.call_started", "{}", Detail::Much), None);
        let claimed = r#"{"agent_id": "run_1/orchestrator", "type": "HUMAN_REVIEW", "interrupt_id": "int_1", "claimed_by": {"by": "alex"}}"#;
        let line = told("interrupt.claimed", claimed, Detail::Much);
        assert_eq!(
            line.unwrap(),
            "‖ HUMAN_REVIEW of orchestrator claimed by alex (int_1)"
        );
    }

    #[test]
    fn what_a_server_says_cannot_act_on_the_terminal() {
        let text = r#"{"agent_id": "run_1/\u001b[2J", "status": "running"}"#;
        let line = told("agent.status_changed", text, Detail::Usual).unwrap();
        assert!(!line.contains('\u{1b}'), "{line}");
    }

    #[test]
    fn an_event_of_somebody_else_is_none() {
        for json in ["", "[]", "{}", r#"{"type": "com.example", "data": {}}"#] {
            assert!(FeedEntry::read(json).is_none(), "{json}");
        }
    }
}
