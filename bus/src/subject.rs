//! The subjects of events and commands.

use interrupts::bus::BusEvent;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What every subject of this version begins with.
const PREFIX: &str = "irq.v1";

/// The token of an event that is about no run, or about no agent.
const NONE: &str = "-";

/// The characters that a token may not have: NATS splits subjects at `.`, and `*`, `>` and spaces have a meaning there.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'/');

/// All events, of every tenant: seven tokens. A command has five, so the stream has none of them.
pub(crate) const ALL_EVENTS: &str = "irq.v1.*.*.*.*.*";

/// The subject of an event: `irq.v1.TENANT.RUN.AGENT.NOUN.VERB`.
pub(crate) fn of_event(tenant: &str, event: &BusEvent) -> String {
    let run = event.run.map(|run| run.to_string());
    let run = run.as_deref().map_or(NONE.to_owned(), token);
    let agent = event
        .node
        .as_ref()
        .map_or(NONE.to_owned(), |node| token(node.as_str()));
    let (noun, verb) = event.topic.split_once('.').unwrap_or((&event.topic, NONE));
    format!(
        "{PREFIX}.{tenant}.{run}.{agent}.{}.{}",
        token(noun),
        token(verb)
    )
}

/// The subjects of all events of a tenant.
pub(crate) fn events(tenant: &str) -> String {
    format!("{PREFIX}.{tenant}.*.*.*.*")
}

/// The subjects of all commands of a tenant.
pub(crate) fn commands(tenant: &str) -> String {
    format!("{PREFIX}.{tenant}.cmd.*")
}

/// What the subject of a command asks for.
pub(crate) fn verb(subject: &str) -> &str {
    subject.rsplit('.').next().unwrap_or_default()
}

/// Whether an answer may go to a subject that a supervisor names. A server may publish what its supervisors may not:
/// commands to JetStream, and events.
pub(crate) fn takes_answers(subject: &str) -> bool {
    !subject.starts_with('$') && !subject.starts_with("irq.")
}

fn token(text: &str) -> String {
    match text {
        "" => NONE.to_owned(),
        text => utf8_percent_encode(text, ESCAPED).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use interrupt_router::{NodeId, RunId};
    use interrupts::bus::BusEvent;

    use super::{of_event, takes_answers, token, verb};

    #[test]
    fn an_event_is_found_by_its_tenant_run_agent_and_name() {
        let run = RunId::generate();
        let mut event = BusEvent {
            id: "1".to_owned(),
            run: Some(run),
            node: Some(NodeId::new("root/worker-1").unwrap()),
            topic: "interrupt.opened".to_owned(),
            json: String::new(),
        };
        let expected = format!("irq.v1.acme.{run}.root/worker-1.interrupt.opened");
        assert_eq!(of_event("acme", &event), expected);
        event.node = None;
        event.run = None;
        event.topic = "rule.created".to_owned();
        assert_eq!(of_event("acme", &event), "irq.v1.acme.-.-.rule.created");
    }

    #[test]
    fn no_answer_is_an_order_or_an_event() {
        assert!(takes_answers("_INBOX.abc.def") && takes_answers("supervisors.ada"));
        assert!(!takes_answers("$JS.API.STREAM.DELETE.IRQ_EVENTS"));
        assert!(!takes_answers("irq.v1.acme.-.-.rule.created"));
    }

    #[test]
    fn a_token_has_nothing_that_nats_reads_as_more_than_a_token() {
        assert_eq!(token("a.b c*d>e\t"), "a%2Eb%20c%2Ad%3Ee%09");
        assert_eq!(token(""), "-");
        assert_eq!(verb("irq.v1.acme.cmd.reroute"), "reroute");
    }
}
