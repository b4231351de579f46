//! Permissions as a call meets them: allowed, denied, asked for, edited, void, interrupted.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use interrupt_router::StopScope;
use serde_json::{Value, json};
use tools::{
    Approver, CallDigest, CallEnd, CallLimits, Executor, ExecutorConfig, Interruption,
    PermissionAnswer, PermissionPolicy, PermissionRequest, PolicyConfig, RequestedCall,
    built_in_tools,
};

use crate::scene::{by_user, programs, workspace};
use crate::scripted::{Log, Scripted, takes};

/// What a person does when asked.
#[derive(Clone)]
enum Habit {
    Approves,
    /// Approves what was shown first, whatever is shown.
    ApprovesTheFirst,
    Edits(Value),
    Denies,
    /// Answers after so long.
    TakesTime(Duration),
}

struct Person {
    habit: Habit,
    asked: Mutex<Vec<PermissionRequest>>,
}

impl Person {
    fn digest_of_first(&self) -> CallDigest {
        self.asked.lock().unwrap()[0].digest
    }
}

#[async_trait]
impl Approver for Person {
    async fn ask(&self, request: PermissionRequest, _scope: &StopScope) -> PermissionAnswer {
        let digest = request.digest;
        self.asked.lock().unwrap().push(request);
        match self.habit.clone() {
            Habit::Approves => PermissionAnswer::Approve {
                digest,
                words: None,
            },
            Habit::ApprovesTheFirst => PermissionAnswer::Approve {
                digest: self.digest_of_first(),
                words: None,
            },
            Habit::Edits(arguments) => PermissionAnswer::Edit {
                arguments,
                words: None,
            },
            Habit::Denies => PermissionAnswer::Deny {
                reason: "not today".to_owned(),
            },
            Habit::TakesTime(long) => {
                tokio::time::sleep(long).await;
                PermissionAnswer::Approve {
                    digest,
                    words: None,
                }
            }
        }
    }
}

struct Stage {
    executor: Executor,
    person: Arc<Person>,
    log: Arc<Log>,
    folder: tempfile::TempDir,
}

fn stage(habit: Habit) -> Stage {
    let (folder, workspace) = workspace();
    let log = Arc::new(Log::default());
    let person = Arc::new(Person {
        habit,
        asked: Mutex::default(),
    });
    let policy: PolicyConfig = serde_json::from_value(json!({
        "rules": [{"tool": "work", "arguments": {"/ms": "666"}, "then": "deny", "reason": "never that"}],
        "otherwise": "ask",
    }))
    .unwrap();
    let mut config = ExecutorConfig::new(workspace);
    config
        .registry
        .register(Scripted::new("work", Interruption::Stops, &log))
        .unwrap();
    for tool in built_in_tools(&programs()) {
        config.registry.register(tool).unwrap();
    }
    config.policy = PermissionPolicy::new(&policy).unwrap();
    config.approver = Arc::clone(&person) as Arc<dyn Approver>;
    config.limits = CallLimits {
        others: Some(Duration::from_secs(10)),
        ..CallLimits::default()
    };
    Stage {
        executor: Executor::new(config),
        person,
        log,
        folder,
    }
}

impl Stage {
    async fn one(&self, call: RequestedCall) -> tools::ToolMessage {
        self.executor
            .execute(vec![call])
            .await
            .unwrap()
            .messages
            .remove(0)
    }
}

#[tokio::test(start_paused = true)]
async fn an_approved_call_runs_and_the_next_one_is_asked_about_again() {
    let stage = stage(Habit::Approves);
    for _time in 0..2 {
        assert!(matches!(
            stage.one(takes("a", 5)).await.end,
            CallEnd::Finished { .. }
        ));
    }
    assert_eq!(
        stage.person.asked.lock().unwrap().len(),
        2,
        "an approval is used up by its call"
    );
}

#[tokio::test(start_paused = true)]
async fn an_approval_of_another_call_is_void() {
    let stage = stage(Habit::ApprovesTheFirst);
    assert!(matches!(
        stage.one(takes("a", 5)).await.end,
        CallEnd::Finished { .. }
    ));
    let other = stage.one(takes("a", 6)).await;
    assert!(
        matches!(&other.end, CallEnd::Denied { reason, .. } if reason.contains("ask again")),
        "{other:?}"
    );
    assert_eq!(stage.log.lines(), ["a started", "a finished"]);
}

#[tokio::test(start_paused = true)]
async fn a_denied_call_does_not_start_and_says_why() {
    let stage = stage(Habit::Denies);
    let message = stage.one(takes("a", 5)).await;
    assert_eq!(
        message.text(),
        "The call was not allowed, and was not executed: not today"
    );
    assert_eq!(stage.log.lines(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_rule_denies_without_asking() {
    let stage = stage(Habit::Approves);
    let message = stage.one(takes("a", 666)).await;
    assert!(
        matches!(&message.end, CallEnd::Denied { reason, .. } if reason == "never that"),
        "{message:?}"
    );
    assert_eq!(stage.person.asked.lock().unwrap().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn edited_arguments_are_checked_again_and_the_model_is_told() {
    let fits = stage(Habit::Edits(json!({"ms": 7})));
    let message = fits.one(takes("a", 5)).await;
    assert_eq!(
        message.text(),
        "A person changed the arguments to: {\"ms\":7}\nall of a"
    );
    for (arguments, reason) in [
        (json!({"ms": -7}), "do not fit at $.ms"),
        (json!({"ms": 666}), "never that"),
    ] {
        let stage = stage(Habit::Edits(arguments));
        let message = stage.one(takes("a", 5)).await;
        assert!(
            matches!(&message.end, CallEnd::Denied { reason: told, .. } if told.contains(reason)),
            "{message:?}"
        );
        assert_eq!(stage.log.lines(), Vec::<String>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_in_which_a_person_is_asked_is_not_the_calls() {
    let stage = stage(Habit::TakesTime(Duration::from_secs(3_600)));
    assert!(matches!(
        stage.one(takes("a", 9_000)).await.end,
        CallEnd::Finished { .. }
    ));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_interrupted_while_a_person_is_asked_never_starts() {
    let stage = stage(Habit::TakesTime(Duration::from_secs(3_600)));
    let interrupting = async {
        tokio::time::sleep(Duration::from_secs(60)).await;
        stage
            .executor
            .config()
            .controller
            .cancel(by_user("leave it"))
            .await
    };
    let (message, cancellation) = tokio::join!(stage.one(takes("a", 5)), interrupting);
    assert!(
        matches!(message.end, CallEnd::Skipped { .. }),
        "{message:?}"
    );
    assert_eq!(cancellation.calls, [], "nothing ran");
    assert_eq!(stage.log.lines(), Vec::<String>::new());
}

#[tokio::test]
async fn a_person_who_is_asked_about_an_edit_sees_its_diff() {
    let stage = stage(Habit::Denies);
    std::fs::write(stage.folder.path().join("a.txt"), "one\n").unwrap();
    let arguments = json!({"path": "a.txt", "old": "one", "new": "two"}).to_string();
    stage
        .one(RequestedCall::new("1", "edit_file", arguments))
        .await;
    let asked = stage.person.asked.lock().unwrap();
    assert_eq!(
        asked[0].preview.as_deref(),
        Some("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n")
    );
    assert_eq!(
        std::fs::read_to_string(stage.folder.path().join("a.txt")).unwrap(),
        "one\n"
    );
}
