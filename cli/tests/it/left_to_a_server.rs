//! Runs whose process has died, and that a server goes on with once they are answered.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::program::{Ended, end, interrupt, irq, script, spawn, workspace};
use crate::serving::Installation;

const ANSWER: [&str; 4] = [
    "--decision",
    "respond",
    "--payload",
    r#"{"selectedChoices":["left"]}"#,
];

fn asking(installation: &Installation) -> PathBuf {
    script(
        installation.folder.path(),
        &json!([interrupt("HUMAN_REVIEW")]),
    )
}

fn beside(installation: &Installation, arguments: &[&str]) -> Ended {
    end(irq().args(arguments).env("IRQ_STORE", installation.store()))
}

/// A run in a process of its own, which asks at the keyboard: that is this pipe.
fn asks_beside(installation: &Installation, folder: &Path) -> Child {
    let mut command = irq();
    command
        .args(["run", "Describe the bakery", "--workspace"])
        .arg(folder)
        .arg("--script")
        .arg(asking(installation))
        .env("IRQ_STORE", installation.store())
        .stdin(Stdio::piped());
    spawn(&mut command)
}

/// A process that still seems to have a run when the server is told its answer.
#[derive(Debug, Clone, Copy)]
enum Gone {
    /// It has died.
    Killed,
    /// It hangs, so that nobody can say that it is gone before its lease ends.
    Stopped,
}

#[tokio::test]
async fn a_run_whose_process_is_gone_goes_on_at_the_server_that_is_told_its_answer() {
    for gone in [Gone::Killed, Gone::Stopped] {
        let installation = Installation::new();
        let server = installation.serve();
        let folder = workspace();
        let mut owner = asks_beside(&installation, folder.path());
        let question = installation.questions(1).await.remove(0);
        let pid = Pid::from_raw(i32::try_from(owner.id()).unwrap()).unwrap();
        let signal = match gone {
            Gone::Killed => Signal::KILL,
            Gone::Stopped => Signal::STOP,
        };
        kill_process(pid, signal).unwrap();
        if let Gone::Killed = gone {
            owner.wait().unwrap();
        }
        let run = installation.json("/v1/runs").await["runs"][0]["run_id"].clone();
        assert!(installation.decide(&question).await.unwrap().is_success());
        let end = installation.ends(run.as_str().unwrap()).await;
        assert_eq!(end, "completed", "{gone:?}");
        let _buried_already = owner.kill();
        owner.wait().unwrap();
        server.kill();
    }
}

#[tokio::test]
async fn a_run_of_a_server_that_has_just_died_goes_on_at_another_one_of_the_same_store() {
    for over_the_network in [true, false] {
        let installation = Installation::new();
        let server = installation.serve();
        let other = installation.serve_beside();
        let run = installation.start_asking_beside(&other).await;
        let question = installation.questions(1).await.remove(0);
        other.kill();
        if over_the_network {
            assert!(installation.decide(&question).await.unwrap().is_success());
        } else {
            let review = [&["review", &question][..], &ANSWER].concat();
            beside(&installation, &review).exits_with(0);
        }
        assert_eq!(installation.ends(&run).await, "completed");
        server.kill();
    }
}

#[tokio::test]
async fn whoever_answers_over_a_server_is_told_that_it_goes_on_with_the_run() {
    let installation = Installation::new();
    let (folder, script) = (workspace(), asking(&installation));
    let (folder, script) = (folder.path().to_str().unwrap(), script.to_str().unwrap());
    let asks = ["run", "Describe the bakery", "--no-input", "--workspace"];
    let asks = [&asks[..], &[folder, "--script", script]].concat();
    beside(&installation, &asks).exits_with(5);
    let server = installation.serve();
    let question = installation.questions(1).await.remove(0);
    let review = [&["review", &question][..], &ANSWER].concat();
    let there = installation.address("");
    let made = ["token", "create", "--name", "ada", "--role", "reviewer"];
    let token = installation.folder.path().join("token");
    std::fs::write(&token, beside(&installation, &made).exits_with(0).output).unwrap();
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).unwrap();
    let place = ["--server", &there, "--token-file", token.to_str().unwrap()];
    let told = end(irq().args([&review[..], &place].concat())).exits_with(0);
    assert!(!told.output.contains("irq resume"), "{told:#?}");
    server.kill();
}
