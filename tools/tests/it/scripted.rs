//! A tool that does what its arguments say, and a log of what it did. Its time is the runtime's, so a test may pause
//! it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use interrupt_router::{Outcome, StopScope};
use interrupts::store::Repeating;
use serde::Deserialize;
use serde_json::json;
use tools::{
    Interruption, PartialOutput, RequestedCall, Tool, ToolCall, ToolContext, ToolError, ToolName,
    ToolOutput, ToolSpec,
};

/// What the tool did, in order.
#[derive(Debug, Default)]
pub(crate) struct Log {
    lines: Mutex<Vec<String>>,
    running: AtomicUsize,
    most: AtomicUsize,
}

impl Log {
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    pub(crate) fn has(&self, line: &str) -> bool {
        self.lines().iter().any(|known| known == line)
    }

    pub(crate) fn running(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }

    pub(crate) fn most_at_once(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }

    fn add(&self, line: String) {
        self.lines.lock().unwrap().push(line);
    }
}

/// Counts as running while it lives, however it ends.
struct Running(Arc<Log>);

impl Running {
    fn begin(log: &Arc<Log>) -> Self {
        let now = log.running.fetch_add(1, Ordering::SeqCst) + 1;
        log.most.fetch_max(now, Ordering::SeqCst);
        Self(Arc::clone(log))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

pub(crate) struct Scripted {
    spec: ToolSpec,
    log: Arc<Log>,
}

/// What one call does.
#[derive(Debug, Clone, Deserialize)]
struct Script {
    /// How long it takes.
    ms: u64,
    /// How long it takes to end once it is told to; without it, it does not listen.
    heeds: Option<u64>,
    #[serde(default)]
    fails: bool,
    #[serde(default)]
    panics: bool,
}

impl Scripted {
    pub(crate) fn new(name: &str, interruption: Interruption, log: &Arc<Log>) -> Arc<Self> {
        Arc::new(Self {
            spec: ToolSpec {
                name: ToolName::new(name).unwrap(),
                description: "does what it is told".to_owned(),
                arguments: json!({
                    "type": "object",
                    "properties": {
                        "ms": {"type": "integer", "minimum": 0},
                        "heeds": {"type": ["integer", "null"], "minimum": 0},
                        "fails": {"type": "boolean"},
                        "panics": {"type": "boolean"},
                    },
                    "required": ["ms"],
                    "additionalProperties": false,
                }),
                interruption,
                repeating: Repeating::Idempotent,
            },
            log: Arc::clone(log),
        })
    }
}

#[async_trait]
impl Tool for Scripted {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(
        &self,
        call: &ToolCall,
        context: &ToolContext,
    ) -> Result<Outcome<ToolOutput, PartialOutput>, ToolError> {
        let script = Script::deserialize(&call.arguments).unwrap();
        let _running = Running::begin(&self.log);
        self.log.add(format!("{} started", call.id));
        assert!(!script.panics, "the script says so");
        let stopped = heeded(&context.scope, script.heeds);
        tokio::select! {
            biased;
            () = tokio::time::sleep(Duration::from_millis(script.ms)) => {}
            reason = stopped => {
                self.log.add(format!("{} stopped", call.id));
                let partial = PartialOutput::returned(format!("half of {}", call.id));
                return Ok(Outcome::Interrupted { reason, partial });
            }
        }
        self.log.add(format!("{} finished", call.id));
        if script.fails {
            return Err(ToolError::Service {
                service: "script".to_owned(),
                reason: "it says so".to_owned(),
            });
        }
        Ok(Outcome::Completed(ToolOutput::done(format!(
            "all of {}",
            call.id
        ))))
    }
}

async fn heeded(scope: &StopScope, heeds: Option<u64>) -> interrupt_router::StopReason {
    let Some(after) = heeds else {
        return std::future::pending().await;
    };
    let reason = scope.stopped_now().await;
    tokio::time::sleep(Duration::from_millis(after)).await;
    reason
}

/// A call that takes so long, and ends at once when it is told to.
pub(crate) fn takes(id: &str, ms: u64) -> RequestedCall {
    RequestedCall::new(id, "work", json!({"ms": ms, "heeds": 0}).to_string())
}
