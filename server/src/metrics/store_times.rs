//! How long the writes of a store take, by kind.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family as Metric;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::flow::times;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfOperation {
    operation: &'static str,
}

/// How long the writes of a store took since the process started, from request to commit.
#[derive(Debug, Clone)]
pub struct StoreTimes(Metric<OfOperation, Histogram, fn() -> Histogram>);

impl Default for StoreTimes {
    fn default() -> Self {
        Self(Metric::new_with_constructor(times))
    }
}

impl StoreTimes {
    /// A write of this kind took so long.
    pub fn wrote(&self, operation: &'static str, took: Duration) {
        self.0
            .get_or_create(&OfOperation { operation })
            .observe(took.as_secs_f64());
    }

    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register(
            "irq_store_write_seconds",
            "From a write to its commit, as this process waited for it",
            self.0.clone(),
        );
    }
}
