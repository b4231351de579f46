//! Limits request stops from a manager.

use std::time::Duration;

use super::request::{StopCause, StopRequest, Target};
use super::shared::StopRequests;
use crate::life::Actor;
use crate::limits::{LimitKind, LimitReached, LimitWarning, StopSink};
use interrupt_router::StopSource;

/// Pauses a target when a limit is reached.
#[derive(Clone)]
pub struct LimitStops {
    /// Where the stop is requested.
    pub requests: StopRequests,
    /// What is to stop.
    pub target: Target,
    /// Who asks.
    pub by: Actor,
    /// After how long a graceful stop becomes immediate; if absent, never.
    pub grace: Option<Duration>,
}

impl StopSink for LimitStops {
    fn stop(&self, reached: LimitReached) {
        let cause = match reached.limit {
            LimitKind::Time => StopCause::Timeout,
            LimitKind::Steps | LimitKind::Cost => StopCause::Budget,
            LimitKind::Memory | LimitKind::Cpu => StopCause::Resource,
        };
        let request = StopRequest {
            mode: reached.mode,
            source: StopSource::System,
            cause,
            limit: self.grace,
            metadata: Some(reached.metadata),
            ..StopRequest::pause(self.target.clone(), self.by.clone(), reached.message)
        };
        // No wait is needed: the request continues by itself.
        let _handle = self.requests.request(request);
    }

    fn warn(&self, warning: LimitWarning) {
        tracing::warn!(limit = %warning.limit, warning.message, metadata = %warning.metadata, "near a limit");
    }
}
