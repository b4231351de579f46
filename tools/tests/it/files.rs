//! The file tools: what they read, find and change, and that they do not leave the workspace.

use std::fs;
use std::path::Path;

use interrupts::OwnFiles;
use serde_json::{Value, json};
use tools::{
    CallEnd, Executor, ExecutorConfig, Permission, PermissionPolicy, RequestedCall, ToolMessage,
    Workspace, built_in_tools,
};

use crate::scene::{programs, workspace};

struct Stage {
    executor: Executor,
    folder: tempfile::TempDir,
}

fn stage() -> Stage {
    let (folder, workspace) = workspace();
    stage_of(folder, workspace)
}

fn stage_of(folder: tempfile::TempDir, workspace: Workspace) -> Stage {
    let mut config = ExecutorConfig::new(workspace);
    for tool in built_in_tools(&programs()) {
        config.registry.register(tool).unwrap();
    }
    config.policy = PermissionPolicy::always(Permission::Allow);
    Stage {
        executor: Executor::new(config),
        folder,
    }
}

impl Stage {
    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn has(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn text_of(&self, path: &str) -> String {
        fs::read_to_string(self.path().join(path)).unwrap()
    }

    async fn message(&self, tool: &str, arguments: Value) -> ToolMessage {
        let call = RequestedCall::new("1", tool, arguments.to_string());
        self.executor
            .execute(vec![call])
            .await
            .unwrap()
            .messages
            .remove(0)
    }

    async fn call(&self, tool: &str, arguments: Value) -> String {
        self.message(tool, arguments).await.text()
    }

    async fn refused(&self, tool: &str, arguments: Value) -> String {
        let end = self.message(tool, arguments).await.end;
        let CallEnd::Failed { reason } = end else {
            panic!("{tool} was not refused: {end:?}");
        };
        reason
    }
}

#[tokio::test]
async fn a_file_is_read_whole_or_in_parts() {
    let stage = stage();
    stage.has("a.txt", "one\ntwo\nthree");
    assert_eq!(
        stage.call("read_file", json!({"path": "a.txt"})).await,
        "one\ntwo\nthree"
    );
    let part = stage
        .call(
            "read_file",
            json!({"path": "a.txt", "first_line": 2, "lines": 1}),
        )
        .await;
    assert_eq!(part, "two\n[1 of 3 lines; the next is line 3]");
    let absolute = stage.path().canonicalize().unwrap().join("a.txt");
    assert!(
        stage
            .call("read_file", json!({"path": absolute}))
            .await
            .starts_with("one")
    );
}

#[tokio::test]
async fn one_line_of_three_megabytes_does_not_go_to_a_model_whole() {
    let stage = stage();
    // Letters of two bytes: none is cut in half.
    let line = "é".repeat(1_500_000);
    stage.has("line", &line);
    let read = stage.call("read_file", json!({"path": "line"})).await;
    assert!(read.len() < 257 * 1024, "{}", read.len());
    assert!(read.starts_with("éé") && read.contains("of 3000000 bytes"));
    stage.has("lines", &"flour and water\n".repeat(100_000));
    let read = stage.call("read_file", json!({"path": "lines"})).await;
    assert!(read.ends_with("the next is line 2001]"), "{read}");
    let written = json!({"path": "line", "content": "short"});
    let diff = stage.call("write_file", written).await;
    assert!(diff.len() < 257 * 1024 && diff.contains("[truncated: the first"));
}

#[tokio::test]
async fn files_are_listed_without_hidden_and_ignored_ones() {
    let stage = stage();
    for path in [
        "src/lib.rs",
        "src/deep/er.rs",
        "target/x",
        ".env",
        "read.me",
    ] {
        stage.has(path, "");
    }
    stage.has(".gitignore", "target\n");
    let all = stage.call("list_files", json!({})).await;
    assert_eq!(all, "read.me\nsrc/\nsrc/deep/\nsrc/deep/er.rs\nsrc/lib.rs");
    assert_eq!(
        stage
            .call("list_files", json!({"path": "src", "depth": 1}))
            .await,
        "src/deep/\nsrc/lib.rs"
    );
}

#[tokio::test]
async fn lines_are_found_by_a_regular_expression_and_a_glob() {
    let stage = stage();
    stage.has("a.rs", "fn one() {}\nfn two() {}\n");
    stage.has("b.md", "fn three\n");
    stage.has("binary", "fn \u{0}four");
    assert_eq!(
        stage
            .call(
                "search_files",
                json!({"pattern": r"fn t\w+", "files": "*.rs"})
            )
            .await,
        "a.rs:2: fn two() {}"
    );
    assert_eq!(
        stage
            .call("search_files", json!({"pattern": "fn five"}))
            .await,
        "[no line fits]"
    );
    assert!(
        stage
            .refused("search_files", json!({"pattern": "("}))
            .await
            .contains("unclosed group")
    );
}

#[tokio::test]
async fn an_edit_is_a_diff_and_can_be_undone() {
    let stage = stage();
    stage.has("a.txt", "one\ntwo\nthree\n");
    let diff = stage
        .call(
            "edit_file",
            json!({"path": "a.txt", "old": "two", "new": "2"}),
        )
        .await;
    assert_eq!(
        diff,
        "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
    );
    let new = stage
        .call(
            "write_file",
            json!({"path": "new/b.txt", "content": "fresh\n"}),
        )
        .await;
    assert_eq!(
        new,
        "--- /dev/null\n+++ b/new/b.txt\n@@ -0,0 +1 @@\n+fresh\n"
    );
    assert_eq!(
        stage.call("undo_edit", json!({})).await,
        "--- a/new/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-fresh\n"
    );
    assert!(!stage.path().join("new/b.txt").exists());
    stage.call("undo_edit", json!({})).await;
    assert_eq!(stage.text_of("a.txt"), "one\ntwo\nthree\n");
    assert!(
        stage
            .refused("undo_edit", json!({}))
            .await
            .contains("no edit")
    );
}

#[tokio::test]
async fn an_edit_is_not_undone_over_what_somebody_else_wrote_since() {
    let stage = stage();
    stage
        .call("write_file", json!({"path": "a.txt", "content": "mine\n"}))
        .await;
    stage.has("a.txt", "theirs\n");
    assert!(
        stage
            .refused("undo_edit", json!({}))
            .await
            .contains("was changed since")
    );
    assert_eq!(stage.text_of("a.txt"), "theirs\n");
}

#[tokio::test]
async fn an_edit_that_could_mean_several_places_is_refused() {
    let stage = stage();
    stage.has("a.txt", "x x");
    assert!(
        stage
            .refused(
                "edit_file",
                json!({"path": "a.txt", "old": "x", "new": "y"})
            )
            .await
            .contains("2 times")
    );
    assert!(
        stage
            .refused(
                "edit_file",
                json!({"path": "a.txt", "old": "z", "new": "y"})
            )
            .await
            .contains("is not in")
    );
    stage
        .call(
            "edit_file",
            json!({"path": "a.txt", "old": "x", "new": "y", "everywhere": true}),
        )
        .await;
    assert_eq!(stage.text_of("a.txt"), "y y");
}

#[tokio::test]
async fn a_program_keeps_its_permissions_when_it_is_edited() {
    use std::os::unix::fs::PermissionsExt as _;
    let stage = stage();
    stage.has("run.sh", "echo 1\n");
    let path = stage.path().join("run.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    stage
        .call(
            "edit_file",
            json!({"path": "run.sh", "old": "1", "new": "2"}),
        )
        .await;
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o750
    );
}

#[tokio::test]
async fn nothing_outside_of_the_workspace_is_read_or_written() {
    let stage = stage();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "secret").unwrap();
    std::os::unix::fs::symlink(outside.path(), stage.path().join("link")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret"), stage.path().join("file")).unwrap();
    let up = format!(
        "../{}/secret",
        outside.path().file_name().unwrap().to_str().unwrap()
    );
    let absolute = outside.path().join("secret");
    for path in [
        "link/secret",
        "file",
        &up,
        absolute.to_str().unwrap(),
        "/etc/passwd",
    ] {
        for (tool, arguments) in [
            ("read_file", json!({"path": path})),
            ("write_file", json!({"path": path, "content": "mine"})),
            (
                "edit_file",
                json!({"path": path, "old": "secret", "new": "mine"}),
            ),
            ("python", json!({"file": path})),
        ] {
            stage.refused(tool, arguments).await;
        }
    }
    stage
        .refused("write_file", json!({"path": "link/new", "content": "mine"}))
        .await;
    stage.refused("list_files", json!({"path": "link"})).await;
    stage
        .refused("search_files", json!({"path": "..", "pattern": "secret"}))
        .await;
    assert_eq!(
        stage
            .call("search_files", json!({"pattern": "secret"}))
            .await,
        "[no line fits]"
    );
    assert_eq!(
        fs::read_to_string(outside.path().join("secret")).unwrap(),
        "secret"
    );
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn a_pipe_is_not_waited_for() {
    let stage = stage();
    let made = std::process::Command::new("mkfifo")
        .arg(stage.path().join("pipe"))
        .status()
        .unwrap();
    assert!(made.success());
    assert!(
        stage
            .refused("read_file", json!({"path": "pipe"}))
            .await
            .contains("it is no file")
    );
}

#[tokio::test]
async fn the_files_of_the_store_are_opened_by_no_file_tool() {
    let stage = stage();
    stage.has("runs.db", "needle of the store");
    stage.has("a.txt", "needle of the project");
    let _own = OwnFiles::hold([stage.path().join("runs.db"), stage.path().join("later")]);
    let said = "belongs to the store of this run";
    for (tool, arguments) in [
        ("read_file", json!({"path": "runs.db"})),
        ("write_file", json!({"path": "runs.db", "content": ""})),
        ("write_file", json!({"path": "./later", "content": ""})),
        (
            "edit_file",
            json!({"path": "runs.db", "old": "needle", "new": ""}),
        ),
    ] {
        let reason = stage.refused(tool, arguments).await;
        assert!(reason.contains(said), "{tool}: {reason}");
    }
    assert_eq!(stage.text_of("runs.db"), "needle of the store");
    assert_eq!(
        stage
            .call("search_files", json!({"pattern": "needle"}))
            .await,
        "a.txt:1: needle of the project"
    );
}

#[tokio::test]
async fn edits_that_are_kept_are_taken_back_by_a_later_process() {
    let kept = tempfile::tempdir().unwrap();
    let (folder, workspace) = workspace();
    let stage = stage_of(
        folder,
        workspace.with_edits_kept_in(kept.path().join("edits")),
    );
    stage.has("a.txt", "one\n");
    for (tool, arguments) in [
        (
            "edit_file",
            json!({"path": "a.txt", "old": "one", "new": "two"}),
        ),
        ("write_file", json!({"path": "b.txt", "content": "new\n"})),
        (
            "edit_file",
            json!({"path": "a.txt", "old": "two", "new": "three"}),
        ),
    ] {
        stage.call(tool, arguments).await;
    }
    // Nothing of the first is in memory of the second.
    let Stage { folder, executor } = stage;
    drop(executor);
    let again = Workspace::open(folder.path()).unwrap();
    let stage = stage_of(folder, again.with_edits_kept_in(kept.path().join("edits")));
    assert_eq!(
        stage.call("undo_edit", json!({})).await,
        "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-three\n+two\n"
    );
    // As if the process had died before the change was made, or after it was taken back.
    fs::remove_file(stage.path().join("b.txt")).unwrap();
    stage.call("undo_edit", json!({})).await;
    assert_eq!(stage.text_of("a.txt"), "one\n");
    assert!(!stage.path().join("b.txt").exists());
    let refused = stage.refused("undo_edit", json!({})).await;
    assert!(refused.contains("no edit"), "{refused}");
}

#[tokio::test]
async fn a_change_is_not_made_where_what_was_there_cannot_be_kept() {
    let (folder, workspace) = workspace();
    // A file stands where the folder of the edits should be.
    let elsewhere = tempfile::NamedTempFile::new().unwrap();
    let stage = stage_of(folder, workspace.with_edits_kept_in(elsewhere.path()));
    stage.has("a.txt", "one\n");
    let arguments = json!({"path": "a.txt", "content": "two\n"});
    let refused = stage.refused("write_file", arguments).await;
    assert!(refused.contains("could not be kept"), "{refused}");
    assert_eq!(stage.text_of("a.txt"), "one\n");
}

#[tokio::test]
async fn a_hundred_edits_are_kept_and_no_file_tool_looks_at_them() {
    let (folder, workspace) = workspace();
    let edits = folder.path().join("edits");
    let stage = stage_of(folder, workspace.with_edits_kept_in(&edits));
    for number in 0..105 {
        let arguments = json!({"path": "a.txt", "content": format!("{number}\n")});
        stage.call("write_file", arguments).await;
    }
    assert_eq!(fs::read_dir(&edits).unwrap().count(), 100);
    let refused = stage.refused("read_file", json!({"path": "edits/105.json"}));
    assert!(refused.await.contains("belongs to the store"));
    for _edit in 0..100 {
        stage.call("undo_edit", json!({})).await;
    }
    assert_eq!(stage.text_of("a.txt"), "4\n");
    assert_eq!(fs::read_dir(&edits).unwrap().count(), 0);
}
