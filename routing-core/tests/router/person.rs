//! A person's answers: which are refused, and what can still be changed when.

use std::sync::Arc;

use interrupt_router::InterruptType;
use interrupt_router::answer::{AnswerError, AnswerFault, ConstraintCheck};
use interrupt_router::ask::Asker;
use interrupt_router::handler::{
    HandleError, HandlerPolicy, OperationContext, Resolution, UnifiedInterruptHandler,
};
use interrupt_router::review::Answer;
use interrupt_router::schema::AnswerSchema;
use interrupt_router::{
    AgentType, DecidedAs, InterruptDetails, InterruptRequest, Outcome, Routing, Verdict,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{Desks, ScriptedModel, ScriptedReviewer, details, from_editor, node};
use crate::scene::{Scene, chose};

const EDIT: &str = r#"{"edit":{"text":"The newer figure.","notes":[]}}"#;

fn filled_in(text: &str) -> Answer {
    let request = serde_json::json!({ "text": text, "notes": [] });
    Answer {
        edited_request: Some(request),
        ..Answer::default()
    }
}

fn sent_to(agent_type: &str) -> Answer {
    Answer {
        reroute_to: Some(agent_type.to_owned()),
        ..filled_in("Elsewhere.")
    }
}

#[tokio::test]
async fn after_a_no_no_model_is_asked_and_no_route_is_taken_whatever_was_marked() {
    for verdict in [Verdict::Reject, Verdict::Ignore, Verdict::Cancel] {
        let no = Answer {
            verdict: Some(verdict),
            ..sent_to("WRITER")
        };
        let no = Answer {
            selected_choices: vec!["first".to_owned()],
            text: Some("it is not true".to_owned()),
            ..no
        };
        // The model would fill in the request: it must not be asked.
        let (scene, desks) = (Scene::new(), Desks::new(&[EDIT], vec![no]));
        let editor = || from_editor(InterruptType::HumanReview);
        let Outcome::Completed(Resolution::Declined(declined)) =
            scene.handle(&desks, editor()).await.unwrap()
        else {
            panic!("{verdict:?} took a route")
        };
        assert_eq!(declined.verdict, verdict);
        assert_eq!(declined.decided_as(), DecidedAs::Declined);
        assert_eq!(
            declined.answer,
            Answer {
                text: Some("it is not true".to_owned()),
                ..Answer::default()
            }
        );
        assert_eq!(desks.model.calls.lock().unwrap().len(), 0);
        // Handled again, it is the same no.
        let again = scene.handle(&desks, editor()).await.unwrap();
        assert_eq!(again, Outcome::Completed(Resolution::Declined(declined)));
    }
}

#[tokio::test]
async fn a_person_who_gives_no_request_where_no_model_could_fill_it_in_takes_no_route() {
    let answers = vec![chose("first"), Answer::declined(Verdict::Reject, None)];
    let (scene, desks) = (Scene::new(), Desks::new(&["{}", "{}", "{}"], answers));
    let editor = from_editor(InterruptType::HumanReview);
    let outcome = scene.handle(&desks, editor).await.unwrap();
    assert!(
        matches!(outcome, Outcome::Completed(Resolution::Declined(_))),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn a_confirmation_of_what_was_not_asked_is_refused() {
    let mut wrong = chose("first");
    wrong.confirmations.insert("print".to_owned(), true);
    let (scene, desks) = (
        Scene::new(),
        Desks::new(&[EDIT], vec![wrong, chose("first")]),
    );
    scene
        .routed(&desks, from_editor(InterruptType::HumanReview))
        .await;
    let questions = desks.reviewer.questions.lock().unwrap();
    let problem = questions[1].problem.as_deref().unwrap();
    assert!(
        problem.contains("there is no item `print`; items are: cite"),
        "{problem}"
    );
}

#[tokio::test]
async fn answers_that_do_not_fit_are_taken_as_often_as_the_policy_says() {
    let wrong = vec![chose("third"), chose("fourth"), chose("fifth")];
    let desks = Desks::changed(&[EDIT], wrong, |handler| {
        handler.with_policy(HandlerPolicy {
            invalid_answers: 2,
            ..HandlerPolicy::default()
        })
    });
    let error = Scene::new()
        .handle(&desks, from_editor(InterruptType::HumanReview))
        .await
        .unwrap_err();
    let HandleError::InvalidAnswers { count: 2, last, .. } = error else {
        panic!("{error}")
    };
    assert!(last.to_string().contains("fourth"), "{last}");
    assert_eq!(desks.reviewer.questions.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn whoever_fills_in_a_request_must_do_so_and_cannot_change_where_it_goes() {
    let wrong = r#"{"publish":{"text":"now"}}"#;
    let answers = vec![
        chose("second"),
        chose("first"),
        sent_to("WRITER"),
        filled_in("By hand."),
    ];
    let (scene, desks) = (Scene::new(), Desks::new(&[wrong, wrong, wrong], answers));
    let routed = scene
        .routed(&desks, from_editor(InterruptType::HumanReview))
        .await;
    assert_eq!(routed.routing.edit.unwrap().text, "By hand.");
    assert_eq!(
        routed.answer.selected_choices,
        ["second"],
        "the decision is another one now"
    );
    let questions = desks.reviewer.questions.lock().unwrap();
    assert_eq!(questions[1].routes, ["EDITOR"]);
    let problem = |at: usize| questions[at].problem.clone().unwrap();
    assert!(
        problem(2).contains("fill in the request of `EDITOR`"),
        "{}",
        problem(2)
    );
    assert!(
        problem(3).contains("`WRITER` is no route; routes are: EDITOR"),
        "{}",
        problem(3)
    );
}

#[tokio::test]
async fn a_decorator_that_does_not_narrow_is_caught_before_a_model_is_asked() {
    let desks = Desks::changed(&[EDIT], vec![chose("first")], |handler| {
        handler.with_decorators(Vec::new())
    });
    let handled = Scene::new()
        .handle(&desks, from_editor(InterruptType::HumanReview))
        .await;
    let error = handled.unwrap_err();
    assert!(
        matches!(error, HandleError::NotNarrowed { target: "edit", .. }),
        "{error}"
    );
    assert!(desks.model.calls.lock().unwrap().is_empty());
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
enum Painter {
    Painter,
    Mixer,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Paint {
    #[schemars(length(max = 7))]
    colour: String,
}

/// A route whose request has a field of its name, and one whose request is no object.
#[derive(Debug, Clone, PartialEq, Routing)]
#[routing(agent_types = Painter)]
struct AfterPainting {
    #[route(marker = PaintRoute, agent_type = Painter)]
    colour: Option<Paint>,
    #[route(marker = MixRoute, agent_type = Mixer)]
    mixture: Option<Vec<Paint>>,
}

#[derive(Debug, Clone, PartialEq, InterruptRequest)]
#[interrupt(kind = Painter)]
enum PainterInterrupt {
    Painter(InterruptDetails),
    Mixer(InterruptDetails),
}

/// Knows the one length.
struct AtMostSeven;

impl ConstraintCheck for AtMostSeven {
    fn check(&self, _schema: &AnswerSchema, answer: &[u8]) -> Result<(), AnswerError> {
        let given: serde_json::Value = serde_json::from_slice(answer).unwrap();
        match given["colour"]["colour"].as_str() {
            Some(colour) if colour.len() > 7 => {
                let (path, reason) = ("$.colour.colour", "longer than 7 characters");
                Err(AnswerError::new(AnswerFault::Constraint, path, reason))
            }
            _ => Ok(()),
        }
    }
}

/// What becomes of an interrupt that a person answers with these requests, and what they were told.
async fn painted(
    interrupt: fn(InterruptDetails) -> PainterInterrupt,
    requests: &[serde_json::Value],
) -> (AfterPainting, Vec<String>) {
    let reviewer = Arc::new(ScriptedReviewer::default());
    let answers = requests.iter().map(|request| Answer {
        edited_request: Some(request.clone()),
        ..Answer::default()
    });
    reviewer.answers.lock().unwrap().extend(answers);
    let asker = Asker {
        model: ScriptedModel::saying(&[]),
        constraints: Arc::new(AtMostSeven),
        corrections: 0,
    };
    let handler = UnifiedInterruptHandler::<PainterInterrupt, AfterPainting>::new(
        asker,
        Arc::clone(&reviewer),
    );
    let scene = Scene::new();
    let context = OperationContext {
        interrupt: scene.interrupt,
        run: scene.run,
        node: &node("painter"),
        turn: 1,
        blackboard: &scene.board,
        conversation: &[],
        scope: &scene.scope,
    };
    let request = interrupt(details(InterruptType::HumanReview));
    let outcome = handler.handle_unified_interrupt(request, context).await;
    let Outcome::Completed(Resolution::Routed(routed)) = outcome.unwrap() else {
        panic!("the interrupt went nowhere")
    };
    let questions = reviewer.questions.lock().unwrap();
    let problems = questions
        .iter()
        .filter_map(|question| question.problem.clone())
        .collect();
    (routed.routing, problems)
}

#[tokio::test]
async fn what_a_person_fills_in_keeps_the_constraints_of_the_schema() {
    let requests = ["vermilion", "#ff0000"].map(|colour| serde_json::json!({ "colour": colour }));
    let (routing, problems) = painted(PainterInterrupt::Painter, &requests).await;
    assert_eq!(routing.colour.unwrap().colour, "#ff0000");
    let [problem] = &problems[..] else {
        panic!("{problems:?}")
    };
    assert!(
        problem.contains("$.colour.colour: longer than 7 characters"),
        "{problem}"
    );
}

#[tokio::test]
async fn a_request_is_taken_bare_and_as_the_schema_shows_it_whatever_its_shape() {
    let red = serde_json::json!({ "colour": "red" });
    let (bare, list) = (red.clone(), serde_json::json!([red]));
    let record = serde_json::json!({ "colour": red });
    for request in [bare, record] {
        let (routing, problems) = painted(PainterInterrupt::Painter, &[request]).await;
        assert_eq!(routing.colour.unwrap().colour, "red");
        assert_eq!(problems, Vec::<String>::new());
    }
    for request in [list.clone(), serde_json::json!({ "mixture": list })] {
        let (routing, problems) = painted(PainterInterrupt::Mixer, &[request]).await;
        assert_eq!(routing.mixture.unwrap().len(), 1);
        assert_eq!(problems, Vec::<String>::new());
    }
}
