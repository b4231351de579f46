//! An interrupt ends a call in every phase, and the server sees its connection close.

use std::time::{Duration, Instant};

use interrupt_router::model::{LanguageModel, ModelCall};
use interrupt_router::{Outcome, StopScope};
use llm::CallLimits;
use tests::providers::{Behaviour, ProviderDouble, RIGHT_KEY, WireForm};

use crate::calls::{ANSWER, Ending, Pieces, call, double, limits, model, model_at, stop_now};
use crate::chat::opening;

/// How long a line grows before its call is stopped.
const BUSY: Duration = Duration::from_millis(500);

/// Stops a call when so many pieces have come.
async fn stopped_after(double: &ProviderDouble, form: WireForm, count: usize) -> Ending {
    let model = model(double, form);
    let pieces = Pieces::new();
    let call = ModelCall {
        chunks: Some(pieces.clone()),
        ..call(model.dialect())
    };
    let scope = StopScope::new();
    let (ending, ()) = tokio::join!(model.call(call, &scope), async {
        pieces.reached(count).await;
        stop_now(&scope);
    });
    ending
}

#[tokio::test]
async fn before_it_begins() {
    for form in WireForm::ALL {
        let double = double(form, [Behaviour::Answers]).await;
        let model = model(&double, form);
        let scope = StopScope::new();
        stop_now(&scope);
        let outcome = model.call(call(model.dialect()), &scope).await.unwrap();
        assert!(matches!(outcome, Outcome::Interrupted { .. }));
        assert!(double.received().is_empty(), "nothing was sent");
    }
}

#[tokio::test]
async fn while_it_waits_for_headers() {
    for form in WireForm::ALL {
        let double = double(form, [Behaviour::StallsBeforeHeaders]).await;
        let model = model(&double, form);
        let scope = StopScope::new();
        let call = model.call(call(model.dialect()), &scope);
        let (ending, ()) = tokio::join!(call, async {
            while double.received().is_empty() {
                tokio::task::yield_now().await;
            }
            stop_now(&scope);
        });
        assert!(
            matches!(ending.unwrap(), Outcome::Interrupted { .. }),
            "{form:?}"
        );
        double.hang_ups().reached(1).await;
    }
}

#[tokio::test]
async fn between_pieces_and_the_partial_answer_is_kept() {
    for form in WireForm::ALL {
        // After the opening events and two pieces.
        let double = double(form, [Behaviour::StallsAfter(opening(form) + 2)]).await;
        let ending = stopped_after(&double, form, 2).await.unwrap();
        let Outcome::Interrupted { reason, partial } = ending else {
            panic!("{form:?} {ending:?}");
        };
        assert_eq!(reason.message, "enough");
        assert_eq!(partial.text, ANSWER[..10]);
        let says_at_once = matches!(form, WireForm::Anthropic | WireForm::Gemini);
        let known = says_at_once.then_some(11);
        assert_eq!(
            partial.usage.input, known,
            "{form:?}: OpenAI says its cost at the end only"
        );
        double.hang_ups().reached(1).await;
    }
}

#[tokio::test]
async fn while_pieces_pour_in() {
    for form in WireForm::ALL {
        let double = double(form, [Behaviour::Endless]).await;
        let ending = stopped_after(&double, form, 20).await.unwrap();
        let Outcome::Interrupted { partial, .. } = ending else {
            panic!("{form:?} {ending:?}");
        };
        assert!(partial.text.len() >= 20 * "more and ".len());
        double.hang_ups().reached(1).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn within_a_line_that_never_ends() {
    let form = WireForm::OpenAi;
    let double = double(form, [Behaviour::EndlessLine]).await;
    let limits = CallLimits {
        line_reads: u32::MAX,
        ..limits()
    };
    let model = model_at(double.address(), form, RIGHT_KEY, limits);
    let scope = StopScope::new();
    let stopping = scope.clone();
    let server = double.hang_ups().clone();
    let received = async {
        while double.received().is_empty() {
            tokio::task::yield_now().await;
        }
        // Long enough for the reader to be busy with what is already long.
        let busy = tokio::task::spawn_blocking(|| std::thread::park_timeout(BUSY));
        busy.await.unwrap();
        stop_now(&stopping);
        Instant::now()
    };
    let (ending, stopped) = tokio::join!(model.call(call(model.dialect()), &scope), received);
    assert!(matches!(ending.unwrap(), Outcome::Interrupted { .. }));
    assert!(stopped.elapsed() < BUSY, "{:?}", stopped.elapsed());
    server.reached(1).await;
}

#[tokio::test]
async fn a_dropped_call_closes_its_connection_too() {
    let double = double(WireForm::OpenAi, [Behaviour::StallsAfter(3)]).await;
    let model = model(&double, WireForm::OpenAi);
    let pieces = Pieces::new();
    let call = ModelCall {
        chunks: Some(pieces.clone()),
        ..call(model.dialect())
    };
    let scope = StopScope::new();
    tokio::select! {
        ending = model.call(call, &scope) => panic!("{ending:?}"),
        () = pieces.reached(2) => {}
    }
    double.hang_ups().reached(1).await;
}
