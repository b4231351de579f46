//! What `irq` exports, and that it never waits for a collector.

use tests::collector::{CollectedSpan, Collector, CollectorManner};

use crate::program::{Ended, end, irq, run_in, workspace};

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

fn routes(endpoint: Option<&str>, more: &[&str]) -> Ended {
    let mut command = irq();
    command.arg("routes").args(more);
    if let Some(endpoint) = endpoint {
        command.env(ENDPOINT, endpoint);
    }
    end(&mut command)
}

#[test]
fn a_command_is_a_span_at_the_collector_that_the_environment_names() {
    let collector = Collector::start(CollectorManner::Takes).unwrap();
    let plain = routes(None, &[]).exits_with(0);
    let traced = routes(Some(collector.endpoint()), &[]).exits_with(0);
    assert_eq!(traced.output, plain.output);
    assert_eq!(traced.error_output, "");
    let spans = collector.collected().spans;
    let [span] = &spans[..] else {
        panic!("{spans:?}");
    };
    assert_eq!(span.name, "irq");
    assert!(span.parent.is_empty());
    assert_eq!(span.service.as_deref(), Some("irq"));
    assert_eq!(span.attribute("command"), Some("routes"));
}

#[test]
fn a_collector_that_takes_nothing_holds_up_nothing_and_is_a_warning() {
    let silent = Collector::start(CollectorManner::KeepsSilent).unwrap();
    // Nothing listens there.
    let absent = "http://127.0.0.1:9";
    for endpoint in [silent.endpoint(), absent, "no address"] {
        let ended = routes(Some(endpoint), &[]).exits_with(0);
        assert!(ended.error_output.contains("telemetry"), "{ended:?}");
        assert!(ended.error_output.contains(ENDPOINT), "{ended:?}");
        assert_eq!(ended.error_output.lines().count(), 1, "{ended:?}");
    }
}

#[test]
fn telemetry_can_be_disabled_and_its_warning_silenced() {
    let collector = Collector::start(CollectorManner::Takes).unwrap();
    let mut command = irq();
    command.arg("routes").env(ENDPOINT, collector.endpoint());
    end(command.env("OTEL_SDK_DISABLED", "true")).exits_with(0);
    assert_eq!(collector.collected().spans, []);
    let quiet = routes(Some("http://127.0.0.1:9"), &["--quiet"]).exits_with(0);
    assert_eq!(quiet.error_output, "");
}

/// The names of a span and of those above it, from itself up.
fn above(spans: &[CollectedSpan], span: &CollectedSpan) -> Vec<String> {
    let mut names = vec![span.name.clone()];
    let mut parent = span.parent.clone();
    while let Some(next) = spans.iter().find(|other| other.id == parent) {
        names.push(next.name.clone());
        parent = next.parent.clone();
    }
    assert!(parent.is_empty(), "below a span that never came: {names:?}");
    names
}

fn run(collector: &Collector, more: &[&str]) -> Ended {
    let folder = workspace();
    let mut command = run_in(folder.path());
    command.args(["--no-input"]).args(more);
    command.env(ENDPOINT, collector.endpoint());
    command.env("OPENAI_API_KEY", "none");
    end(&mut command)
}

#[test]
fn the_spans_of_a_run_hang_together_from_the_command_to_each_turn() {
    let collector = Collector::start(CollectorManner::Takes).unwrap();
    run(&collector, &[]).exits_with(0);
    let spans = collector.collected().spans;
    let run = spans.iter().find(|span| span.name == "run").unwrap();
    let id = run.attribute("run.id").unwrap();
    assert_eq!(run.attribute("run.status"), Some("completed"));
    assert!(!spans.iter().any(|span| span.has_failed), "{spans:#?}");
    let of = |name: &str, agent: &str| {
        let mut spans = spans.iter().filter(|span| span.name == name);
        spans
            .find(|span| span.attribute("agent.id") == Some(agent))
            .unwrap_or_else(|| panic!("no {name} of {agent}"))
    };
    let worker = "orchestrator/discovery/dispatch/worker-1";
    let turn = of("turn", worker);
    assert_eq!(turn.attribute("agent.name"), Some("DISCOVERY_AGENT"));
    assert_eq!(turn.attribute("run.id"), Some(id));
    assert_eq!(turn.attribute("turn"), Some("1"));
    let chain = ["turn", "agent", "agent", "agent", "agent", "run", "irq"];
    assert_eq!(above(&spans, turn), chain);
    let agent = of("agent", "orchestrator");
    assert_eq!(agent.attribute("agent.name"), Some("ORCHESTRATOR"));
    assert_eq!(above(&spans, agent), ["agent", "run", "irq"]);
}

#[test]
fn a_call_is_below_its_turn_and_a_failure_is_the_status_of_all_that_failed_by_it() {
    let collector = Collector::start(CollectorManner::Takes).unwrap();
    let model = [
        "--model",
        "openai:gpt",
        "--base-url",
        "http://127.0.0.1:9/v1",
    ];
    run(&collector, &model).exits_with(69);
    let spans = collector.collected().spans;
    let call = spans.iter().find(|span| span.name == "chat gpt").unwrap();
    let names = above(&spans, call);
    assert!(
        names.ends_with(&["turn", "agent", "run", "irq"].map(str::to_owned)),
        "{names:?}"
    );
    for failed in ["chat gpt", "turn", "run"] {
        let span = spans.iter().find(|span| span.name == failed).unwrap();
        assert!(span.has_failed, "{span:#?}");
    }
}
