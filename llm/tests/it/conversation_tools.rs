//! Conversations that run tools: each request has one result, whatever stops it, and every next call is one
//! that providers take.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use interrupt_router::StopScope;
use interrupt_router::model::{Role, ToolOffer, ToolRequest};
use llm::{
    Conversation, ConversationConfig, ConversationEvent, ConversationRunEnd, ConversationStatus,
    ConversationTools, ToolProgress, ToolResult, ToolState, check_history,
};
use tests::providers::{Behaviour, ProviderDouble, Received, Said, SaidCall, WireForm};
use tokio::sync::watch;

use crate::calls::{model, reason};
use crate::tools::{calls, offers};

/// A desk whose `web_search` takes for ever, and whose `read_file` is done at once.
#[derive(Clone)]
struct Desk {
    started: watch::Sender<usize>,
    slow: bool,
    ran: Arc<Mutex<Vec<String>>>,
}

impl Desk {
    fn new(slow: bool) -> Self {
        Self {
            started: watch::Sender::new(0),
            slow,
            ran: Arc::default(),
        }
    }

    async fn begun(&self, count: usize) {
        let mut changes = self.started.subscribe();
        changes.wait_for(|started| *started >= count).await.unwrap();
    }
}

fn result(text: &str, state: ToolState) -> ToolResult {
    ToolResult {
        text: text.to_owned(),
        state,
        summary: state.word().to_owned(),
        may_still_run: None,
    }
}

#[async_trait]
impl ConversationTools for Desk {
    fn offers(&self) -> Arc<[ToolOffer]> {
        offers()
    }

    async fn run(
        &self,
        requests: &[ToolRequest],
        scope: &StopScope,
        progress: &dyn ToolProgress,
    ) -> Vec<ToolResult> {
        let all = requests
            .iter()
            .enumerate()
            .map(|(index, request)| async move {
                if scope.is_stopped_now() {
                    return result("not executed", ToolState::NeverRan);
                }
                progress.started(index);
                self.started.send_modify(|started| *started += 1);
                let ended = if self.slow && request.name == "web_search" {
                    scope.stopped_now().await;
                    result("was stopped", ToolState::Interrupted)
                } else {
                    result(&format!("of {}", request.name), ToolState::Finished)
                };
                self.ran.lock().unwrap().push(request.id.clone());
                progress.ended(index, ended.clone());
                ended
            });
        futures_util::future::join_all(all).await
    }
}

/// A double that asks for tools until it has seen their results.
async fn asking(form: WireForm, behaviours: impl IntoIterator<Item = Behaviour>) -> ProviderDouble {
    let answer = move |received: &Received| {
        if form.tool_results(&received.body).is_empty() {
            Said::asking("I look.", calls())
        } else {
            Said::from("I see.")
        }
    };
    ProviderDouble::answering(form, behaviours, answer)
        .await
        .unwrap()
}

fn config(double: &ProviderDouble, form: WireForm, desk: &Desk) -> ConversationConfig {
    ConversationConfig {
        tools: Some(Arc::new(desk.clone())),
        ..ConversationConfig::new(Arc::new(model(double, form)))
    }
}

fn results(conversation: &Conversation) -> Vec<String> {
    let history = conversation.history();
    let entries = history.entries().iter();
    entries
        .filter(|entry| entry.message.role == Role::Tool)
        .map(|entry| entry.message.text.to_string())
        .collect()
}

fn assert_valid(conversation: &Conversation) {
    let next = conversation.history().for_next_call();
    assert_eq!(check_history(&next), Ok(()), "{next:?}");
}

#[tokio::test]
async fn tools_run_between_two_answers_and_their_results_are_read() {
    for form in WireForm::ALL {
        let double = asking(form, [Behaviour::Answers]).await;
        let desk = Desk::new(false);
        let conversation = Conversation::new(config(&double, form, &desk));
        let mut events = conversation.events();
        conversation.send_message("one").unwrap();
        assert_eq!(
            conversation.run().await.unwrap(),
            ConversationRunEnd::Answered
        );
        assert_eq!(double.received_count(), 2);
        let body = &double.received()[1].body;
        let expected = ["of read_file", "of web_search"];
        assert_eq!(form.tool_results(body), expected, "{form:?}");
        assert_eq!(results(&conversation), expected);
        let mut told = Vec::new();
        while let Ok(event) = events.try_recv() {
            if let ConversationEvent::ToolEnded { request, result } = event {
                told.push((request.id, result.state));
            }
        }
        told.sort_by(|one, other| one.0.cmp(&other.0));
        let finished = |id: &str| (id.to_owned(), ToolState::Finished);
        assert_eq!(told, [finished("call_a"), finished("call_b")]);
        // The double refuses what its provider would.
        conversation.send_message("three").unwrap();
        assert_eq!(
            conversation.run().await.unwrap(),
            ConversationRunEnd::Answered
        );
    }
}

#[tokio::test]
async fn an_interrupt_stops_tools_and_records_their_results_before_the_run_ends() {
    for form in WireForm::ALL {
        let double = asking(form, [Behaviour::Answers]).await;
        let desk = Desk::new(true);
        let conversation = Conversation::new(config(&double, form, &desk));
        let mut events = conversation.events();
        conversation.send_message("one").unwrap();
        let (end, ()) = tokio::join!(conversation.run(), async {
            desk.begun(2).await;
            conversation.interrupt(reason());
        });
        assert!(matches!(
            end.unwrap(),
            ConversationRunEnd::Interrupted { partial: None, .. }
        ));
        assert_eq!(results(&conversation), ["of read_file", "was stopped"]);
        let mut ended = 0;
        let mut last = None;
        while let Ok(event) = events.try_recv() {
            ended += usize::from(matches!(event, ConversationEvent::ToolEnded { .. }));
            last = Some(event);
        }
        assert_eq!(ended, 2);
        assert!(matches!(last, Some(ConversationEvent::Interrupted { .. })));
        assert_eq!(double.received_count(), 1, "the model is not asked again");
        assert_valid(&conversation);
        // The next message goes on from there, and the provider takes it.
        conversation.send_message("another way").unwrap();
        assert_eq!(
            conversation.run().await.unwrap(),
            ConversationRunEnd::Answered
        );
        let body = &double.received()[1].body;
        assert_eq!(form.tool_results(body), ["of read_file", "was stopped"]);
        assert_eq!(form.user_texts(body), ["one", "another way"], "{form:?}");
    }
}

#[tokio::test]
async fn a_message_that_is_sent_while_tools_run_comes_behind_their_results() {
    let form = WireForm::Anthropic;
    let double = asking(form, [Behaviour::Answers]).await;
    let desk = Desk::new(true);
    let conversation = Conversation::new(config(&double, form, &desk));
    conversation.send_message("one").unwrap();
    let (end, ()) = tokio::join!(conversation.run(), async {
        desk.begun(2).await;
        conversation.send_message("meanwhile").unwrap();
        conversation.interrupt(reason());
    });
    assert!(matches!(
        end.unwrap(),
        ConversationRunEnd::Interrupted { .. }
    ));
    assert_eq!(conversation.waiting(), 1);
    assert!(conversation.has_work());
    assert_eq!(
        conversation.run().await.unwrap(),
        ConversationRunEnd::Answered
    );
    let roles: Vec<Role> = conversation
        .history()
        .entries()
        .iter()
        .map(|entry| entry.message.role)
        .collect();
    let (user, model, tool) = (Role::User, Role::Assistant, Role::Tool);
    assert_eq!(roles, [user, model, tool, tool, user, model]);
}

#[tokio::test]
async fn a_pause_keeps_tools_from_beginning_and_the_next_run_begins_with_them() {
    let form = WireForm::OpenAi;
    let double = asking(form, [Behaviour::AnswersSlowly(Duration::from_millis(1))]).await;
    let desk = Desk::new(false);
    let conversation = Conversation::new(config(&double, form, &desk));
    let mut events = conversation.events();
    conversation.send_message("one").unwrap();
    let (end, ()) = tokio::join!(conversation.run(), async {
        loop {
            if let Some(ConversationEvent::Piece { .. }) = events.recv().await {
                break;
            }
        }
        conversation.pause(reason());
    });
    assert!(matches!(end.unwrap(), ConversationRunEnd::Paused { .. }));
    assert!(desk.ran.lock().unwrap().is_empty(), "nothing began");
    assert!(conversation.has_work());
    assert_valid(&conversation);
    conversation.send_message("and more").unwrap();
    assert_eq!(
        conversation.run().await.unwrap(),
        ConversationRunEnd::Answered
    );
    assert_eq!(desk.ran.lock().unwrap().len(), 2);
    let sent = form.user_texts(&double.received()[1].body);
    assert_eq!(sent, ["one", "and more"]);
}

#[tokio::test]
async fn a_pause_waits_for_tools_and_becomes_an_interrupt_where_they_take_too_long() {
    let form = WireForm::Gemini;
    for (slow, grace) in [(false, None), (true, Some(Duration::from_millis(20)))] {
        let double = asking(form, [Behaviour::Answers]).await;
        let desk = Desk::new(slow);
        let conversation = Conversation::new(ConversationConfig {
            grace,
            ..config(&double, form, &desk)
        });
        conversation.send_message("one").unwrap();
        let (end, ()) = tokio::join!(conversation.run(), async {
            desk.begun(1).await;
            conversation.pause(reason());
        });
        match end.unwrap() {
            ConversationRunEnd::Paused { .. } => assert!(!slow),
            ConversationRunEnd::Interrupted { reason, .. } => {
                assert!(slow && reason.message.contains("within 20ms"), "{reason:?}");
            }
            ConversationRunEnd::Answered => panic!("it was paused"),
        }
        assert_eq!(results(&conversation).len(), 2);
        assert_eq!(conversation.status(), ConversationStatus::Paused);
        // Tools that end at once may have been read by the model before the pause took hold.
        assert!(conversation.has_work() || !slow);
        assert_eq!(
            conversation.run().await.unwrap(),
            ConversationRunEnd::Answered
        );
    }
}

/// A desk whose calls must not be interrupted, and end when they are told to.
#[derive(Clone, Default)]
struct Section(watch::Sender<(bool, bool)>);

impl Section {
    async fn has_ended(&self) {
        let mut changes = self.0.subscribe();
        changes.wait_for(|(_, ended)| *ended).await.unwrap();
    }
}

#[async_trait]
impl ConversationTools for Section {
    fn offers(&self) -> Arc<[ToolOffer]> {
        offers()
    }

    async fn interruptible(&self) {
        self.has_ended().await;
    }

    async fn run(
        &self,
        requests: &[ToolRequest],
        _scope: &StopScope,
        progress: &dyn ToolProgress,
    ) -> Vec<ToolResult> {
        for index in 0..requests.len() {
            progress.started(index);
        }
        self.0.send_modify(|(begun, _)| *begun = true);
        self.has_ended().await;
        vec![result("all of it", ToolState::Finished); requests.len()]
    }
}

#[tokio::test]
async fn what_must_not_be_interrupted_is_never_given_up() {
    let form = WireForm::OpenAi;
    let double = asking(form, [Behaviour::Answers]).await;
    let section = Section::default();
    let conversation = Conversation::new(ConversationConfig {
        tools: Some(Arc::new(section.clone())),
        ..ConversationConfig::new(Arc::new(model(&double, form)))
    });
    conversation.send_message("one").unwrap();
    let mut begun = section.0.subscribe();
    let (end, ()) = tokio::join!(conversation.run(), async {
        begun.wait_for(|(begun, _)| *begun).await.unwrap();
        conversation.interrupt(reason());
        tokio::time::pause();
        tokio::time::sleep(Duration::from_secs(3_600)).await;
        section.0.send_modify(|(_, ended)| *ended = true);
    });
    assert!(matches!(
        end.unwrap(),
        ConversationRunEnd::Interrupted { .. }
    ));
    assert_eq!(results(&conversation), ["all of it", "all of it"]);
    assert_valid(&conversation);
}

#[tokio::test]
async fn a_run_that_is_dropped_while_tools_run_leaves_a_result_for_each() {
    let form = WireForm::OpenAiResponses;
    let double = asking(form, [Behaviour::Answers]).await;
    let desk = Desk::new(true);
    let conversation = Conversation::new(config(&double, form, &desk));
    conversation.send_message("one").unwrap();
    tokio::select! {
        end = conversation.run() => panic!("{end:?}"),
        () = desk.begun(2) => {}
    }
    let results = results(&conversation);
    assert_eq!(results[0], "of read_file");
    assert!(
        results[1].contains("nobody saw how it ended"),
        "{results:?}"
    );
    assert_valid(&conversation);
    conversation.send_message("go on").unwrap();
    assert_eq!(
        conversation.run().await.unwrap(),
        ConversationRunEnd::Answered
    );
}

#[tokio::test]
async fn a_model_that_never_stops_asking_is_paused_at_the_limit_of_rounds() {
    let form = WireForm::Anthropic;
    let rounds = Arc::new(AtomicUsize::new(0));
    let asked = Arc::clone(&rounds);
    let answer = move |_: &Received| {
        // The ids of a conversation are not repeated.
        let round = asked.fetch_add(1, Ordering::Relaxed);
        let call = SaidCall::new(&format!("call_{round}"), "read_file", r#"{"path":"a"}"#);
        Said::asking("", [call])
    };
    let double = ProviderDouble::answering(form, [Behaviour::Answers], answer).await;
    let double = double.unwrap();
    let desk = Desk::new(false);
    let conversation = Conversation::new(ConversationConfig {
        tool_rounds: 3,
        ..config(&double, form, &desk)
    });
    conversation.send_message("one").unwrap();
    for run in 1..=2 {
        let ConversationRunEnd::Paused { reason } = conversation.run().await.unwrap() else {
            panic!("paused");
        };
        assert!(reason.message.contains("3 rounds"), "{}", reason.message);
        assert_eq!(desk.ran.lock().unwrap().len(), 3 * run);
        assert_valid(&conversation);
    }
}

#[tokio::test]
async fn what_is_asked_for_where_no_tools_are_is_not_in_the_history() {
    for form in WireForm::ALL {
        let double = asking(form, [Behaviour::Answers]).await;
        let config = ConversationConfig::new(Arc::new(model(&double, form)));
        let conversation = Conversation::new(config);
        for message in ["one", "another"] {
            conversation.send_message(message).unwrap();
            assert_eq!(
                conversation.run().await.unwrap(),
                ConversationRunEnd::Answered
            );
            assert!(!conversation.has_work());
        }
        assert_eq!(conversation.history().entries().len(), 4, "{form:?}");
    }
}

#[tokio::test]
async fn an_interrupt_at_any_byte_of_a_stream_with_tools_leaves_a_valid_history() {
    let mut interrupted = 0;
    let mut kept = 0;
    for form in WireForm::ALL {
        let stream = ProviderDouble::recording(form, Said::asking("I look.", calls()));
        let ends = stream.match_indices("\n\n").map(|(at, _)| at + 2);
        let around = ends.flat_map(|end| end.saturating_sub(1)..=end + 1);
        let mut places: Vec<usize> = (0..stream.len()).step_by(97).chain(around).collect();
        places.retain(|place| *place < stream.len());
        places.sort_unstable();
        places.dedup();
        for place in places {
            let behaviours = [Behaviour::StallsAtByte(place), Behaviour::Answers];
            let double = asking(form, behaviours).await;
            let desk = Desk::new(false);
            let conversation = Conversation::new(config(&double, form, &desk));
            let mut events = conversation.events();
            conversation.send_message("one").unwrap();
            let (end, ()) = tokio::join!(conversation.run(), async {
                while double.received_count() == 0 {
                    tokio::task::yield_now().await;
                }
                let whole = stream[..place].rfind("\n\n").unwrap_or_default();
                let seen = stream[..whole].contains("k.");
                let mut waits = seen;
                while waits {
                    let event = events.recv().await.unwrap();
                    waits =
                        !matches!(event, ConversationEvent::Piece { text } if text.contains("k."));
                }
                conversation.interrupt(reason());
            });
            // Where the stream's end had come, the answer was whole, and no tool of it begins.
            assert!(
                matches!(end.unwrap(), ConversationRunEnd::Interrupted { .. }),
                "{form:?} {place}"
            );
            kept += usize::from(!results(&conversation).is_empty());
            conversation.send_message("two").unwrap();
            conversation.run().await.unwrap();
            assert_valid(&conversation);
            interrupted += 1;
        }
    }
    println!("{interrupted} places, {kept} with whole requests");
    assert!(interrupted > 100 && kept > 0);
}

#[test]
fn many_threads_interrupt_a_conversation_that_runs_tools() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let form = WireForm::OpenAi;
    let double = runtime.block_on(asking(form, [Behaviour::Answers]));
    let desk = Desk::new(true);
    let conversation = Conversation::new(config(&double, form, &desk));
    for round in 0..20 {
        conversation
            .send_message(format!("message {round}"))
            .unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let stoppers: Vec<_> = (0..4)
            .map(|_| {
                let (conversation, over) = (conversation.clone(), Arc::clone(&over));
                std::thread::spawn(move || {
                    while !over.load(Ordering::Relaxed) {
                        conversation.interrupt(reason());
                        std::thread::yield_now();
                    }
                })
            })
            .collect();
        let _end = runtime.block_on(conversation.run()).unwrap();
        over.store(true, Ordering::Relaxed);
        for stopper in stoppers {
            stopper.join().unwrap();
        }
        let next = conversation.history().for_next_call();
        if !next.is_empty() {
            assert_eq!(check_history(&next), Ok(()));
        }
    }
    let history = conversation.history();
    let asked: usize = history
        .entries()
        .iter()
        .map(|entry| entry.message.tool_requests.len())
        .sum();
    let answered = history
        .entries()
        .iter()
        .filter(|entry| entry.message.role == Role::Tool)
        .count();
    assert_eq!(asked, answered, "one result for each request");
}
