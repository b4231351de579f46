//! What `irq` exports, and that it never waits for a collector.

use tests::collector::{Collector, CollectorManner};

use crate::program::{Ended, end, irq};

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
