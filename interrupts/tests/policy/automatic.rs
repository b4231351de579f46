//! What a policy decides by itself, and when it rather asks.

use interrupt_router::review::{Answer, Resume, Unsaid};
use interrupt_router::{AnswerForm, DecisionId, InterruptType, StopSource};
use interrupts::life::{Choosing, Verdict, narrow};
use interrupts::policy::{Automatic, WhyAsk};
use jiff::SignedDuration;

use crate::scene::{interrupt, policy, route};

const QUESTION: InterruptType = InterruptType::HumanReview;

fn decide(text: &str, interrupt_type: InterruptType, source: StopSource) -> Automatic {
    let interrupt = interrupt(interrupt_type, source);
    policy(text).decide(&interrupt, DecisionId::generate())
}

fn chosen(automatic: Automatic) -> (Choosing, SignedDuration) {
    match automatic {
        Automatic::Decide { choosing, after } => (choosing, after),
        Automatic::Ask { why } => panic!("somebody is asked: {why:?}"),
    }
}

fn asked(automatic: Automatic) -> Option<WhyAsk> {
    match automatic {
        Automatic::Ask { why } => why,
        Automatic::Decide { choosing, .. } => panic!("decided: {choosing:?}"),
    }
}

#[test]
fn an_answer_is_given_in_the_form_in_which_people_give_it() {
    let text = r#"
        [[rule]]
        answer = "respond"
        answer_text = "use the default"
        answer_choices = "a"
        answer_confirm = true
    "#;
    let (choosing, after) = chosen(decide(text, QUESTION, StopSource::Programmatic));
    assert_eq!(
        (choosing.verdict, choosing.target),
        (Verdict::Respond, None)
    );
    assert!(after.is_zero());
    let answer: Answer = serde_json::from_str(&choosing.content.unwrap()).unwrap();
    assert_eq!(answer.text.as_deref(), Some("use the default"));
    assert_eq!(answer.selected_choices, ["a"]);
    assert_eq!(answer.confirmations.get("sure"), Some(&true));
}

#[test]
fn a_reroute_names_its_target_twice_alike() {
    let text = "[[rule]]\nanswer = \"reroute:ORCHESTRATOR\"\n";
    let (choosing, _after) = chosen(decide(text, QUESTION, StopSource::Programmatic));
    assert_eq!(choosing.verdict, Verdict::Reroute);
    assert_eq!(choosing.target, Some(route("ORCHESTRATOR")));
    let answer: Answer = serde_json::from_str(&choosing.content.unwrap()).unwrap();
    assert_eq!(answer.reroute_to.as_deref(), Some("ORCHESTRATOR"));
}

#[test]
fn a_policy_decides_nothing_that_the_interrupt_does_not_allow() {
    let why = |text| asked(decide(text, QUESTION, StopSource::Programmatic));
    assert_eq!(why(""), None);
    assert_eq!(
        why("[[rule]]\nanswer = \"reroute:ELSEWHERE\"\n"),
        Some(WhyAsk::TargetNotAllowed {
            target: route("ELSEWHERE")
        })
    );
    assert_eq!(
        why("[[rule]]\nanswer = \"respond\"\nanswer_choices = [\"a\", \"b\"]\n"),
        Some(WhyAsk::ChoiceNotOffered {
            choice: "b".to_owned()
        })
    );
    let rejecting = policy("[[rule]]\nanswer = \"reject\"\n");
    let mut question = interrupt(QUESTION, StopSource::Programmatic);
    question.allowed = vec![Verdict::Respond];
    let verdict = Verdict::Reject;
    assert_eq!(
        asked(rejecting.decide(&question, DecisionId::generate())),
        Some(WhyAsk::VerdictNotAllowed { verdict })
    );
    let confirming = policy("[[rule]]\nanswer = \"respond\"\nanswer_confirm = true\n");
    let mut question = interrupt(QUESTION, StopSource::Programmatic);
    question.content = "\"another form\"".to_owned();
    assert_eq!(
        asked(confirming.decide(&question, DecisionId::generate())),
        Some(WhyAsk::NothingToConfirm)
    );
}

#[test]
fn a_pause_of_the_system_ends_by_itself_and_a_persons_never_does() {
    let text = "[[rule]]\nresume = \"30s\"\nresume_input = \"go on carefully\"\n";
    let (choosing, after) = chosen(decide(text, InterruptType::Pause, StopSource::System));
    assert_eq!(
        (choosing.verdict, after),
        (Verdict::Resume, SignedDuration::from_secs(30))
    );
    let resume: Resume = serde_json::from_str(&choosing.content.unwrap()).unwrap();
    assert_eq!(resume.input.as_deref(), Some("go on carefully"));
    assert_eq!(
        asked(decide(text, InterruptType::Pause, StopSource::User)),
        Some(WhyAsk::PausedByPerson)
    );
    for stop in [
        InterruptType::Stop,
        InterruptType::Prune,
        InterruptType::Branch,
    ] {
        assert_eq!(asked(decide(text, stop, StopSource::System)), None);
    }
}

#[test]
fn a_policy_answers_in_the_form_that_the_question_wants() {
    let said = |form: AnswerForm, rule: &str| {
        let mut question = interrupt(QUESTION, StopSource::Programmatic);
        let mut content: serde_json::Value = serde_json::from_str(&question.content).unwrap();
        content["answerForm"] = serde_json::json!(form);
        question.content = content.to_string();
        narrow(&mut question.allowed, Some(form));
        policy(&format!("[[rule]]\n{rule}\n")).decide(&question, DecisionId::generate())
    };
    let approve = "answer = \"approve\"";
    let verdict = Verdict::Approve;
    assert_eq!(
        asked(said(AnswerForm::OneOf, approve)),
        Some(WhyAsk::VerdictNotAllowed { verdict })
    );
    let words = "answer = \"respond\"\nanswer_text = \"the first\"";
    let why = asked(said(AnswerForm::OneOf, words));
    assert!(
        matches!(why, Some(WhyAsk::Unsaid(Unsaid::OneChoice { .. }))),
        "{why:?}"
    );
    let (choosing, _) = chosen(said(AnswerForm::AnyOf, words));
    assert_eq!(choosing.verdict, Verdict::Respond);
}
