//! `irq chat` on a terminal and in a pipe, against a server that speaks OpenAI's form.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use rexpect::session::{PtySession, spawn_command};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tests::providers::{Behaviour, ProviderDouble, RIGHT_KEY, WireForm};

/// How long anything may take to appear, in milliseconds.
const PATIENCE: u64 = 20_000;

/// What the double says, in pieces of five characters.
const ANSWER: &str = "Well, that is a long story.";

async fn double(behaviours: impl IntoIterator<Item = Behaviour>) -> ProviderDouble {
    ProviderDouble::answering(WireForm::OpenAi, behaviours, |_| ANSWER.to_owned())
        .await
        .unwrap()
}

/// The program on a terminal; what the shell and the terminal are like afterwards is told at the end.
fn on_terminal(double: &ProviderDouble) -> (PtySession, Pid) {
    let program = env!("CARGO_BIN_EXE_irq");
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!(
            "sh -c 'echo PID=$$.; exec {program} chat --no-color --model openai:some-model \
             --base-url {}'; echo CODE=$?; stty -a; echo DONE",
            double.address()
        ))
        .env("OPENAI_API_KEY", RIGHT_KEY)
        .env("TERM", "xterm");
    let mut session = spawn_command(command, Some(PATIENCE)).unwrap();
    session.exp_string("PID=").unwrap();
    let number = session.exp_string(".").unwrap();
    session.exp_string("Ctrl+D leaves").unwrap();
    (session, Pid::from_raw(number.parse().unwrap()).unwrap())
}

fn press(session: &mut PtySession, keys: &str) {
    session.send(keys).unwrap();
    session.flush().unwrap();
}

/// The program has ended so, and the terminal is as it was.
fn ended(session: &mut PtySession, code: u8) {
    session.exp_string(&format!("CODE={code}")).unwrap();
    let modes = session.exp_string("DONE").unwrap();
    let words: Vec<&str> = modes.split_whitespace().collect();
    for mode in ["icanon", "isig", "icrnl", "opost"] {
        assert!(words.contains(&mode), "{mode} is off: {modes}");
    }
}

/// The roles and texts of a request.
fn messages(double: &ProviderDouble, request: usize) -> Vec<(String, String)> {
    let body = double.received()[request].body.clone();
    let text = |message: &Value, name: &str| message[name].as_str().unwrap().to_owned();
    body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| (text(message, "role"), text(message, "content")))
        .collect()
}

fn said(role: &str, text: &str) -> (String, String) {
    (role.to_owned(), text.to_owned())
}

async fn hung_up(double: &ProviderDouble, times: usize) {
    let patience = Duration::from_millis(PATIENCE);
    tokio::time::timeout(patience, double.hang_ups().reached(times))
        .await
        .expect("the connection was closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_ends_an_answer_keeps_it_marked_and_loses_nothing_that_was_typed() {
    let double = double([Behaviour::StallsAfter(3), Behaviour::Answers]).await;
    let (mut session, _pid) = on_terminal(&double);
    press(&mut session, "tell me\r");
    session.exp_string("tha").unwrap();
    press(&mut session, "typed ahead");
    session.exp_string("typed ahead").unwrap();
    press(&mut session, "\u{3}");
    session.exp_string("[interrupted]").unwrap();
    session.exp_string("> typed ahead").unwrap();
    hung_up(&double, 1).await;
    assert_eq!(double.received_count(), 1, "no further request");

    press(&mut session, "\r");
    session.exp_regex(r"(?s)stor.*?y\.").unwrap();
    let expected = [
        said("user", "tell me"),
        said("assistant", &ANSWER[..10]),
        said("user", "typed ahead"),
    ];
    assert_eq!(messages(&double, 1), expected);

    press(&mut session, "\u{3}");
    session.exp_string("Press Ctrl+C again to exit").unwrap();
    press(&mut session, "/model\r");
    session.exp_string("no command /model").unwrap();
    press(&mut session, "\u{4}");
    ended(&mut session, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_sent_during_an_answer_waits_and_esc_interrupts_too() {
    let double = double([
        Behaviour::StallsBeforeHeaders,
        Behaviour::Answers,
        Behaviour::Endless,
    ])
    .await;
    let (mut session, _pid) = on_terminal(&double);
    press(&mut session, "one\r");
    session.exp_string("waiting for the model").unwrap();
    // It waits from the moment on in which it begins to connect.
    while double.received_count() == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    press(&mut session, "two\r");
    press(&mut session, "\u{1b}");
    session.exp_string("[interrupted]").unwrap();
    session.exp_string("1 message waits").unwrap();
    hung_up(&double, 1).await;
    press(&mut session, "\r");
    session.exp_regex(r"(?s)stor.*?y\.").unwrap();
    assert_eq!(messages(&double, 1), [said("user", "one\n\ntwo")]);

    press(&mut session, "three\r");
    session.exp_string("and more").unwrap();
    press(&mut session, "\u{3}");
    session.exp_string("[interrupted]").unwrap();
    hung_up(&double, 2).await;
    let expected = [
        said("user", "one\n\ntwo"),
        said("assistant", ANSWER),
        said("user", "three"),
    ];
    assert_eq!(messages(&double, 2), expected);
    press(&mut session, "\u{3}");
    session.exp_string("Press Ctrl+C again to exit").unwrap();
    press(&mut session, "\u{3}");
    ended(&mut session, 130);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_answer_is_shown_and_tried_again_and_sigterm_gives_the_terminal_back() {
    let double = double([Behaviour::refuses(400), Behaviour::Endless]).await;
    let (mut session, pid) = on_terminal(&double);
    press(&mut session, "one\r");
    session.exp_string("error: the provider refused").unwrap();
    press(&mut session, "\r");
    session.exp_string("and more").unwrap();
    assert_eq!(messages(&double, 1), messages(&double, 0));
    kill_process(pid, Signal::TERM).unwrap();
    ended(&mut session, 143);
    hung_up(&double, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_are_messages_and_ctrl_c_leaves_a_record_of_the_partial_answer() {
    let double = double([Behaviour::Answers, Behaviour::StallsAfter(3)]).await;
    let mut child = Command::new(env!("CARGO_BIN_EXE_irq"))
        .args([
            "chat",
            "--json",
            "--model",
            "openai:some-model",
            "--base-url",
        ])
        .arg(double.address())
        .env("OPENAI_API_KEY", RIGHT_KEY)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"one\n\ntwo\n").unwrap();
    let mut records = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let mut next = |kind: &str| records.find(|record| record["type"] == kind).unwrap();
    let answered = next("answered");
    assert_eq!(answered["text"], ANSWER);
    assert_eq!(answered["usage"]["output"]["known"], "reported");
    next("piece");
    next("piece");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let interrupted = next("interrupted");
    assert_eq!(interrupted["partial"]["text"], ANSWER[..10]);
    assert_ne!(interrupted["partial"]["atProvider"], "nothingUnderWay");
    assert_eq!(interrupted["partial"]["mayBeBilled"], true);
    // The provider says what it cost at the end, which was not reached.
    assert_eq!(interrupted["partial"]["usage"]["output"]["known"], "no");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    hung_up(&double, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_have_their_exit_codes_in_a_pipe() {
    for (behaviour, code) in [(Behaviour::refuses(401), 77), (Behaviour::refuses(400), 1)] {
        let double = double([behaviour]).await;
        let mut child = Command::new(env!("CARGO_BIN_EXE_irq"))
            .args(["chat", "--model", "openai:some-model", "--base-url"])
            .arg(double.address())
            .env("OPENAI_API_KEY", RIGHT_KEY)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(b"one\n").unwrap();
        let output = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap());
        let output = output.await.unwrap();
        assert_eq!(output.status.code(), Some(code));
        assert!(
            !String::from_utf8(output.stderr)
                .unwrap()
                .contains(RIGHT_KEY)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_ends_where_its_budget_does_and_an_unpriced_model_is_refused() {
    let double = double([Behaviour::Answers]).await;
    let folder = tempfile::tempdir().unwrap();
    let prices = folder.path().join("prices.toml");
    // The first answer is paid for; with what is reserved for the next one, the budget is passed.
    let price = "[prices.\"openai:some-model\"]\ninput = \"0\"\noutput = \"1000\"\n";
    std::fs::write(&prices, format!("currency = \"USD\"\n{price}")).unwrap();
    let chat = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_irq"));
        command
            .args(["chat", "--model", "openai:some-model", "--base-url"])
            .arg(double.address())
            .args(more)
            .env("OPENAI_API_KEY", RIGHT_KEY)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        tokio::task::spawn_blocking(move || {
            let mut child = command.spawn().unwrap();
            let mut input = child.stdin.take().unwrap();
            // One that refuses its arguments reads nothing.
            let _closed = input.write_all(b"How are you?\nAnd you?\n");
            drop(input);
            child.wait_with_output().unwrap()
        })
    };
    let refused = chat(&["--budget-usd", "1"]).await.unwrap();
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(double.received().is_empty());

    let path = prices.to_str().unwrap();
    // 8,192 tokens may be written at 1,000 dollars a million: 8.192 dollars are reserved for a call.
    let ended = chat(&["--budget-usd", "8.192", "--prices", path])
        .await
        .unwrap();
    assert_eq!(ended.status.code(), Some(8), "{ended:?}");
    assert!(
        String::from_utf8_lossy(&ended.stdout).contains(ANSWER),
        "{ended:?}"
    );
    assert!(
        String::from_utf8_lossy(&ended.stderr).contains("budget"),
        "{ended:?}"
    );
    assert_eq!(double.received().len(), 1, "the second call was not made");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_names_the_models_that_are_asked_where_it_gives_no_answer() {
    let away = double([Behaviour::refuses(401)]).await;
    let spare = double([Behaviour::Answers]).await;
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("irq.toml");
    let question = folder.path().join("question");
    std::fs::write(&question, "How are you?\n").unwrap();
    let chat = |fallback: &str| {
        let profile = |name: &str, double: &ProviderDouble| {
            let url = double.address();
            format!("[models.{name}]\nmodel = \"openai:{name}\"\nbase_url = \"{url}\"\n")
        };
        let (first, other) = (profile("main", &away), profile("spare", &spare));
        std::fs::write(&settings, format!("{first}{fallback}\n{other}")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_irq"));
        command
            .args(["chat", "--model", "main"])
            .env("IRQ_CONFIG", &settings)
            .env("OPENAI_API_KEY", RIGHT_KEY)
            .stdin(std::fs::File::open(&question).unwrap());
        tokio::task::spawn_blocking(move || command.output().unwrap())
    };
    let answered = chat("fallback = [\"spare\"]").await.unwrap();
    assert_eq!(answered.status.code(), Some(0), "{answered:?}");
    assert!(
        String::from_utf8_lossy(&answered.stdout).contains(ANSWER),
        "{answered:?}"
    );
    assert_eq!((away.received_count(), spare.received_count()), (1, 1));

    for (name, says) in [
        ("rehearsal", "stands in for none"),
        ("spair", "did you mean spare?"),
    ] {
        let refused = chat(&format!("fallback = [\"{name}\"]")).await.unwrap();
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        let error = String::from_utf8_lossy(&refused.stderr);
        assert!(error.contains("`fallback`: "), "{error}");
        assert!(error.contains(says), "{error}");
    }
}
