//! A collector of telemetry: it takes what is exported by OTLP over HTTP and reads it.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point;
use prost::Message as _;

/// The status of a span that failed, on the wire.
const FAILED: i32 = 2;

/// A span that was exported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectedSpan {
    /// Its name.
    pub name: String,
    /// Its id.
    pub id: Vec<u8>,
    /// The id of the span that it is below; empty where it is below none.
    pub parent: Vec<u8>,
    /// Whether its status says that it failed.
    pub has_failed: bool,
    /// What the resource calls itself.
    pub service: Option<String>,
    /// Its attributes, each with its value as text.
    pub attributes: Vec<(String, String)>,
}

impl CollectedSpan {
    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        find(&self.attributes, name)
    }
}

/// A counter that was exported, with the last that was said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectedCount {
    /// Its name.
    pub name: String,
    /// What it is counted by, each with its value as text.
    pub attributes: Vec<(String, String)>,
    /// How many.
    pub count: i64,
}

impl CollectedCount {
    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        find(&self.attributes, name)
    }
}

/// What was exported.
#[derive(Debug, Clone, Default)]
pub struct Collected {
    /// The spans.
    pub spans: Vec<CollectedSpan>,
    /// The counters.
    pub counts: Vec<CollectedCount>,
}

/// The collector. Its threads end with the process.
#[derive(Debug)]
pub struct Collector {
    endpoint: String,
    collected: Arc<Mutex<Collected>>,
}

/// What a collector does with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectorManner {
    /// It takes it.
    Takes,
    /// It takes the connection, and never answers.
    KeepsSilent,
}

impl Collector {
    /// Starts a collector on a free port.
    ///
    /// # Errors
    ///
    /// Where it cannot listen.
    pub fn start(manner: CollectorManner) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let endpoint = format!("http://{}", listener.local_addr()?);
        let collected = Arc::new(Mutex::new(Collected::default()));
        let kept = Arc::clone(&collected);
        thread::spawn(move || {
            let mut silent = Vec::new();
            for connection in listener.incoming().flatten() {
                match manner {
                    CollectorManner::Takes => {
                        let kept = Arc::clone(&kept);
                        thread::spawn(move || serve(&connection, &kept));
                    }
                    CollectorManner::KeepsSilent => silent.push(connection),
                }
            }
        });
        Ok(Self {
            endpoint,
            collected,
        })
    }

    /// Where it is, without a path.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// What has come so far.
    pub fn collected(&self) -> Collected {
        let collected = self.collected.lock();
        collected.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn find<'pairs>(pairs: &'pairs [(String, String)], name: &str) -> Option<&'pairs str> {
    let pair = pairs.iter().find(|(known, _value)| known == name);
    pair.map(|(_name, value)| value.as_str())
}

/// Answers the requests of a connection until it closes.
fn serve(connection: &TcpStream, kept: &Mutex<Collected>) -> Option<()> {
    let (mut reader, mut writer) = (BufReader::new(connection), connection);
    loop {
        let (path, body) = request(&mut reader)?;
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        match path.as_str() {
            "/v1/traces" => kept.spans.extend(spans(&body)?),
            "/v1/metrics" => kept.counts.extend(counts(&body)?),
            _other => return None,
        }
        drop(kept);
        let answer =
            "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
        writer.write_all(answer.as_bytes()).ok()?;
    }
}

/// The path and the body of the next request.
fn request(reader: &mut BufReader<&TcpStream>) -> Option<(String, Vec<u8>)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(':') else {
            break;
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((path, body))
}

fn spans(body: &[u8]) -> Option<Vec<CollectedSpan>> {
    let request = ExportTraceServiceRequest::decode(body).ok()?;
    let mut spans = Vec::new();
    for of_resource in request.resource_spans {
        let resource = pairs(of_resource.resource.unwrap_or_default().attributes);
        let service = find(&resource, "service.name").map(str::to_owned);
        for span in of_resource
            .scope_spans
            .into_iter()
            .flat_map(|scope| scope.spans)
        {
            spans.push(CollectedSpan {
                name: span.name,
                id: span.span_id,
                parent: span.parent_span_id,
                has_failed: span.status.is_some_and(|status| status.code == FAILED),
                service: service.clone(),
                attributes: pairs(span.attributes),
            });
        }
    }
    Some(spans)
}

fn counts(body: &[u8]) -> Option<Vec<CollectedCount>> {
    let request = ExportMetricsServiceRequest::decode(body).ok()?;
    let resources = request.resource_metrics.into_iter();
    let metrics = resources
        .flat_map(|resource| resource.scope_metrics)
        .flat_map(|scope| scope.metrics);
    let mut counts = Vec::new();
    for metric in metrics {
        let Some(Data::Sum(sum)) = metric.data else {
            continue;
        };
        for point in sum.data_points {
            let Some(number_data_point::Value::AsInt(count)) = point.value else {
                continue;
            };
            counts.push(CollectedCount {
                name: metric.name.clone(),
                attributes: pairs(point.attributes),
                count,
            });
        }
    }
    Some(counts)
}

fn pairs(attributes: Vec<KeyValue>) -> Vec<(String, String)> {
    let pairs = attributes.into_iter();
    pairs.map(|pair| (pair.key, text(pair.value))).collect()
}

fn text(value: Option<AnyValue>) -> String {
    match value.and_then(|value| value.value) {
        Some(Value::StringValue(text)) => text,
        Some(Value::BoolValue(truth)) => truth.to_string(),
        Some(Value::IntValue(number)) => number.to_string(),
        Some(Value::DoubleValue(number)) => number.to_string(),
        Some(
            other @ (Value::ArrayValue(_)
            | Value::KvlistValue(_)
            | Value::BytesValue(_)
            | Value::StringValueStrindex(_)),
        ) => {
            format!("{other:?}")
        }
        None => String::new(),
    }
}
