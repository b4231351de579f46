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

#[tokio::test(start_paused = true)]
async fn spans_and_logs_tell_an_interrupt_from_a_failure_and_who_did_not_stop() {
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
    let slow = RequestedCall::new(
        "slow",
        "work",
        json!({"ms": 9_000, "heeds": 300}).to_string(),
    );
    let deaf = RequestedCall::new("deaf", "work", json!({"ms": 9_000}).to_string());
    let fails = RequestedCall::new("fails", "work", json!({"ms": 1, "fails": true}).to_string());
    let interrupting = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        executor
            .config()
            .controller
            .cancel(by_user("look here"))
            .await
    };
    let calls = vec![takes("fine", 5), fails, slow, deaf];
    let (end, _cancellation) = tokio::join!(executor.execute(calls), interrupting);
    assert_eq!(end.unwrap().messages.len(), 4);
    // The span of the one that was left behind closes when the runtime has dropped its work.
    tokio::time::sleep(Duration::from_millis(1)).await;

    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let line_with = |parts: &[&str]| {
        let fits = |line: &&str| parts.iter().all(|part| line.contains(part));
        assert!(
            text.lines().any(|line| fits(&line)),
            "no line has {parts:?}:\n{text}"
        );
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
        "took_ms=",
    ]);
    line_with(&[
        "WARN",
        "tool.call_id=deaf",
        "did not stop in time",
        "waited_ms=2000",
    ]);
    let interrupted = [
        "tool.interrupted=true",
        "tool.interrupt_reason=\"user\"",
        "close",
    ];
    for id in ["tool.call_id=slow", "tool.call_id=deaf"] {
        line_with(&[&interrupted[..], &[id, "tool.end=\"interrupted\""]].concat());
    }
    line_with(&["tool.call_id=fails", "tool.end=\"failed\"", "close"]);
    let closed = text
        .lines()
        .filter(|line| line.contains("tool.call_id=fails") && line.contains("close"));
    assert!(
        closed
            .into_iter()
            .all(|line| !line.contains("tool.interrupted")),
        "{text}"
    );
}
