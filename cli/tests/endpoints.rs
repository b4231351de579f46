//! `irq run` against servers that speak the wire forms of three providers and refuse what they refuse.
//!
//! The servers' brain is the rehearsal model, which sees nothing but what arrived over the wire.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::process::{Command, Output};

use agents::catalogue::{self, SchemaQuery};
use agents::{AgentKind, RouteType};
use interrupt_router::model::{
    AnswerSchemaRef, Dialect, LanguageModel, Message, ModelCall, ModelCaller, Purpose,
};
use interrupt_router::schema::AnswerSchema;
use interrupt_router::{AgentType, NodeId, RunId, StopScope};
use llm::{Pace, RehearsalConfig, RehearsalModel};
use serde_json::Value;
use tests::providers::{Behaviour, ProviderDouble, RIGHT_KEY, Received, WireForm};

/// The supervisor wants planning to be left out, and the script's person agrees.
const SCRIPT: &str = r#"{"version": 1, "steps": [
  {"supervisor": {"when": {"agent": "PLANNING_ORCHESTRATOR", "turn": 1}, "event": {
    "interruptType": "HUMAN_REVIEW", "rerouteToAgentType": "TICKET_ORCHESTRATOR",
    "reason": "The plan is known.",
    "choices": [{"label": "Go on", "value": "go-on", "description": "Without planning."}]}}},
  {"person": {"interrupt": {"agent": "PLANNING_ORCHESTRATOR", "nth": 1},
    "answer": {"selectedChoices": ["go-on"]}}}
]}"#;

struct Provider {
    form: WireForm,
    model: &'static str,
    key: &'static str,
    base: &'static str,
    dialect: Dialect,
    /// Where a request has its schema.
    schema: &'static str,
}

const PROVIDERS: [Provider; 3] = [
    Provider {
        form: WireForm::OpenAi,
        model: "openai:gpt-5-mini",
        key: "OPENAI_API_KEY",
        base: "/v1",
        dialect: Dialect::OpenAiStrict,
        schema: "/response_format/json_schema/schema",
    },
    Provider {
        form: WireForm::Anthropic,
        model: "anthropic:claude-sonnet-4-5",
        key: "ANTHROPIC_API_KEY",
        base: "/v1",
        dialect: Dialect::Anthropic,
        schema: "/output_config/format/schema",
    },
    Provider {
        form: WireForm::Gemini,
        model: "gemini:gemini-2.5-flash",
        key: "GEMINI_API_KEY",
        base: "/v1beta",
        dialect: Dialect::Gemini,
        schema: "/generationConfig/responseJsonSchema",
    },
];

/// The schema of the catalogue that was sent, byte for byte; nothing else may arrive.
fn sent(schema: &Value, dialect: Dialect) -> (&'static str, &'static AnswerSchema) {
    let mut queries = vec![SchemaQuery::new(dialect)];
    for &origin in AgentKind::ALL {
        queries.push(SchemaQuery {
            origin: Some(origin),
            ..SchemaQuery::new(dialect)
        });
    }
    for &caller in RouteType::ALL {
        queries.push(SchemaQuery {
            caller: Some(caller),
            ..SchemaQuery::new(dialect)
        });
    }
    let text = schema.to_string();
    let known = catalogue::records().iter().flat_map(|record| {
        queries
            .iter()
            .map(move |query| (record.name, catalogue::schema(record.name, query)))
    });
    let found = known
        .filter_map(|(record, known)| Some((record, known.ok()?)))
        .find(|(_record, known)| known.text() == text);
    found.unwrap_or_else(|| panic!("a schema that is none of ours arrived: {schema:#}"))
}

/// Every text of the request, in order.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value.as_str() {
                    Some(text) if key == "text" || key == "content" => found.push(text.to_owned()),
                    _ => texts(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Answers a request as the rehearsal model would, knowing only what is in it.
fn answer(request: &Received, provider: &Provider) -> String {
    let schema = request
        .body
        .pointer(provider.schema)
        .unwrap_or(&Value::Null);
    let (record, schema) = sent(schema, provider.dialect);
    let mut found = Vec::new();
    for part in ["system", "systemInstruction", "messages", "contents"] {
        texts(request.body.get(part).unwrap_or(&Value::Null), &mut found);
    }
    let resolves = record == "InterruptRouting";
    let call = ModelCall {
        caller: ModelCaller {
            run: RunId::from_uuid(uuid::Uuid::nil()),
            node: NodeId::new("double").unwrap(),
            agent_type: "ORCHESTRATOR",
            purpose: if resolves {
                Purpose::Resolution
            } else {
                Purpose::Step
            },
            turn: 1,
            correction: 0,
        },
        forward: (!found
            .iter()
            .any(|text| text.contains("ticketCollectorResult")))
        .then_some("discoveryOrchestratorRequest"),
        messages: found.into_iter().map(Message::user).collect(),
        schema: Some(AnswerSchemaRef::Fixed(schema)),
        tools: std::sync::Arc::default(),
        chunks: None,
    };
    let config = RehearsalConfig {
        seed: 3,
        pace: Pace::Unlimited,
        facts: Vec::new(),
        script: None,
    };
    let model = RehearsalModel::new(config).with_dialect(provider.dialect);
    // The double's closure is synchronous and runs on a runtime's thread, so the model gets one of its own.
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime
            .block_on(model.call(call, &StopScope::new()))
            .unwrap()
            .completed()
            .unwrap()
            .text
    });
    thread.join().unwrap()
}

async fn run(provider: &'static Provider) -> (Output, Vec<Received>) {
    let double = ProviderDouble::answering(provider.form, [Behaviour::Answers], move |request| {
        answer(request, provider)
    })
    .await
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    std::fs::write(folder.path().join("src/store.rs"), "//! Keeps things.\n").unwrap();
    let script = folder.path().join("script.json");
    std::fs::write(&script, SCRIPT).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_irq"));
    command
        .args([
            "run",
            "Describe this folder",
            "--json",
            "--no-input",
            "--model",
            provider.model,
        ])
        .args([
            "--base-url",
            &format!("{}{}", double.address(), provider.base),
        ])
        .arg("--workspace")
        .arg(folder.path())
        .arg("--script")
        .arg(&script)
        .env(provider.key, RIGHT_KEY);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap();
    (output, double.received())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_run_with_a_reroute_works_over_the_wire_form_of_each_provider() {
    for provider in &PROVIDERS {
        let (output, received) = run(provider).await;
        let (lines, told) = (
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8_lossy(&output.stderr),
        );
        assert_eq!(output.status.code(), Some(0), "{}: {told}", provider.model);
        let events: Vec<Value> = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let count = |kind: &str| {
            events
                .iter()
                .filter(|event| event["type"] == format!("dev.irq.{kind}.v1"))
                .count()
        };
        assert_eq!(count("run.completed"), 1, "{}: {lines}", provider.model);
        assert_eq!(
            count("interrupt.rerouted"),
            1,
            "{}: {lines}",
            provider.model
        );
        assert!(
            lines.contains("TICKET_ORCHESTRATOR"),
            "{}: {lines}",
            provider.model
        );
        assert!(
            received.len() >= 8,
            "{}: {} requests",
            provider.model,
            received.len()
        );
        assert!(
            !lines.contains(RIGHT_KEY) && !told.contains(RIGHT_KEY),
            "the key was told"
        );
        let streamed =
            |request: &Received| request.path.contains("stream") || request.body["stream"] == true;
        assert!(
            received.iter().all(streamed),
            "{}: a call was not streamed",
            provider.model
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_key_was_refused_goes_on_when_the_key_is_taken() {
    let provider = &PROVIDERS[0];
    let behaviours = [
        Behaviour::Answers,
        Behaviour::refuses(401),
        Behaviour::Answers,
    ];
    let double = ProviderDouble::answering(provider.form, behaviours, move |request| {
        answer(request, provider)
    })
    .await
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("README.md"), "# Bakery\n").unwrap();
    // The agents are told what is in the workspace, so the store is not.
    let state = tempfile::tempdir().unwrap();
    let irq = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_irq"));
        command
            .args(arguments)
            .args(["--store".as_ref(), state.path().join("irq.db").as_os_str()])
            .env(provider.key, RIGHT_KEY);
        tokio::task::spawn_blocking(move || command.output().unwrap())
    };
    let base = format!("{}{}", double.address(), provider.base);
    let workspace = folder.path().to_str().unwrap();
    let options = ["--no-input", "--model", provider.model, "--base-url", &base];
    let arguments = ["run", "Describe this folder", "--workspace", workspace];
    let refused = irq(&[&arguments[..], &options].concat()).await.unwrap();
    assert_eq!(refused.status.code(), Some(77), "{refused:?}");
    let asked_before = double.received().len();
    assert_eq!(asked_before, 2, "a refused key is not tried again at once");

    let listed = irq(&["ps", "--json"]).await.unwrap();
    let run: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(run["state"], "paused", "{run:#}");
    let resumed = irq(&["resume", run["id"].as_str().unwrap(), "--no-input"])
        .await
        .unwrap();
    assert_eq!(resumed.status.code(), Some(0), "{resumed:?}");
    let received = double.received();
    assert!(
        received[2].body == received[1].body,
        "the call that failed is made again"
    );
    assert!(
        received[3..]
            .iter()
            .all(|later| later.body != received[0].body)
    );
}
