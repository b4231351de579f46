//! A model that never answers the same twice, and often wrongly: first it sets two fields.

use agents::catalogue;
use interrupt_router::model::Dialect;
use llm::{Pace, RehearsalConfig, RehearsalModel, Script};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};
use tests::providers::Received;

use crate::brain::SCRIPT;
use crate::wire_brain::answer;

/// How many wrong answers to a step are corrected; the next one is right. What fills in a request may be wrong for
/// ever, and then a person does it.
const MOST_WRONG: usize = 3;

/// How many answers of a hundred are wrong: to a step or a review, and where a request is filled in.
const WRONG: [u32; 2] = [35, 60];

/// The answer to the call of this number, which no other call gets.
pub(crate) fn fickle_answer(request: &Received, number: u64) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(number);
    let right = right(request, number);
    let corrections = request
        .text
        .matches("Your last answer cannot be used.")
        .count();
    let fills_in = is_filling_in(request);
    if (!fills_in && corrections >= MOST_WRONG)
        || random.next_u32() % 100 >= WRONG[usize::from(fills_in)]
    {
        return right.to_string();
    }
    let kind = if corrections == 0 {
        0
    } else {
        random.next_u32() % 4
    };
    wrong(request, &right, number, kind)
}

/// Whether a request of a route is to be filled in.
fn is_filling_in(request: &Received) -> bool {
    let name = &request.body["response_format"]["json_schema"]["name"];
    name.as_str()
        .is_some_and(|name| name.starts_with("InterruptRouting"))
}

fn right(request: &Received, number: u64) -> Value {
    let model = RehearsalModel::new(RehearsalConfig {
        seed: number,
        pace: Pace::Unlimited,
        facts: Vec::new(),
        script: Some(Script::parse(SCRIPT, &catalogue::script_vocabulary()).unwrap()),
    });
    let said = answer(&model.with_dialect(Dialect::OpenAiStrict), request);
    let mut right: Value = serde_json::from_str(&said).unwrap();
    if let Some(reason) = right.pointer_mut("/interruptRequest/reason") {
        *reason = json!(format!("{} ({number})", reason.as_str().unwrap()));
    }
    right
}

fn wrong(request: &Received, right: &Value, number: u64, kind: u32) -> String {
    let set = |(_field, value): &(&String, &Value)| !value.is_null();
    let fields = right.as_object().unwrap();
    let (field, value) = fields.iter().find(set).unwrap();
    let schema = &request.body["response_format"]["json_schema"]["schema"];
    let known = schema["properties"].as_object();
    let other = known.and_then(|known| known.keys().find(|other| *other != field));
    match (kind, other) {
        (0, Some(other)) => json!({ other: value, field: value }).to_string(),
        (1, _) => json!({ field: number }).to_string(),
        (2, _) => {
            let text = right.to_string();
            text[..text.floor_char_boundary(text.len() / 2)].to_owned()
        }
        _ => json!({ format!("nonsense{number}"): 1, field: value }).to_string(),
    }
}

/// A request that fits a route's schema, as a person would write it.
pub(crate) fn filled_in(schema: &Value, field: &str, number: u64) -> Value {
    let model = RehearsalModel::new(RehearsalConfig {
        seed: number,
        ..RehearsalConfig::default()
    });
    let said = model.answer(
        schema,
        &[],
        &crate::wire_brain::caller("InterruptRouting", 1),
        Some(field),
    );
    let said: Value = serde_json::from_str(&said).unwrap();
    said[field].clone()
}
