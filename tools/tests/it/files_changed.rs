//! Files that somebody else changes between the question about a call and its end: nothing is written but what was shown
//! to the person who allowed it.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use interrupt_router::StopScope;
use interrupts::Digest;
use interrupts::store::Repeating;
use serde_json::{Value, json};
use tools::{
    Approver, BegunCall, CallEnd, CallLog, CallLogError, CallPosition, Executor, ExecutorConfig,
    Permission, PermissionAnswer, PermissionPolicy, PermissionRequest, RequestedCall, ToolCall,
    ToolCallbacks, ToolMessage, ToolOutput, Workspace, built_in_tools,
};

use crate::scene::{programs, workspace};

/// Numbers that are the same for the same seed.
struct Dice(u64);

impl Dice {
    /// Whether it is one of so many.
    fn one_of(&mut self, faces: u64) -> bool {
        self.below(faces) == 0
    }

    fn below(&mut self, faces: u64) -> u64 {
        let digest = Digest::of(&self.0.to_le_bytes()).to_string();
        self.0 = u64::from_str_radix(&digest[..15], 16).unwrap();
        self.0 % faces
    }
}

/// Everybody who does something with the file: whoever else writes it, and the person who is asked.
struct Town {
    file: PathBuf,
    dice: Mutex<Dice>,
    /// What the person was shown, and what the file held then.
    shown: Mutex<Vec<(PermissionRequest, String)>>,
    /// What was written by somebody else, at the end.
    others: Mutex<String>,
}

impl Town {
    /// Somebody writes something else, perhaps.
    fn may_meddle(&self, faces: u64) {
        let mut dice = self.dice.lock().unwrap();
        if dice.one_of(faces) {
            let line = dice.below(1_000);
            let text = format!("flour {line}\nwater\nsalt\n");
            fs::write(&self.file, &text).unwrap();
            *self.others.lock().unwrap() = text;
        }
    }
}

#[async_trait]
impl Approver for Town {
    async fn ask(&self, request: PermissionRequest, _scope: &StopScope) -> PermissionAnswer {
        let digest = request.digest;
        let held = fs::read_to_string(&self.file).unwrap();
        let asked = {
            let mut shown = self.shown.lock().unwrap();
            shown.push((request, held));
            shown.len()
        };
        // Not for ever: somebody has time to look.
        if asked < 20 {
            self.may_meddle(2);
        }
        PermissionAnswer::Approve {
            digest,
            words: None,
        }
    }
}

#[async_trait]
impl ToolCallbacks for Town {
    async fn before_tool(&self, _call: &ToolCall) -> Option<ToolOutput> {
        self.may_meddle(3);
        None
    }
}

fn executor(workspace: Workspace, town: &Arc<Town>) -> Executor {
    let mut config = ExecutorConfig::new(workspace);
    for tool in built_in_tools(&programs()) {
        config.registry.register(tool).unwrap();
    }
    config.policy = PermissionPolicy::always(Permission::Ask);
    config.approver = Arc::clone(town) as Arc<dyn Approver>;
    config.callbacks = Arc::clone(town) as Arc<dyn ToolCallbacks>;
    Executor::new(config)
}

/// A change that a model wants.
fn wanted(dice: &mut Dice) -> (&'static str, Value) {
    if dice.one_of(2) {
        let content = format!("rye {}\nwater\nsalt\n", dice.below(1_000));
        (
            "write_file",
            json!({"path": "dough.txt", "content": content}),
        )
    } else {
        (
            "edit_file",
            json!({"path": "dough.txt", "old": "water", "new": "milk"}),
        )
    }
}

/// The file as the change makes it of a text.
fn made_of(text: &str, arguments: &Value) -> String {
    match arguments.get("content") {
        Some(content) => content.as_str().unwrap().to_owned(),
        None => text.replace("water", "milk"),
    }
}

#[tokio::test]
async fn whatever_happens_to_a_file_meanwhile_what_was_shown_is_written_or_nothing() {
    let rounds: u64 = std::env::var("FILES_CHANGED").map_or(100, |rounds| rounds.parse().unwrap());
    let (mut written, mut asked_again, mut left_alone) = (0, 0, 0);
    for seed in 0..rounds {
        let (folder, workspace) = workspace();
        let file = folder.path().join("dough.txt");
        fs::write(&file, "flour\nwater\nsalt\n").unwrap();
        let town = Arc::new(Town {
            file: file.clone(),
            dice: Mutex::new(Dice(seed)),
            shown: Mutex::default(),
            others: Mutex::new("flour\nwater\nsalt\n".to_owned()),
        });
        let (tool, arguments) = wanted(&mut town.dice.lock().unwrap());
        let call = RequestedCall::new("1", tool, arguments.to_string());
        let ended = executor(workspace, &town).execute(vec![call]).await;
        let end = ended.unwrap().messages.remove(0).end;
        let now = fs::read_to_string(&file).unwrap();
        let shown = town.shown.lock().unwrap();
        asked_again += shown.len() - 1;
        let (request, held) = shown.last().unwrap();
        match &end {
            CallEnd::Finished { output } => {
                written += 1;
                assert_eq!(Some(&output.text), request.preview.as_ref(), "seed {seed}");
                assert_eq!(now, made_of(held, &arguments), "seed {seed}");
            }
            CallEnd::Failed { reason } => {
                left_alone += 1;
                assert!(
                    reason.contains("changed meanwhile"),
                    "seed {seed}: {reason}"
                );
                assert_eq!(now, *town.others.lock().unwrap(), "seed {seed}");
            }
            CallEnd::FinishedAnyway { .. }
            | CallEnd::FailedAnyway { .. }
            | CallEnd::Denied { .. }
            | CallEnd::Interrupted { .. }
            | CallEnd::Skipped { .. }
            | CallEnd::TimedOut { .. }
            | CallEnd::Unknown { .. } => panic!("seed {seed}: {end:?}"),
        }
    }
    println!(
        "{rounds} calls, {written} written, {asked_again} asked again, {left_alone} left alone"
    );
    assert!(written > 0 && asked_again > 0 && left_alone > 0);
}

/// Allows whatever is asked, and counts it.
#[derive(Default)]
struct Willing(AtomicUsize);

#[async_trait]
impl Approver for Willing {
    async fn ask(&self, request: PermissionRequest, _scope: &StopScope) -> PermissionAnswer {
        self.0.fetch_add(1, Ordering::SeqCst);
        let digest = request.digest;
        PermissionAnswer::Approve {
            digest,
            words: None,
        }
    }
}

/// Remembers what calls were to leave behind, and not how they ended: every process of it dies right after its call.
#[derive(Default)]
struct Dying(Mutex<Option<BegunCall>>);

#[async_trait]
impl CallLog for Dying {
    async fn begun(
        &self,
        _place: &CallPosition,
        _call: &RequestedCall,
    ) -> Result<Option<BegunCall>, CallLogError> {
        Ok(self.0.lock().unwrap().clone())
    }

    async fn known(
        &self,
        _place: &CallPosition,
        _call: &RequestedCall,
    ) -> Result<Option<ToolMessage>, CallLogError> {
        Ok(None)
    }

    async fn begin(
        &self,
        _place: &CallPosition,
        call: &ToolCall,
        _repeating: Repeating,
        leaves: Option<Digest>,
    ) -> Result<(), CallLogError> {
        let arguments = call.arguments.clone();
        *self.0.lock().unwrap() = leaves.map(|leaves| BegunCall { arguments, leaves });
        Ok(())
    }

    async fn end(
        &self,
        _place: &CallPosition,
        _call: &RequestedCall,
        _message: &ToolMessage,
    ) -> Result<(), CallLogError> {
        Ok(())
    }
}

#[tokio::test]
async fn what_was_written_before_a_death_is_done_and_what_others_wrote_since_is_not() {
    for (tool, arguments) in [
        (
            "write_file",
            json!({"path": "dough.txt", "content": "rye\n"}),
        ),
        // Made twice it would be another change.
        (
            "edit_file",
            json!({"path": "dough.txt", "old": "flour", "new": "flour and flour"}),
        ),
    ] {
        let (folder, workspace) = workspace();
        let kept = tempfile::tempdir().unwrap();
        let file = folder.path().join("dough.txt");
        fs::write(&file, "flour\n").unwrap();
        let person = Arc::new(Willing::default());
        let record = Arc::new(Dying::default());
        let life = |workspace: Workspace| {
            let mut config = ExecutorConfig::new(workspace.with_edits_kept_in(kept.path()));
            for tool in built_in_tools(&programs()) {
                config.registry.register(tool).unwrap();
            }
            config.policy = PermissionPolicy::always(Permission::Ask);
            config.approver = Arc::clone(&person) as Arc<dyn Approver>;
            config.call_log = Arc::clone(&record) as Arc<dyn CallLog>;
            Executor::new(config)
        };
        let call = || vec![RequestedCall::new("1", tool, arguments.to_string())];
        life(workspace).execute(call()).await.unwrap();
        let written = fs::read_to_string(&file).unwrap();
        assert_ne!(written, "flour\n");
        let again = || life(Workspace::open(folder.path()).unwrap());
        let ended = again().execute(call()).await.unwrap();
        let text = ended.messages[0].text();
        assert!(text.contains("made before the process died"), "{text}");
        assert!(text.contains("-flour"), "{text}");
        assert_eq!(fs::read_to_string(&file).unwrap(), written, "{tool}");
        assert_eq!(person.0.load(Ordering::SeqCst), 1, "{tool}");
        // By one letter another text, and it is asked about.
        fs::write(&file, format!("{written} ")).unwrap();
        again().execute(call()).await.unwrap();
        assert_eq!(person.0.load(Ordering::SeqCst), 2, "{tool}");
    }
}
