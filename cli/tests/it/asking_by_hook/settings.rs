//! The hook is put into the settings of an agent, and taken out, and nothing else of them changes.

use serde_json::Value;

use super::{Bench, event};
use crate::program::{end, end_with_input};

/// Settings that a person has written by hand, with hooks of their own.
const SETTINGS: &str = r#"{
    "permissions": { "allow": ["Bash(ls:*)", "Read"] },

    "hooks": {
        "PostToolUse": [ { "matcher": "Edit", "hooks": [ { "type": "command", "command": "fmt } ]" } ] } ],
        "PermissionRequest": [
            { "matcher": "Read", "hooks": [ { "type": "command", "command": "mine hook" } ] }
        ]
    },
    "model": "opus"
}
"#;

impl Bench {
    /// A project with these settings.
    fn with(text: &str) -> Self {
        let bench = Self::new();
        std::fs::create_dir(bench.path(".claude")).unwrap();
        std::fs::write(bench.path(".claude/settings.json"), text).unwrap();
        bench
    }

    fn settings(&self) -> String {
        std::fs::read_to_string(self.path(".claude/settings.json")).unwrap()
    }
}

/// The lines of `after` that are not in `before`, where all of `before` is still there in its order.
#[track_caller]
fn added(before: &str, after: &str) -> String {
    let mut left = before
        .lines()
        .map(|line| line.trim_end_matches(','))
        .peekable();
    let mut added = String::new();
    for line in after.lines() {
        if left
            .next_if(|next| *next == line.trim_end_matches(','))
            .is_none()
        {
            added.push_str(line);
            added.push('\n');
        }
    }
    assert_eq!(left.next(), None, "{after}");
    added
}

#[test]
fn it_shows_the_change_makes_it_and_takes_it_back_to_the_byte() {
    for text in [
        SETTINGS,
        "{}",
        "{\n  \"model\": \"opus\"\n}\n",
        "{\"hooks\": {}}\n",
        "{\n\t\"hooks\": {\n\t\t\"Stop\": []\n\t}\n}",
    ] {
        let bench = Bench::with(text);
        let install = ["hook", "install", "claude-code", "--matcher", "Bash|Edit"];
        let asks = end(&mut bench.irq(&install)).exits_with(2);
        assert!(
            asks.output.contains("+") && asks.output.contains("hook claude-code"),
            "{asks:#?}"
        );
        assert!(asks.error_output.contains("--yes"), "{asks:#?}");
        assert_eq!(bench.settings(), text, "the change was not agreed to");
        let made = bench.does(&[&install[..], &["--yes"]].concat());
        assert_eq!(made, asks.output, "what was shown is what is made");
        let after = bench.settings();
        let read: Value = serde_json::from_str(&after).unwrap();
        let entries = read["hooks"]["PermissionRequest"].as_array().unwrap();
        let own = entries.last().unwrap();
        assert_eq!(own["matcher"], "Bash|Edit");
        assert_eq!(own["hooks"][0]["timeout"], 630);
        assert_eq!(own["hooks"][0]["onFailure"], "block");
        if text == SETTINGS {
            assert!(added(text, &after).contains("onFailure"));
        }
        let again = end(&mut bench.irq(&[&install[..], &["--yes"]].concat())).exits_with(0);
        assert!(again.error_output.contains("nothing changes"), "{again:#?}");
        assert_eq!(bench.settings(), after);
        bench.does(&["hook", "remove", "claude-code", "--yes"]);
        let left: Value = serde_json::from_str(&bench.settings()).unwrap();
        assert!(!bench.settings().contains("hook claude-code"));
        if text == SETTINGS {
            assert_eq!(bench.settings(), text);
        } else {
            assert_eq!(
                left.get("model"),
                serde_json::from_str::<Value>(text).unwrap().get("model")
            );
        }
        let gone = end(&mut bench.irq(&["hook", "remove", "claude-code", "--yes"])).exits_with(0);
        assert!(gone.error_output.contains("nothing changes"), "{gone:#?}");
    }
}

#[test]
fn installed_otherwise_it_is_there_once() {
    let bench = Bench::with(SETTINGS);
    bench.does(&["hook", "install", "claude-code", "--yes"]);
    bench.does(&[
        "hook",
        "install",
        "claude-code",
        "--yes",
        "--matcher",
        "Bash",
        "--timeout",
        "2m",
    ]);
    assert_eq!(bench.settings().matches("hook claude-code").count(), 1);
    assert!(
        bench.settings().contains("--timeout 120s")
            && bench.settings().contains("\"timeout\": 150")
    );
    bench.does(&[
        "hook",
        "install",
        "claude-code",
        "--yes",
        "--event",
        "pre-tool-use",
    ]);
    assert_eq!(bench.settings().matches("hook claude-code").count(), 1);
    let read: Value = serde_json::from_str(&bench.settings()).unwrap();
    assert_eq!(
        read["hooks"]["PreToolUse"][0]["hooks"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        read["hooks"]["PermissionRequest"].as_array().unwrap().len(),
        1,
        "that of its user"
    );
}

#[test]
fn the_command_that_is_installed_is_one_that_a_shell_can_start() {
    let bench = Bench::new();
    let home = bench.path("home");
    let mut install = bench.irq(&[
        "hook",
        "install",
        "claude-code",
        "--user",
        "--timeout",
        "1s",
        "--yes",
    ]);
    install
        .args(["--store", "a store.db"])
        .env_remove("CLAUDE_CONFIG_DIR");
    end(install.env("HOME", &home)).exits_with(0);
    let text = std::fs::read_to_string(home.join(".claude/settings.json")).unwrap();
    let read: Value = serde_json::from_str(&text).unwrap();
    let command = read["hooks"]["PermissionRequest"][0]["hooks"][0]["command"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(command.ends_with("--store 'a store.db'"), "{command}");
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-c", &command])
        .current_dir(bench.folder.path());
    let input = event("PermissionRequest", "toolu_1").to_string();
    let ended = end_with_input(&mut shell, input.as_bytes()).exits_with(0);
    assert!(ended.output.contains("\"behavior\":\"deny\""), "{ended:#?}");
    assert!(bench.path("a store.db").exists());
}

#[test]
fn settings_that_are_not_as_documented_are_left_alone() {
    for text in [
        "{ // a comment\n}",
        "[]",
        "{\"hooks\": []}",
        "{\"hooks\": {\"PermissionRequest\": {}}}",
    ] {
        let bench = Bench::with(text);
        let refused = end(&mut bench.irq(&["hook", "install", "claude-code", "--yes"]));
        refused.exits_with(2).says("settings.json");
        assert_eq!(bench.settings(), text);
    }
    let codex = Bench::new();
    codex.does(&["hook", "install", "codex", "--yes"]);
    let text = std::fs::read_to_string(codex.path(".codex/hooks.json")).unwrap();
    assert!(
        text.contains("hook codex") && !text.contains("onFailure"),
        "{text}"
    );
}
