//! An agent asks; and a person interrupts while it does.

use planning::{FactKind, PersonQuestion, Phase, PlanEffect, PlanEvent};

use crate::scene::{Scene, interrupt, modify, question};

fn asking() -> Scene {
    let mut scene = Scene::executing(&["one", "two"]);
    let question = question("which account?");
    scene.then(PlanEvent::Asked { question });
    scene
}

fn answer(text: &str) -> PlanEvent {
    PlanEvent::Answered {
        answer: text.to_owned(),
    }
}

#[test]
fn an_answer_lets_the_step_go_on_and_leaves_the_plan_alone() {
    let mut scene = asking();
    let plan = scene.state.plan().clone();
    let asked = PersonQuestion::Question {
        step: Some(scene.next()),
        question: question("which account?"),
    };
    assert_eq!(scene.wanted(), [PlanEffect::AskPerson(asked)]);
    scene.then(answer("the second"));
    let step = plan.next().cloned().unwrap();
    assert_eq!(scene.wanted(), [PlanEffect::RunStep(step)]);
    assert_eq!(*scene.state.plan(), plan);
    let given = ("which account?".to_owned(), "the second".to_owned());
    assert_eq!(scene.state.answers(), [given]);
    scene.step_done("done");
    assert!(
        scene.state.answers().is_empty(),
        "the next step does not see them"
    );
}

#[test]
fn a_persons_interrupt_goes_before_an_open_question_which_is_held_and_shown_again() {
    let mut scene = asking();
    let before = scene.state.clone();
    scene.effects.clear();
    scene.then(interrupt("me first"));
    assert_eq!(scene.kinds(), [FactKind::Clash, FactKind::UserEscape]);
    assert!(scene.wanted().starts_with(&[PlanEffect::HoldQuestion]));
    let refused = scene.try_then(&answer("too late"));
    assert!(refused.is_err(), "a held question takes no answer");
    scene.then(PlanEvent::Resume);
    assert_eq!(
        scene.kinds(),
        [FactKind::Resumed, FactKind::QuestionShownAgain]
    );
    assert_eq!(scene.state, before, "the question stands as it stood");
    assert!(matches!(
        scene.wanted()[..],
        [PlanEffect::AskPerson(PersonQuestion::Question { .. })]
    ));
}

#[test]
fn a_question_that_comes_after_the_interrupt_is_held_at_once() {
    let mut scene = Scene::executing(&["one"]);
    scene.then(interrupt("me first"));
    let question = question("may I?");
    scene.then(PlanEvent::Asked {
        question: question.clone(),
    });
    let Phase::Held(held) = scene.state.phase() else {
        panic!("not held");
    };
    assert_eq!(held.question.as_ref(), Some(&question));
    assert_eq!(
        scene.kinds(),
        [FactKind::HumanInput, FactKind::Clash, FactKind::UserEscape]
    );
}

#[test]
fn a_changed_plan_or_a_cancel_withdraws_the_question_and_says_so() {
    for event in [modify("else"), PlanEvent::Cancel { reason: None }] {
        let mut scene = asking();
        scene.then(interrupt("no"));
        scene.effects.clear();
        scene.then(event);
        assert!(scene.kinds().contains(&FactKind::QuestionWithdrawn));
        assert!(scene.wanted().contains(&PlanEffect::WithdrawQuestion));
    }
}
