//! What bounds a call.

use std::time::{Duration, Instant};

use interrupt_router::StopScope;
use interrupt_router::model::{LanguageModel, ModelError};
use llm::CallLimits;
use tests::providers::{Behaviour, RIGHT_KEY, WireForm};

use crate::calls::{call, double, limits, model_at};

async fn limited(form: WireForm, behaviour: Behaviour, limits: CallLimits) -> ModelError {
    let double = double(form, [behaviour]).await;
    let model = model_at(double.address(), form, RIGHT_KEY, limits);
    let error = model
        .call(call(model.dialect()), &StopScope::new())
        .await
        .unwrap_err();
    // A limit may be over before anything has arrived.
    let arrived = double.received_count().min(1);
    double.hang_ups().reached(arrived).await;
    error
}

#[tokio::test]
async fn an_endless_answer_is_too_long() {
    for form in WireForm::ALL {
        let limits = CallLimits {
            answer: 10_000,
            ..limits()
        };
        let error = limited(form, Behaviour::Endless, limits).await;
        assert!(
            matches!(error, ModelError::TooLong { limit: 10_000 }),
            "{form:?} {error:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_fifty_megabytes_in_one_line_is_too_long_or_too_late() {
    let within = Duration::from_secs(1);
    let limits = CallLimits {
        silence: within,
        first: within,
        whole: 3 * within,
        ..CallLimits::default()
    };
    let double = double(WireForm::OpenAi, [Behaviour::OneLine(50 << 20)]).await;
    let model = model_at(double.address(), WireForm::OpenAi, RIGHT_KEY, limits);
    let start = Instant::now();
    let error = model
        .call(call(model.dialect()), &StopScope::new())
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            ModelError::TooLong { .. }
                | ModelError::LineTooLong { .. }
                | ModelError::TimedOut { .. }
        ),
        "{error:?}"
    );
    // The deadline holds though the line keeps its reader busy.
    assert!(start.elapsed() < 20 * within, "{:?}", start.elapsed());
}

/// Nothing of a line is let go of before its end, so it is cut off before it is as long as the memory.
#[tokio::test]
async fn a_line_without_an_end_is_cut_off() {
    // A block has 64 KiB; what the system holds on to is taken from the server too.
    const MOST_BLOCKS: usize = 1_024;
    for form in WireForm::ALL {
        for behaviour in [Behaviour::EndlessLine, Behaviour::RefusesEndlessly(500)] {
            let double = double(form, [behaviour]).await;
            let limits = CallLimits {
                line_reads: 64,
                ..limits()
            };
            let model = model_at(double.address(), form, RIGHT_KEY, limits);
            let ended = model.call(call(model.dialect()), &StopScope::new()).await;
            assert!(
                matches!(ended, Err(ModelError::LineTooLong { reads: 64 })),
                "{form:?} {ended:?}"
            );
            double.hang_ups().reached(1).await;
            assert!(
                double.blocks_sent() < MOST_BLOCKS,
                "{}",
                double.blocks_sent()
            );
        }
    }
}

#[tokio::test]
async fn headers_that_never_come_are_too_late() {
    let short = Duration::from_millis(50);
    for form in WireForm::ALL {
        let limits = CallLimits {
            first: short,
            ..limits()
        };
        let error = limited(form, Behaviour::StallsBeforeHeaders, limits).await;
        assert!(
            matches!(error, ModelError::TimedOut { limit, .. } if limit == short),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn a_silent_stream_is_too_late() {
    let short = Duration::from_millis(50);
    for form in WireForm::ALL {
        let limits = CallLimits {
            silence: short,
            ..limits()
        };
        let error = limited(form, Behaviour::StallsAfter(4), limits).await;
        assert!(
            matches!(error, ModelError::TimedOut { limit, .. } if limit == short),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn comments_keep_a_connection_open_and_the_deadline_still_ends_it() {
    let whole = Duration::from_millis(300);
    let silence = Duration::from_millis(100);
    for form in WireForm::ALL {
        let limits = CallLimits {
            whole,
            silence,
            ..limits()
        };
        let error = limited(form, Behaviour::KeepsAlive, limits).await;
        assert!(
            matches!(error, ModelError::TimedOut { limit, .. } if limit == whole),
            "{error:?}"
        );
    }
}
