//! A decision as it goes over the network.

use interrupts::life::Verdict;
use interrupts::rules::Remember;
use interrupts::{Digest, RouteName};
use routing_core::InterruptId;
use serde_json::{Value, json};

use crate::ClientError;

/// A decision to be made, about the version of the interrupt that was shown.
#[derive(Debug, Clone)]
pub struct NewDecision {
    /// The interrupt.
    pub interrupt: InterruptId,
    /// The version that was shown.
    pub version: u64,
    /// The digest of what was shown.
    pub shown: Digest,
    /// What is decided.
    pub verdict: Verdict,
    /// The target, with a reroute.
    pub target: Option<RouteName>,
    /// The answer, as JSON.
    pub content: Option<String>,
    /// Whether it also applies when the same question is asked again, and for how long.
    pub remember: Option<Remember>,
}

impl NewDecision {
    /// The body: sends in parts what the store keeps as one text.
    pub(crate) fn body(&self) -> Result<Value, ClientError> {
        let mut body = json!({
            "decision": self.verdict,
            "shown_digest": self.shown,
        });
        let content = match &self.content {
            Some(content) => {
                serde_json::from_str(content).map_err(|error| ClientError::Unsendable {
                    problem: format!("the answer is no JSON: {error}"),
                })?
            }
            None => Value::Null,
        };
        if let Value::Object(mut payload) = content {
            payload.remove("rerouteTo");
            body["payload"] = Value::Object(payload);
        }
        if self.verdict == Verdict::Reroute
            && let Some(target) = &self.target
        {
            body["reroute_to"] = json!(target);
        }
        if let Some(remember) = &self.remember {
            body["remember"] = json!({
                "scope": remember.reach,
                "ttl_s": remember.lifetime.as_secs(),
                "max_uses": remember.most_uses,
            });
        }
        Ok(body)
    }
}

#[cfg(test)]
mod tests {
    use interrupts::life::Verdict;
    use interrupts::{Digest, RouteName};
    use routing_core::InterruptId;
    use serde_json::json;

    use super::NewDecision;

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
        let body = decision.body().unwrap();
        assert_eq!(body["decision"], "reroute");
        assert_eq!(body["reroute_to"], "ORCHESTRATOR");
        assert_eq!(body["payload"], json!({"text": "there"}));
        assert_eq!(body["shown_digest"], Digest::ZERO.to_string());
    }
}
