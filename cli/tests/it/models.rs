//! Models as they are: profiles, servers of one's own, and what goes wrong, told as it is.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tests::providers::{Behaviour, ProviderDouble, RIGHT_KEY, WireForm};

use crate::program::{Ended, end, irq, spawn, until, workspace};
use crate::watching::{leave, start_with};

async fn double(behaviours: impl IntoIterator<Item = Behaviour>) -> ProviderDouble {
    ProviderDouble::answering(WireForm::OpenAi, behaviours, |_| "Hello.".to_owned())
        .await
        .unwrap()
}

/// A refusal with a body of the provider's own.
fn refusal(status: u16, body: &str) -> Behaviour {
    Behaviour::RefusesWith {
        status,
        body: body.to_owned(),
    }
}

/// Runs the command to its end, with one line of input.
async fn said(mut command: Command, line: &'static str) -> Ended {
    command
        .env("OPENAI_API_KEY", RIGHT_KEY)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let ended = tokio::task::spawn_blocking(move || {
        let mut child = command.spawn().unwrap();
        // A program that reads none has ended by then.
        let _read = child.stdin.take().unwrap().write_all(line.as_bytes());
        child.wait_with_output().unwrap()
    });
    Ended::from(ended.await.unwrap())
}

fn chat(base_url: &str) -> Command {
    let mut command = irq();
    command.args([
        "chat",
        "--model",
        "openai:some-model",
        "--base-url",
        base_url,
    ]);
    command
}

fn run(folder: &Path, options: &[&str]) -> Command {
    let mut command = irq();
    command
        .args(["run", "Describe this folder", "--no-input", "--workspace"])
        .arg(folder)
        .args(options)
        .env("IRQ_STORE", folder.join("irq.db"));
    command
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_is_shown_with_its_end() {
    let double = double([Behaviour::asks_to_wait("1"), Behaviour::Answers]).await;
    let ended = said(chat(double.address()), "hi\n").await.exits_with(0);
    assert!(
        ended.error_output.contains("rate limited, goes on in 1 s"),
        "{ended:#?}"
    );
    assert!(ended.output.contains("Hello."), "{ended:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waits_for_its_model_is_seen_to_wait_from_elsewhere() {
    for workflow in ["agents", "plan-execute"] {
        let double = double([Behaviour::asks_to_wait("250")]).await;
        let folder = workspace();
        let mut command = run(
            folder.path(),
            &[
                "--model",
                "openai:some-model",
                "--base-url",
                double.address(),
                "--workflow",
                workflow,
            ],
        );
        let mut child = spawn(command.env("OPENAI_API_KEY", RIGHT_KEY));
        let store = folder.path().join("irq.db");
        let asked = |arguments: &[&str]| {
            let mut command = irq();
            command.args(arguments).env("IRQ_STORE", &store);
            end(&mut command).output
        };
        until("an agent is seen to wait", || {
            asked(&["ps", "--json"]).contains(r#""why":"rate limited""#)
        });
        let listed = asked(&["ps"]);
        assert!(listed.contains("rate limited, goes on in 2"), "{listed}");
        if workflow == "agents" {
            let mut screen = start_with(&format!("--silent --store {}", store.display()));
            for word in ["rate", "limited,", "goes"] {
                screen.exp_string(word).unwrap();
            }
            leave(&mut screen);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // No process is there that would call again.
        let left = asked(&["ps", "--json"]);
        assert!(left.contains("agent_id"), "{left}");
        assert!(!left.contains("rate limited"), "{left}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_wrong_is_told_in_the_providers_words_with_a_hint() {
    let quota = r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","code":"insufficient_quota"}}"#;
    let context = r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_ctx":8192}}"#;
    let filter = r#"{"error":{"code":"content_filter","message":"The prompt was filtered."}}"#;
    for (behaviour, code, words, hint) in [
        (
            refusal(402, r#"{"error":{"message":"Insufficient Balance"}}"#),
            77,
            "paid first (402): Insufficient Balance",
            "add credit",
        ),
        (
            refusal(429, quota),
            77,
            "paid first (429): You exceeded",
            "add credit",
        ),
        (
            refusal(400, context),
            1,
            "does not fit into what the model can read",
            "larger context",
        ),
        (
            refusal(400, filter),
            1,
            "content filter kept the answer back",
            "the filter may have met",
        ),
    ] {
        let double = double([behaviour]).await;
        let folder = tempfile::tempdir().unwrap();
        let base = double.address();
        let options = ["--model", "openai:some-model", "--base-url", base];
        let ended = said(run(folder.path(), &options), "")
            .await
            .exits_with(code);
        let ended = ended.says(words);
        assert!(ended.error_output.contains(hint), "{ended:#?}");
        assert!(
            !ended.error_output.contains("answer is empty"),
            "{ended:#?}"
        );
        // The run is paused: it can go on.
        let mut ps = irq();
        ps.args(["ps", "--json"])
            .env("IRQ_STORE", folder.path().join("irq.db"));
        let listed = said(ps, "").await.exits_with(0);
        let listed: Value = serde_json::from_str(&listed.output).unwrap();
        assert_eq!(listed["state"], "paused", "{listed:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_over_the_wire_is_written_down_without_the_key() {
    let double = double([Behaviour::Answers]).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("http.log");
    let mut command = chat(double.address());
    command.arg("--debug-http").arg(&file);
    said(command, "a question\n").await.exits_with(0);
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(
        written.contains("> POST /v1/chat/completions HTTP/1.1"),
        "{written}"
    );
    assert!(written.contains("authorization: [blanked]"), "{written}");
    assert!(
        written.contains("a question") && written.contains("Hello"),
        "{written}"
    );
    assert!(!written.contains(RIGHT_KEY), "{written}");
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_are_shown_where_the_environment_asks_for_them() {
    for variable in ["RUST_LOG", "IRQ_LOG"] {
        let double = double([Behaviour::asks_to_wait("0"), Behaviour::Answers]).await;
        let mut command = chat(double.address());
        command.env(variable, "llm=info");
        let ended = said(command, "hi\n").await.exits_with(0);
        assert!(ended.error_output.contains("trying again"), "{ended:#?}");
        assert!(!ended.error_output.contains(RIGHT_KEY), "{ended:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_has_a_name_of_ones_own_and_its_own_keys_variable() {
    let double = double([Behaviour::Answers]).await;
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("irq.toml");
    let text = format!(
        "[models.mine]\nmodel = \"openai:some-model\"\nbase_url = \"{}\"\nkey_variable = \"MY_KEY\"\nmax_tokens = 77\ntemperature = 0.5\n",
        double.address()
    );
    std::fs::write(&settings, text).unwrap();
    let mut command = irq();
    command
        .args(["chat", "--model", "mine"])
        .env("IRQ_CONFIG", &settings)
        .env("MY_KEY", RIGHT_KEY);
    said(command, "hi\n").await.exits_with(0);
    let body = double.received()[0].body.clone();
    assert_eq!(body["model"], "some-model");
    let most = body
        .get("max_tokens")
        .or_else(|| body.get("max_completion_tokens"));
    assert_eq!(most, Some(&json!(77)), "{body:#}");
    assert_eq!(body["temperature"], 0.5);
    // A profile that is not there is explained with those that are.
    let mut command = irq();
    command
        .args(["chat", "--model", "nine"])
        .env("IRQ_CONFIG", &settings);
    let ended = said(command, "")
        .await
        .exits_with(2)
        .says("unknown model `nine`");
    assert!(
        ended.error_output.contains("profiles of your own: mine"),
        "{ended:#?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_ones_own_is_asked_what_it_takes() {
    let models =
        json!({"data": [{"id": "some-model", "owned_by": "llamacpp", "meta": {"n_ctx": 4096}}]});
    let double = double([Behaviour::Answers]).await;
    double.lists_models(&models);
    let folder = tempfile::tempdir().unwrap();
    let base = double.address();
    let options = [
        "--model",
        "openai:some-model",
        "--base-url",
        base,
        "--corrections",
        "0",
    ];
    // What it answers is no answer, so a person is wanted.
    said(run(folder.path(), &options), "").await.exits_with(5);
    let body = double.received()[0].body.clone();
    let format = &body["response_format"]["json_schema"];
    assert_eq!(format["strict"], false);
    assert_eq!(format["name"], "OrchestratorRouting_route");
    assert!(
        format["schema"]["properties"]["route"]["enum"].is_array(),
        "{format:#}"
    );
}

/// Such a server drops tools without a word, and its model makes up what they return.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_takes_no_tools_is_noticed_before_anything_is_asked() {
    let double = double([Behaviour::Answers]).await;
    double.lists_models(&json!({"data": [{"id": "some-model", "owned_by": "llamacpp"}]}));
    double.has_props(&json!({"chat_template_caps": {"supports_tools": false}}));
    let folder = tempfile::tempdir().unwrap();
    let base = double.address();
    let options = ["--model", "openai:some-model", "--base-url", base];
    let with_tools = [&options[..], &["--tools", "."]].concat();
    let mut chat = irq();
    chat.arg("chat")
        .args(&with_tools)
        .current_dir(folder.path());
    for command in [chat, run(folder.path(), &with_tools)] {
        let ended = said(command, "hello\n")
            .await
            .exits_with(2)
            .says("its server gives its model no tools");
        assert!(
            ended.error_output.contains("leave --tools out"),
            "{ended:#?}"
        );
        assert_eq!(double.received_count(), 0);
    }
    let mut doctor = irq();
    doctor.arg("doctor").args(options);
    let ended = said(doctor, "").await;
    assert!(ended.output.contains("no tools"), "{ended:#?}");
    let mut chat = irq();
    chat.arg("chat").args(options);
    said(chat, "hello\n").await.exits_with(0);
}

#[test]
fn a_turn_is_shown_as_a_model_is_asked() {
    let shown = irq()
        .args([
            "schema",
            "OrchestratorRouting",
            "--turn",
            "--dialect",
            "grammar",
        ])
        .output()
        .unwrap();
    let shown = Ended::from(shown).exits_with(0);
    let shown: Value = serde_json::from_str(&shown.output).unwrap();
    let choose = &shown["route_first"]["choose"]["properties"]["route"]["enum"];
    assert_eq!(choose[0], "interruptRequest");
    let fill = &shown["route_first"]["fill"]["discoveryOrchestratorRequest"];
    assert_eq!(fill["required"], json!(["discoveryOrchestratorRequest"]));
    assert!(shown["one_step"]["anyOf"].is_array(), "{shown:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_tried_and_its_profile_kept() {
    let answer =
        r#"{"selectedChoices":["yes"],"text":"It only reads.","confirmations":[],"confidence":90}"#;
    let double = ProviderDouble::answering(WireForm::OpenAi, [Behaviour::Answers], move |_| {
        answer.to_owned()
    })
    .await
    .unwrap();
    double.lists_models(
        &json!({"data": [{"id": "some-model", "owned_by": "llamacpp", "meta": {"n_ctx": 4096}}]}),
    );
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("irq.toml");
    std::fs::write(&settings, "").unwrap();
    let mut command = irq();
    command
        .args([
            "doctor",
            "--json",
            "--model",
            "openai:some-model",
            "--base-url",
            double.address(),
        ])
        .args(["--write", "mine"])
        .env("IRQ_CONFIG", &settings);
    let tried = said(command, "").await;
    let found: Vec<String> = tried
        .output
        .lines()
        .filter(|line| line.contains(r#""model""#))
        .map(str::to_owned)
        .collect();
    let all = found.join("\n");
    assert!(all.contains("its server is llama.cpp"), "{tried:#?}");
    assert!(
        all.contains("schemas as grammar, turns as route_first, reads 4096 tokens"),
        "{tried:#?}"
    );
    assert!(all.contains("kept to the schema"), "{tried:#?}");
    let kept = std::fs::read_to_string(&settings).unwrap();
    assert!(
        kept.contains("[models.mine]") && kept.contains(r#"dialect = "grammar""#),
        "{kept}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_pays_for_each_try_and_for_each_model_that_stands_in() {
    let breaks = || Behaviour::BreaksAfter(2);
    for (of_main, fallback, made) in [
        (vec![breaks(), Behaviour::Answers], "", (1, 0)),
        (
            vec![Behaviour::refuses(401)],
            "fallback = [\"spare\"]\n",
            (1, 1),
        ),
    ] {
        let (main, spare) = (double(of_main).await, double([breaks()]).await);
        let folder = workspace();
        let settings = folder.path().join("irq.toml");
        let profile = |name: &str, at: &ProviderDouble| {
            let url = at.address();
            format!("[models.{name}]\nmodel = \"openai:{name}\"\nbase_url = \"{url}\"\n")
        };
        let (first, other) = (profile("main", &main), profile("spare", &spare));
        std::fs::write(&settings, format!("{first}{fallback}\n{other}")).unwrap();
        let prices = folder.path().join("prices.toml");
        let price =
            |name| format!("[prices.\"openai:{name}\"]\ninput = \"0\"\noutput = \"1000\"\n");
        // A call may write 8,192 tokens at 1,000 dollars a million, so one of unknown cost spends all of it.
        let run = |prices_of: String| {
            std::fs::write(&prices, prices_of).unwrap();
            let prices = prices.to_str().unwrap();
            let options = [
                "--model",
                "main",
                "--budget-usd",
                "8.192",
                "--prices",
                prices,
            ];
            let mut command = run(folder.path(), &options);
            command.env("IRQ_CONFIG", &settings);
            said(command, "")
        };
        if !fallback.is_empty() {
            let refused = run(price("main")).await.exits_with(2);
            refused.says("no price for the model `openai:spare`");
        }
        run(price("main") + &price("spare")).await.exits_with(8);
        assert_eq!((main.received_count(), spare.received_count()), made);
    }
}
