//! `irq chat` with tools, on a terminal and in a pipe: what runs, what is asked, and what an interrupt stops.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "chat_tools/servers.rs"]
mod servers;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rexpect::session::{PtySession, spawn_command};
use serde_json::{Value, json};
use tempfile::TempDir;
use tests::processes::Process;
use tests::providers::{
    Behaviour, ProviderDouble, RIGHT_KEY, Received, Said, SaidCall, Transport, WireForm,
};

/// How long anything may take to appear, in milliseconds.
const PATIENCE: u64 = 30_000;

const FORM: WireForm = WireForm::OpenAi;

/// What the prompt says once an answer counts.
const TAKES_ANSWERS: &str = "y allows this call once";

/// The last answer of the double. It comes in pieces, and between two of them the line below may be drawn again:
/// that much may stand between two letters, and nothing else.
fn answered() -> String {
    let drawn = r"(?:\r?\n> [^\r\n]*|\r|\n|\x1b\[[0-9]*[A-Z]|> )*";
    let letters = "That is all.".chars();
    let letters = letters.map(|letter| match letter {
        '.' => r"\.".to_owned(),
        letter => letter.to_string(),
    });
    letters.collect::<Vec<_>>().join(drawn)
}

/// A double that asks for these calls once, and answers when it has seen their results.
async fn asking(calls: Vec<SaidCall>) -> ProviderDouble {
    let answer = move |received: &Received| {
        if FORM.tool_results(&received.body).is_empty() {
            Said::asking("I look.", calls.clone())
        } else {
            Said::from("That is all.")
        }
    };
    let double = ProviderDouble::answering(FORM, [Behaviour::Answers], answer);
    double.await.unwrap()
}

/// Writes its process id to a file, with that of a child that ignores requests to end.
fn endless() -> SaidCall {
    let command =
        "(trap '' TERM; echo $BASHPID > child; exec sleep 1000) & echo $$ > main; sleep 1000";
    SaidCall::new(
        "call_1",
        "shell",
        &json!({ "command": command }).to_string(),
    )
}

fn on_terminal(arguments: &[&str], folder: &Path) -> PtySession {
    let mut command = Command::new(env!("CARGO_BIN_EXE_irq"));
    command
        .args(["chat", "--no-color", "--tools"])
        .arg(folder)
        .args(arguments)
        .env("OPENAI_API_KEY", RIGHT_KEY)
        .env("TERM", "xterm");
    let mut session = spawn_command(command, Some(PATIENCE)).unwrap();
    session.exp_string("Ctrl+D leaves").unwrap();
    session
}

fn press(session: &mut PtySession, keys: &str) {
    session.send(keys).unwrap();
    session.flush().unwrap();
}

fn served_by(double: &ProviderDouble) -> [String; 4] {
    let url = double.address().to_owned();
    ["--model", "openai:some-model", "--base-url", &url].map(str::to_owned)
}

fn allowing(folder: &TempDir) -> String {
    let file = folder.path().join("permissions.toml");
    std::fs::write(&file, "otherwise = \"allow\"\n").unwrap();
    file.to_str().unwrap().to_owned()
}

/// The process whose id is written in a file, once it is.
fn process_in(file: &Path) -> Process {
    let limit = Instant::now() + Duration::from_millis(PATIENCE);
    loop {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        if let (Ok(id), true) = (text.trim().parse(), text.ends_with('\n')) {
            return Process::of(id).unwrap();
        }
        assert!(Instant::now() < limit, "{} is not written", file.display());
        std::thread::yield_now();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_stops_a_running_tool_with_its_processes_and_the_conversation_goes_on() {
    let double = asking(vec![endless()]).await;
    let (folder, policies) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let policy = allowing(&policies);
    let model = served_by(&double);
    let mut arguments: Vec<&str> = model.iter().map(String::as_str).collect();
    arguments.extend(["--permissions", policy.as_str()]);
    let mut session = on_terminal(&arguments, folder.path());
    press(&mut session, "look into it\r");
    session.exp_string("tool shell").unwrap();
    let processes = [
        process_in(&folder.path().join("main")),
        process_in(&folder.path().join("child")),
    ];
    assert!(processes.iter().all(|process| process.is_alive()));

    press(&mut session, "\u{3}");
    session
        .exp_string("Received interrupt. Cancelling all running tools...")
        .unwrap();
    session
        .exp_string("shell (call_1): interrupted; all of its processes are dead")
        .unwrap();
    session
        .exp_string("The running tools were interrupted")
        .unwrap();
    assert!(
        !processes.iter().any(|process| process.is_alive()),
        "no process is left"
    );
    assert_eq!(double.received_count(), 1, "no further request");

    // The double refuses a history that its provider would refuse.
    press(&mut session, "another way\r");
    session.exp_regex(&answered()).unwrap();
    let body = &double.received()[1].body;
    assert_eq!(FORM.user_texts(body), ["look into it", "another way"]);
    let results = FORM.tool_results(body);
    assert_eq!(results.len(), 1);
    assert!(
        results[0].starts_with("Tool execution interrupted by the user: Ctrl+C."),
        "{results:?}"
    );
    press(&mut session, "\u{4}");
    session.exp_eof().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_sees_the_exact_call_and_allows_edits_or_denies_it() {
    let write = |id: &str, path: &str| {
        let arguments = json!({ "path": path, "content": "some words\n" }).to_string();
        SaidCall::new(id, "write_file", &arguments)
    };
    for (answer, written) in [("y\r", true), ("n not here\r", false)] {
        let double = asking(vec![write("call_1", "made.txt")]).await;
        let folder = TempDir::new().unwrap();
        let model = served_by(&double);
        let arguments: Vec<&str> = model.iter().map(String::as_str).collect();
        let mut session = on_terminal(&arguments, folder.path());
        press(&mut session, "make a file\r");
        session
            .exp_string("The model wants to run write_file")
            .unwrap();
        session.exp_string("+some words").unwrap();
        session.exp_string("Allow exactly this, once?").unwrap();
        assert!(!folder.path().join("made.txt").exists(), "not before");
        session.exp_string(TAKES_ANSWERS).unwrap();
        press(&mut session, answer);
        session.exp_regex(&answered()).unwrap();
        assert_eq!(folder.path().join("made.txt").exists(), written);
        let results = FORM.tool_results(&double.received()[1].body);
        assert_eq!(results[0].contains("not here"), !written, "{results:?}");
        press(&mut session, "\u{4}");
        session.exp_eof().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_typed_before_a_question_was_seen_does_not_answer_it_and_is_kept() {
    let waits = json!({"command": "until [ -e go ]; do sleep 0.05; done"}).to_string();
    let write = json!({"path": "made.txt", "content": "some words\n"}).to_string();
    let answer = move |received: &Received| match FORM.tool_results(&received.body).len() {
        0 => Said::asking("I look.", vec![SaidCall::new("call_1", "shell", &waits)]),
        1 => Said::asking("Now.", vec![SaidCall::new("call_2", "write_file", &write)]),
        _ => Said::from("That is all."),
    };
    let double = ProviderDouble::answering(FORM, [Behaviour::Answers], answer).await;
    let double = double.unwrap();
    let (folder, policies) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let policy = policies.path().join("permissions.toml");
    std::fs::write(
        &policy,
        "otherwise = \"ask\"\n[[rules]]\ntool = \"shell\"\nthen = \"allow\"\n",
    )
    .unwrap();
    let model = served_by(&double);
    let mut arguments: Vec<&str> = model.iter().map(String::as_str).collect();
    arguments.extend(["--permissions", policy.to_str().unwrap()]);
    let mut session = on_terminal(&arguments, folder.path());
    press(&mut session, "make a file\r");
    session.exp_string("tool shell").unwrap();
    // Somebody begins to type something, and presses Enter just as the question comes up.
    press(&mut session, "y");
    session.exp_string("> y").unwrap();
    std::fs::write(folder.path().join("go"), "").unwrap();
    session.exp_string("Allow exactly this, once?").unwrap();
    press(&mut session, "\r");
    session.exp_string(TAKES_ANSWERS).unwrap();
    press(&mut session, "yes please\r");
    session.exp_string("Kept as the next message").unwrap();
    assert!(!folder.path().join("made.txt").exists(), "nobody said yes");
    press(&mut session, "n\r");
    session.exp_regex(&answered()).unwrap();
    assert!(!folder.path().join("made.txt").exists());
    let results = FORM.tool_results(&double.received()[2].body);
    assert!(results[1].contains("the person said no"), "{results:?}");
    session.exp_string("> y").unwrap();
    // The last letters are there before the answer has ended: then this interrupts it, else it empties the line.
    press(&mut session, "\u{3}");
    std::thread::sleep(Duration::from_millis(500));
    press(&mut session, "\u{3}\u{4}");
    session.exp_eof().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_shows_all_of_a_long_change_before_it_is_allowed() {
    let content: String = (1..=90).map(|number| format!("row {number}.\n")).collect();
    let write = json!({"path": "made.txt", "content": content}).to_string();
    let double = asking(vec![SaidCall::new("call_1", "write_file", &write)]).await;
    let folder = TempDir::new().unwrap();
    let model = served_by(&double);
    let arguments: Vec<&str> = model.iter().map(String::as_str).collect();
    let mut session = on_terminal(&arguments, folder.path());
    press(&mut session, "make a file\r");
    let shown = session.exp_string("v shows all of them").unwrap();
    assert!(shown.contains("+row 50.") && !shown.contains("+row 90."));
    session.exp_string(TAKES_ANSWERS).unwrap();
    press(&mut session, "v\r");
    session.exp_string("+row 90.").unwrap();
    assert!(!folder.path().join("made.txt").exists(), "it only looked");
    session.exp_string("Allow exactly this, once?").unwrap();
    session.exp_string(TAKES_ANSWERS).unwrap();
    press(&mut session, "y\r");
    session.exp_regex(&answered()).unwrap();
    let made = std::fs::read_to_string(folder.path().join("made.txt")).unwrap();
    assert_eq!(made, content);
    press(&mut session, "\u{4}");
    session.exp_eof().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_call_is_shown_with_the_arguments_that_it_runs_with() {
    let write = json!({"path": "made.txt", "content": "some words\n"}).to_string();
    let double = asking(vec![SaidCall::new("call_1", "write_file", &write)]).await;
    let folder = TempDir::new().unwrap();
    let model = served_by(&double);
    let arguments: Vec<&str> = model.iter().map(String::as_str).collect();
    let mut session = on_terminal(&arguments, folder.path());
    press(&mut session, "make a file\r");
    session.exp_string("Allow exactly this, once?").unwrap();
    session.exp_string(TAKES_ANSWERS).unwrap();
    press(&mut session, "e\r");
    session.exp_string("Edit the arguments").unwrap();
    press(
        &mut session,
        "\u{15}{\"path\": \"other.txt\", \"content\": \"else\"}\r",
    );
    session.exp_string("tool write_file: {").unwrap();
    let shown = session.exp_string("}").unwrap();
    assert!(shown.contains("other.txt"), "{shown}");
    session.exp_regex(&answered()).unwrap();
    assert!(folder.path().join("other.txt").exists());
    press(&mut session, "\u{4}");
    session.exp_eof().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_waits_for_the_end_of_a_call_that_must_not_be_interrupted() {
    let whole = "touch begun; until [ -e go ]; do sleep 0.05; done; echo whole > whole";
    let shell = |id: &str, command: &str| {
        SaidCall::new(id, "shell", &json!({ "command": command }).to_string())
    };
    let other: Value = serde_json::from_str(&endless().arguments).unwrap();
    let other = shell("call_2", other["command"].as_str().unwrap());
    let double = asking(vec![shell("call_1", whole), other]).await;
    let (folder, policies) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let policy = policies.path().join("permissions.toml");
    let rules = "otherwise = \"allow\"\n[[rules]]\ntool = \"shell\"\nthen = \"allow\"\nuninterruptible = true\n\
        arguments = { \"/command\" = \".*whole.*\" }\n";
    std::fs::write(&policy, rules).unwrap();
    let model = served_by(&double);
    let mut arguments: Vec<&str> = model.iter().map(String::as_str).collect();
    arguments.extend(["--permissions", policy.to_str().unwrap()]);
    let mut session = on_terminal(&arguments, folder.path());
    press(&mut session, "do both\r");
    let processes = [
        process_in(&folder.path().join("main")),
        process_in(&folder.path().join("child")),
    ];
    let limit = Instant::now() + Duration::from_millis(PATIENCE);
    while !folder.path().join("begun").exists() {
        assert!(Instant::now() < limit, "it never began");
        std::thread::yield_now();
    }
    press(&mut session, "\u{3}");
    session
        .exp_string("A call that must not be interrupted is running")
        .unwrap();
    assert!(
        processes.iter().all(|process| process.is_alive()),
        "nothing was stopped"
    );
    assert!(!folder.path().join("whole").exists());
    std::fs::write(folder.path().join("go"), "").unwrap();
    session
        .exp_string("shell (call_2): interrupted; all of its processes are dead")
        .unwrap();
    session
        .exp_string("The running tools were interrupted")
        .unwrap();
    let made = std::fs::read_to_string(folder.path().join("whole")).unwrap();
    assert_eq!(made, "whole\n", "it came to its end");
    assert!(
        !processes.iter().any(|process| process.is_alive()),
        "no process is left"
    );
    assert_eq!(double.received_count(), 1, "no further request");
    press(&mut session, "go on\r");
    session.exp_regex(&answered()).unwrap();
    let results = FORM.tool_results(&double.received()[1].body);
    assert!(
        results[1].contains("interrupted by the user"),
        "{results:?}"
    );
    assert!(!results[0].contains("interrupted"), "{results:?}");
    press(&mut session, "\u{4}");
    session.exp_eof().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_at_a_question_keeps_the_call_from_starting() {
    let double = asking(vec![endless()]).await;
    let folder = TempDir::new().unwrap();
    let model = served_by(&double);
    let arguments: Vec<&str> = model.iter().map(String::as_str).collect();
    let mut session = on_terminal(&arguments, folder.path());
    press(&mut session, "look into it\r");
    session.exp_string("Allow exactly this, once?").unwrap();
    press(&mut session, "\u{3}");
    session.exp_string("Received interrupt").unwrap();
    session
        .exp_string("shell (call_1): skipped, never started")
        .unwrap();
    session
        .exp_string("The running tools were interrupted")
        .unwrap();
    // What is typed now is a message again, and no answer to the question.
    press(&mut session, "y\r");
    session.exp_regex(&answered()).unwrap();
    assert!(!folder.path().join("main").exists(), "nothing was run");
    press(&mut session, "\u{4}");
    session.exp_eof().unwrap();
}

fn piped(folder: &Path, arguments: &[&str], input: &str) -> std::process::Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_irq"))
        .args(["chat", "--json", "--tools"])
        .arg(folder)
        .args(arguments)
        .env("OPENAI_API_KEY", RIGHT_KEY)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One that refuses its arguments reads nothing.
    let _closed = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn records(output: &std::process::Output, kind: &str) -> Vec<Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    let records = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    records.filter(|record| record["type"] == kind).collect()
}

#[test]
fn the_rehearsal_uses_tools_and_what_nobody_can_be_asked_about_is_denied() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("notes.txt"), "remember the milk\n").unwrap();
    let output = piped(
        folder.path(),
        &[],
        "Look at `read_file {\"path\":\"notes.txt\"}`\nrun `touch made`\nhello\n",
    );
    assert!(output.status.success(), "{output:?}");
    let ended = records(&output, "toolEnded");
    assert_eq!(ended.len(), 2);
    assert_eq!(ended[0]["state"], "finished");
    assert!(
        ended[0]["text"]
            .as_str()
            .unwrap()
            .contains("remember the milk")
    );
    assert_eq!(ended[1]["state"], "denied");
    assert!(
        ended[1]["text"]
            .as_str()
            .unwrap()
            .contains("nobody can be asked")
    );
    assert!(!folder.path().join("made").exists());
    let answered = records(&output, "answered");
    assert_eq!(answered.len(), 5, "two with tools have two answers");
    let said = answered[1]["text"].as_str().unwrap();
    assert!(
        said.contains("rehearsal") && said.contains("remember the milk"),
        "{said}"
    );
}

#[test]
fn permissions_of_a_file_hold_and_a_bad_one_is_explained() {
    let (folder, policies) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let policy = allowing(&policies);
    let output = piped(
        folder.path(),
        &["--permissions", &policy],
        "run `touch made`\n",
    );
    assert!(output.status.success(), "{output:?}");
    assert!(folder.path().join("made").exists());
    std::fs::write(&policy, "otherwise = \"perhaps\"\n").unwrap();
    let output = piped(folder.path(), &["--permissions", &policy], "");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("--permissions") && said.contains("hint"),
        "{said}"
    );
}

fn chatting(double: &ProviderDouble, model: &str, more: &[&str]) -> std::process::Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_irq"))
        .args(["chat", "--model", model, "--base-url", double.address()])
        .args(more)
        .env("OPENAI_API_KEY", RIGHT_KEY)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One that refuses its arguments reads nothing.
    let _closed = child.stdin.take().unwrap().write_all(b"hello\n");
    child.wait_with_output().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_a_certificate_of_a_private_authority_is_trusted_when_that_is_named() {
    let says = |_: &Received| "Welcome.";
    let double =
        ProviderDouble::over(Transport::Http1OverTls, FORM, [Behaviour::Answers], says).await;
    let double = double.unwrap();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("authority.pem");
    std::fs::write(&file, double.authority().unwrap()).unwrap();
    let named = ["--ca-certificate", file.to_str().unwrap()];
    let trusted = chatting(&double, "openai:some-model", &named);
    assert!(
        String::from_utf8_lossy(&trusted.stdout).contains("Welcome."),
        "{trusted:?}"
    );
    std::fs::write(&file, "no certificate").unwrap();
    let refused = chatting(&double, "openai:some-model", &named);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--ca-certificate"));
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_made_in_the_background_where_that_is_asked_for() {
    let form = WireForm::OpenAiResponses;
    let says = |_: &Received| "Welcome.";
    let double = ProviderDouble::answering(form, [Behaviour::Answers], says).await;
    let double = double.unwrap();
    let answered = chatting(&double, "openai_resp:some-model", &["--background"]);
    assert!(answered.status.success(), "{answered:?}");
    assert_eq!(double.received()[0].body["background"], true);
}
