//! Rules about paths: no file tool opens what they deny, whatever it is called and however it is reached.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use interrupt_router::StopScope;
use serde_json::{Value, json};
use tools::{
    Approver, CallEnd, Executor, ExecutorConfig, PermissionAnswer, PermissionPolicy,
    PermissionRequest, PolicyConfig, RequestedCall, ToolMessage, Workspace, built_in_tools,
};

use crate::scene::programs;

/// A bakery with a secret recipe.
fn bakery() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("bread.txt", "flour\n"),
        ("prod.env", "KEY=flour\n"),
        ("secrets/recipe", "flour and honey\n"),
        ("secrets/old/recipe", "flour and salt\n"),
    ] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn executor(folder: &Path, policy: Value) -> Executor {
    let mut config = ExecutorConfig::new(Workspace::open(folder).unwrap());
    for tool in built_in_tools(&programs()) {
        config.registry.register(tool).unwrap();
    }
    let policy: PolicyConfig = serde_json::from_value(policy).unwrap();
    config.policy = PermissionPolicy::new(&policy).unwrap();
    Executor::new(config)
}

/// Everything is allowed but what the rules about paths deny.
fn careful() -> Value {
    json!({
        "otherwise": "allow",
        "paths": [{"deny": r"(.*/)?[^/]*\.env", "reason": "keys"}, {"deny": "secrets"}],
    })
}

async fn message(executor: &Executor, tool: &str, arguments: Value) -> ToolMessage {
    let call = RequestedCall::new("1", tool, arguments.to_string());
    let ended = executor.execute(vec![call]).await.unwrap();
    ended.messages.into_iter().next().unwrap()
}

async fn is_denied(executor: &Executor, tool: &str, arguments: Value) {
    let shown = format!("{tool} {arguments}");
    let message = message(executor, tool, arguments).await;
    assert!(
        matches!(message.end, CallEnd::Denied { .. }),
        "{shown}: {message:?}"
    );
    assert!(
        message.text().contains("a rule about paths denies"),
        "{shown}"
    );
}

#[tokio::test]
async fn what_a_rule_denies_is_not_read_listed_searched_or_written_by_any_name() {
    let folder = bakery();
    let at = |name: &str| folder.path().join(name);
    symlink("prod.env", at("innocent.txt")).unwrap();
    symlink("secrets", at("door")).unwrap();
    symlink("door", at("gate")).unwrap();
    symlink(at("secrets").canonicalize().unwrap(), at("far")).unwrap();
    symlink("bread.txt", at("link.env")).unwrap();
    let executor = executor(folder.path(), careful());
    let absolute = folder.path().canonicalize().unwrap().join("prod.env");
    for path in [
        "prod.env",
        "./prod.env",
        "secrets/../prod.env",
        absolute.to_str().unwrap(),
        "innocent.txt",
        "secrets/recipe",
        "secrets/old/recipe",
        "door/recipe",
        "gate/recipe",
        "gate/old/../recipe",
        "link.env",
    ] {
        is_denied(&executor, "read_file", json!({"path": path})).await;
        let content = json!({"path": path, "content": "chalk\n"});
        is_denied(&executor, "write_file", content).await;
        let edit = json!({"path": path, "old": "flour", "new": "chalk"});
        is_denied(&executor, "edit_file", edit).await;
    }
    for path in ["secrets", "door", "gate", "far", "secrets/old", "gate/old"] {
        is_denied(&executor, "list_files", json!({"path": path})).await;
        is_denied(
            &executor,
            "search_files",
            json!({"path": path, "pattern": "."}),
        )
        .await;
    }
    for path in ["new.env", "door/new", "nowhere/../new.env"] {
        let content = json!({"path": path, "content": "chalk\n"});
        is_denied(&executor, "write_file", content).await;
    }
    let inside = json!({"command": "ls", "directory": "door"});
    let refused = message(&executor, "shell", inside).await.text();
    assert!(refused.contains("a rule about paths denies"), "{refused}");
    assert_eq!(fs::read_to_string(at("prod.env")).unwrap(), "KEY=flour\n");
}

#[tokio::test]
async fn a_walk_leaves_out_what_is_denied_and_says_how_much() {
    let folder = bakery();
    symlink("secrets/recipe", folder.path().join("shortcut")).unwrap();
    let executor = executor(folder.path(), careful());
    let listed = message(&executor, "list_files", json!({})).await.text();
    assert_eq!(
        listed,
        "bread.txt\n[a rule about paths leaves 3 files or folders out]"
    );
    let everywhere = json!({"pattern": "flour"});
    let found = message(&executor, "search_files", everywhere).await.text();
    assert_eq!(
        found,
        "bread.txt:1: flour\n[a rule about paths leaves 3 files or folders out]"
    );
    let keys = json!({"pattern": "KEY", "files": "*.env"});
    let found = message(&executor, "search_files", keys).await.text();
    assert!(
        !found.contains("KEY=") && found.starts_with("[no line fits]"),
        "{found}"
    );
    assert!(found.contains("leaves"), "{found}");
}

#[tokio::test]
async fn a_change_of_a_file_that_is_denied_by_now_is_not_taken_back() {
    let folder = bakery();
    let kept = tempfile::tempdir().unwrap();
    let workspace = || {
        let workspace = Workspace::open(folder.path()).unwrap();
        workspace.with_edits_kept_in(kept.path())
    };
    let of = |policy: Value| {
        let mut config = ExecutorConfig::new(workspace());
        for tool in built_in_tools(&programs()) {
            config.registry.register(tool).unwrap();
        }
        let policy: PolicyConfig = serde_json::from_value(policy).unwrap();
        config.policy = PermissionPolicy::new(&policy).unwrap();
        Executor::new(config)
    };
    let change = json!({"path": "prod.env", "content": "KEY=chalk\n"});
    message(&of(json!({"otherwise": "allow"})), "write_file", change).await;
    is_denied(&of(careful()), "undo_edit", json!({})).await;
    let held = fs::read_to_string(folder.path().join("prod.env")).unwrap();
    assert_eq!(held, "KEY=chalk\n");
}

#[tokio::test]
async fn nobody_is_asked_about_a_path_that_is_denied() {
    let folder = bakery();
    let mut policy = careful();
    policy["otherwise"] = json!("ask");
    // There is nobody to ask: a question would be denied for that.
    let executor = executor(folder.path(), policy);
    is_denied(&executor, "read_file", json!({"path": "prod.env"})).await;
    let asked = message(&executor, "read_file", json!({"path": "bread.txt"})).await;
    assert!(asked.text().contains("nobody can be asked"), "{asked:?}");
}

/// Changes each call that it is asked about into one of another file.
struct Editing(&'static str);

#[async_trait]
impl Approver for Editing {
    async fn ask(&self, _request: PermissionRequest, _scope: &StopScope) -> PermissionAnswer {
        let arguments = json!({"path": self.0});
        PermissionAnswer::Edit {
            arguments,
            words: None,
        }
    }
}

#[tokio::test]
async fn arguments_that_a_person_changes_are_held_to_the_rules_too() {
    let folder = bakery();
    let edited_to = |path| {
        let mut config = ExecutorConfig::new(Workspace::open(folder.path()).unwrap());
        for tool in built_in_tools(&programs()) {
            config.registry.register(tool).unwrap();
        }
        let mut policy = careful();
        policy["otherwise"] = json!("ask");
        let policy: PolicyConfig = serde_json::from_value(policy).unwrap();
        config.policy = PermissionPolicy::new(&policy).unwrap();
        config.approver = Arc::new(Editing(path));
        Executor::new(config)
    };
    let asked_for = json!({"path": "bread.txt"});
    is_denied(&edited_to("prod.env"), "read_file", asked_for.clone()).await;
    let read = message(&edited_to("./bread.txt"), "read_file", asked_for).await;
    assert!(read.text().contains("flour"), "{read:?}");
}

#[test]
fn tools_that_open_files_by_themselves_are_named_unless_they_are_denied() {
    let mut registry = tools::ToolRegistry::new();
    for tool in built_in_tools(&programs()) {
        registry.register(tool).unwrap();
    }
    let beyond = |policy: Value| {
        let policy: PolicyConfig = serde_json::from_value(policy).unwrap();
        let policy = PermissionPolicy::new(&policy).unwrap();
        let names = policy.beyond_paths(&registry).into_iter();
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(beyond(careful()), ["python", "shell"]);
    let mut policy = careful();
    policy["rules"] = json!([{"tool": "shell", "then": "deny"}]);
    assert_eq!(beyond(policy), ["python"]);
    let reading = json!([{"tool": "read_file", "then": "allow"}]);
    let strict = json!({"otherwise": "deny", "rules": reading, "paths": [{"deny": "secrets"}]});
    assert!(beyond(strict).is_empty());
    assert!(beyond(json!({"otherwise": "allow"})).is_empty());
}
