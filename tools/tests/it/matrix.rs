//! What an interrupt makes of calls: one running, several in parallel, queued, none, one that must not be cut in
//! half, one that does not listen; and that all of it is counted and told.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use tokio::time::{Instant, advance};
use tools::{
    CallEnd, CallId, CallLimits, ControllerConfig, Executor, ExecutorConfig, InterruptController,
    Interruption, Permission, PermissionPolicy, Requested, RequestedCall, Stopped, ToolCall,
    ToolCallbacks, ToolCounter, ToolCounts, ToolMessage, ToolOutput, wording,
};

use crate::scene::{by_user, workspace};
use crate::scripted::{Log, Scripted, takes};

struct Stage {
    executor: Executor,
    log: Arc<Log>,
    counts: Arc<ToolCounts>,
    told: Arc<Told>,
    _folder: tempfile::TempDir,
}

/// What the callbacks were told.
#[derive(Default)]
struct Told {
    lines: Mutex<Vec<String>>,
    given: Mutex<Option<ToolOutput>>,
}

impl Told {
    fn add(&self, what: &str, id: &CallId) {
        self.lines.lock().unwrap().push(format!("{what} {id}"));
    }

    fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}

#[async_trait]
impl ToolCallbacks for Told {
    async fn before_tool(&self, _call: &ToolCall) -> Option<ToolOutput> {
        self.given.lock().unwrap().clone()
    }

    fn on_tool_start(&self, call: &ToolCall) {
        self.add("start", &call.id);
    }

    fn on_tool_result(&self, message: &ToolMessage) {
        self.add("result", &message.call);
    }

    fn on_tool_error(&self, message: &ToolMessage) {
        self.add("error", &message.call);
    }

    fn on_tool_interrupted(&self, message: &ToolMessage) {
        self.add("interrupted", &message.call);
    }
}

fn stage(at_once: usize) -> Stage {
    let (folder, workspace) = workspace();
    let (log, counts, told) = (
        Arc::new(Log::default()),
        Arc::new(ToolCounts::new()),
        Arc::new(Told::default()),
    );
    let mut config = ExecutorConfig::new(workspace);
    for (name, interruption) in [
        ("work", Interruption::Stops),
        ("whole", Interruption::Waits),
    ] {
        config
            .registry
            .register(Scripted::new(name, interruption, &log))
            .unwrap();
    }
    config.controller = InterruptController::new(ControllerConfig {
        limit: Duration::from_secs(2),
        counter: Arc::clone(&counts) as Arc<dyn ToolCounter>,
        ..ControllerConfig::default()
    });
    config.counter = Arc::clone(&counts) as Arc<dyn ToolCounter>;
    config.callbacks = Arc::clone(&told) as Arc<dyn ToolCallbacks>;
    config.policy = PermissionPolicy::always(Permission::Allow);
    config.at_once = NonZeroUsize::new(at_once).unwrap();
    config.limits = CallLimits {
        others: Some(Duration::from_secs(60)),
        ..CallLimits::default()
    };
    Stage {
        executor: Executor::new(config),
        log,
        counts,
        told,
        _folder: folder,
    }
}

impl Stage {
    fn controller(&self) -> &InterruptController {
        &self.executor.config().controller
    }

    /// Executes calls, and interrupts them after so long.
    async fn interrupted(&self, calls: Vec<RequestedCall>, after: u64) -> Vec<ToolMessage> {
        let interrupting = async {
            tokio::time::sleep(Duration::from_millis(after)).await;
            self.controller().cancel(by_user("look here")).await
        };
        let (end, cancellation) = tokio::join!(self.executor.execute(calls), interrupting);
        let end = end.unwrap();
        assert_eq!(cancellation.reason.message, "look here");
        assert_eq!(
            end.interrupted.map(|reason| reason.message),
            Some("look here".to_owned())
        );
        end.messages
    }
}

fn ends(messages: &[ToolMessage]) -> Vec<(&str, &str)> {
    messages
        .iter()
        .map(|message| (message.call.as_str(), message.end.word()))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_single_call_is_interrupted_and_says_so_in_the_history() {
    let stage = stage(4);
    let start = Instant::now();
    let messages = stage.interrupted(vec![takes("a", 5_000)], 1_000).await;
    assert_eq!(start.elapsed(), Duration::from_millis(1_000));
    assert_eq!(ends(&messages), [("a", "interrupted")]);
    assert_eq!(
        messages[0].text(),
        "Tool execution interrupted by the user: look here.\nWhat had come until then:\nhalf of a"
    );
    assert_eq!(stage.told.lines(), ["start a", "interrupted a"]);
    assert_eq!(stage.counts.interrupts(), [("work".to_owned(), "user", 1)]);
}

#[tokio::test(start_paused = true)]
async fn parallel_calls_are_all_interrupted_at_once_and_the_controller_is_empty_after() {
    let stage = stage(4);
    let messages = stage
        .interrupted(vec![takes("a", 5_000), takes("b", 9_000)], 1_000)
        .await;
    assert_eq!(
        ends(&messages),
        [("a", "interrupted"), ("b", "interrupted")]
    );
    assert_eq!(stage.controller().running(), 0);
    assert_eq!(stage.log.most_at_once(), 2);
}

#[tokio::test(start_paused = true)]
async fn of_queued_calls_the_first_is_interrupted_and_the_rest_never_start() {
    let stage = stage(1);
    let calls = vec![takes("a", 5_000), takes("b", 5_000), takes("c", 5_000)];
    let messages = stage.interrupted(calls, 1_000).await;
    assert_eq!(
        ends(&messages),
        [("a", "interrupted"), ("b", "skipped"), ("c", "skipped")]
    );
    assert_eq!(
        messages[1].text(),
        "Not executed: skipped because of an earlier interrupt by the user: look here."
    );
    assert_eq!(stage.log.lines(), ["a started", "a stopped"]);
    // Those that never started have nothing to wait for.
    assert_eq!(
        stage.told.lines(),
        ["start a", "interrupted b", "interrupted c", "interrupted a"]
    );
}

#[tokio::test(start_paused = true)]
async fn calls_with_equal_ids_get_a_message_each() {
    let stage = stage(1);
    let calls = vec![takes("same", 10), takes("same", 5_000), takes("same", 10)];
    let messages = stage.interrupted(calls, 1_000).await;
    assert_eq!(
        ends(&messages),
        [
            ("same", "finished"),
            ("same", "interrupted"),
            ("same", "skipped")
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn an_output_given_by_a_callback_is_the_result_and_an_interrupt_after_it_finds_nothing_to_stop()
 {
    let stage = stage(4);
    *stage.told.given.lock().unwrap() = Some(ToolOutput::done("from the cache"));
    let end = stage
        .executor
        .execute(vec![takes("a", 5_000)])
        .await
        .unwrap();
    assert_eq!(end.messages[0].text(), "from the cache");
    assert_eq!(
        stage.controller().request(by_user("too late")),
        Requested::Stops(0)
    );
    assert_eq!(stage.log.lines(), Vec::<String>::new());
    assert_eq!(stage.counts.interrupts(), []);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_finishes_while_it_is_interrupted_keeps_its_result_and_says_both() {
    let stage = stage(4);
    let call = RequestedCall::new("a", "work", json!({"ms": 1_500}).to_string());
    let messages = stage.interrupted(vec![call], 1_000).await;
    assert_eq!(ends(&messages), [("a", "finished_anyway")]);
    assert_eq!(
        messages[0].text(),
        "The call was interrupted by the user, but it finished anyway. Its result:\nall of a"
    );
    assert_eq!(stage.told.lines(), ["start a", "result a"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_must_not_be_cut_in_half_ends_first_and_all_others_at_once() {
    let stage = stage(4);
    let whole = RequestedCall::new(
        "whole",
        "whole",
        json!({"ms": 3_000, "heeds": 0}).to_string(),
    );
    let start = Instant::now();
    let messages = stage
        .interrupted(vec![whole, takes("a", 9_000)], 1_000)
        .await;
    assert_eq!(start.elapsed(), Duration::from_millis(3_000));
    assert_eq!(
        ends(&messages),
        [("whole", "finished_anyway"), ("a", "interrupted")]
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ignores_the_interrupt_is_left_behind_after_the_limit_and_says_so() {
    let stage = stage(4);
    let start = Instant::now();
    let deaf = RequestedCall::new("deaf", "work", json!({"ms": 50_000}).to_string());
    let messages = stage.interrupted(vec![deaf], 1_000).await;
    assert_eq!(
        start.elapsed(),
        Duration::from_millis(3_000),
        "asked at 1 s, and given 2 s"
    );
    let CallEnd::Interrupted { partial, .. } = &messages[0].end else {
        panic!("{messages:?}");
    };
    assert!(matches!(partial.stopped, Stopped::LeftBehind { .. }));
    assert_eq!(
        messages[0].text(),
        "Tool execution interrupted by the user: look here. \
         Something of it may still run: it did not stop within 2s."
    );
    // Its work was dropped with it, so nothing comes late.
    advance(Duration::from_secs(100)).await;
    assert_eq!((stage.log.running(), stage.counts.late_results()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_is_timed_out_and_that_is_no_interrupt() {
    let stage = stage(4);
    let end = stage
        .executor
        .execute(vec![takes("a", 70_000)])
        .await
        .unwrap();
    assert_eq!(ends(&end.messages), [("a", "timed_out")]);
    assert_eq!(
        end.messages[0].text(),
        "The tool was stopped after its time limit of 60s.\nWhat had come until then:\nhalf of a"
    );
    assert_eq!(end.interrupted, None);
    assert_eq!(stage.told.lines(), ["start a", "error a"]);
    assert_eq!(stage.counts.interrupts(), []);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_fails_or_panics_fails_its_own_call_alone() {
    let stage = stage(4);
    let calls = vec![
        RequestedCall::new("a", "work", json!({"ms": 5, "fails": true}).to_string()),
        RequestedCall::new("b", "work", json!({"ms": 5, "panics": true}).to_string()),
        takes("c", 10),
    ];
    let end = stage.executor.execute(calls).await.unwrap();
    assert_eq!(
        ends(&end.messages),
        [("a", "failed"), ("b", "failed"), ("c", "finished")]
    );
    assert_eq!(
        end.messages[0].text(),
        "The tool failed: script failed: it says so"
    );
}

#[tokio::test(start_paused = true)]
async fn calls_that_cannot_be_made_say_why() {
    let stage = stage(4);
    let calls = vec![
        RequestedCall::new("a", "rm", "{}"),
        RequestedCall::new("b", "work", "{"),
        RequestedCall::new("c", "work", r#"{"ms": -1}"#),
        RequestedCall::new("d", "work", r#"{"ms": 1, "ms": 2}"#),
    ];
    let end = stage.executor.execute(calls).await.unwrap();
    let texts: Vec<String> = end.messages.iter().map(ToolMessage::text).collect();
    assert_eq!(
        texts[0],
        "The tool failed: there is no tool `rm`; there are: whole, work"
    );
    assert!(
        texts[1].contains("they are no JSON that can be used"),
        "{}",
        texts[1]
    );
    assert!(texts[2].contains("do not fit at $.ms: "), "{}", texts[2]);
    assert!(texts[3].contains("`ms` stands twice"), "{}", texts[3]);
    assert_eq!(stage.log.lines(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn after_an_interrupt_was_taken_note_of_a_new_turn_runs_again() {
    let stage = stage(4);
    stage.interrupted(vec![takes("a", 5_000)], 1_000).await;
    let taken = stage.controller().consume_interrupts();
    assert_eq!(
        taken.map(|reason| reason.message),
        Some("look here".to_owned())
    );
    assert_eq!(stage.controller().consume_interrupts(), None);
    let end = stage
        .executor
        .execute(vec![takes("b", 5_000)])
        .await
        .unwrap();
    assert_eq!(ends(&end.messages), [("b", "finished")]);
}

#[tokio::test(start_paused = true)]
async fn a_person_reads_a_first_line_a_line_for_each_tool_and_the_choices() {
    let stage = stage(1);
    let deaf = RequestedCall::new("2", "work", json!({"ms": 50_000}).to_string());
    let messages = stage
        .interrupted(vec![takes("1", 10), deaf, takes("3", 10)], 1_000)
        .await;
    assert_eq!(
        wording::summary(&messages),
        "Received interrupt. Cancelling all running tools...\n\
         work (1): finished before the interrupt\n\
         work (2): interrupted. Something of it may still run: it did not stop within 2s\n\
         work (3): skipped, never started\n\
         The running tools were interrupted. Decide what comes next: retry the interrupted call, choose another \
         approach, or finish."
    );
}

#[tokio::test(start_paused = true)]
async fn a_graceful_stop_of_the_agent_lets_running_calls_finish_and_starts_no_other() {
    let stage = stage(1);
    let scope = interrupt_router::StopScope::new();
    let mut config = stage.executor.config().clone();
    config.controller = InterruptController::new(ControllerConfig {
        scope: scope.clone(),
        ..ControllerConfig::default()
    });
    let executor = Executor::new(config);
    let stopping = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        scope.stop(interrupt_router::StopReason {
            mode: interrupt_router::StopMode::Graceful,
            ..by_user("after this step")
        });
    };
    let (end, ()) = tokio::join!(
        executor.execute(vec![takes("a", 1_000), takes("b", 1_000)]),
        stopping
    );
    assert_eq!(
        ends(&end.unwrap().messages),
        [("a", "finished"), ("b", "skipped")]
    );
}
