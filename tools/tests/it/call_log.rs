//! The record of calls: written as they begin and end, read instead of running them again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use interrupts::Digest;
use interrupts::store::Repeating;
use tools::{
    CallLog, CallLogError, CallPosition, Executor, ExecutorConfig, Interruption, Permission,
    PermissionPolicy, RequestedCall, ToolCall, ToolMessage,
};

use crate::scene::{by_user, workspace};
use crate::scripted::{Log, Scripted, takes};

/// Keeps the record in memory, as JSON, like a store does.
#[derive(Default)]
struct Record {
    lines: Mutex<Vec<String>>,
    messages: Mutex<BTreeMap<String, String>>,
    broken: Mutex<bool>,
}

#[async_trait]
impl CallLog for Record {
    async fn known(
        &self,
        place: &CallPosition,
        _call: &RequestedCall,
    ) -> Result<Option<ToolMessage>, CallLogError> {
        let messages = self.messages.lock().unwrap();
        Ok(messages
            .get(&place.name())
            .map(|text| serde_json::from_str(text).unwrap()))
    }

    async fn begin(
        &self,
        place: &CallPosition,
        _call: &ToolCall,
        _repeating: Repeating,
        _leaves: Option<Digest>,
    ) -> Result<(), CallLogError> {
        if *self.broken.lock().unwrap() {
            return Err(CallLogError {
                reason: "the disk is full".to_owned(),
            });
        }
        self.lines
            .lock()
            .unwrap()
            .push(format!("{} begun", place.name()));
        Ok(())
    }

    async fn end(
        &self,
        place: &CallPosition,
        _call: &RequestedCall,
        message: &ToolMessage,
    ) -> Result<(), CallLogError> {
        self.lines
            .lock()
            .unwrap()
            .push(format!("{} {}", place.name(), message.end.word()));
        let text = serde_json::to_string(message).unwrap();
        self.messages.lock().unwrap().insert(place.name(), text);
        Ok(())
    }
}

struct Stage {
    executor: Executor,
    record: Arc<Record>,
    log: Arc<Log>,
    _folder: tempfile::TempDir,
}

fn stage(record: &Arc<Record>) -> Stage {
    let (folder, workspace) = workspace();
    let log = Arc::new(Log::default());
    let mut config = ExecutorConfig::new(workspace);
    let tool = Scripted::new("work", Interruption::Stops, &log);
    config.registry.register(tool).unwrap();
    config.policy = PermissionPolicy::always(Permission::Allow);
    config.call_log = Arc::clone(record) as Arc<dyn CallLog>;
    config.at_once = std::num::NonZeroUsize::MIN;
    Stage {
        executor: Executor::new(config),
        record: Arc::clone(record),
        log,
        _folder: folder,
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_resumed_reads_what_has_ended_and_runs_the_rest() {
    let record = Arc::new(Record::default());
    let calls = vec![takes("same", 10), takes("same", 5_000), takes("last", 10)];
    let first = stage(&record);
    let dying = first.executor.execute(calls.clone());
    // The process dies while the second call runs: it has begun, and has no end.
    assert!(
        tokio::time::timeout(Duration::from_millis(100), dying)
            .await
            .is_err()
    );
    let expected = ["4:same begun", "4:same finished", "4:same:2 begun"];
    assert_eq!(*record.lines.lock().unwrap(), expected);

    let second = stage(&record);
    let end = second.executor.execute(calls).await.unwrap();
    let texts: Vec<String> = end.messages.iter().map(ToolMessage::text).collect();
    assert_eq!(texts, ["all of same", "all of same", "all of last"]);
    assert_eq!(
        second.log.lines().len(),
        4,
        "the first call did not run again: {:?}",
        second.log.lines()
    );
}

#[tokio::test(start_paused = true)]
async fn interrupted_and_skipped_calls_are_recorded_and_read_back_word_for_word() {
    let record = Arc::new(Record::default());
    let stage_one = stage(&record);
    let calls = vec![
        takes("a", 5_000),
        takes("b", 10),
        RequestedCall::new("c", "none", "{}"),
    ];
    let interrupting = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        stage_one
            .executor
            .config()
            .controller
            .cancel(by_user("look"))
            .await
    };
    let (end, _cancellation) =
        tokio::join!(stage_one.executor.execute(calls.clone()), interrupting);
    let again = stage(&stage_one.record)
        .executor
        .execute(calls)
        .await
        .unwrap();
    assert_eq!(again.messages, end.unwrap().messages);
    let words: Vec<&str> = again
        .messages
        .iter()
        .map(|message| message.end.word())
        .collect();
    assert_eq!(words, ["interrupted", "skipped", "failed"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_cannot_be_recorded_does_not_run() {
    let record = Arc::new(Record::default());
    *record.broken.lock().unwrap() = true;
    let stage = stage(&record);
    let error = stage
        .executor
        .execute(vec![takes("a", 10)])
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the record of a tool call failed: the disk is full"
    );
    assert_eq!(stage.log.lines(), Vec::<String>::new());
    assert_eq!(stage.executor.config().controller.running(), 0);
}
