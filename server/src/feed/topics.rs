//! Which events a reader wants.

use interrupt_router::{NodeId, RunId};

use crate::events::FeedEvent;
use crate::events::TOLD;

/// The most patterns of a filter.
const MOST_PATTERNS: usize = 32;

/// Which events a reader wants.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    /// Of this run.
    pub(crate) run: Option<RunId>,
    /// Of this agent, and of those that it started.
    pub(crate) node: Option<NodeId>,
    /// With one of these names; empty for all.
    patterns: Vec<String>,
}

impl Filter {
    /// Events with names that match one of these patterns; `*` at the end of a pattern matches anything.
    pub(crate) fn with_topics<'topic>(
        mut self,
        topics: impl IntoIterator<Item = &'topic str>,
    ) -> Result<Self, String> {
        for topic in topics {
            let topic = topic.trim();
            let fits = !topic.is_empty()
                && topic.len() <= 100
                && topic
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'*'));
            let stars = topic.matches('*').count();
            if !fits || stars > usize::from(topic.ends_with('*')) {
                return Err(format!(
                    "`{topic}` is no pattern of names such as `interrupt.*` or `run.completed`"
                ));
            }
            if !TOLD.iter().any(|(name, _)| matches(topic, name)) {
                return Err(format!(
                    "`{topic}` fits no event; they are named as `interrupt.opened`, without `dev.irq.` and `.v1`, and `/asyncapi.json` lists them"
                ));
            }
            self.patterns.push(topic.to_owned());
        }
        if self.patterns.len() > MOST_PATTERNS {
            return Err(format!("at most {MOST_PATTERNS} patterns are possible"));
        }
        Ok(self)
    }

    /// Whether an event is wanted.
    pub(crate) fn wants(&self, event: &FeedEvent) -> bool {
        let run = self.run.is_none_or(|run| event.run == Some(run));
        let node = match (&self.node, &event.node) {
            (None, _) => true,
            (Some(wanted), Some(node)) => node.is_within(wanted),
            (Some(_), None) => false,
        };
        run && node && (self.patterns.is_empty() || self.matches(&event.topic))
    }

    fn matches(&self, topic: &str) -> bool {
        self.patterns.iter().any(|pattern| matches(pattern, topic))
    }
}

/// Whether a name matches a pattern.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => pattern == name,
    }
}

#[cfg(test)]
mod tests {
    use super::Filter;

    #[test]
    fn a_star_stands_for_the_rest_of_a_name_and_for_nothing_else() {
        let filter = Filter::default()
            .with_topics(["interrupt.*", "run.completed"])
            .unwrap();
        for (topic, wanted) in [
            ("interrupt.opened", true),
            ("run.completed", true),
            ("run.completed2", false),
            ("interrupts.opened", false),
        ] {
            assert_eq!(filter.matches(topic), wanted, "{topic}");
        }
        for bad in [
            "",
            "*.opened",
            "a*b",
            "run completed",
            "**",
            "interrupts.*",
            "dev.irq.run.completed.v1",
        ] {
            assert!(Filter::default().with_topics([bad]).is_err(), "{bad}");
        }
    }
}
