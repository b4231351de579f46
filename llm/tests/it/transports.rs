//! Interrupts over TLS and HTTP/2, in every phase: the server sees each call end, and no other.

use std::time::Duration;

use interrupt_router::model::{
    AtProvider, LanguageModel, Message, ModelCall, ModelError, PartialReply,
};
use interrupt_router::{Outcome, StopScope};
use llm::{ProviderError, ProviderModel, RetryPolicy, Retrying};
use tests::providers::{Behaviour, ProviderDouble, RIGHT_KEY, Received, Transport, WireForm};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use crate::calls::{ANSWER, Pieces, limits, model_at, stop_now, talk};
use crate::chat::opening;

/// How often each phase is interrupted over each transport in each form: 5 phases, 3 transports, 4
/// forms, more than 1,000 in all.
const TIMES: usize = 20;

fn call() -> ModelCall {
    talk(vec![Message::user("Hello")])
}

async fn double(
    transport: Transport,
    form: WireForm,
    behaviours: impl IntoIterator<Item = Behaviour>,
) -> ProviderDouble {
    let answer = |_: &Received| ANSWER.to_owned();
    let double = ProviderDouble::over(transport, form, behaviours, answer);
    double.await.unwrap()
}

fn model(double: &ProviderDouble, form: WireForm) -> ProviderModel {
    let model = model_at(double.address(), form, RIGHT_KEY, limits());
    match double.authority() {
        None => model,
        Some(authority) => model.trusting(authority.as_bytes()).unwrap(),
    }
}

/// Stops a call when `until` says so, and gives what there is of it.
async fn stopped(
    model: &ProviderModel,
    call: ModelCall,
    until: impl Future<Output = ()>,
) -> PartialReply {
    let scope = StopScope::new();
    let (outcome, ()) = tokio::join!(model.call(call, &scope), async {
        until.await;
        stop_now(&scope);
    });
    match outcome.unwrap() {
        Outcome::Interrupted { partial, .. } => partial,
        Outcome::Completed(reply) => panic!("{reply:?}"),
    }
}

async fn stopped_after(model: &ProviderModel, count: usize) -> PartialReply {
    let pieces = Pieces::new();
    let call = ModelCall {
        chunks: Some(pieces.clone()),
        ..call()
    };
    stopped(model, call, pieces.reached(count)).await
}

async fn received(double: &ProviderDouble, count: usize) {
    while double.received_count() < count {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_whole_answer_is_the_same_over_every_transport() {
    for transport in Transport::ALL {
        for form in WireForm::ALL {
            let double = double(transport, form, [Behaviour::Answers]).await;
            let model = model(&double, form);
            for _ in 0..3 {
                let outcome = model.call(call(), &StopScope::new()).await.unwrap();
                let reply = outcome.completed().unwrap();
                assert_eq!(reply.text, ANSWER, "{transport:?} {form:?}");
            }
            assert_eq!(double.hang_ups().count(), 0);
        }
    }
}

#[tokio::test]
async fn who_is_not_vouched_for_is_not_spoken_to() {
    let form = WireForm::OpenAi;
    let double = double(Transport::Http2OverTls, form, [Behaviour::Answers]).await;
    let model = model_at(double.address(), form, RIGHT_KEY, limits());
    let error = model.call(call(), &StopScope::new()).await.unwrap_err();
    assert!(matches!(error, ModelError::Unreachable { .. }), "{error:?}");
    assert_eq!(double.received_count(), 0, "the key went nowhere");
    let refused = model.trusting(b"no certificate").unwrap_err();
    assert!(matches!(refused, ProviderError::Certificate));
}

#[tokio::test]
async fn an_interrupt_while_it_connects_leaves_nothing_behind() {
    for transport in Transport::ALL {
        for form in WireForm::ALL {
            let double = double(transport, form, [Behaviour::StallsBeforeHeaders]).await;
            let model = model(&double, form);
            for _ in 0..TIMES {
                let partial = stopped(&model, call(), async {}).await;
                assert_eq!(partial.text, "");
            }
            double.hang_ups().reached(double.received_count()).await;
        }
    }
}

#[tokio::test]
async fn an_interrupt_before_headers_is_seen_by_the_server() {
    for transport in Transport::ALL {
        for form in WireForm::ALL {
            let double = double(transport, form, [Behaviour::StallsBeforeHeaders]).await;
            let model = model(&double, form);
            for time in 1..=TIMES {
                let partial = stopped(&model, call(), received(&double, time)).await;
                assert_ne!(partial.at_provider, AtProvider::NothingUnderWay);
                assert!(partial.may_be_billed());
                double.hang_ups().reached(time).await;
            }
            assert_eq!(double.received_count(), TIMES, "no further request");
        }
    }
}

#[tokio::test]
async fn an_interrupt_between_pieces_within_one_and_while_they_pour_in_is_seen_by_the_server() {
    for transport in Transport::ALL {
        for form in WireForm::ALL {
            for behaviour in [
                Behaviour::StallsAfter(opening(form) + 2),
                Behaviour::StallsWithin(opening(form) + 2),
                Behaviour::Endless,
            ] {
                let double = double(transport, form, [behaviour.clone()]).await;
                let model = model(&double, form);
                // What never ends keeps both sides busy.
                let is_endless = behaviour == Behaviour::Endless;
                let times = if is_endless { TIMES / 5 } else { TIMES };
                for time in 1..=times {
                    let partial = stopped_after(&model, 2).await;
                    let expected = if is_endless {
                        "more and more and "
                    } else {
                        &ANSWER[..10]
                    };
                    assert!(partial.text.starts_with(expected), "{partial:?}");
                    double.hang_ups().reached(time).await;
                }
                assert_eq!(double.received_count(), times, "no further request");
            }
        }
    }
}

#[tokio::test]
async fn an_interrupt_ends_one_call_of_a_shared_connection_and_no_other() {
    let form = WireForm::OpenAi;
    let stalls = Behaviour::StallsAfter(opening(form) + 1);
    let slowly = Behaviour::AnswersSlowly(Duration::from_millis(5));
    let double = double(Transport::Http2OverTls, form, [stalls, slowly]).await;
    let model = model(&double, form);
    let (partial, whole) = tokio::join!(stopped(&model, call(), received(&double, 2)), async {
        received(&double, 1).await;
        model.call(call(), &StopScope::new()).await
    });
    assert_ne!(partial.at_provider, AtProvider::NothingUnderWay);
    assert_eq!(whole.unwrap().completed().unwrap().text, ANSWER);
    double.hang_ups().reached(1).await;
    assert_eq!(double.hang_ups().count(), 1);
}

#[tokio::test]
async fn an_interrupt_of_a_handshake_that_stalls_closes_the_connection() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = format!("https://{}", listener.local_addr().unwrap());
    for form in WireForm::ALL {
        let model = model_at(&address, form, RIGHT_KEY, limits());
        for _ in 0..TIMES {
            let scope = StopScope::new();
            let (outcome, end) = tokio::join!(model.call(call(), &scope), async {
                let (mut stream, _peer) = listener.accept().await.unwrap();
                let mut hello = [0; 16];
                stream.read_exact(&mut hello).await.unwrap();
                stop_now(&scope);
                let mut rest = Vec::new();
                stream.read_to_end(&mut rest).await
            });
            assert!(matches!(outcome.unwrap(), Outcome::Interrupted { .. }));
            // An orderly end or a broken connection, but an end.
            drop(end);
        }
    }
}

#[tokio::test]
async fn failures_are_tried_again_over_every_transport() {
    for transport in Transport::ALL {
        for form in WireForm::ALL {
            let behaviours = [
                Behaviour::asks_to_wait("0"),
                Behaviour::refuses(429),
                Behaviour::refuses(503),
                Behaviour::BreaksAfter(opening(form) + 1),
                Behaviour::EndsWithin(opening(form) + 1),
                Behaviour::Answers,
            ];
            let double = double(transport, form, behaviours).await;
            let policy = RetryPolicy {
                tries: 6,
                first_wait: Duration::from_millis(1),
                ..RetryPolicy::default()
            };
            let retrying = Retrying::new(model(&double, form), policy);
            let outcome = retrying.call(call(), &StopScope::new()).await;
            let reply = outcome.unwrap().completed().unwrap();
            assert_eq!(reply.text, ANSWER, "{transport:?} {form:?}");
            assert_eq!(double.received_count(), 6);
        }
    }
}
