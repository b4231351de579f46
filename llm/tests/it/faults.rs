//! Every fault of the table in `docs/models.md`, played to a call in each form: the table says what has to be said.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;

use interrupt_router::StopScope;
use interrupt_router::model::{LanguageModel, ModelError};
use llm::{CallLimits, hint};
use tests::providers::{Behaviour, ProviderDouble, RIGHT_KEY, Received, Transport, WireForm};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use crate::calls::{ANSWER, Ending, call, double, limits, model_at};
use crate::chat::opening;
use crate::outcomes::refused_by_the_model;

/// A row of the table.
struct Fault {
    name: &'static str,
    /// What is said; `…` stands for what differs.
    told: &'static str,
    /// Part of what helps.
    helps: &'static str,
    /// Whether the call is made again.
    again: bool,
}

/// The rows of the table.
fn table() -> Vec<Fault> {
    let page = include_str!("../../../docs/models.md");
    let section = page.split("## Every fault").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| "));
    let rows = rows.skip(2).map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [name, told, helps, again] = cells[..] else {
            panic!("a row of four: {row}");
        };
        Fault {
            name,
            told,
            helps,
            again: again == "yes",
        }
    });
    rows.collect()
}

/// How a fault comes about.
enum Wire {
    Does(Behaviour),
    /// There is no double that plays it.
    Elsewhere(Elsewhere),
}

#[derive(Clone, Copy)]
enum Elsewhere {
    NobodyListens,
    Closes,
    Resets,
    Untrusted,
    SpeaksNoTls,
}

const SHORT: Duration = Duration::from_millis(150);
const PAGE: &str =
    "<!DOCTYPE html><html><head><title>Bad gateway</title></head><body>…</body></html>";

fn refusal(status: u16, body: impl Into<String>) -> Behaviour {
    Behaviour::RefusesWith {
        status,
        body: body.into(),
    }
}

/// A refusal for a cause that each provider has its own name for.
fn refusal_for(status: u16, form: WireForm, cause: (&str, &str, &str)) -> Behaviour {
    let (openai, anthropic, gemini) = cause;
    let body = match form {
        WireForm::OpenAi | WireForm::OpenAiResponses => {
            format!(r#"{{"error":{{"code":"{openai}","message":"no"}}}}"#)
        }
        WireForm::Anthropic => {
            format!(r#"{{"type":"error","error":{{"type":"{anthropic}","message":"no"}}}}"#)
        }
        WireForm::Gemini => format!(r#"[{{"error":{{"code":{status},"message":"{gemini}"}}}}]"#),
    };
    refusal(status, body)
}

/// The stream of a whole answer up to the midst of a character of two bytes.
fn cut_in_a_character(form: WireForm) -> Behaviour {
    let stream = ProviderDouble::recording(form, "ü");
    let place = stream.find('ü').unwrap() + 1;
    Behaviour::SendsAs {
        kind: "text/event-stream",
        body: stream.into_bytes()[..place].to_vec(),
    }
}

/// The stream of an answer up to the midst, and what comes then.
fn begun(form: WireForm, then: &str) -> String {
    let stream = ProviderDouble::recording(form, ANSWER);
    let events = stream.split_inclusive("\n\n");
    let mut begun: String = events.take(opening(form) + 2).collect();
    begun.push_str(then);
    begun
}

#[expect(
    clippy::too_many_lines,
    reason = "it is one table: each fault by its name in the guide"
)]
fn wire(name: &str, form: WireForm) -> Wire {
    // So that two pieces of five characters have come.
    let events = opening(form) + 2;
    Wire::Does(match name {
        "429 with `Retry-After`" => Behaviour::asks_to_wait("7"),
        "429 for want of credit" => {
            let gemini = "You exceeded your current quota, please check your plan.";
            refusal_for(429, form, ("insufficient_quota", "billing_error", gemini))
        }
        "500 without a word" => refusal(500, ""),
        "502 with a page of HTML" => refusal(502, PAGE),
        "a redirect" => Behaviour::Refuses {
            status: 307,
            headers: vec![("location", "http://127.0.0.1:9".to_owned())],
        },
        "a refusal without end" => Behaviour::RefusesEndlessly(500),
        "a full context" => {
            let gemini = "The input token count exceeds the maximum number of tokens allowed.";
            let cause = ("context_length_exceeded", "request_too_large", gemini);
            refusal_for(400, form, cause)
        }
        "a content filter" => match form {
            WireForm::Gemini => Behaviour::Withholds,
            WireForm::OpenAi | WireForm::OpenAiResponses | WireForm::Anthropic => {
                refusal(400, r#"{"error":{"code":"content_filter","message":"no"}}"#)
            }
        },
        "a refusal of the model" => refused_by_the_model(form),
        "an error in the midst of a stream" => Behaviour::FailsAfter(events),
        "a page of HTML in place of a stream" => Behaviour::Page,
        "JSON at once in place of a stream" => Behaviour::SendsAs {
            kind: "application/json",
            body: br#"{"choices":[{"message":{"content":"forty-two"}}]}"#.to_vec(),
        },
        "an error as JSON in place of a stream" => Behaviour::SendsAs {
            kind: "application/json",
            body: br#"{"error":{"message":"no capacity left"}}"#.to_vec(),
        },
        "a line of error in place of a stream" => {
            Behaviour::Sends("error: no capacity left\n".to_owned())
        }
        "words in the midst of an answer" => {
            Behaviour::Sends(begun(form, "data: no capacity left\n\n"))
        }
        "an end for a reason that is not known" => {
            let whole = ProviderDouble::recording(form, "forty-two");
            let ends = ["stop", "completed", "end_turn", "STOP"].map(|end| format!("\"{end}\""));
            let ended = ends.iter().fold(whole, |stream, end| {
                stream.replace(end.as_str(), "\"a_new_reason\"")
            });
            // With the Responses API the reason has a place of its own.
            Behaviour::Sends(ended.replace(
                r#""incomplete_details":null"#,
                r#""incomplete_details":{"reason":"a_new_reason"}"#,
            ))
        }
        "an event that is no JSON" => Behaviour::Garbage,
        "an event that is no JSON in the midst of an answer" => Behaviour::GarblesAfter(events),
        "an empty answer" => Behaviour::Sends(String::new()),
        "a cut in the midst of an event" => Behaviour::EndsWithin(events),
        "a cut in the midst of a character" => cut_in_a_character(form),
        "a broken connection" => Behaviour::BreaksAfter(events),
        "silence before the first event" => Behaviour::StallsBeforeHeaders,
        "silence in the midst of an answer" => Behaviour::StallsAfter(events),
        "an answer that drips" => Behaviour::Drips(Duration::from_millis(5)),
        "nothing but comments" => Behaviour::KeepsAlive,
        "a line without end" => Behaviour::EndlessLine,
        "an answer without end" => Behaviour::Endless,
        "a server that is not there" => return Wire::Elsewhere(Elsewhere::NobodyListens),
        "a server that hangs up" => return Wire::Elsewhere(Elsewhere::Closes),
        "a connection that is reset" => return Wire::Elsewhere(Elsewhere::Resets),
        "a certificate that nobody vouches for" => return Wire::Elsewhere(Elsewhere::Untrusted),
        "a server without TLS, asked by https" => return Wire::Elsewhere(Elsewhere::SpeaksNoTls),
        status => {
            let number = status.get(..3).and_then(|number| number.parse().ok());
            let number = number.unwrap_or_else(|| panic!("nobody plays `{status}`"));
            refusal(number, r#"{"error":{"message":"no"}}"#)
        }
    })
}

/// Short limits where the fault is about time.
fn limits_for(name: &str) -> CallLimits {
    let mut limits = CallLimits {
        answer: 10_000,
        line_reads: 64,
        ..limits()
    };
    match name {
        "silence before the first event" => limits.first = SHORT,
        "silence in the midst of an answer" => limits.silence = SHORT,
        "an answer that drips" | "nothing but comments" => {
            limits.whole = 2 * SHORT;
            limits.line_reads = u32::MAX;
        }
        _ => {}
    }
    limits
}

async fn met(name: &str, form: WireForm) -> Ending {
    let behaviour = match wire(name, form) {
        Wire::Does(behaviour) => behaviour,
        Wire::Elsewhere(elsewhere) => return elsewhere.met(form).await,
    };
    let double = double(form, [behaviour]).await;
    let model = model_at(double.address(), form, RIGHT_KEY, limits_for(name));
    model.call(call(model.dialect()), &StopScope::new()).await
}

impl Elsewhere {
    async fn met(self, form: WireForm) -> Ending {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let mut address = format!("http://{}", listener.local_addr().unwrap());
        let mut kept = None;
        match self {
            Self::NobodyListens => drop(listener),
            Self::Closes | Self::Resets => {
                let reads = matches!(self, Self::Closes);
                tokio::spawn(async move {
                    while let Ok((mut stream, _peer)) = listener.accept().await {
                        stream.readable().await.unwrap();
                        // What is unread when it is closed makes it a reset.
                        let mut request = vec![0; 64 * 1024];
                        if reads {
                            let _read = stream.read(&mut request).await;
                        }
                    }
                });
            }
            Self::Untrusted => {
                let answer = |_: &Received| ANSWER.to_owned();
                let over = Transport::Http2OverTls;
                let double = ProviderDouble::over(over, form, [Behaviour::Answers], answer);
                let double = double.await.unwrap();
                double.address().clone_into(&mut address);
                kept = Some(double);
            }
            Self::SpeaksNoTls => {
                let double = double(form, [Behaviour::Answers]).await;
                address = double.address().replace("http://", "https://");
                kept = Some(double);
            }
        }
        let model = model_at(&address, form, RIGHT_KEY, limits());
        let ended = model.call(call(model.dialect()), &StopScope::new()).await;
        drop(kept);
        ended
    }
}

/// An error with its causes, the innermost last.
fn told(error: &ModelError) -> String {
    let mut told = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        told.push_str(&format!(": {cause}"));
        next = cause.source();
    }
    told
}

/// Whether a text is what is expected, in which `…` stands for anything.
fn is_as(expected: &str, text: &str) -> bool {
    let mut pieces = expected.split('…');
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    for piece in pieces {
        let Some(place) = rest.find(piece) else {
            return false;
        };
        rest = &rest[place + piece.len()..];
    }
    expected.ends_with('…') || rest.is_empty()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_fault_is_told_as_the_table_says_in_every_form() {
    let mut wrong = Vec::new();
    let table = table();
    assert!(table.len() >= 40, "{}", table.len());
    for fault in &table {
        for form in WireForm::ALL {
            if fault.name == "a refusal of the model" && form == WireForm::Gemini {
                // It knows none.
                continue;
            }
            let Err(error) = met(fault.name, form).await else {
                wrong.push(format!("{} {form:?}: an answer", fault.name));
                continue;
            };
            let (said, helps, again) = (told(&error), hint(&error), error.is_transient());
            if !is_as(fault.told, &said) || !helps.contains(fault.helps) || again != fault.again {
                wrong.push(format!(
                    "{} {form:?}: {said} | {helps} | {again}",
                    fault.name
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Faults that are one and the same to whoever meets them.
const ALIKE: [(&str, &str); 10] = [
    ("413", "a full context"),
    ("a refusal without end", "a line without end"),
    (
        "a page of HTML in place of a stream",
        "JSON at once in place of a stream",
    ),
    (
        "an error as JSON in place of a stream",
        "a line of error in place of a stream",
    ),
    (
        "a line of error in place of a stream",
        "words in the midst of an answer",
    ),
    ("a cut in the midst of an event", "a broken connection"),
    (
        "an event that is no JSON in the midst of an answer",
        "a cut in the midst of an event",
    ),
    ("an empty answer", "a cut in the midst of a character"),
    ("an answer that drips", "nothing but comments"),
    ("a server that hangs up", "a connection that is reset"),
];

#[test]
fn each_fault_has_words_of_its_own() {
    let mut rows = BTreeMap::new();
    for fault in table() {
        if let Some(other) = rows.insert(fault.told, fault.name) {
            let pair = (other, fault.name);
            assert!(ALIKE.contains(&pair), "{pair:?} are both: {}", fault.told);
        }
    }
}
