//! Answers that went wrong at random: what is read fits the schema, and every error says where.

use std::sync::LazyLock;

use jsonschema::Validator;
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use proptest::{prop_assert, prop_assert_eq};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::{fault_so_far, read_narrowed, read_within};
use crate::schema::Dialect;
use crate::schema::tests::sample::{ReviewRoute, SampleRouting, TicketsRoute};
use crate::{Route, RouteSet, Routing};

/// JSON as it is written: keys may appear twice, numbers may be of any size.
#[derive(Debug, Clone)]
enum Json {
    /// A number, `null`, `true`, or anything else that is not looked into.
    Bare(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    fn of(value: &Value) -> Self {
        match value {
            Value::String(text) => Self::Text(text.clone()),
            Value::Array(list) => Self::List(list.iter().map(Self::of).collect()),
            Value::Object(object) => Self::Object(
                object
                    .iter()
                    .map(|(key, value)| (key.clone(), Self::of(value)))
                    .collect(),
            ),
            Value::Null | Value::Bool(_) | Value::Number(_) => Self::Bare(value.to_string()),
        }
    }

    fn write(&self, text: &mut String) {
        match self {
            Self::Bare(bare) => text.push_str(bare),
            Self::Text(string) => text.push_str(&Value::from(string.as_str()).to_string()),
            Self::List(list) => {
                text.push('[');
                for (place, value) in list.iter().enumerate() {
                    text.push_str(if place == 0 { "" } else { "," });
                    value.write(text);
                }
                text.push(']');
            }
            Self::Object(object) => {
                text.push('{');
                for (place, (key, value)) in object.iter().enumerate() {
                    text.push_str(if place == 0 { "" } else { "," });
                    text.push_str(&Value::from(key.as_str()).to_string());
                    text.push(':');
                    value.write(text);
                }
                text.push('}');
            }
        }
    }

    fn has_doubled_key(&self) -> bool {
        match self {
            Self::Bare(_) | Self::Text(_) => false,
            Self::List(list) => list.iter().any(Self::has_doubled_key),
            Self::Object(object) => object.iter().enumerate().any(|(place, (key, value))| {
                value.has_doubled_key() || object[..place].iter().any(|(other, _)| other == key)
            }),
        }
    }

    fn nodes(&self) -> usize {
        1 + match self {
            Self::Bare(_) | Self::Text(_) => 0,
            Self::List(list) => list.iter().map(Self::nodes).sum(),
            Self::Object(object) => object.iter().map(|(_, value)| value.nodes()).sum(),
        }
    }

    /// Changes the value at a place in reading order.
    fn change(&mut self, place: &mut usize, change: &Change) {
        if *place == 0 {
            *place = usize::MAX;
            return change.apply(self);
        }
        *place -= 1;
        let inside: Vec<&mut Self> = match self {
            Self::Bare(_) | Self::Text(_) => Vec::new(),
            Self::List(list) => list.iter_mut().collect(),
            Self::Object(object) => object.iter_mut().map(|(_, value)| value).collect(),
        };
        for value in inside {
            if *place == usize::MAX {
                return;
            }
            value.change(place, change);
        }
    }
}

/// One thing that goes wrong.
#[derive(Debug, Clone)]
enum Change {
    Replace(Json),
    /// The values of an object as an array, or the value alone in one.
    Enlist,
    /// The value under a key, or beside the others.
    Add(String, Json),
    /// What stands first goes.
    RemoveFirst,
    /// What stands first stands twice.
    DoubleFirst,
}

impl Change {
    fn apply(&self, json: &mut Json) {
        match (self, &mut *json) {
            (Self::Replace(other), _) => *json = other.clone(),
            (Self::Enlist, Json::Object(object)) => {
                *json = Json::List(object.drain(..).map(|(_, value)| value).collect());
            }
            (Self::Enlist, _) => *json = Json::List(vec![json.clone()]),
            (Self::Add(key, value), Json::Object(object)) => {
                object.push((key.clone(), value.clone()));
            }
            (Self::Add(_, value), Json::List(list)) => list.push(value.clone()),
            (Self::Add(key, _), _) => *json = Json::Object(vec![(key.clone(), json.clone())]),
            (Self::RemoveFirst, Json::Object(object)) if !object.is_empty() => {
                object.remove(0);
            }
            (Self::RemoveFirst, Json::List(list)) if !list.is_empty() => {
                list.remove(0);
            }
            (Self::RemoveFirst, _) => *json = Json::Bare("null".to_owned()),
            (Self::DoubleFirst, Json::Object(object)) if !object.is_empty() => {
                object.push(object[0].clone());
            }
            (Self::DoubleFirst, _) => {}
        }
    }
}

fn key() -> impl Strategy<Value = String> {
    proptest::sample::select(vec![
        "reviewRequest",
        "ticketRequests",
        "boundRequest",
        "requests",
        "labels",
        "goal",
        "priority",
        "weight",
        "plan",
        "parent",
        "content",
        "criteria",
        "urgency",
        "nothing",
        "steps",
        "ask",
        "both",
        "question",
        "short",
        "extra",
        "title",
        "line",
        "part",
        "choice",
        "value",
        "kind",
        "go",
        "to",
        "Low",
        "",
    ])
    .prop_map(str::to_owned)
}

fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        proptest::sample::select(vec![
            "null",
            "true",
            "0",
            "1",
            "-1",
            "255",
            "256",
            "1.5",
            "1e2",
            "1e400",
            "18446744073709551616",
            "9223372036854775808",
        ])
        .prop_map(|bare| Json::Bare(bare.to_owned())),
        key().prop_map(Json::Text),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Json::List),
            vec((key(), inner), 0..4).prop_map(Json::Object),
        ]
    })
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        json().prop_map(Change::Replace),
        Just(Change::Enlist),
        (key(), json()).prop_map(|(key, json)| Change::Add(key, json)),
        Just(Change::RemoveFirst),
        Just(Change::DoubleFirst),
    ]
}

fn right_answer() -> Value {
    serde_json::json!({
        "ticketRequests": {
            "requests": [
                { "goal": "a", "priority": 1, "weight": 0.5, "plan": { "ask": { "question": "?" } } },
                {
                    "goal": "b", "priority": 2, "weight": 1, "plan": { "both": ["c", -4] },
                    "parent": { "goal": "d", "priority": 3, "weight": 2, "plan": "nothing" },
                },
                { "goal": "e", "priority": 5, "weight": 3, "plan": { "steps": ["f"] } },
            ],
            "labels": { "g": "h" },
        },
    })
}

fn right_review() -> Value {
    serde_json::json!({
        "reviewRequest": { "content": "a", "criteria": "b", "urgency": "Low" },
    })
}

/// A request of which serde buffers each part: what is flattened, untagged and internally tagged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Mixed {
    title: String,
    #[serde(flatten)]
    place: Location,
    choice: Choice,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Location {
    line: u8,
    part: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Choice {
    One { value: u8 },
    Both(String, i64),
    Text(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "camelCase")]
enum Step {
    Nothing,
    Go { to: Location },
}

#[derive(Debug, Clone, PartialEq, interrupt_router_derive::Routing)]
struct MixedRouting {
    #[route(marker = MixedRoute)]
    mixed: Option<Mixed>,
}

fn right_mixed() -> Value {
    serde_json::json!({ "mixed": {
        "title": "a",
        "line": 3,
        "part": "b",
        "choice": { "value": 4 },
        "steps": [{ "kind": "nothing" }, { "kind": "go", "to": { "line": 5 } }],
    }})
}

static MIXED: LazyLock<Validator> =
    LazyLock::new(|| validator(MixedRoute::schema(Dialect::JsonSchema).value()));

static TICKETS: LazyLock<Validator> =
    LazyLock::new(|| validator(TicketsRoute::schema(Dialect::JsonSchema).value()));

static EVERY_ROUTE: LazyLock<Validator> = LazyLock::new(|| {
    let full = SampleRouting::schemas().full(Dialect::OpenAiStrict);
    validator(full.constraints_schema())
});

/// The review route in every dialect.
static REVIEWS: LazyLock<Vec<Validator>> = LazyLock::new(|| {
    let schema = |dialect| validator(ReviewRoute::schema(dialect).value());
    Dialect::ALL.into_iter().map(schema).collect()
});

fn validator(schema: &Value) -> Validator {
    jsonschema::validator_for(schema).unwrap()
}

fn errors(validator: &Validator, value: &Value) -> Vec<String> {
    validator
        .iter_errors(value)
        .map(|error| error.to_string())
        .collect()
}

/// The right answer, with a few things gone wrong.
fn answer(right: Value) -> impl Strategy<Value = Json> {
    vec((any::<proptest::sample::Index>(), change()), 0..3).prop_map(move |changes| {
        let mut answer = Json::of(&right);
        for (place, change) in changes {
            let mut place = place.index(answer.nodes());
            answer.change(&mut place, &change);
        }
        answer
    })
}

fn text(json: &Json) -> String {
    let mut text = String::new();
    json.write(&mut text);
    text
}

#[test]
fn the_right_answer_is_read() {
    let right = text(&Json::of(&right_answer()));
    assert!(read_narrowed::<TicketsRoute>(right.as_bytes()).is_ok());
    let mixed = text(&Json::of(&right_mixed()));
    assert!(read_narrowed::<MixedRoute>(mixed.as_bytes()).is_ok());
}

proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(4_000))]

    #[test]
    fn what_is_read_fits_the_narrowed_schema(answer in answer(right_answer())) {
        let text = text(&answer);
        match read_narrowed::<TicketsRoute>(text.as_bytes()) {
            Ok(_) => {
                prop_assert!(!answer.has_doubled_key(), "{text}");
                let value: Value = serde_json::from_str(&text).unwrap();
                prop_assert_eq!(errors(&TICKETS, &value), Vec::<String>::new(), "{}", text);
            }
            Err(error) => {
                prop_assert!(error.path().starts_with('$'));
                prop_assert!(!error.reason().is_empty());
                prop_assert!(!error.reason().contains("second"), "{}", error);
            }
        }
    }

    #[test]
    fn what_serde_buffers_fits_the_narrowed_schema(answer in answer(right_mixed())) {
        let text = text(&answer);
        if read_narrowed::<MixedRoute>(text.as_bytes()).is_ok() {
            prop_assert!(!answer.has_doubled_key(), "{text}");
            let value: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(errors(&MIXED, &value), Vec::<String>::new(), "{}", text);
        }
    }

    #[test]
    fn what_is_read_of_many_routes_fits_the_record(answer in answer(right_answer())) {
        let text = text(&answer);
        if let Ok(read) = read_within::<SampleRouting>(text.as_bytes(), RouteSet::ALL) {
            prop_assert_eq!(read.set_routes().len(), 1);
            prop_assert!(!answer.has_doubled_key(), "{text}");
            let value: Value = serde_json::from_str(&text).unwrap();
            let mut errors = errors(&EVERY_ROUTE, &value);
            // Lengths are a constraint, which reading leaves to the check of constraints.
            errors.retain(|error| !error.contains("shorter") && !error.contains("longer"));
            prop_assert_eq!(errors, Vec::<String>::new(), "{}", text);
        }
    }

    #[test]
    fn what_a_provider_may_write_is_read(answer in answer(right_review())) {
        let text = text(&answer);
        let read = read_narrowed::<ReviewRoute>(text.as_bytes());
        if let (Ok(value), false) = (serde_json::from_str(&text), answer.has_doubled_key()) {
            for validator in &*REVIEWS {
                if validator.is_valid(&value) {
                    prop_assert!(read.is_ok(), "{text}: {read:?}");
                }
            }
        }
    }

    #[test]
    fn no_text_stops_the_reader(bytes in vec(any::<u8>(), 0..200)) {
        if let Err(error) = read_narrowed::<TicketsRoute>(&bytes) {
            prop_assert!(error.path().starts_with('$'));
        }
    }
}

proptest! {
    // Each case reads every beginning of its answer.
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(500))]

    #[test]
    fn no_beginning_of_what_is_read_is_given_up(answer in answer(right_answer()), fenced in any::<bool>()) {
        let bare = text(&answer);
        let text = if fenced { format!("```json\n{bare}\n```\n") } else { format!(" {bare} ") };
        for allowed in [RouteSet::ALL, RouteSet::of::<TicketsRoute>()] {
            if read_within::<SampleRouting>(text.as_bytes(), allowed).is_ok() {
                let mut beginnings = (0..=text.len()).filter_map(|end| text.get(..end));
                let given_up = beginnings.find_map(|beginning| fault_so_far(beginning, allowed));
                prop_assert_eq!(given_up, None, "{}", text);
            }
        }
    }
}
