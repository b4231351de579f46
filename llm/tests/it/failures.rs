//! What fails, and as what.

use std::time::Duration;

use interrupt_router::StopScope;
use interrupt_router::model::{LanguageModel, ModelError};
use interrupt_router::schema::Dialect;
use tests::providers::{Behaviour, WireForm};

use crate::calls::{ANSWER, call, double, ending, limits, model_at};
use crate::chat::opening;

async fn error(form: WireForm, behaviour: Behaviour) -> ModelError {
    ending(form, behaviour).await.unwrap_err()
}

#[tokio::test]
async fn a_status_becomes_its_error_with_the_providers_words() {
    for form in WireForm::ALL {
        for status in [400, 404, 422] {
            let error = error(form, Behaviour::refuses(status)).await;
            assert!(
                matches!(&error, ModelError::Rejected { status: got, detail }
                    if *got == status && detail == "the double was told to refuse"),
                "{form:?} {error:?}"
            );
        }
        for status in [401, 403] {
            let error = error(form, Behaviour::refuses(status)).await;
            assert!(matches!(error, ModelError::Unauthorized { status: got, .. } if got == status));
        }
        for status in [500, 503, 529] {
            let error = error(form, Behaviour::refuses(status)).await;
            assert!(
                matches!(error, ModelError::ProviderFailed { status: got, .. } if got == status)
            );
        }
    }
}

#[tokio::test]
async fn a_429_says_how_long_to_wait() {
    for form in WireForm::ALL {
        for (behaviour, expected) in [
            (Behaviour::refuses(429), None),
            (Behaviour::asks_to_wait("7"), Some(Duration::from_secs(7))),
            (
                Behaviour::asks_to_wait("Sun, 06 Nov 1994 08:49:37 GMT"),
                Some(Duration::ZERO),
            ),
        ] {
            let error = error(form, behaviour).await;
            assert!(
                matches!(error, ModelError::RateLimited { retry_after, .. } if retry_after == expected),
                "{form:?} {error:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_wrong_key_is_refused_and_never_shown() {
    for form in WireForm::ALL {
        let double = double(form, [Behaviour::Answers]).await;
        let model = model_at(double.address(), form, "sk-wrong-and-secret", limits());
        let error = model
            .call(call(model.dialect()), &StopScope::new())
            .await
            .unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("wrong-and-secret"), "{shown}");
        if form != WireForm::Gemini {
            assert!(
                matches!(error, ModelError::Unauthorized { status: 401, .. }),
                "{error:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_schema_beyond_the_providers_rules_is_refused_in_its_words() {
    for form in WireForm::ALL {
        let double = double(form, [Behaviour::Answers]).await;
        let model = model_at(
            double.address(),
            form,
            tests::providers::RIGHT_KEY,
            limits(),
        );
        // A plain schema has what each of them forbids.
        let error = model
            .call(call(Dialect::JsonSchema), &StopScope::new())
            .await
            .unwrap_err();
        assert!(
            matches!(&error, ModelError::Rejected { status: 400, detail } if !detail.is_empty()),
            "{form:?} {error:?}"
        );
    }
}

#[tokio::test]
async fn a_stream_that_is_cut_is_a_whole_answer_only_after_the_reason_of_its_end() {
    for form in WireForm::ALL {
        let pieces = ANSWER.len().div_ceil(5);
        let before = opening(form);
        // The events after the text, up to the reason; and those that only end the stream.
        let (closing, last) = match form {
            WireForm::OpenAi => (1, 2),
            WireForm::OpenAiResponses => (3, 0),
            WireForm::Anthropic => (2, 1),
            WireForm::Gemini => (1, 0),
        };
        let reason = before + pieces + closing;
        for events in 0..=reason + last {
            for behaviour in [
                Behaviour::BreaksAfter(events),
                Behaviour::EndsAfter(events),
                Behaviour::EndsWithin(events),
            ] {
                let outcome = ending(form, behaviour.clone()).await;
                if events >= reason {
                    let reply = outcome.unwrap().completed().unwrap();
                    assert_eq!((reply.text.as_str(), reply.cut_off), (ANSWER, false));
                    continue;
                }
                let cut = outcome.unwrap_err();
                let received = 5 * events.saturating_sub(before).min(pieces);
                assert!(
                    matches!(cut, ModelError::BrokenOff { received: got } if got == received.min(ANSWER.len()))
                        || matches!(cut, ModelError::Unreachable { .. } if events == 0),
                    "{form:?} {behaviour:?} {cut:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn an_error_within_the_stream_is_what_it_says() {
    for form in WireForm::ALL {
        for events in [0, 4] {
            let error = error(form, Behaviour::FailsAfter(events)).await;
            assert!(
                matches!(&error, ModelError::ProviderFailed { status: 500 | 503 | 529, detail, .. }
                    if detail.to_lowercase().contains("overloaded")),
                "{form:?} {error:?}"
            );
            // What had arrived may be billed; some forms open with events that say nothing.
            let has_text = events > opening(form);
            assert_eq!(error.is_free(), !has_text, "{form:?} {error:?}");
        }
    }
}

#[tokio::test]
async fn a_redirect_is_refused_and_the_key_goes_nowhere_else() {
    for form in WireForm::ALL {
        let elsewhere = double(form, [Behaviour::Answers]).await;
        let headers = vec![("location", elsewhere.address().to_owned())];
        let error = error(
            form,
            Behaviour::Refuses {
                status: 307,
                headers,
            },
        )
        .await;
        assert!(
            matches!(error, ModelError::Rejected { status: 307, .. }),
            "{form:?} {error:?}"
        );
        assert!(elsewhere.received().is_empty(), "{form:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_withheld_is_no_answer() {
    for form in WireForm::ALL {
        let error = error(form, Behaviour::Withholds).await;
        // With Anthropic it is the model that refuses.
        assert!(
            matches!(&error, ModelError::Filtered { detail } | ModelError::Refused { detail } if !detail.is_empty()),
            "{form:?} {error:?}"
        );
        assert!(!error.is_transient());
    }
}

#[tokio::test]
async fn what_is_no_stream_of_events_is_not_understood() {
    for form in WireForm::ALL {
        for behaviour in [Behaviour::Page, Behaviour::Garbage] {
            let error = error(form, behaviour.clone()).await;
            assert!(
                matches!(error, ModelError::Malformed { .. }),
                "{form:?} {behaviour:?} {error:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    for form in WireForm::ALL {
        // A port that was free a moment ago, and on which nobody listens.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        drop(listener);
        let model = model_at(&address, form, "some-key-of-length", limits());
        let error = model
            .call(call(model.dialect()), &StopScope::new())
            .await
            .unwrap_err();
        assert!(
            matches!(&error, ModelError::Unreachable { endpoint, .. } if endpoint.starts_with(&address)),
            "{form:?} {error:?}"
        );
    }
}
