//! A server that asks a person.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use interrupt_router::StopScope;
use serde_json::json;
use tools::{CallEnd, ElicitationAnswer, ElicitationForm, ElicitationRequest, Elicitor, Stopped};

use super::stage::{Sdk, Setting, Stage, Way, finished};

on_all! {
    a_person_is_asked_and_the_answer_reaches_the_server => accepted,
    a_person_who_declines_or_turns_away_is_told_so_to_the_server => declined,
    an_answer_that_does_not_fit_is_asked_for_again => asked_again,
    the_time_limit_of_the_call_stands_still_meanwhile => paused,
    a_call_that_is_interrupted_withdraws_its_question => withdrawn,
    a_question_that_nobody_can_answer_interrupts_its_call_and_declines_nothing => nobody,
}

/// A person with answers, who takes some time for each.
struct Person {
    answers: Mutex<Vec<ElicitationAnswer>>,
    takes: Duration,
    asked: Mutex<Vec<ElicitationRequest>>,
    withdrawn: Mutex<usize>,
}

impl Person {
    fn new(answers: Vec<ElicitationAnswer>, takes: Duration) -> Arc<Self> {
        Arc::new(Self {
            answers: Mutex::new(answers.into_iter().rev().collect()),
            takes,
            asked: Mutex::default(),
            withdrawn: Mutex::default(),
        })
    }

    fn asked(&self) -> Vec<ElicitationRequest> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Elicitor for Person {
    async fn elicit(&self, request: ElicitationRequest, scope: &StopScope) -> ElicitationAnswer {
        self.asked.lock().unwrap().push(request);
        tokio::select! {
            _reason = scope.stopping() => {
                *self.withdrawn.lock().unwrap() += 1;
                ElicitationAnswer::Cancel
            }
            () = tokio::time::sleep(self.takes) => self.answers.lock().unwrap().pop().unwrap(),
        }
    }
}

fn accept(content: serde_json::Value) -> ElicitationAnswer {
    ElicitationAnswer::Accept { content }
}

async fn stage(sdk: Sdk, way: Way, person: &Arc<Person>, limit: Duration) -> Stage {
    let setting = Setting {
        elicitor: Arc::clone(person) as Arc<dyn Elicitor>,
        limit,
        ..Setting::default()
    };
    Stage::with(sdk, way, setting).await
}

const LONG: Duration = Duration::from_secs(60);
const AT_ONCE: Duration = Duration::ZERO;

async fn accepted(sdk: Sdk, way: Way) {
    let person = Person::new(vec![accept(json!({"colour": "red", "number": 7}))], AT_ONCE);
    let stage = stage(sdk, way, &person, LONG).await;
    let message = stage.call("ask", json!({"question": "Which one?"})).await;
    assert_eq!(finished(&message), "red 7");
    let asked = person.asked().remove(0);
    assert_eq!(asked.server.as_str(), "s");
    assert_eq!(asked.message, "Which one?");
    assert_eq!(asked.call.unwrap().tool.as_str(), "s__ask");
    let ElicitationForm::Fields { schema } = asked.form;
    assert_eq!(schema["properties"]["number"]["type"], "integer");
    assert_eq!(schema["required"], json!(["colour", "number"]));
}

async fn declined(sdk: Sdk, way: Way) {
    let person = Person::new(
        vec![ElicitationAnswer::Decline, ElicitationAnswer::Cancel],
        AT_ONCE,
    );
    let stage = stage(sdk, way, &person, LONG).await;
    for expected in ["nothing: decline", "nothing: cancel"] {
        let message = stage.call("ask", json!({"question": "Which one?"})).await;
        assert_eq!(finished(&message), expected);
    }
}

async fn asked_again(sdk: Sdk, way: Way) {
    let person = Person::new(
        vec![
            accept(json!({"colour": "red", "number": "seven"})),
            accept(json!({"colour": "red", "number": 7})),
        ],
        AT_ONCE,
    );
    let stage = stage(sdk, way, &person, LONG).await;
    let message = stage.call("ask", json!({"question": "Which one?"})).await;
    assert_eq!(finished(&message), "red 7");
    let problem = person.asked()[1].problem.clone().unwrap();
    assert!(problem.contains("$.number"), "{problem}");
}

async fn paused(sdk: Sdk, way: Way) {
    let answer = vec![accept(json!({"colour": "red", "number": 7}))];
    let person = Person::new(answer, Duration::from_secs(3));
    let stage = stage(sdk, way, &person, Duration::from_secs(2)).await;
    let message = stage.call("ask", json!({"question": "Which one?"})).await;
    assert_eq!(finished(&message), "red 7");
}

async fn withdrawn(sdk: Sdk, way: Way) {
    let person = Person::new(Vec::new(), LONG);
    let stage = stage(sdk, way, &person, LONG).await;
    let asked = json!({"question": "Which one?"});
    let interrupting = async {
        stage
            .wait_until("question", || !person.asked().is_empty())
            .await;
        let reason = crate::scene::by_user("never mind");
        stage.executor.config().controller.cancel(reason).await
    };
    let (message, _cancellation) = tokio::join!(stage.call("ask", asked), interrupting);
    let CallEnd::Interrupted { partial, .. } = &message.end else {
        panic!("{:?}", message.end);
    };
    assert!(
        !matches!(partial.stopped, Stopped::LeftBehind { .. }),
        "{partial:?}"
    );
    stage
        .wait_until("withdrawal", || *person.withdrawn.lock().unwrap() == 1)
        .await;
}

#[tokio::test]
async fn a_question_of_the_first_call_waits_for_the_stream_that_carries_it() {
    let person = Person::new(vec![accept(json!({"colour": "red", "number": 7}))], AT_ONCE);
    let setting = Setting {
        elicitor: Arc::clone(&person) as Arc<dyn Elicitor>,
        // The server drops a question that it has while the stream is not open.
        variables: vec![("LATE_STREAM", "1000")],
        ..Setting::default()
    };
    let stage = Stage::with(Sdk::Node, Way::Http, setting).await;
    let message = stage.call("ask", json!({"question": "Which one?"})).await;
    assert_eq!(finished(&message), "red 7");
}

async fn nobody(sdk: Sdk, way: Way) {
    let stage = Stage::new(sdk, way).await;
    let message = stage.call("ask", json!({"question": "Which one?"})).await;
    let CallEnd::Interrupted { reason, partial } = &message.end else {
        panic!("{:?}", message.end);
    };
    assert!(reason.message.contains("nobody can answer"), "{reason:?}");
    assert!(
        !matches!(partial.stopped, Stopped::LeftBehind { .. }),
        "{partial:?}"
    );
    let log = stage.log();
    assert!(log.iter().any(|line| line == "asks"), "{log:?}");
    assert!(
        !log.iter().any(|line| line == "was told decline"),
        "{log:?}"
    );
    // It is still the same server, and takes calls.
    let worked = stage.call("work", json!({"name": "a", "seconds": 0})).await;
    assert_eq!(finished(&worked), "a has worked");
}
