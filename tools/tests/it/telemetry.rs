//! What a trace and a log say of an interrupted call.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tools::{
    ControllerConfig, Executor, ExecutorConfig, InterruptController, Interruption, Permission,
    PermissionPolicy, RequestedCall,
};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::scene::{by_user, workspace};
use crate::scripted::{Log, Scripted, takes};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Executes four calls, interrupts two of them, and returns what was logged and traced meanwhile.
async fn trace_of_an_interrupt() -> String {
    let lines = Lines::default();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(lines.clone())
        .with_ansi(false)
        .without_time()
        .with_span_events(FmtSpan::CLOSE)
        .finish();
    let _default = tracing::subscriber::set_default(subscriber);
    let (_folder, workspace) = workspace();
    let mut config = ExecutorConfig::new(workspace);
    let tool = Scripted::new("work", Interruption::Stops, &Arc::new(Log::default()));
    config.registry.register(tool).unwrap();
    config.policy = PermissionPolicy::always(Permission::Allow);
    config.controller = InterruptController::new(ControllerConfig {
        limit: Duration::from_secs(2),
        ..ControllerConfig::default()
    });
    let executor = Executor::new(config);
    let work =
        |id: &str, script: serde_json::Value| RequestedCall::new(id, "work", script.to_string());
    let calls = vec![
        takes("fine", 5),
        work("fails", json!({"ms": 1, "fails": true})),
        work("slow", json!({"ms": 9_000, "heeds": 300})),
        work("deaf", json!({"ms": 9_000})),
    ];
    let interrupting = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        executor
            .config()
            .controller
            .cancel(by_user("look here"))
            .await
    };
    let (end, _cancellation) = tokio::join!(executor.execute(calls), interrupting);
    assert_eq!(end.unwrap().messages.len(), 4);
    // The span of the one that was left behind closes when the runtime has dropped its work.
    tokio::time::sleep(Duration::from_millis(1)).await;
    let text = lines.0.lock().unwrap().clone();
    String::from_utf8(text).unwrap()
}

#[tokio::test(start_paused = true)]
async fn spans_and_logs_tell_an_interrupt_from_a_failure_and_who_did_not_stop() {
    let text = trace_of_an_interrupt().await;
    let line_with = |parts: &[&str]| {
        let fits = |line: &str| parts.iter().all(|part| line.contains(part));
        assert!(text.lines().any(fits), "no line has {parts:?}:\n{text}");
    };
    line_with(&[
        "INFO",
        "cancelling all running tools",
        "reason=look here",
        "source=\"user\"",
        "running=2",
    ]);
    line_with(&[
        "INFO",
        "tool.call_id=slow",
        "a tool has stopped",
        "took_ms=300",
    ]);
    line_with(&[
        "WARN",
        "tool.call_id=deaf",
        "did not stop in time",
        "waited_ms=2000",
    ]);
    for id in ["tool.call_id=slow", "tool.call_id=deaf"] {
        line_with(&[
            id,
            "tool.end=\"interrupted\"",
            "tool.interrupted=true",
            "tool.interrupt_reason=\"user\"",
        ]);
    }
    line_with(&["tool.call_id=fails", "tool.end=\"failed\"", "close"]);
    let of_the_failure = |line: &&str| line.contains("tool.call_id=fails");
    assert!(
        !text
            .lines()
            .filter(of_the_failure)
            .any(|line| line.contains("tool.interrupted"))
    );
}
