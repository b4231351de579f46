//! Runs that a BRANCH has left on a server: the one that stopped and the one that was forked begin when a person says
//! so, however often servers come and go before.

use std::path::Path;

use reqwest::StatusCode;
use reqwest::header::{COOKIE, ORIGIN, SET_COOKIE};
use serde_json::{Value, json};

use crate::program::{end, interrupt, irq, lines};
use crate::served::Served;
use crate::serving::{Installation, Server};

/// A step of this pace lasts for as long as a test does.
const SLOW: [&str; 2] = ["--pace", "1"];

async fn start(installation: &Installation) -> String {
    let order = json!({"goal": "Describe the bakery"});
    let started = installation.post("/v1/runs", &order).send().await.unwrap();
    assert_eq!(started.status(), StatusCode::CREATED);
    let run: Value = started.json().await.unwrap();
    let run = run["run_id"].as_str().unwrap().to_owned();
    works(installation, &run).await;
    run
}

/// Waits until an agent of a run works.
async fn works(installation: &Installation, run: &str) {
    let path = format!("/v1/agents?run_id={run}");
    installation
        .until(&path, |page| {
            let agents = page["agents"].as_array().unwrap();
            let mut working = agents.iter().filter(|agent| agent["status"] == "running");
            working.next().map(|_agent| ())
        })
        .await;
}

/// Stops a run by a BRANCH. Returns the run that was forked, once both stand still.
async fn branched(installation: &Installation, run: &str) -> String {
    let stop =
        json!({"type": "BRANCH", "mode": "immediate", "scope": "run", "reason": "both ways"});
    let path = format!("/v1/agents/{run}/interrupts");
    let asked = installation.post(&path, &stop).send().await.unwrap();
    assert_eq!(asked.status(), StatusCode::ACCEPTED);
    let asked: Value = asked.json().await.unwrap();
    let path = format!("/v1/interrupts/{}", asked["id"].as_str().unwrap());
    let branch = installation
        .until(&path, |stop| {
            let branch = stop["decision"]["payload"]["branch"].as_str()?;
            Some(branch.to_owned())
        })
        .await;
    stands(installation, run, "paused").await;
    stands(installation, &branch, "created").await;
    branch
}

/// Waits until a run stands in this state and nobody executes it.
async fn stands(installation: &Installation, run: &str, state: &str) {
    let path = format!("/v1/runs/{run}");
    installation
        .until(&path, |run| {
            (run["status"] == state && run["executing"] == false).then_some(())
        })
        .await;
}

async fn state(installation: &Installation, run: &str) -> (Value, Value) {
    let run = installation.json(&format!("/v1/runs/{run}")).await;
    (run["status"].clone(), run["executing"].clone())
}

/// Both stand as the BRANCH has left them.
async fn nothing_has_begun(installation: &Installation, [run, branch]: [&str; 2]) {
    assert_eq!(
        state(installation, run).await,
        (json!("paused"), json!(false))
    );
    assert_eq!(
        state(installation, branch).await,
        (json!("created"), json!(false))
    );
    // Nor has anything of them begun and been stopped again with a server.
    for run in [run, branch] {
        let page = installation
            .json(&format!("/v1/interrupts?run_id={run}"))
            .await;
        let stops = page["interrupts"].as_array().unwrap().iter();
        let kinds: Vec<&Value> = stops.map(|stop| &stop["type"]).collect();
        assert!(!kinds.contains(&&json!("PAUSE")), "{run}: {page:#}");
    }
}

/// A server after another one that was killed, once it has gone on with what it goes on with by itself.
async fn next_server(installation: &Installation, last: &str, arguments: &[&str]) -> Server {
    let server = installation.serve_with(arguments);
    // Runs are looked at in the order of their creation.
    let path = format!("/v1/runs/{last}");
    installation
        .until(&path, |run| (run["executing"] == true).then_some(()))
        .await;
    server
}

#[tokio::test]
async fn neither_run_that_a_branch_has_left_begins_by_itself_however_often_servers_come() {
    let installation = Installation::new();
    let server = installation.serve_with(&SLOW);
    let run = start(&installation).await;
    let branch = branched(&installation, &run).await;
    let last = start(&installation).await;
    server.kill();
    let server = next_server(&installation, &last, &SLOW).await;
    nothing_has_begun(&installation, [&run, &branch]).await;
    server.terminate();
    let server = next_server(&installation, &last, &SLOW).await;
    nothing_has_begun(&installation, [&run, &branch]).await;
    server.kill();
    // A person begins each of them: over REST, and on its page.
    let server = installation.serve();
    let resumed = installation.post(&format!("/v1/runs/{branch}/resume"), &json!({}));
    assert_eq!(resumed.send().await.unwrap().status(), StatusCode::ACCEPTED);
    assert_eq!(installation.ends(&branch).await, "completed");
    assert_eq!(
        state(&installation, &run).await,
        (json!("paused"), json!(false))
    );
    let answer = resume_on_the_page(&installation, &server, &run).await;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    assert_eq!(installation.ends(&run).await, "completed");
    server.kill();
}

/// What the form on the page of a run does that goes on with it.
async fn resume_on_the_page(
    installation: &Installation,
    server: &Server,
    run: &str,
) -> reqwest::Response {
    let client = tls::client();
    let client = client.redirect(reqwest::redirect::Policy::none());
    let client = client.build().unwrap();
    let entered = client.get(server.page()).send().await.unwrap();
    let cookie = entered.headers()[SET_COOKIE].to_str().unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let path = format!("/runs/{run}");
    let page = client
        .get(installation.address(&path))
        .header(COOKIE, &cookie);
    let page = page.send().await.unwrap().text().await.unwrap();
    assert!(
        page.contains(&format!("action=\"{path}/resume\"")),
        "{page}"
    );
    let form = client.post(installation.address(&format!("{path}/resume")));
    let form = form.header(COOKIE, cookie);
    let form = form.header(ORIGIN, installation.address(""));
    let form = form.header("content-type", "application/x-www-form-urlencoded");
    form.body("input=").send().await.unwrap()
}

#[tokio::test]
async fn what_is_accepted_of_a_person_begins_though_the_server_dies_at_once() {
    let installation = Installation::new();
    let server = installation.serve_with(&SLOW);
    let run = start(&installation).await;
    let branch = branched(&installation, &run).await;
    for run in [&run, &branch] {
        let resumed = installation.post(&format!("/v1/runs/{run}/resume"), &json!({}));
        assert_eq!(resumed.send().await.unwrap().status(), StatusCode::ACCEPTED);
    }
    server.kill();
    let server = installation.serve();
    for run in [&run, &branch] {
        assert_eq!(installation.ends(run).await, "completed");
    }
    server.kill();
}

#[tokio::test]
async fn what_comes_for_a_run_that_a_branch_has_left_waits_until_a_person_resumes_it() {
    let installation = Installation::new();
    let server = installation.serve();
    let run = installation.start_asking().await;
    let questions = installation.questions(1).await;
    let branch = branched(&installation, &run).await;
    // An answer is no word to go on, and neither is a message.
    let answered = installation.decide(&questions[0]).await.unwrap();
    assert_eq!(answered, StatusCode::CREATED);
    let path = format!("/v1/agents/{run}%2Forchestrator/messages");
    let sent = installation.post(&path, &json!({"text": "take your time"}));
    assert_eq!(sent.send().await.unwrap().status(), StatusCode::ACCEPTED);
    // Whoever is stopped in order does first what it was told to.
    let (code, told) = server.terminate();
    assert_eq!(code, Some(0), "{told}");
    let server = installation.serve();
    nothing_has_begun(&installation, [&run, &branch]).await;
    let resumed = installation.post(&format!("/v1/runs/{run}/resume"), &json!({}));
    assert_eq!(resumed.send().await.unwrap().status(), StatusCode::ACCEPTED);
    assert_eq!(installation.ends(&run).await, "completed");
    server.kill();
}

#[tokio::test]
async fn a_run_that_a_branch_has_left_with_a_question_goes_on_to_it() {
    let installation = Installation::new();
    let server = installation.serve();
    let run = installation.start_asking().await;
    let questions = installation.questions(1).await;
    branched(&installation, &run).await;
    let resumed = installation.post(&format!("/v1/runs/{run}/resume"), &json!({}));
    assert_eq!(resumed.send().await.unwrap().status(), StatusCode::ACCEPTED);
    let answered = installation.decide(&questions[0]).await.unwrap();
    assert_eq!(answered, StatusCode::CREATED);
    assert_eq!(installation.ends(&run).await, "completed");
    server.kill();
}

#[test]
fn commands_begin_what_a_branch_has_left_on_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let mut served = Served::over(&folder.path().join("irq.db"));
    let script = asking(folder.path());
    let order = [
        "run",
        "Describe the bakery",
        "--script",
        &script,
        "--no-input",
    ];
    let asked = served.end(&order).exits_with(5);
    let question = asked.output.trim().to_owned();
    let run = lines(&served.end(&["ps", "--json"]).exits_with(0).output).remove(0);
    let run = run["id"].as_str().unwrap().to_owned();
    let stop = ["interrupt", &run, "--type", "BRANCH", "--wait", "--json"];
    let stop = served.json(&stop);
    let left = &stop["decision"]["payload"];
    let branch = left["branch"].as_str().unwrap().to_owned();
    served.is_killed_and_comes_back();
    let states = |served: &Served| {
        let listed = served.end(&["ps", "--json"]).exits_with(0);
        let rows = lines(&listed.output);
        let states = rows
            .iter()
            .map(|row| (row["id"].clone(), row["state"].clone()));
        states.collect::<Vec<_>>()
    };
    // The newest first.
    let left = [
        (json!(branch), json!("created")),
        (json!(run), json!("paused")),
    ];
    assert_eq!(states(&served), left);
    // The branch asks the same, and so does the run that it left.
    let resumed = served.end(&["resume", &branch, "--no-input"]).exits_with(5);
    assert_ne!(resumed.output.trim(), question);
    assert_eq!(states(&served)[1], left[1]);
    let resumed = served.end(&["resume", &run, "--no-input"]).exits_with(5);
    assert_eq!(resumed.output.trim(), question);
}

fn asking(folder: &Path) -> String {
    let path = crate::program::script(folder, &json!([interrupt("HUMAN_REVIEW")]));
    path.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_run_that_a_branch_has_left_is_resumed_by_a_person_though_it_waits_and_is_answered() {
    let installation = Installation::new();
    let server = installation.serve();
    let run = installation.start_asking().await;
    let question = installation.questions(1).await.remove(0);
    branched(&installation, &run).await;
    let beside = |arguments: &[&str]| {
        let mut command = irq();
        end(command
            .args(arguments)
            .env("IRQ_STORE", installation.store()))
        .exits_with(0)
    };
    let pause = lines(&beside(&["interrupt", &run, "--json"]).output).remove(0);
    beside(&["withdraw", pause["id"].as_str().unwrap()]);
    stands(&installation, &run, "waiting").await;
    assert!(installation.decide(&question).await.unwrap().is_success());
    // One that is answered later is taken up by then.
    let later = installation.start_asking().await;
    let asked = installation
        .until(&format!("/v1/interrupts?run_id={later}"), |page| {
            let asked = &page["interrupts"][0];
            (asked["state"] == "awaiting_review").then(|| asked["id"].clone())
        })
        .await;
    let answered = installation.decide(asked.as_str().unwrap()).await;
    assert!(answered.unwrap().is_success());
    assert_eq!(installation.ends(&later).await, "completed");
    let waits = (json!("waiting"), json!(false));
    assert_eq!(state(&installation, &run).await, waits);
    let resumed = installation.post(&format!("/v1/runs/{run}/resume"), &json!({}));
    assert_eq!(resumed.send().await.unwrap().status(), StatusCode::ACCEPTED);
    assert_eq!(installation.ends(&run).await, "completed");
    server.kill();
}
