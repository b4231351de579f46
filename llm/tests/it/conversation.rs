//! Conversations over the wire: interrupts, pauses, races, and what goes into the next call.

use std::sync::Arc;
use std::time::Duration;

use interrupt_router::{StopMode, StopScope};
use llm::{
    Completeness, Conversation, ConversationConfig, ConversationEvent, ConversationRunEnd,
    ConversationRunError, ConversationStatus, Pace, RehearsalConfig, RehearsalModel, StopOutcome,
    check_history,
};
use serde_json::Value;
use tests::providers::{Behaviour, WireForm};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::calls::{ANSWER, double, model, reason};
use crate::chat::opening;

fn rehearsing(pace: u32) -> ConversationConfig {
    ConversationConfig::new(Arc::new(RehearsalModel::new(RehearsalConfig {
        pace: Pace::from_tokens_per_second(pace),
        ..RehearsalConfig::default()
    })))
}

async fn pieces(events: &mut UnboundedReceiver<ConversationEvent>, count: usize) {
    for _ in 0..count {
        loop {
            let event = events.recv().await.unwrap();
            if matches!(event, ConversationEvent::Piece { .. }) {
                break;
            }
        }
    }
}

fn interrupts(events: &mut UnboundedReceiver<ConversationEvent>) -> usize {
    std::iter::from_fn(|| events.try_recv().ok())
        .filter(|event| matches!(event, ConversationEvent::Interrupted { .. }))
        .count()
}

/// The roles and texts of a request, in the provider's form.
fn turns(form: WireForm, body: &Value) -> Vec<(String, String)> {
    let list = match form {
        WireForm::OpenAi | WireForm::Anthropic => &body["messages"],
        WireForm::OpenAiResponses => &body["input"],
        WireForm::Gemini => &body["contents"],
    };
    let turns = list.as_array().unwrap().iter();
    turns
        .map(|turn| {
            let text = ["/content", "/content/0/text", "/parts/0/text"]
                .iter()
                .find_map(|place| turn.pointer(place)?.as_str());
            let text = text.unwrap().to_owned();
            (turn["role"].as_str().unwrap().to_owned(), text)
        })
        .filter(|(role, _text)| role != "system")
        .collect()
}

#[tokio::test]
async fn after_an_interrupt_anywhere_the_next_call_obeys_the_providers_rules() {
    let last = ANSWER.len().div_ceil(5);
    for form in WireForm::ALL {
        for count in 0..=last {
            let stall = Behaviour::StallsWithin(opening(form) + count);
            let double = double(form, [stall, Behaviour::Answers]).await;
            let conversation = Conversation::new(ConversationConfig {
                system: Some("Be brief.".to_owned()),
                ..ConversationConfig::new(Arc::new(model(&double, form)))
            });
            let mut events = conversation.events();
            conversation.send_message("one").unwrap();
            let (end, ()) = tokio::join!(conversation.run(), async {
                while double.received_count() == 0 {
                    tokio::task::yield_now().await;
                }
                pieces(&mut events, count).await;
                conversation.interrupt(reason());
            });
            assert!(matches!(
                end.unwrap(),
                ConversationRunEnd::Interrupted { .. }
            ));
            double.hang_ups().reached(1).await;
            assert_eq!(interrupts(&mut events), 1);
            conversation.send_message("two").unwrap();
            assert_eq!(
                conversation.run().await.unwrap(),
                ConversationRunEnd::Answered
            );
            let sent = turns(form, &double.received()[1].body);
            let model_role = if form == WireForm::Gemini {
                "model"
            } else {
                "assistant"
            };
            let turn = |role: &str, text: &str| (role.to_owned(), text.to_owned());
            let expected = if count == 0 {
                vec![turn("user", "one\n\ntwo")]
            } else {
                let kept = &ANSWER[..ANSWER.len().min(count * 5)];
                let entry = &conversation.history().entries()[2].clone();
                assert_eq!(entry.completeness, Completeness::Interrupted);
                vec![
                    turn("user", "one"),
                    turn(model_role, kept),
                    turn("user", "two"),
                ]
            };
            assert_eq!(sent, expected, "{form:?} {count}");
        }
    }
}

#[tokio::test]
async fn a_pause_waits_for_the_answer_and_keeps_the_messages_behind_it() {
    let conversation = Conversation::new(rehearsing(0));
    conversation.send_message("one").unwrap();
    let run = conversation.run();
    conversation.send_message("two").unwrap();
    let mut events = conversation.events();
    let (end, ()) = tokio::join!(run, async {
        pieces(&mut events, 1).await;
        conversation.send_message("three").unwrap();
        assert_eq!(conversation.pause(reason()), StopOutcome::StopsRun);
        assert_eq!(conversation.status(), ConversationStatus::Pausing);
    });
    let ConversationRunEnd::Paused { reason } = end.unwrap() else {
        panic!("paused");
    };
    assert_eq!(reason.mode, StopMode::Graceful);
    assert_eq!(conversation.waiting(), 1);
    assert!(conversation.history().entries()[2].message.text.len() > 100);
    assert_eq!(
        conversation.run().await.unwrap(),
        ConversationRunEnd::Answered
    );
    assert_eq!(conversation.waiting(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_takes_too_long_becomes_an_interrupt() {
    for from_outside in [false, true] {
        let scope = StopScope::new();
        let conversation = Conversation::new(ConversationConfig {
            grace: Some(Duration::from_secs(1)),
            scope: scope.clone(),
            ..rehearsing(1)
        });
        let mut events = conversation.events();
        conversation.send_message("one").unwrap();
        let (end, ()) = tokio::join!(conversation.run(), async {
            pieces(&mut events, 1).await;
            if from_outside {
                let mode = StopMode::Graceful;
                scope.stop(interrupt_router::StopReason { mode, ..reason() });
            } else {
                conversation.pause(reason());
            }
        });
        let ConversationRunEnd::Interrupted { reason, partial } = end.unwrap() else {
            panic!("interrupted");
        };
        assert!(reason.message.contains("within 1s"), "{}", reason.message);
        assert!(!partial.unwrap().text.is_empty());
        assert_eq!(interrupts(&mut events), 1);
    }
}

#[tokio::test]
async fn a_run_has_begun_before_it_is_polled_and_is_interrupted_from_then_on() {
    let conversation = Conversation::new(rehearsing(1));
    conversation.send_message("one").unwrap();
    let run = conversation.run();
    assert_eq!(conversation.interrupt(reason()), StopOutcome::StopsRun);
    assert!(matches!(
        run.await.unwrap(),
        ConversationRunEnd::Interrupted { .. }
    ));
    assert_eq!(conversation.waiting(), 1, "the message is kept");
}

#[tokio::test]
async fn a_second_run_is_refused_and_a_dropped_one_keeps_its_pieces() {
    let conversation = Conversation::new(rehearsing(1_000));
    let mut events = conversation.events();
    conversation.send_message("one").unwrap();
    let run = conversation.run();
    assert!(matches!(
        conversation.run().await,
        Err(ConversationRunError::AlreadyRunning)
    ));
    tokio::select! {
        end = run => panic!("{end:?}"),
        () = pieces(&mut events, 3) => {}
    }
    assert_eq!(conversation.status(), ConversationStatus::Paused);
    assert_eq!(interrupts(&mut events), 1);
    let history = conversation.history();
    let last = history.entries().last().unwrap();
    assert_eq!(last.completeness, Completeness::Interrupted);
    assert!(!last.message.text.is_empty());
}

#[tokio::test]
async fn a_stopped_scope_interrupts_every_run_and_strands_no_message() {
    let scope = StopScope::new();
    let conversation = Conversation::new(ConversationConfig {
        scope: scope.clone(),
        ..rehearsing(0)
    });
    scope.stop(reason());
    conversation.send_message("one").unwrap();
    let mut events = conversation.events();
    for _ in 0..3 {
        let end = conversation.run().await.unwrap();
        assert!(matches!(
            end,
            ConversationRunEnd::Interrupted { partial: None, .. }
        ));
    }
    assert_eq!(interrupts(&mut events), 3);
    assert_eq!(conversation.waiting(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_a_thousand_interrupts_that_race_with_a_start_none_is_lost() {
    let (mut stopped, mut paused) = (0, 0);
    for _ in 0..1_000 {
        let conversation = Conversation::new(rehearsing(0));
        let mut events = conversation.events();
        conversation.send_message("one").unwrap();
        let barrier = Arc::new(tokio::sync::Barrier::new(2));
        let running = tokio::spawn({
            let (conversation, barrier) = (conversation.clone(), Arc::clone(&barrier));
            async move {
                barrier.wait().await;
                conversation.run().await.unwrap()
            }
        });
        barrier.wait().await;
        let asked = conversation.interrupt(reason());
        let end = running.await.unwrap();
        match asked {
            // Whether it came before the run or in its midst.
            StopOutcome::StopsNextRun | StopOutcome::StopsRun => {
                stopped += 1;
                assert!(
                    matches!(end, ConversationRunEnd::Interrupted { .. }),
                    "{end:?}"
                );
                assert_eq!(conversation.status(), ConversationStatus::Paused);
            }
            // The run had ended.
            StopOutcome::PausesIdle => {
                paused += 1;
                assert_eq!(end, ConversationRunEnd::Answered);
            }
            StopOutcome::ChangesNothing => panic!("an interrupt was lost"),
        }
        assert_eq!(interrupts(&mut events), 1, "exactly one event");
        let rest = conversation.run().await.unwrap();
        assert_eq!(rest, ConversationRunEnd::Answered, "no message is stranded");
    }
    assert_eq!(stopped + paused, 1_000);
    assert!(stopped > 0, "the race never was one");
}

#[test]
fn a_conversation_runs_in_one_thread_and_is_used_from_seven_others() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let conversation = Conversation::new(rehearsing(2_000));
    conversation.send_message("first").unwrap();
    let mut events = conversation.events();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Runs until everything that the others send is answered, however often they interrupt.
            while sent(&conversation) < 181 || conversation.has_work() {
                runtime.block_on(conversation.run()).unwrap();
            }
        });
        for thread in 0..6 {
            let conversation = &conversation;
            scope.spawn(move || {
                for message in 0..30 {
                    conversation
                        .send_message(format!("{thread}:{message}"))
                        .unwrap();
                    conversation.interrupt(reason());
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..50 {
                conversation.pause(reason());
                runtime.block_on(conversation.at_rest());
            }
        });
    });
    runtime.block_on(conversation.run()).unwrap();
    assert_eq!(conversation.status(), ConversationStatus::Idle);
    assert_eq!(sent(&conversation), 181, "no message is lost");
    for thread in 0..6 {
        let own: Vec<usize> = said(&conversation)
            .iter()
            .filter_map(|text| text.strip_prefix(&format!("{thread}:"))?.parse().ok())
            .collect();
        assert!(own.is_sorted() && own.len() == 30, "{thread}: {own:?}");
    }
    let next = conversation.history().for_next_call();
    assert!(next.is_empty() || check_history(&next).is_ok());
    drop(conversation);
    let told = std::iter::from_fn(|| events.blocking_recv());
    assert!(told.count() > 181, "the events end with the conversation");
}

fn said(conversation: &Conversation) -> Vec<String> {
    let history = conversation.history();
    let users = history.entries().iter();
    users
        .filter(|entry| entry.message.role == interrupt_router::model::Role::User)
        .map(|entry| entry.message.text.to_string())
        .collect()
}

fn sent(conversation: &Conversation) -> usize {
    said(conversation).len()
}

#[tokio::test]
async fn an_interrupt_between_a_message_and_its_run_takes_effect_once() {
    let conversation = Conversation::new(rehearsing(0));
    conversation.send_message("Hello").unwrap();
    assert_eq!(conversation.interrupt(reason()), StopOutcome::StopsNextRun);
    let end = conversation.run().await.unwrap();
    assert!(matches!(
        end,
        ConversationRunEnd::Interrupted { partial: None, .. }
    ));
    let end = conversation.run().await.unwrap();
    assert_eq!(
        end,
        ConversationRunEnd::Answered,
        "the message still waited"
    );
}
