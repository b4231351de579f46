//! What a collector gets of an interrupted tool.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use interrupt_router::{Outcome, StopMode, StopReason, StopSource};
use interrupts::store::Repeating;
use jiff::Timestamp;
use opentelemetry_otlp::{MetricExporter, SpanExporter, WithExportConfig as _};
use serde_json::json;
use tests::collector::{Collected, Collector, CollectorManner};
use tools::{
    Executor, ExecutorConfig, Interruption, PartialOutput, Permission, PermissionPolicy,
    RequestedCall, Tool, ToolCall, ToolContext, ToolError, ToolName, ToolOutput, ToolSpec,
    Workspace,
};
use tracing_subscriber::Registry;
use tracing_subscriber::layer::SubscriberExt as _;

use super::exporter::Exporter;

/// Waits to be stopped, or fails at once; says how many wait.
struct Waits {
    spec: ToolSpec,
    waiting: Arc<AtomicUsize>,
}

#[async_trait]
impl Tool for Waits {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(
        &self,
        call: &ToolCall,
        context: &ToolContext,
    ) -> Result<Outcome<ToolOutput, PartialOutput>, ToolError> {
        if call.arguments["fails"] == true {
            return Err(ToolError::Unusable {
                reason: "it is to fail".to_owned(),
            });
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let reason = context.scope.stopped_now().await;
        let partial = PartialOutput::returned("");
        Ok(Outcome::Interrupted { reason, partial })
    }
}

fn executor(folder: &tempfile::TempDir, waiting: &Arc<AtomicUsize>) -> Executor {
    let mut config = ExecutorConfig::new(Workspace::open(folder.path()).unwrap());
    config.policy = PermissionPolicy::always(Permission::Allow);
    let tool = Waits {
        spec: ToolSpec {
            name: ToolName::new("wait").unwrap(),
            description: "waits".to_owned(),
            arguments: json!({"type": "object"}),
            interruption: Interruption::Stops,
            repeating: Repeating::Idempotent,
        },
        waiting: Arc::clone(waiting),
    };
    config.registry.register(Arc::new(tool)).unwrap();
    Executor::new(config)
}

/// A person interrupts two calls that wait, after one that failed.
async fn interrupted(executor: &Executor, waiting: &AtomicUsize) {
    let failing = RequestedCall::new("c", "wait", r#"{"fails": true}"#);
    executor.execute(vec![failing]).await.unwrap();
    let calls = vec![
        RequestedCall::new("a", "wait", "{}"),
        RequestedCall::new("b", "wait", "{}"),
    ];
    let controller = &executor.config().controller;
    let interrupting = async {
        while waiting.load(Ordering::Relaxed) < 2 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let reason = StopReason {
            source: StopSource::User,
            mode: StopMode::Immediate,
            message: "look here".to_owned(),
            timestamp: Timestamp::UNIX_EPOCH,
        };
        controller.cancel(reason).await
    };
    let (end, _cancellation) = tokio::join!(executor.execute(calls), interrupting);
    assert_eq!(end.unwrap().messages.len(), 2);
}

fn exported() -> Collected {
    let collector = Collector::start(CollectorManner::Takes).unwrap();
    let to = |path: &str| format!("{}{path}", collector.endpoint());
    let _installed = tls::provider();
    let spans = SpanExporter::builder()
        .with_http()
        .with_endpoint(to("/v1/traces"))
        .build();
    let counts = MetricExporter::builder()
        .with_http()
        .with_endpoint(to("/v1/metrics"))
        .build();
    let exporter = Exporter::of(spans.unwrap(), counts.unwrap());
    let subscriber = Registry::default().with(exporter.layer());
    let folder = tempfile::tempdir().unwrap();
    let waiting = Arc::default();
    let executor = executor(&folder, &waiting);
    tracing::subscriber::with_default(subscriber, || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(interrupted(&executor, &waiting));
    });
    exporter.end().unwrap();
    collector.collected()
}

#[test]
fn a_collector_gets_interrupted_calls_as_such() {
    let collected = exported();
    let span = |id: &str| {
        let mut spans = collected.spans.iter();
        let span = spans.find(|span| span.attribute("tool.call_id") == Some(id));
        span.unwrap_or_else(|| panic!("no span of {id}: {collected:#?}"))
    };
    for id in ["a", "b"] {
        let span = span(id);
        assert_eq!(span.name, "tool_call");
        assert_eq!(span.service.as_deref(), Some("irq"));
        assert_eq!(span.attribute("tool.name"), Some("wait"));
        assert_eq!(span.attribute("tool.interrupted"), Some("true"));
        assert_eq!(span.attribute("tool.interrupt_reason"), Some("user"));
    }
    let failed = span("c");
    assert_eq!(failed.attribute("tool.end"), Some("failed"));
    assert_eq!(failed.attribute("tool.interrupted"), None);
}

#[test]
fn a_collector_gets_the_count_of_interrupted_calls_by_tool_and_reason() {
    let collected = exported();
    let mut counts = collected.counts.iter();
    let count = counts.find(|count| count.name == "tool_interrupts_total");
    let count = count.unwrap_or_else(|| panic!("no count: {collected:#?}"));
    assert_eq!(count.count, 2);
    assert_eq!(count.attribute("tool"), Some("wait"));
    assert_eq!(count.attribute("reason"), Some("user"));
    assert_eq!(count.attributes.len(), 2, "{count:?}");
}
