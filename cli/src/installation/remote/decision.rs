//! A decision as it goes over the network.

use interrupts::life::Verdict;
use serde_json::{Value, json};

use crate::arguments::verdict_name;
use crate::exit::{Exit, Failure};
use crate::installation::NewDecision;

/// The body of a decision: what the store keeps as one text goes over the network in its parts.
pub(super) fn decision_body(decision: &NewDecision) -> Result<Value, Failure> {
    let mut body = json!({
        "decision": verdict_name(decision.verdict),
        "shown_digest": decision.shown,
    });
    let content = match &decision.content {
        Some(content) => serde_json::from_str(content).map_err(|error| {
            Failure::new(Exit::Usage, format!("the answer is no JSON: {error}"))
        })?,
        None => Value::Null,
    };
    if let Value::Object(mut payload) = content {
        payload.remove("rerouteTo");
        body["payload"] = Value::Object(payload);
    }
    if decision.verdict == Verdict::Reroute
        && let Some(target) = &decision.target
    {
        body["reroute_to"] = json!(target);
    }
    if let Some(remember) = &decision.remember {
        body["remember"] = json!({
            "scope": remember.reach,
            "ttl_s": remember.lifetime.as_secs(),
            "max_uses": remember.most_uses,
        });
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use interrupts::life::Verdict;
    use interrupts::{Digest, RouteName};
    use routing_core::InterruptId;
    use serde_json::json;

    use super::decision_body;
    use crate::installation::NewDecision;

    #[test]
    fn a_decision_goes_over_the_network_in_its_parts() {
        let decision = NewDecision {
            interrupt: InterruptId::generate(),
            version: 3,
            shown: Digest::ZERO,
            verdict: Verdict::Reroute,
            target: Some(RouteName::new("ORCHESTRATOR").unwrap()),
            content: Some(json!({"text": "there", "rerouteTo": "ORCHESTRATOR"}).to_string()),
            remember: None,
        };
        let body = decision_body(&decision).unwrap();
        assert_eq!(body["decision"], "reroute");
        assert_eq!(body["reroute_to"], "ORCHESTRATOR");
        assert_eq!(body["payload"], json!({"text": "there"}));
        assert_eq!(body["shown_digest"], Digest::ZERO.to_string());
    }
}
