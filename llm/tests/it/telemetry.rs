//! The span of a call has OpenTelemetry's names, and an interruption is no error.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use interrupt_router::StopScope;
use interrupt_router::model::{LanguageModel, Message, ModelCall};
use llm::{RetryPolicy, Retrying};
use tests::providers::{Behaviour, WireForm};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Metadata, Subscriber};

use crate::calls::{Pieces, call, double, model, stop_now, talk};
use crate::chat::opening;

type Fields = BTreeMap<String, String>;

/// Keeps the fields of the spans of models.
#[derive(Default, Clone)]
struct Capture {
    spans: Arc<Mutex<BTreeMap<u64, Fields>>>,
    ids: Arc<AtomicU64>,
    /// The spans that are entered, the innermost last. These tests have one thread.
    entered: Arc<Mutex<Vec<u64>>>,
}

/// The span around all tries of a call.
const TRIES: &str = "irq.model.tries";

struct Into<'fields>(&'fields mut Fields);

impl Visit for Into<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

impl Subscriber for Capture {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && ["gen_ai.inference", TRIES].contains(&metadata.name())
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let id = self.ids.fetch_add(1, Ordering::Relaxed) + 1;
        let mut fields = Fields::new();
        attributes.record(&mut Into(&mut fields));
        fields.insert("span".to_owned(), attributes.metadata().name().to_owned());
        if let Some(parent) = self.entered.lock().unwrap().last() {
            fields.insert("parent".to_owned(), parent.to_string());
        }
        self.spans.lock().unwrap().insert(id, fields);
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut spans = self.spans.lock().unwrap();
        values.record(&mut Into(spans.get_mut(&span.into_u64()).unwrap()));
    }

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, _event: &Event<'_>) {}

    fn enter(&self, span: &Id) {
        self.entered.lock().unwrap().push(span.into_u64());
    }

    fn exit(&self, _span: &Id) {
        self.entered.lock().unwrap().pop();
    }
}

impl Capture {
    fn start() -> (Self, DefaultGuard) {
        let capture = Self::default();
        let guard = tracing::subscriber::set_default(capture.clone());
        (capture, guard)
    }

    /// The spans of requests.
    fn spans(&self) -> Vec<Fields> {
        let spans = self.spans.lock().unwrap();
        let of_request = |fields: &&Fields| fields["span"] != TRIES;
        spans.values().filter(of_request).cloned().collect()
    }
}

fn private_question() -> ModelCall {
    talk(vec![Message::user(
        "a question that nobody else shall read",
    )])
}

#[tokio::test]
async fn a_whole_answer_says_whom_was_asked_and_what_it_cost() {
    for (form, provider, finish) in [
        (WireForm::OpenAi, "openai", "stop"),
        (WireForm::OpenAiResponses, "openai", "completed"),
        (WireForm::Anthropic, "anthropic", "end_turn"),
        (WireForm::Gemini, "gcp.gemini", "STOP"),
    ] {
        let (capture, _guard) = Capture::start();
        let double = double(form, [Behaviour::Answers]).await;
        let model = model(&double, form);
        model
            .call(private_question(), &StopScope::new())
            .await
            .unwrap();
        let json = call(model.dialect());
        model.call(json, &StopScope::new()).await.unwrap();
        let spans = capture.spans();
        assert_eq!(spans.len(), 2);
        for (span, output) in spans.iter().zip(["text", "json"]) {
            for (name, value) in [
                ("otel.name", "chat some-model"),
                ("otel.kind", "client"),
                ("gen_ai.operation.name", "chat"),
                ("gen_ai.provider.name", provider),
                ("gen_ai.request.model", "some-model"),
                ("gen_ai.request.stream", "true"),
                ("gen_ai.output.type", output),
                ("gen_ai.usage.input_tokens", "11"),
                ("gen_ai.usage.output_tokens", "7"),
                ("gen_ai.response.finish_reasons", &format!("[\"{finish}\"]")),
                ("server.address", "127.0.0.1"),
            ] {
                assert_eq!(span.get(name).map(String::as_str), Some(value), "{name}");
            }
            let waited: f64 = span["gen_ai.response.time_to_first_chunk"].parse().unwrap();
            assert!(waited > 0.0);
            assert!(double.address().ends_with(&span["server.port"]));
            assert!(!span.contains_key("otel.status_code"));
            let shown = format!("{span:?}");
            assert!(
                !shown.contains("nobody else") && !shown.contains("forty-two"),
                "{shown}"
            );
        }
    }
}

#[tokio::test]
async fn an_interruption_is_no_error() {
    for form in WireForm::ALL {
        let (capture, _guard) = Capture::start();
        let double = double(form, [Behaviour::StallsAfter(opening(form) + 2)]).await;
        let model = model(&double, form);
        let pieces = Pieces::new();
        let call = ModelCall {
            chunks: Some(pieces.clone()),
            ..private_question()
        };
        let scope = StopScope::new();
        let (ended, ()) = tokio::join!(model.call(call, &scope), async {
            pieces.reached(2).await;
            stop_now(&scope);
        });
        ended.unwrap();
        let spans = capture.spans();
        let [span] = spans.as_slice() else {
            panic!("{spans:?}");
        };
        assert_eq!(span["irq.interrupt.source"], "user");
        assert_eq!(span["irq.interrupt.mode"], "immediate");
        assert!(span.contains_key("irq.interrupt.at_provider"));
        for absent in [
            "otel.status_code",
            "error.type",
            "gen_ai.response.finish_reasons",
        ] {
            assert!(!span.contains_key(absent), "{absent}");
        }
        // Guesses are no measurements: what the provider did not say is not in the span.
        let says_at_once = matches!(form, WireForm::Anthropic | WireForm::Gemini);
        assert_eq!(span.contains_key("gen_ai.usage.input_tokens"), says_at_once);
    }
}

#[tokio::test]
async fn each_try_has_a_span_and_a_failure_is_an_error_of_its_type() {
    let (capture, _guard) = Capture::start();
    let form = WireForm::OpenAi;
    let behaviours = [
        Behaviour::refuses(503),
        Behaviour::asks_to_wait("0"),
        Behaviour::EndsAfter(2),
        Behaviour::Answers,
    ];
    let double = double(form, behaviours).await;
    let policy = RetryPolicy {
        tries: 4,
        first_wait: std::time::Duration::from_millis(1),
        ..RetryPolicy::default()
    };
    let model = Retrying::new(model(&double, form), policy);
    model
        .call(private_question(), &StopScope::new())
        .await
        .unwrap();
    let spans = capture.spans();
    let types: Vec<Option<&str>> = spans
        .iter()
        .map(|span| span.get("error.type").map(String::as_str))
        .collect();
    assert_eq!(types, [Some("503"), Some("429"), Some("broken_off"), None]);
    let failed = spans
        .iter()
        .filter(|span| span.contains_key("otel.status_code"));
    assert_eq!(failed.count(), 3);
}

#[tokio::test]
async fn each_try_has_a_span_of_its_own_below_that_of_the_call() {
    let (capture, _guard) = Capture::start();
    let form = WireForm::OpenAi;
    let double = double(form, [Behaviour::refuses(500), Behaviour::Answers]).await;
    let policy = RetryPolicy {
        first_wait: std::time::Duration::from_millis(1),
        ..RetryPolicy::default()
    };
    let model = Retrying::new(model(&double, form), policy);
    model
        .call(private_question(), &StopScope::new())
        .await
        .unwrap();
    let tries = capture.spans();
    assert_eq!(tries.len(), 2);
    assert_eq!(tries[0]["error.type"], "500");
    assert_eq!(tries[0]["parent"], tries[1]["parent"]);
    let parent = tries[0]["parent"].parse::<u64>().unwrap();
    assert_eq!(capture.spans.lock().unwrap()[&parent]["span"], TRIES);
}
