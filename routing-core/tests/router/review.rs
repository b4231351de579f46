//! AGENT_REVIEW: what a reviewing model may say, how often it is asked, and when it is believed.

use interrupt_router::handler::{DecidedBy, Resolution};
use interrupt_router::review::{Answer, QuestionKind};
use interrupt_router::{AnswerForm, InterruptDetails, InterruptType, Outcome, Verdict};

use crate::domain::{Desks, EditorInterrupt, Interrupt, from_editor};
use crate::scene::{Scene, chose};

const EDIT: &str = r#"{"edit":{"text":"The newer figure.","notes":[]}}"#;

fn review(confirmation: &str, confidence: u32) -> String {
    format!(
        r#"{{"selectedChoices":["second"],"text":"newer","confirmations":[{{"id":"{confirmation}","confirmed":true}}],"confidence":{confidence}}}"#
    )
}

#[tokio::test]
async fn a_model_that_is_as_sure_as_it_must_be_is_believed() {
    let (enough, less) = (review("cite", 80), review("cite", 79));
    let desks = Desks::new(&[&enough, EDIT], Vec::new());
    let routed = Scene::new()
        .routed(&desks, from_editor(InterruptType::AgentReview))
        .await;
    assert_eq!(routed.decided_by, DecidedBy::Model { confidence: 80 });

    let desks = Desks::new(&[&less, EDIT], vec![chose("first")]);
    let routed = Scene::new()
        .routed(&desks, from_editor(InterruptType::AgentReview))
        .await;
    assert_eq!(routed.decided_by, DecidedBy::Person);
}

#[tokio::test]
async fn a_reviewing_model_that_cannot_be_asked_leaves_the_question_to_a_person() {
    let by_hand = Answer {
        edited_request: Some(serde_json::json!({ "text": "By hand.", "notes": [] })),
        ..Answer::default()
    };
    let desks = Desks::new(&[], vec![by_hand]);
    let routed = Scene::new()
        .routed(&desks, from_editor(InterruptType::AgentReview))
        .await;
    assert_eq!(routed.decided_by, DecidedBy::Person);
    let questions = desks.reviewer.questions.lock().unwrap();
    let QuestionKind::UnsureReview { suggestion, .. } = &questions[0].kind else {
        panic!("{:?}", questions[0].kind)
    };
    assert!(suggestion.contains("gave no answer"), "{suggestion}");
}

#[tokio::test]
async fn a_review_that_is_wrong_is_explained_with_its_place_and_asked_for_again() {
    for (wrong, path) in [
        (review("print", 99), "path: $.confirmations[0].id\nreason: "),
        (review("cite", 101), "path: $.confidence\nreason: "),
        (
            review("cite", 99).replace("second", "third"),
            "path: $.selectedChoices[0]\nreason: `third` was not offered",
        ),
    ] {
        let right = review("cite", 99);
        let desks = Desks::new(&[&wrong, &wrong, &right, EDIT], Vec::new());
        let routed = Scene::new()
            .routed(&desks, from_editor(InterruptType::AgentReview))
            .await;
        assert_eq!(
            routed.decided_by,
            DecidedBy::Model { confidence: 99 },
            "two corrections are not one too many"
        );
        let calls = desks.model.calls.lock().unwrap();
        let told = calls[1].messages.last().unwrap();
        assert!(told.text.contains(path), "{}", told.text);
        let is_repeated = calls[1].messages.iter().any(|said| *said.text == *wrong);
        assert!(!is_repeated, "a wrong answer is explained, not said again");
        assert_eq!(calls[2].caller.correction, 2);
    }
}

#[tokio::test]
async fn where_a_yes_or_a_no_is_wanted_a_reviewing_model_says_one_of_the_two() {
    let said = |values: &str| {
        let text = r#","text":"the figure is old","confirmations":[],"confidence":99}"#;
        format!(r#"{{"selectedChoices":{values}{text}"#)
    };
    let wanted = InterruptDetails {
        answer_form: Some(AnswerForm::YesOrNo),
        ..InterruptDetails::new(InterruptType::AgentReview, "print it?")
    };
    let request = || {
        Interrupt::Editor(EditorInterrupt {
            details: wanted.clone(),
            paragraph: String::new(),
        })
    };
    // Words alone are neither, and nothing else is one of them.
    let (unsaid, other, yes, no) = (
        said("[]"),
        said(r#"["first"]"#),
        said(r#"["yes"]"#),
        said(r#"["no"]"#),
    );
    let desks = Desks::new(&[&unsaid, &other, &yes, EDIT], Vec::new());
    let routed = Scene::new().routed(&desks, request()).await;
    assert_eq!(routed.verdict, Verdict::Approve);
    let told = desks.model.calls.lock().unwrap()[1]
        .messages
        .last()
        .unwrap()
        .text
        .clone();
    assert!(told.contains("$.selectedChoices"), "{told}");

    let desks = Desks::new(&[&no], Vec::new());
    let declined = Scene::new().handle(&desks, request()).await;
    let Ok(Outcome::Completed(Resolution::Declined(declined))) = declined else {
        panic!("{declined:?}")
    };
    assert_eq!(declined.verdict, Verdict::Reject);

    // Where it is not sure enough, the person reads its yes or no.
    let unsure = said(r#"["no"]"#).replace("99", "40");
    let desks = Desks::new(&[&unsure], vec![Answer::declined(Verdict::Reject, None)]);
    let _declined = Scene::new().handle(&desks, request()).await;
    let questions = desks.reviewer.questions.lock().unwrap();
    let QuestionKind::UnsureReview { suggestion, .. } = &questions[0].kind else {
        panic!("{:?}", questions[0].kind)
    };
    assert!(suggestion.contains(r#"["no"]"#), "{suggestion}");
}

#[tokio::test]
async fn a_stop_while_a_model_reviews_asks_nobody() {
    let (scene, desks) = (Scene::new(), Desks::new(&[], vec![chose("first")]));
    scene.scope.stop(interrupt_router::StopReason {
        source: interrupt_router::StopSource::User,
        mode: interrupt_router::StopMode::Immediate,
        message: "enough".to_owned(),
        timestamp: jiff::Timestamp::UNIX_EPOCH,
    });
    let outcome = scene
        .handle(&desks, from_editor(InterruptType::AgentReview))
        .await
        .unwrap();
    assert!(outcome.completed().is_none());
    assert!(desks.reviewer.questions.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_model_that_will_not_carry_a_decision_out_says_why_to_a_person_who_can_reject() {
    // In its provider's own way, or in plain words as often as it is asked.
    for said in [
        &["refused: that file is not mine"][..],
        &["I will not: that file is not mine"; 4],
    ] {
        let rejected = Answer::declined(Verdict::Reject, Some("then leave it".to_owned()));
        let answers = vec![chose("first"), rejected];
        let desks = Desks::new(said, answers);
        let handled = Scene::new()
            .handle(&desks, from_editor(InterruptType::HumanReview))
            .await;
        let Ok(Outcome::Completed(Resolution::Declined(declined))) = handled else {
            panic!("{handled:?}")
        };
        assert_eq!(declined.answer.text.as_deref(), Some("then leave it"));
        let questions = desks.reviewer.questions.lock().unwrap();
        let QuestionKind::UnfilledRequest { problem, .. } = &questions[1].kind else {
            panic!("{:?}", questions[1].kind)
        };
        assert!(problem.contains("that file is not mine"), "{problem}");
    }
}
