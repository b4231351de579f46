//! What the model reads that fills in the request of a decided interrupt.

use routing_core::InterruptType;
use routing_core::handler::DecidedBy;
use routing_core::model::{ModelCall, Role};
use routing_core::review::{Answer, Resume};
use serde_json::{Value, json};

use crate::domain::{Desks, Edit, from_editor, node};
use crate::scene::Scene;

const EDIT: &str = r#"{"edit":{"text":"The newer figure.","notes":[]}}"#;
const MARK: &str = "[resolution]\n";

fn facts(call: &ModelCall) -> Value {
    let text = &call.messages.last().unwrap().text;
    serde_json::from_str(text.strip_prefix(MARK).unwrap()).unwrap()
}

#[tokio::test]
async fn what_was_not_confirmed_counts_as_its_default_and_what_was_said_as_said() {
    for (said, expected) in [(None, true), (Some(false), false)] {
        let answer = Answer {
            confirmations: said
                .map(|said| ("cite".to_owned(), said))
                .into_iter()
                .collect(),
            ..Answer::default()
        };
        let desks = Desks::new(&[EDIT], vec![answer]);
        Scene::new()
            .routed(&desks, from_editor(InterruptType::HumanReview))
            .await;
        let facts = facts(&desks.model.calls.lock().unwrap()[0]);
        let confirmed = json!([{ "id": "cite", "prompt": "Cite it?", "confirmed": expected }]);
        assert_eq!(facts["decision"]["confirmations"], confirmed);
    }
}

#[tokio::test]
async fn new_input_after_a_pause_is_worked_into_the_last_request_of_the_route() {
    let (scene, desks) = (Scene::new(), Desks::new(&[EDIT], Vec::new()));
    let input = Some("use the metric system".to_owned());
    desks
        .reviewer
        .resumes
        .lock()
        .unwrap()
        .push_back(Resume { input });
    for text in ["an older text", "as far as it was"] {
        let last = Edit {
            text: text.to_owned(),
            notes: Vec::new(),
        };
        scene.board.post(&node("root/editor"), last);
    }
    let routed = scene
        .routed(&desks, from_editor(InterruptType::Pause))
        .await;
    assert_eq!(routed.decided_by, DecidedBy::Person);
    assert_eq!(routed.routing.edit.unwrap().text, "The newer figure.");
    let facts = facts(&desks.model.calls.lock().unwrap()[0]);
    let last = json!({ "edit": { "text": "as far as it was", "notes": [] } });
    assert_eq!(facts["lastRequestOfThisRoute"], last);
    assert_eq!(facts["decision"]["text"], "use the metric system");
}

#[tokio::test]
async fn the_agents_own_instructions_are_not_those_of_the_resolution() {
    let desks = Desks::new(&[EDIT], vec![Answer::default()]);
    Scene::new()
        .routed(&desks, from_editor(InterruptType::HumanReview))
        .await;
    let calls = desks.model.calls.lock().unwrap();
    let instructions: Vec<_> = calls[0]
        .messages
        .iter()
        .filter(|message| message.role == Role::System)
        .collect();
    assert_eq!(instructions.len(), 1, "{instructions:?}");
    assert!(instructions[0].text.contains("`edit`"), "{instructions:?}");
}
