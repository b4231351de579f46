//! A decision as it goes over the network.

use control::NewDecision;
use serde_json::{Value, json};

/// The body of a decision.
pub(crate) fn body(decision: &NewDecision) -> Value {
    let parts = &decision.parts;
    let mut body = json!({"decision": parts.verdict});
    let said = [
        ("payload", json!(parts.payload)),
        ("message", json!(parts.message)),
        ("reroute_to", json!(parts.reroute_to)),
        ("shown_digest", json!(decision.shown)),
        ("remember", json!(decision.remember)),
    ];
    for (name, value) in said.into_iter().filter(|(_, value)| !value.is_null()) {
        body[name] = value;
    }
    body
}

#[cfg(test)]
mod tests {
    use control::{DecisionParts, NewDecision, RememberOrder};
    use interrupts::Digest;
    use interrupts::life::Verdict;
    use serde_json::json;

    use super::body;

    #[test]
    fn a_decision_goes_over_the_network_in_its_parts() {
        let decision = NewDecision {
            version: Some(3),
            shown: Some(Digest::ZERO),
            parts: DecisionParts {
                message: Some("there".to_owned()),
                reroute_to: Some("ORCHESTRATOR".to_owned()),
                ..DecisionParts::new(Verdict::Reroute)
            },
            remember: Some(RememberOrder::default()),
        };
        assert_eq!(
            body(&decision),
            json!({
                "decision": "reroute",
                "message": "there",
                "reroute_to": "ORCHESTRATOR",
                "shown_digest": Digest::ZERO,
                "remember": {"scope": "run", "ttl_s": 3_600, "max_uses": 10},
            })
        );
    }
}
