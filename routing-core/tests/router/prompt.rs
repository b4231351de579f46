//! What the model reads that fills in the request of a decided interrupt.

use interrupt_router::InterruptType;
use interrupt_router::handler::DecidedBy;
use interrupt_router::model::{ModelCall, Role};
use interrupt_router::review::Resume;
use serde_json::{Value, json};

use crate::domain::{Desks, Edit, from_editor, node};
use crate::scene::{Scene, chose};

const EDIT: &str = r#"{"edit":{"text":"The newer figure.","notes":[]}}"#;
const MARK: &str = "[resolution]\n";

fn facts(call: &ModelCall) -> Value {
    let text = &call.messages.last().unwrap().text;
    serde_json::from_str(text.strip_prefix(MARK).unwrap()).unwrap()
}

#[tokio::test]
async fn only_what_a_person_said_of_an_item_is_told_and_never_what_the_agent_suggests() {
    // The agent suggests yes.
    for (said, expected) in [
        (None, json!([])),
        (
            Some(false),
            json!([{ "id": "cite", "prompt": "Cite it?", "confirmed": false }]),
        ),
    ] {
        let mut answer = chose("first");
        answer
            .confirmations
            .extend(said.map(|said| ("cite".to_owned(), said)));
        let desks = Desks::new(&[EDIT], vec![answer]);
        Scene::new()
            .routed(&desks, from_editor(InterruptType::HumanReview))
            .await;
        let facts = facts(&desks.model.calls.lock().unwrap()[0]);
        assert_eq!(facts["decision"]["confirmations"], expected);
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
    let desks = Desks::new(&[EDIT], vec![chose("first")]);
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
