//! What is read of a folder and what is not.

use std::fs;
use std::os::unix::fs::symlink;

use super::{OmittedFiles, Workspace, WorkspaceError, WorkspaceLimits};

fn paths(workspace: &Workspace) -> Vec<&str> {
    workspace
        .files()
        .iter()
        .map(|file| file.path.as_str())
        .collect()
}

#[test]
fn files_are_read_in_the_order_of_their_paths_with_their_facts() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("src/deep")).unwrap();
    fs::write(
        folder.path().join("src/deep/b.rs"),
        "//! Second.\nfn b() {}\n",
    )
    .unwrap();
    fs::write(
        folder.path().join("src/a.py"),
        "#!/bin/env python\n# First.\n",
    )
    .unwrap();
    fs::write(folder.path().join("README.md"), "\n# Title\n\ntext\n").unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    assert_eq!(
        paths(&workspace),
        ["README.md", "src/a.py", "src/deep/b.rs"]
    );
    let headings: Vec<_> = workspace
        .files()
        .iter()
        .map(|file| file.heading.as_deref().unwrap())
        .collect();
    assert_eq!(headings, ["Title", "First", "Second"]);
    let rust = &workspace.files()[2];
    assert_eq!((rust.language, rust.lines, rust.bytes), ("Rust", 2, 22));
    let parts: Vec<_> = workspace.parts().into_iter().map(|it| it.name).collect();
    assert_eq!(parts, ["(top level)", "src"]);
}

#[test]
fn a_folder_that_is_alone_is_looked_into() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["only/one/x.rs", "only/two/y.rs", "only/z.rs"] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "text").unwrap();
    }
    let workspace = Workspace::open(folder.path()).unwrap();
    let parts: Vec<_> = workspace.parts().into_iter().map(|it| it.name).collect();
    assert_eq!(parts, ["only", "only/one", "only/two"]);
}

#[test]
fn what_is_ignored_binary_huge_or_linked_is_left_out_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("sub")).unwrap();
    fs::write(at(".gitignore"), "secret*\n").unwrap();
    fs::write(at("secret.txt"), "hidden").unwrap();
    fs::write(at("zero.bin"), [1, 0, 2]).unwrap();
    fs::write(at("latin.txt"), [b'a', 0xe4]).unwrap();
    fs::write(at("huge.txt"), "x".repeat(300 * 1024)).unwrap();
    fs::write(at("sub/kept.txt"), "kept").unwrap();
    symlink("..", at("sub/circle")).unwrap();
    symlink("/etc/hostname", at("outside")).unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    assert_eq!(paths(&workspace), ["sub/kept.txt"]);
    let expected = OmittedFiles {
        binary: 2,
        too_large: 1,
        links: 2,
        ..OmittedFiles::default()
    };
    assert_eq!(workspace.left_out(), expected);
}

#[test]
fn number_and_size_of_what_is_read_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    for index in 0..5 {
        fs::write(folder.path().join(format!("{index}.txt")), "0123456789").unwrap();
    }
    let limits = WorkspaceLimits {
        file_bytes: 100,
        files: 4,
        total_bytes: 25,
    };
    let workspace = Workspace::open_within(folder.path(), limits).unwrap();
    assert_eq!(paths(&workspace), ["0.txt", "1.txt"]);
    assert_eq!(workspace.left_out().beyond_limits, 3);
}

#[test]
fn a_name_cannot_pose_as_another_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a\n[interrupt request]"), "text").unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    assert!(!workspace.files()[0].path.contains('\n'));
}

#[test]
fn what_is_no_folder_is_refused_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Workspace::open(folder.path().join("none")).unwrap_err();
    assert!(matches!(missing, WorkspaceError::Missing { .. }));
    assert!(missing.to_string().contains("none"), "{missing}");
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let not_a_folder = Workspace::open(&file).unwrap_err();
    assert!(matches!(not_a_folder, WorkspaceError::NotAFolder { .. }));
    assert!(!not_a_folder.hint().is_empty());
}

#[test]
fn what_is_said_of_a_folder_was_counted() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        (
            "src/run.rs",
            "//! Runs things.\npub struct Run;\npub use self::fn_of as it;\npub async fn run(it: Run) {}\n",
        ),
        ("src/short.rs", "pub(crate) fn short() {}\n"),
        (
            "web/page.ts",
            "export interface Page<T> {}\nexport const x = 1;\n",
        ),
        ("notes.md", "# Notes\npub struct Quoted;\ntype of thing\n"),
    ] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let facts = Workspace::open(folder.path()).unwrap().facts();
    let said: Vec<&str> = facts.iter().map(|fact| &*fact.says).collect();
    assert_eq!(
        said,
        [
            "The folder has 4 files with 10 lines, 2 of them Rust.",
            "src has 2 files with 5 lines, all Rust; the largest is src/run.rs.",
            "src/run.rs has 4 lines of Rust, titled \u{201c}Runs things\u{201d}, declares Run, run.",
            "src/short.rs has 1 line of Rust.",
            "(top level) has 1 file with 3 lines, all Markdown.",
            "notes.md has 3 lines of Markdown, titled \u{201c}Notes\u{201d}.",
            "web has 1 file with 2 lines, all TypeScript.",
            "web/page.ts has 2 lines of TypeScript, declares Page.",
        ]
    );
    let within = |files| WorkspaceLimits {
        files,
        ..WorkspaceLimits::default()
    };
    let facts = Workspace::open_within(folder.path(), within(3)).unwrap();
    let facts = facts.facts();
    let said: Vec<&str> = facts.iter().map(|fact| &*fact.says).collect();
    assert_eq!(
        [said[0], said[1]],
        [
            "The folder has 3 files with 8 lines, 2 of them Rust, that were read; not read: 1.",
            "src has 2 files with 5 lines, all Rust, that were read; the largest is src/run.rs.",
        ]
    );
}
