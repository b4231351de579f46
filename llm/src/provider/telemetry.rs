//! The span of a call, with the names that OpenTelemetry's conventions for generative models give.
//!
//! Each request has a span of its own, so a call that is tried again has several. It says whom was
//! asked for what, what that cost as far as the provider said, and how it ended. An interruption is an
//! ending like others: only a failure is an error. What was asked and answered is in no span.

use interrupt_router::ask::is_rejected_early;
use interrupt_router::model::{AtProvider, ModelError, ModelReply, PartialReply, TokenUsage};
use interrupt_router::{Outcome, StopReason};
use reqwest::Url;
use tokio::time::Instant;
use tracing::{Span, field};

use super::Provider;

/// The span of one request.
#[derive(Debug, Clone)]
pub(crate) struct CallSpan {
    span: Span,
    began: Instant,
}

impl CallSpan {
    /// Opens the span; `model` is what the provider calls it.
    pub(crate) fn open(provider: Provider, model: &str, asks_for_json: bool) -> Self {
        let span = tracing::info_span!(
            "gen_ai.inference",
            otel.name = format_args!("chat {model}"),
            otel.kind = "client",
            otel.status_code = field::Empty,
            error.type = field::Empty,
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = provider.conventional_name(),
            gen_ai.request.model = model,
            gen_ai.request.stream = true,
            gen_ai.output.type = if asks_for_json { "json" } else { "text" },
            gen_ai.response.id = field::Empty,
            gen_ai.response.finish_reasons = field::Empty,
            gen_ai.response.time_to_first_chunk = field::Empty,
            gen_ai.usage.input_tokens = field::Empty,
            gen_ai.usage.output_tokens = field::Empty,
            server.address = field::Empty,
            server.port = field::Empty,
            irq.rejected_early = field::Empty,
            irq.interrupt.source = field::Empty,
            irq.interrupt.mode = field::Empty,
            irq.interrupt.at_provider = field::Empty,
        );
        Self {
            span,
            began: Instant::now(),
        }
    }

    /// The span itself.
    pub(crate) fn span(&self) -> Span {
        self.span.clone()
    }

    /// Where the request goes.
    pub(crate) fn sent_to(&self, base_url: &str) {
        let Ok(url) = Url::parse(base_url) else {
            return;
        };
        if let Some(host) = url.host_str() {
            self.span.record("server.address", host);
        }
        if let Some(port) = url.port_or_known_default() {
            self.span.record("server.port", port);
        }
    }

    /// The first piece of the answer is here.
    pub(crate) fn first_chunk(&self) {
        let waited = self.began.elapsed().as_secs_f64();
        self.span
            .record("gen_ai.response.time_to_first_chunk", waited);
    }

    /// What the provider calls the answer.
    pub(crate) fn named(&self, response: &str) {
        self.span.record("gen_ai.response.id", response);
    }

    /// What the provider said of the cost.
    fn used(&self, usage: TokenUsage) {
        if let Some(tokens) = usage.input {
            self.span.record("gen_ai.usage.input_tokens", tokens);
        }
        if let Some(tokens) = usage.output {
            self.span.record("gen_ai.usage.output_tokens", tokens);
        }
    }

    /// Why the provider ended the answer.
    pub(crate) fn finished(&self, said: &str) {
        let list = serde_json::json!([said]).to_string();
        self.span
            .record("gen_ai.response.finish_reasons", list.as_str());
    }

    /// How the call ended, where it did not fail.
    pub(crate) fn ended(&self, outcome: &Outcome<ModelReply, PartialReply>) {
        match outcome {
            Outcome::Completed(reply) => self.used(reply.usage),
            Outcome::Interrupted { reason, partial } => {
                self.used(partial.usage);
                self.interrupted(reason, partial.at_provider);
            }
        }
    }

    /// The call was interrupted, which is no error. An answer that we gave up ourselves, for it was wrong already, met no
    /// interrupt.
    fn interrupted(&self, reason: &StopReason, at_provider: AtProvider) {
        if is_rejected_early(reason) {
            self.span
                .record("irq.rejected_early", reason.message.as_str());
            return;
        }
        let (source, mode) = (reason.source.name(), reason.mode.name());
        self.span.record("irq.interrupt.source", source);
        self.span.record("irq.interrupt.mode", mode);
        self.span
            .record("irq.interrupt.at_provider", at_provider.name());
    }

    /// The call failed.
    pub(crate) fn failed(&self, error: &ModelError) {
        self.span.record("otel.status_code", "ERROR");
        self.span.record("error.type", error_type(error).as_str());
    }
}

/// A few words that tell failures apart: an HTTP status where there is one.
fn error_type(error: &ModelError) -> String {
    match error {
        ModelError::Unauthorized { status, .. }
        | ModelError::Rejected { status, .. }
        | ModelError::Unpaid { status, .. }
        | ModelError::ProviderFailed { status, .. } => status.to_string(),
        ModelError::RateLimited { .. } => "429".to_owned(),
        ModelError::Unreachable { .. } => "unreachable".to_owned(),
        ModelError::BrokenOff { .. } => "broken_off".to_owned(),
        ModelError::EndedWith { .. } => "ended_early".to_owned(),
        ModelError::TooLong { .. } | ModelError::LineTooLong { .. } => "too_long".to_owned(),
        ModelError::ContextFull { .. } => "context_full".to_owned(),
        ModelError::Refused { .. } => "refused".to_owned(),
        ModelError::Filtered { .. } => "content_filter".to_owned(),
        ModelError::TimedOut { .. } => "timeout".to_owned(),
        ModelError::Malformed { .. } => "malformed".to_owned(),
        // A failure that is not known yet.
        // No provider gives it: the record of the call is what failed.
        ModelError::Unrecorded(_) => "unrecorded".to_owned(),
        _ => "_OTHER".to_owned(),
    }
}
