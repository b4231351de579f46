//! The unified handler: each type of interrupt, the order of targets, corrections, and running it twice.

use expect_test::expect;
use interrupt_router::handler::{
    Branches, DecidedBy, FilledBy, HandleError, HandlerPolicy, Resolution,
};
use interrupt_router::model::Purpose;
use interrupt_router::reroute::RerouteState;
use interrupt_router::review::{Answer, QuestionKind, Resume};
use interrupt_router::{InterruptType, Outcome, StopMode, StopReason, StopSource};
use jiff::Timestamp;

use crate::domain::{
    Desk, Desks, Draft, Edit, Interrupt, ProofreaderInterrupt, details, event, from_editor, node,
};
use crate::scene::{Scene, chose};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;
const EDIT: &str = r#"{"edit":{"text":"The newer figure.","notes":[]}}"#;
const DRAFT: &str = r#"{"draft":{"topic":"the new law"}}"#;

#[tokio::test]
async fn human_review_goes_back_to_the_origin_and_the_answer_is_in_the_prompt() {
    let (scene, desks) = (Scene::new(), Desks::new(&[EDIT], vec![chose("second")]));
    let routed = scene
        .routed(&desks, from_editor(InterruptType::HumanReview))
        .await;
    assert_eq!(routed.routing.edit.unwrap().text, "The newer figure.");
    assert_eq!(
        (routed.decided_by, routed.filled_by),
        (DecidedBy::Person, FilledBy::Model { corrections: 0 })
    );

    let calls = desks.model.calls.lock().unwrap();
    let [call] = &calls[..] else {
        panic!("{} calls", calls.len())
    };
    assert_eq!(call.caller.purpose, Purpose::Resolution);
    let prompt: String = call.messages.iter().map(|message| &*message.text).collect();
    for part in [
        "check it twice",
        "The newer source.",
        "two sources disagree",
        "§ 3",
        "article on figures",
    ] {
        assert!(
            prompt.contains(part),
            "`{part}` is not in the prompt:\n{prompt}"
        );
    }
    assert!(
        !prompt.contains("The older source.\","),
        "what was not chosen is told as chosen"
    );
    assert!(
        !call.schema_text().contains("\"draft\""),
        "{}",
        call.schema_text()
    );
}

#[tokio::test]
async fn a_workers_interrupt_goes_back_to_its_route() {
    let (scene, desks) = (Scene::new(), Desks::new(&[EDIT], vec![chose("first")]));
    let request = Interrupt::Proofreader(ProofreaderInterrupt {
        details: details(InterruptType::HumanReview),
        paragraph: "1".to_owned(),
    });
    assert!(scene.routed(&desks, request).await.routing.edit.is_some());
}

#[tokio::test]
async fn the_bound_event_wins_over_the_origin_and_is_consumed_with_the_decision() {
    let (scene, desks) = (Scene::new(), Desks::new(&[DRAFT], vec![chose("first")]));
    desks
        .publish(&event("e1", "root/editor", Some(Desk::Writer)))
        .await;
    let routed = scene
        .routed(&desks, from_editor(InterruptType::HumanReview))
        .await;
    assert!(routed.routing.draft.is_some());
    assert_eq!(
        routed
            .reroute
            .as_ref()
            .map(interrupt_router::EventId::as_str),
        Some("e1")
    );
    let state = desks.router.state(&"e1".to_owned().try_into().unwrap());
    let expected = RerouteState::Consumed {
        interrupt: scene.interrupt,
        decision: routed.decision,
    };
    assert_eq!(state, Some(expected));
    expect![[r"
        bound e1 to WRITER
        asked WRITER
        answered
        resolved EDITOR to WRITER with e1"]]
    .assert_eq(&desks.journal.0.lock().unwrap().join("\n"));
}

#[tokio::test]
async fn the_persons_reroute_wins_over_the_bound_event() {
    let answer = Answer {
        reroute_to: Some("PUBLISHER".to_owned()),
        ..Answer::default()
    };
    let (scene, desks) = (
        Scene::new(),
        Desks::new(&[r#"{"publish":{"text":"as it is"}}"#], vec![answer]),
    );
    desks
        .publish(&event("e1", "root/editor", Some(Desk::Writer)))
        .await;
    let routed = scene
        .routed(&desks, from_editor(InterruptType::HumanReview))
        .await;
    assert!(routed.routing.publish.is_some());
}

#[tokio::test]
async fn handling_twice_asks_nobody_twice_and_gives_the_same_resolution() {
    let (scene, desks) = (Scene::new(), Desks::new(&[EDIT], vec![chose("first")]));
    let first = scene
        .handle(&desks, from_editor(InterruptType::HumanReview))
        .await
        .unwrap();
    let again = scene
        .handle(&desks, from_editor(InterruptType::HumanReview))
        .await
        .unwrap();
    assert_eq!(first, again);
    assert_eq!(desks.reviewer.questions.lock().unwrap().len(), 1);
    assert_eq!(desks.model.calls.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn two_callers_at_once_decide_once() {
    let (scene, desks) = (Scene::new(), Desks::new(&[EDIT], vec![chose("first")]));
    let (left, right) = tokio::join!(
        scene.handle(&desks, from_editor(InterruptType::HumanReview)),
        scene.handle(&desks, from_editor(InterruptType::HumanReview)),
    );
    assert_eq!(left.unwrap(), right.unwrap());
    assert_eq!(desks.reviewer.questions.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn an_edited_request_resolves_without_a_model() {
    let edited = serde_json::json!({ "text": "By hand.", "notes": ["seen"] });
    let answer = Answer {
        edited_request: Some(edited),
        ..Answer::default()
    };
    let (scene, desks) = (Scene::new(), Desks::new(&[], vec![answer]));
    let routed = scene
        .routed(&desks, from_editor(InterruptType::HumanReview))
        .await;
    assert_eq!(routed.routing.edit.unwrap().notes, ["seen"]);
    assert_eq!(routed.filled_by, FilledBy::Person);
    assert!(desks.model.calls.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_asked_again_with_the_reason() {
    let wrong_choice = chose("third");
    let wrong_route = Answer {
        reroute_to: Some("PROOFREADER".to_owned()),
        ..Answer::default()
    };
    let wrong_edit = Answer {
        edited_request: Some(serde_json::json!({ "text": 1 })),
        ..Answer::default()
    };
    let answers = vec![wrong_choice, wrong_route, wrong_edit, chose("second")];
    let (scene, desks) = (Scene::new(), Desks::new(&[EDIT], answers));
    scene
        .routed(&desks, from_editor(InterruptType::HumanReview))
        .await;
    let questions = desks.reviewer.questions.lock().unwrap();
    let problems: Vec<_> = questions
        .iter()
        .map(|question| question.problem.clone().unwrap_or_default())
        .collect();
    assert_eq!(problems[0], "");
    assert!(
        problems[1].contains("`third` was not offered; offered are: first, second"),
        "{}",
        problems[1]
    );
    assert!(
        problems[2].contains("routes are: WRITER, EDITOR, PUBLISHER"),
        "{}",
        problems[2]
    );
    assert!(problems[3].contains("$.edit.text"), "{}", problems[3]);
}

#[tokio::test]
async fn a_model_that_answers_other_routes_never_gets_there_and_a_person_is_asked() {
    let by_hand = Answer {
        edited_request: Some(serde_json::json!({ "edit": { "text": "By hand.", "notes": [] } })),
        text: Some("as the law says".to_owned()),
        ..Answer::default()
    };
    let other = r#"{"publish":{"text":"now"}}"#;
    let both = r#"{"edit":{"text":"a","notes":[]},"draft":{"topic":"b"}}"#;
    let answers = vec![chose("first"), by_hand];
    let (scene, desks) = (Scene::new(), Desks::new(&[other, DRAFT, both], answers));
    let routed = scene
        .routed(&desks, from_editor(InterruptType::HumanReview))
        .await;
    assert_eq!(
        routed.routing.edit,
        Some(Edit {
            text: "By hand.".to_owned(),
            notes: Vec::new()
        })
    );
    assert!(routed.routing.publish.is_none() && routed.routing.draft.is_none());
    // What the person says with it comes after what was said with the decision.
    let words = routed.answer.text.unwrap();
    assert_eq!(words, "check it twice\nas the law says");

    let calls = desks.model.calls.lock().unwrap();
    assert_eq!(calls.len(), 3, "one try and two corrections");
    let told = &calls[1].messages.last().unwrap().text;
    assert!(
        told.contains("path: $.publish") && told.contains("`edit`"),
        "{told}"
    );
    // A retry sees the same bytes.
    assert_eq!(calls[0].schema_text(), calls[2].schema_text());
    let questions = desks.reviewer.questions.lock().unwrap();
    assert!(
        matches!(questions[1].kind, QuestionKind::UnfilledRequest { .. }),
        "{:?}",
        questions[1].kind
    );
}

#[tokio::test]
async fn nobody_there_leaves_the_interrupt_open_and_its_reroute_bound() {
    let (scene, desks) = (Scene::new(), Desks::new(&[DRAFT], Vec::new()));
    desks
        .publish(&event("e1", "root/editor", Some(Desk::Writer)))
        .await;
    let error = scene
        .handle(&desks, from_editor(InterruptType::HumanReview))
        .await
        .unwrap_err();
    assert!(matches!(error, HandleError::Unanswered { .. }), "{error}");
    let id = "e1".to_owned().try_into().unwrap();
    let bound = RerouteState::Bound {
        interrupt: scene.interrupt,
    };
    assert_eq!(desks.router.state(&id).unwrap(), bound);

    // Somebody comes back: the same interrupt goes where the event wanted it.
    desks
        .reviewer
        .answers
        .lock()
        .unwrap()
        .push_back(chose("first"));
    assert!(
        scene
            .routed(&desks, from_editor(InterruptType::HumanReview))
            .await
            .routing
            .draft
            .is_some()
    );
}

#[tokio::test]
async fn agent_review_above_the_threshold_asks_nobody() {
    let sure = r#"{"selectedChoices":["second"],"text":"newer","confirmations":[{"id":"cite","confirmed":true}],"confidence":93}"#;
    let (scene, desks) = (Scene::new(), Desks::new(&[sure, EDIT], Vec::new()));
    let routed = scene
        .routed(&desks, from_editor(InterruptType::AgentReview))
        .await;
    assert_eq!(routed.decided_by, DecidedBy::Model { confidence: 93 });
    assert_eq!(routed.answer.selected_choices, ["second"]);
    assert!(desks.reviewer.questions.lock().unwrap().is_empty());
}

#[tokio::test]
async fn agent_review_below_the_threshold_goes_to_a_person_with_the_suggestion() {
    let unsure =
        r#"{"selectedChoices":["first"],"text":"perhaps","confirmations":[],"confidence":40}"#;
    let (scene, desks) = (
        Scene::new(),
        Desks::new(&[unsure, EDIT], vec![chose("second")]),
    );
    let routed = scene
        .routed(&desks, from_editor(InterruptType::AgentReview))
        .await;
    assert_eq!(routed.decided_by, DecidedBy::Person);
    assert_eq!(routed.answer.selected_choices, ["second"]);
    let questions = desks.reviewer.questions.lock().unwrap();
    let QuestionKind::UnsureReview {
        suggestion,
        confidence: 40,
        threshold: 80,
    } = &questions[0].kind
    else {
        panic!("{:?}", questions[0].kind)
    };
    assert!(suggestion.contains("perhaps"), "{suggestion}");
}

#[tokio::test]
async fn agent_review_that_never_fits_goes_to_a_person() {
    let invented = r#"{"selectedChoices":["fourth"],"text":"","confirmations":[],"confidence":99}"#;
    let (scene, desks) = (
        Scene::new(),
        Desks::new(&[invented, "no json", "{}", EDIT], vec![chose("first")]),
    );
    let routed = scene
        .routed(&desks, from_editor(InterruptType::AgentReview))
        .await;
    assert_eq!(
        routed.decided_by,
        DecidedBy::Person,
        "an answer that fits nothing approved something"
    );
}

#[tokio::test]
async fn pause_waits_and_goes_on_unchanged_without_a_model() {
    let (scene, desks) = (Scene::new(), Desks::new(&[], Vec::new()));
    let last = Edit {
        text: "as far as it was".to_owned(),
        notes: Vec::new(),
    };
    scene.board.post(&node("root/editor"), last.clone());
    let error = scene
        .handle(&desks, from_editor(InterruptType::Pause))
        .await
        .unwrap_err();
    assert!(matches!(error, HandleError::Paused { .. }), "{error}");

    desks
        .reviewer
        .resumes
        .lock()
        .unwrap()
        .push_back(Resume::default());
    let routed = scene
        .routed(&desks, from_editor(InterruptType::Pause))
        .await;
    assert_eq!(
        (routed.routing.edit, routed.filled_by),
        (Some(last), FilledBy::Unchanged)
    );
    assert!(
        desks.reviewer.questions.lock().unwrap().is_empty(),
        "a pause asks nothing"
    );
}

#[tokio::test]
async fn pause_with_new_input_puts_it_into_the_prompt() {
    let (scene, desks) = (Scene::new(), Desks::new(&[EDIT], Vec::new()));
    let input = Resume {
        input: Some("use the metric system".to_owned()),
    };
    desks.reviewer.resumes.lock().unwrap().push_back(input);
    scene.board.post(
        &node("root/editor"),
        Draft {
            topic: "unused".to_owned(),
        },
    );
    scene
        .routed(&desks, from_editor(InterruptType::Pause))
        .await;
    let calls = desks.model.calls.lock().unwrap();
    assert!(
        calls[0]
            .messages
            .iter()
            .any(|message| message.text.contains("use the metric system"))
    );
}

#[tokio::test]
async fn stop_and_prune_end_without_asking_and_use_up_their_event() {
    for interrupt_type in [InterruptType::Stop, InterruptType::Prune] {
        let (scene, desks) = (Scene::new(), Desks::new(&[], Vec::new()));
        desks.publish(&event("e1", "root/editor", None)).await;
        let resolution = scene
            .handle(&desks, from_editor(interrupt_type))
            .await
            .unwrap();
        match resolution {
            Outcome::Completed(Resolution::Stopped { reason, .. }) => {
                assert_eq!(
                    (interrupt_type, reason.as_str()),
                    (InterruptType::Stop, "two sources disagree")
                );
            }
            Outcome::Completed(Resolution::Pruned { node: pruned, .. }) => {
                assert_eq!(
                    (interrupt_type, pruned),
                    (InterruptType::Prune, node("root/editor"))
                );
            }
            other => panic!("{other:?}"),
        }
        let id = "e1".to_owned().try_into().unwrap();
        let state = desks.router.state(&id).unwrap();
        assert!(matches!(state, RerouteState::Consumed { .. }), "{state:?}");
    }
}

#[tokio::test]
async fn branch_is_refused_with_the_reason_and_decides_nothing() {
    let (scene, desks) = (Scene::new(), Desks::new(&[], Vec::new()));
    desks.publish(&event("e1", "root/editor", None)).await;
    let error = scene
        .handle(&desks, from_editor(InterruptType::Branch))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("needs checkpoints"), "{error}");
    let id = "e1".to_owned().try_into().unwrap();
    assert_eq!(desks.router.state(&id).unwrap(), RerouteState::Pending);
}

#[tokio::test]
async fn a_stopped_scope_is_an_outcome_and_no_error() {
    let (scene, desks) = (
        Scene::new(),
        Desks::new(&[EDIT], vec![chose("first"), chose("first")]),
    );
    scene.scope.stop(StopReason {
        source: StopSource::User,
        mode: StopMode::Immediate,
        message: "enough".to_owned(),
        timestamp: NOW,
    });
    let outcome = scene
        .handle(&desks, from_editor(InterruptType::HumanReview))
        .await
        .unwrap();
    let Outcome::Interrupted { reason, .. } = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(reason.message, "enough");
}

#[tokio::test]
async fn branch_is_decided_where_the_embedder_forks_runs() {
    let desks = Desks::changed(&[], Vec::new(), |handler| {
        handler.with_policy(HandlerPolicy {
            branches: Branches::Forked,
            ..HandlerPolicy::default()
        })
    });
    let outcome = Scene::new()
        .handle(&desks, from_editor(InterruptType::Branch))
        .await
        .unwrap();
    let Outcome::Completed(Resolution::Branched { reason, .. }) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(reason, "two sources disagree");
}
