//! Runs whose process has died, and that a server goes on with once they are answered.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

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

#[tokio::test]
async fn a_run_whose_process_has_just_died_goes_on_at_the_server_that_is_told_its_answer() {
    let installation = Installation::new();
    let server = installation.serve();
    let (folder, script) = (workspace(), asking(&installation));
    let mut command = irq();
    command
        .args(["run", "Describe the bakery", "--workspace"])
        .arg(folder.path())
        .arg("--script")
        .arg(script)
        .env("IRQ_STORE", installation.store());
    // It keeps its process while it is asked at the keyboard, which is this pipe.
    command.stdin(std::process::Stdio::piped());
    let mut owner = spawn(&mut command);
    let question = installation.questions(1).await.remove(0);
    owner.kill().unwrap();
    owner.wait().unwrap();
    let run = installation.json("/v1/runs").await["runs"][0]["run_id"].clone();
    assert!(installation.decide(&question).await.unwrap().is_success());
    assert_eq!(installation.ends(run.as_str().unwrap()).await, "completed");
    server.kill();
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
