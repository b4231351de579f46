//! `irq hook`: a coding agent's permission question, its decision, and the agent's settings.

mod gone;
mod plugin;
mod settings;

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::program::{Ended, end_with_input, lines, spawn};
use crate::screen::on_a_terminal;
use crate::serving::Installation;

/// A folder with a store.
struct Bench {
    folder: tempfile::TempDir,
    store: std::path::PathBuf,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("irq.db");
        Self { folder, store }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn irq(&self, arguments: &[&str]) -> Command {
        let mut command = crate::program::irq();
        command.args(arguments).env("IRQ_STORE", &self.store);
        command
            .env("IRQ_USER", "ann")
            .current_dir(self.folder.path());
        command
    }

    #[track_caller]
    fn does(&self, arguments: &[&str]) -> String {
        crate::program::end(&mut self.irq(arguments))
            .exits_with(0)
            .output
    }

    /// An agent starts the hook, and does not wait for it.
    fn begins(&self, agent: &str, event: &Value, timeout: &str) -> Child {
        let mut hook = self.irq(&["hook", agent, "--timeout", timeout]);
        let mut hook = spawn(hook.stdin(Stdio::piped()));
        let mut input = hook.stdin.take().unwrap();
        std::io::Write::write_all(&mut input, event.to_string().as_bytes()).unwrap();
        hook
    }

    /// The ids of the questions that wait, once there are so many.
    fn questions(&self, count: usize) -> Vec<String> {
        let begun = Instant::now();
        loop {
            let waiting = match self.store.exists() {
                true => lines(&self.does(&["review", "--json"])),
                false => Vec::new(),
            };
            if waiting.len() == count {
                let id = |it: &Value| it["id"].as_str().unwrap().to_owned();
                return waiting.iter().map(id).collect();
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{waiting:#?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn run_states(&self) -> Vec<String> {
        let runs = lines(&self.does(&["ps", "--all", "--json"]));
        let state = |run: Value| run["state"].as_str().unwrap().to_owned();
        runs.into_iter().map(state).collect()
    }
}

/// The event as Claude Code documents it.
fn event(name: &str, tool_use: &str) -> Value {
    json!({
        "session_id": "abc123", "transcript_path": "/home/ann/.claude/projects/shop/abc123.jsonl",
        "cwd": "/home/ann/shop", "permission_mode": "default", "hook_event_name": name,
        "tool_name": "Bash", "tool_input": {"command": "git push", "description": "Push the branch"},
        "tool_use_id": tool_use,
    })
}

fn ended(hook: Child) -> Ended {
    hook.wait_with_output().unwrap().into()
}

/// What the agent reads.
#[track_caller]
fn told(hook: Child) -> Value {
    let ended = ended(hook).exits_with(0);
    let told: Value = serde_json::from_str(&ended.output).unwrap();
    told["hookSpecificOutput"].clone()
}

/// That it reads a refusal, in which these words are.
#[track_caller]
fn is_refused(hook: Child, words: &str) {
    let told = told(hook);
    assert_eq!(told["permissionDecision"], "deny", "{told}");
    let reason = told["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.contains(words), "{told}");
}

#[test]
fn a_decision_is_told_in_the_form_of_each_event() {
    let bench = Bench::new();
    let before = json!({"hookEventName": "PreToolUse", "permissionDecision": "allow", "permissionDecisionReason": "ann approved it"});
    let no = "ann refused it: not on Friday";
    let before_no = json!({"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": no});
    let asked = json!({"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}});
    let asked_no = json!({"hookEventName": "PermissionRequest", "decision": {"behavior": "deny", "message": no}});
    for (agent, name, yes, no) in [
        ("claude-code", "PreToolUse", &before, &before_no),
        ("claude-code", "PermissionRequest", &asked, &asked_no),
        ("codex", "PermissionRequest", &asked, &asked_no),
    ] {
        for (decision, expected) in [("approve", yes), ("reject", no)] {
            let hook = bench.begins(
                agent,
                &event(name, &format!("{agent}-{name}-{decision}")),
                "60s",
            );
            let question = bench.questions(1).remove(0);
            let words: &[&str] = match decision {
                "reject" => &["--message", "not on Friday"],
                _ => &[],
            };
            bench.does(&[&["review", &question, "--decision", decision][..], words].concat());
            assert_eq!(told(hook), *expected);
        }
    }
    assert_eq!(bench.run_states(), vec!["completed"; 6]);
}

#[test]
fn where_only_a_server_is_named_the_agent_is_refused_and_told_what_to_do() {
    let bench = Bench::new();
    for agent in ["claude-code", "codex", "opencode"] {
        let mut hook = bench.irq(&["hook", agent]);
        hook.env_remove("IRQ_STORE");
        hook.env("IRQ_SERVER", "http://127.0.0.1:7070");
        let event = event("PreToolUse", "toolu_1").to_string();
        let ended = end_with_input(&mut hook, event.as_bytes()).exits_with(0);
        for said in ["deny", "IRQ_SERVER names", "--store PATH"] {
            assert!(ended.output.contains(said), "{agent}: {ended:?}");
        }
    }
    let mut remove = bench.irq(&["hook", "remove", "claude-code"]);
    remove.env_remove("IRQ_STORE");
    crate::program::end(remove.env("IRQ_SERVER", "http://127.0.0.1:7070")).exits_with(0);
}

#[test]
fn a_person_sees_the_tool_and_its_input_and_may_leave_it_to_the_agents_user() {
    let bench = Bench::new();
    let hook = bench.begins("claude-code", &event("PreToolUse", "toolu_1"), "60s");
    let question = bench.questions(1).remove(0);
    let shown: Value = serde_json::from_str(&bench.does(&["review", &question, "--json"])).unwrap();
    assert_eq!(
        shown["reason"],
        "Claude Code wants to use Bash in /home/ann/shop"
    );
    assert_eq!(
        shown["context_for_decision"],
        "command: git push\ndescription: Push the branch"
    );
    assert_eq!(shown["content"]["tool"], "Bash");
    assert_eq!(shown["content"]["input"]["command"], "git push");
    bench.does(&["review", &question, "--decision", "ignore"]);
    assert_eq!(told(hook)["permissionDecision"], "ask");
    let hook = bench.begins("claude-code", &event("PermissionRequest", "toolu_2"), "60s");
    let question = bench.questions(1).remove(0);
    bench.does(&["review", &question, "--decision", "ignore"]);
    assert_eq!(ended(hook).exits_with(0).output, "");
}

#[test]
fn words_beside_a_no_are_told_and_words_alone_are_no_answer() {
    let bench = Bench::new();
    for decision in ["reject", "cancel"] {
        let hook = bench.begins("claude-code", &event("PreToolUse", decision), "60s");
        let question = bench.questions(1).remove(0);
        let words = [
            "review",
            &question,
            "--decision",
            "respond",
            "--message",
            "yes",
        ];
        let ended = bench.irq(&words).output().unwrap();
        let told = String::from_utf8(ended.stderr).unwrap();
        assert!(told.contains("does not take `respond`"), "{told}");
        bench.does(&[
            "review",
            &question,
            "--decision",
            decision,
            "--message",
            "yes, do it",
        ]);
        is_refused(hook, "yes, do it");
    }
}

#[test]
fn no_answer_in_time_is_a_refusal_and_withdraws_the_question() {
    let bench = Bench::new();
    let hook = bench.begins("claude-code", &event("PreToolUse", "toolu_1"), "1s");
    is_refused(hook, "No person answered within 1s");
    assert_eq!(bench.questions(0), Vec::<String>::new());
    let hook = bench.begins("codex", &event("PermissionRequest", "toolu_2"), "1s");
    let told = told(hook);
    assert_eq!(told["decision"]["behavior"], "deny", "{told}");
}

#[tokio::test]
async fn a_killed_reviewer_is_no_allowance() {
    let installation = Installation::new();
    let server = installation.serve();
    let folder = tempfile::tempdir().unwrap();
    let store = installation.store();
    let bench = Bench { folder, store };
    let hook = bench.begins("claude-code", &event("PreToolUse", "toolu_1"), "4s");
    installation.questions(1).await;
    server.kill();
    is_refused(hook, "No person answered");
}

#[test]
fn a_store_that_is_broken_or_not_there_to_be_written_is_a_refusal() {
    let bench = Bench::new();
    std::fs::write(&bench.store, "this is no database, and was never one").unwrap();
    let hook = bench.begins("claude-code", &event("PreToolUse", "toolu_1"), "60s");
    is_refused(hook, "could not ask a person");
    let nowhere = Bench {
        store: "/proc/nowhere/irq.db".into(),
        ..Bench::new()
    };
    let hook = nowhere.begins("claude-code", &event("PreToolUse", "toolu_1"), "60s");
    is_refused(hook, "could not ask a person");
    let memory = Bench {
        store: "memory:".into(),
        ..Bench::new()
    };
    let hook = memory.begins("claude-code", &event("PreToolUse", "toolu_1"), "60s");
    is_refused(hook, "could not ask a person");
}

#[test]
fn a_store_that_is_taken_away_while_a_person_thinks_is_a_refusal() {
    let bench = Bench::new();
    let hook = bench.begins("claude-code", &event("PreToolUse", "toolu_1"), "5s");
    bench.questions(1);
    for ending in ["", "-wal", "-shm"] {
        let _absent = std::fs::remove_file(format!("{}{ending}", bench.store.display()));
    }
    is_refused(hook, "");
}

#[test]
fn what_is_no_event_and_wrong_use_block_by_the_exit_code() {
    let bench = Bench::new();
    let after = event("PostToolUse", "toolu_1").to_string();
    for input in [
        "",
        "{}",
        "[",
        "null",
        r#"{"hook_event_name": "PreToolUse"}"#,
        &after,
    ] {
        let mut hook = bench.irq(&["hook", "claude-code"]);
        let ended = end_with_input(&mut hook, input.as_bytes()).exits_with(2);
        assert_eq!(ended.output, "", "{input}");
        ended.says("no event in which an agent asks");
    }
    for wrong in [
        &["hook", "claude-code", "--timeout", "soon"][..],
        &["hook", "other-agent"],
    ] {
        crate::program::end(&mut bench.irq(wrong)).exits_with(2);
    }
    let server = ["hook", "claude-code", "--server", "http://127.0.0.1:1"];
    let there = end_with_input(&mut bench.irq(&server), after.as_bytes());
    assert_eq!(there.exits_with(2).output, "");
}

#[test]
fn a_stopped_run_is_a_refusal() {
    let bench = Bench::new();
    let hook = bench.begins("claude-code", &event("PreToolUse", "toolu_1"), "60s");
    bench.questions(1);
    let runs = lines(&bench.does(&["ps", "--json"]));
    let run = runs[0]["id"].as_str().unwrap();
    bench.does(&["interrupt", run, "--type", "stop", "--yes"]);
    is_refused(hook, "has stopped");
}

#[test]
fn a_killed_hook_asks_nobody_twice_and_several_at_once_have_a_question_each() {
    let bench = Bench::new();
    let mut killed = bench.begins("claude-code", &event("PreToolUse", "toolu_1"), "60s");
    bench.questions(1);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let again = bench.begins("claude-code", &event("PreToolUse", "toolu_1"), "60s");
    let other = bench.begins("claude-code", &event("PreToolUse", "toolu_2"), "60s");
    for id in bench.questions(2) {
        bench.does(&["review", &id, "--decision", "approve"]);
    }
    for hook in [again, other] {
        assert_eq!(told(hook)["permissionDecision"], "allow");
    }
}

#[test]
fn a_hook_that_is_told_to_end_withdraws_its_question_and_ends_its_run() {
    use rustix::process::{Pid, Signal, kill_process};
    for (number, signal) in [Signal::TERM, Signal::INT, Signal::HUP]
        .into_iter()
        .enumerate()
    {
        let bench = Bench::new();
        let tool_use = format!("toolu_{number}");
        let hook = bench.begins("claude-code", &event("PreToolUse", &tool_use), "60s");
        let asked = bench.questions(1);
        let process = Pid::from_raw(i32::try_from(hook.id()).unwrap()).unwrap();
        kill_process(process, signal).unwrap();
        let told = told(hook);
        assert_eq!(told["permissionDecision"], "deny", "{signal:?}: {told}");
        is_about_nothing(&bench, &asked[0]);
    }
}

#[test]
fn the_question_of_a_hook_that_was_killed_is_withdrawn_by_whoever_looks_next() {
    let bench = Bench::new();
    let mut hook = bench.begins("codex", &event("PermissionRequest", "toolu_1"), "60s");
    let asked = bench.questions(1);
    hook.kill().unwrap();
    hook.wait().unwrap();
    is_about_nothing(&bench, &asked[0]);
}

#[test]
fn an_answer_is_refused_whose_hook_was_killed_while_a_person_thought() {
    let bench = Bench::new();
    let mut hook = bench.begins("claude-code", &event("PreToolUse", "toolu_1"), "60s");
    let asked = bench.questions(1);
    let mut screen = on_a_terminal(bench.irq(&["review", &asked[0], "--no-color"]));
    screen.exp_string("> ").unwrap();
    hook.kill().unwrap();
    hook.wait().unwrap();
    screen.send_line("y").unwrap();
    screen
        .exp_string("the program that asked has gone")
        .unwrap();
    screen.exp_eof().unwrap();
}

#[tokio::test]
async fn a_server_refuses_the_decision_of_a_question_whose_hook_was_killed_meanwhile() {
    let installation = Installation::new();
    let _server = installation.serve();
    let bench = Bench {
        store: installation.store(),
        ..Bench::new()
    };
    let mut hook = bench.begins("claude-code", &event("PreToolUse", "toolu_1"), "60s");
    let asked = installation.questions(1).await;
    let path = format!("/v1/interrupts/{}", asked[0]);
    let shown = installation.get(&path).send().await.unwrap();
    let version = shown.headers()["etag"].clone();
    hook.kill().unwrap();
    hook.wait().unwrap();
    let decided = installation
        .post(
            &format!("{path}/decisions"),
            &json!({"decision": "approve"}),
        )
        .header("if-match", version)
        .header("idempotency-key", "yes")
        .send()
        .await
        .unwrap();
    let status = decided.status();
    let problem: Value = decided.json().await.unwrap();
    assert_eq!(status, reqwest::StatusCode::CONFLICT, "{problem}");
    let detail = problem["detail"].as_str().unwrap();
    assert!(
        detail.contains("the program that asked has gone"),
        "{detail}"
    );
    installation.questions(0).await;
}

/// That a question waits for no one, cannot be decided, and has no run that works.
#[track_caller]
fn is_about_nothing(bench: &Bench, question: &str) {
    let mut decide = bench.irq(&["review", question, "--decision", "approve"]);
    let refused = crate::program::end(&mut decide).exits_with(4);
    let errors = &refused.error_output;
    assert!(
        errors.contains("the program that asked has gone"),
        "{errors}"
    );
    assert_eq!(bench.questions(0), Vec::<String>::new());
    for state in bench.run_states() {
        assert!(["completed", "cancelled"].contains(&&*state), "{state}");
    }
}

#[test]
fn codex_hears_nothing_before_a_tool_but_a_refusal() {
    let bench = Bench::new();
    for (decision, words) in [
        ("reject", "ann refused it"),
        ("ignore", "Codex cannot ask you here"),
    ] {
        let hook = bench.begins("codex", &event("PreToolUse", decision), "60s");
        let question = bench.questions(1).remove(0);
        bench.does(&["review", &question, "--decision", decision]);
        is_refused(hook, words);
    }
    let hook = bench.begins("codex", &event("PreToolUse", "approve"), "60s");
    let question = bench.questions(1).remove(0);
    bench.does(&["review", &question, "--decision", "approve"]);
    assert_eq!(ended(hook).exits_with(0).output, "", "its own rules hold");
}
