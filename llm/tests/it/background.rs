//! Answers that are made in the background: closing their connection does not stop them, so the provider
//! is told to cancel them.

use std::sync::Arc;
use std::time::Duration;

use interrupt_router::model::{
    AtProvider, LanguageModel, Message, ModelCall, ModelError, PartialReply,
};
use interrupt_router::{Outcome, StopScope};
use llm::{CancelObserver, CancelOutcome, CancelReport, ProviderModel};
use tests::providers::{Behaviour, CancelAnswer, ProviderDouble, WireForm};
use tokio::sync::mpsc;

use crate::calls::{ANSWER, Pieces, call, double, model, stop_now, talk};
use crate::chat::opening;

const FORM: WireForm = WireForm::OpenAiResponses;

/// Passes on what it is told.
struct Told(mpsc::UnboundedSender<CancelReport>);

impl CancelObserver for Told {
    fn cancelled(&self, report: CancelReport) {
        self.0.send(report).unwrap();
    }
}

fn in_background(
    double: &ProviderDouble,
) -> (ProviderModel, mpsc::UnboundedReceiver<CancelReport>) {
    let (told, reports) = mpsc::unbounded_channel();
    let model = model(double, FORM).in_background(Arc::new(Told(told)));
    (model, reports)
}

async fn stalling() -> ProviderDouble {
    double(FORM, [Behaviour::StallsAfter(opening(FORM) + 2)]).await
}

/// Interrupts a call once two pieces have come.
async fn interrupted(model: &ProviderModel) -> PartialReply {
    let pieces = Pieces::new();
    let call = ModelCall {
        chunks: Some(pieces.clone()),
        ..talk(vec![Message::user("Hello")])
    };
    let scope = StopScope::new();
    let (outcome, ()) = tokio::join!(model.call(call, &scope), async {
        pieces.reached(2).await;
        stop_now(&scope);
    });
    match outcome.unwrap() {
        Outcome::Interrupted { partial, .. } => partial,
        Outcome::Completed(reply) => panic!("{reply:?}"),
    }
}

#[tokio::test]
async fn an_interrupt_tells_the_provider_once_and_what_came_of_it_is_told() {
    let double = stalling().await;
    let (model, mut reports) = in_background(&double);
    for (time, (answer, outcome)) in [
        (CancelAnswer::Cancelled, CancelOutcome::Cancelled),
        (
            CancelAnswer::Completed,
            CancelOutcome::Over {
                status: "completed".to_owned(),
            },
        ),
        (
            CancelAnswer::Refused(400),
            CancelOutcome::Refused { status: 400 },
        ),
    ]
    .into_iter()
    .enumerate()
    {
        double.cancellations().answer_with(answer);
        let partial = interrupted(&model).await;
        assert_eq!(partial.text, ANSWER[..10]);
        assert_eq!(partial.at_provider, AtProvider::BeingTold);
        assert!(partial.may_be_billed());
        let response = format!("resp_{}", time + 1);
        let report = reports.recv().await.unwrap();
        assert_eq!(
            (report.response, report.outcome),
            (response, outcome),
            "{answer:?}"
        );
        double.hang_ups().reached(time + 1).await;
    }
    assert_eq!(double.cancellations().ids(), ["resp_1", "resp_2", "resp_3"]);
    let body = &double.received()[0].body;
    assert_eq!(
        (&body["background"], &body["store"]),
        (&true.into(), &true.into())
    );
}

#[tokio::test]
async fn a_provider_that_says_nothing_keeps_nobody_waiting() {
    let double = stalling().await;
    double.cancellations().answer_with(CancelAnswer::Nothing);
    let (model, mut reports) = in_background(&double);
    // Comes back, though the cancellation does not.
    assert_eq!(interrupted(&model).await.at_provider, AtProvider::BeingTold);
    double.cancellations().reached(1).await;
    assert!(reports.try_recv().is_err());
}

#[tokio::test]
async fn a_cancellation_is_sent_though_the_model_is_gone() {
    let double = stalling().await;
    let (model, mut reports) = in_background(&double);
    interrupted(&model).await;
    drop(model);
    double.cancellations().reached(1).await;
    let report = reports.recv().await.unwrap();
    assert_eq!(report.outcome, CancelOutcome::Cancelled);
}

#[tokio::test]
async fn a_dropped_call_tells_the_provider_too() {
    let double = stalling().await;
    let (model, mut reports) = in_background(&double);
    let scope = StopScope::new();
    let call = model.call(talk(vec![Message::user("Hello")]), &scope);
    let ended = tokio::time::timeout(Duration::from_millis(200), call).await;
    assert!(ended.is_err(), "it answered");
    assert_eq!(reports.recv().await.unwrap().response, "resp_1");
}

#[tokio::test]
async fn an_answer_that_broke_off_is_cancelled_before_it_is_asked_for_again() {
    let double = double(FORM, [Behaviour::BreaksAfter(opening(FORM) + 1)]).await;
    let (model, mut reports) = in_background(&double);
    let call = talk(vec![Message::user("Hello")]);
    let ended = model.call(call, &StopScope::new()).await;
    assert!(matches!(ended, Err(ModelError::BrokenOff { .. })));
    assert_eq!(reports.recv().await.unwrap().response, "resp_1");
}

#[tokio::test]
async fn what_has_no_name_yet_is_only_discarded() {
    let double = double(FORM, [Behaviour::StallsBeforeHeaders]).await;
    let (model, _reports) = in_background(&double);
    let scope = StopScope::new();
    let call = talk(vec![Message::user("Hello")]);
    let (outcome, ()) = tokio::join!(model.call(call, &scope), async {
        while double.received_count() == 0 {
            tokio::task::yield_now().await;
        }
        stop_now(&scope);
    });
    let Outcome::Interrupted { partial, .. } = outcome.unwrap() else {
        panic!("not interrupted");
    };
    assert_eq!(partial.at_provider, AtProvider::OnlyDiscarded);
    assert!(partial.may_be_billed());
    assert!(double.cancellations().ids().is_empty());
}

#[tokio::test]
async fn whole_answers_and_answers_in_the_foreground_are_not_cancelled() {
    let whole = double(
        FORM,
        [
            Behaviour::Answers,
            Behaviour::ReachesLengthLimit,
            Behaviour::Withholds,
        ],
    )
    .await;
    let (model, mut reports) = in_background(&whole);
    for _ in 0..3 {
        let call = call(LanguageModel::dialect(&model));
        let _ended = model.call(call, &StopScope::new()).await;
    }
    drop(model);
    // The thread of the model has ended, so nothing follows.
    assert_eq!(reports.recv().await, None);
    assert!(whole.cancellations().ids().is_empty());
    assert!(
        whole.received()[0]
            .body
            .pointer("/text/format/schema")
            .is_some()
    );

    let foreground = stalling().await;
    let model = crate::calls::model(&foreground, FORM);
    let partial = interrupted(&model).await;
    assert_ne!(partial.at_provider, AtProvider::BeingTold);
    foreground.hang_ups().reached(1).await;
    assert!(foreground.cancellations().ids().is_empty());
    assert_eq!(foreground.received()[0].body["store"], false);
}

#[tokio::test]
async fn other_providers_are_as_before() {
    for form in [WireForm::OpenAi, WireForm::Anthropic, WireForm::Gemini] {
        let double = double(form, [Behaviour::Answers]).await;
        let model = model(&double, form).in_background(Arc::new(()));
        let call = talk(vec![Message::user("Hello")]);
        model.call(call, &StopScope::new()).await.unwrap();
        assert!(double.received()[0].body.get("background").is_none());
    }
}
