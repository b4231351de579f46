//! The schema that a model is shown allows what the reader of its answer takes, and nothing else.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use interrupt_router::answer::{AnswerFault, read_narrowed};
use interrupt_router::context::{LlmCallContext, RouteSnapshot};
use interrupt_router::model::{Dialect, ModelCaller, Purpose};
use interrupt_router::schema::{RecordProblem, check_limits};
use interrupt_router::{NodeId, Route, Routing, RunId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A record with this one request.
macro_rules! record {
    ($record:ident, $marker:ident, $request:ty) => {
        #[derive(Debug, Clone, Routing)]
        struct $record {
            #[route(marker = $marker)]
            request: Option<$request>,
        }
    };
}

#[track_caller]
fn problems<R: Routing>() -> Vec<RecordProblem> {
    let problems = R::check().unwrap_err();
    problems.problems().to_vec()
}

/// The record has this one problem, at this place, and the remedy names this.
#[track_caller]
fn assert_one_problem<R: Routing>(pointer: &str, fault: &str, remedy: &str) {
    let problems = problems::<R>();
    let [only] = problems.as_slice() else {
        panic!("{problems:#?}");
    };
    let said = only.to_string();
    assert_eq!(
        (only.record, only.route),
        (R::NAME, Some("request")),
        "{said}"
    );
    assert_eq!(only.pointer, pointer, "{said}");
    assert!(only.fault.contains(fault), "{said}");
    assert!(only.remedy.contains(remedy), "{said}");
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Renamed {
    #[schemars(rename = "headline")]
    title: String,
}
record!(RenamedRecord, RenamedRoute, Renamed);

#[test]
fn a_field_that_is_renamed_for_the_schema_alone_is_found() {
    assert_one_problem::<RenamedRecord>(
        "#/request/headline",
        "unknown field",
        "#[serde(rename = ...)]",
    );
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Skipped {
    #[schemars(skip)]
    title: String,
}
record!(SkippedRecord, SkippedRoute, Skipped);

#[test]
fn a_required_field_that_the_schema_leaves_out_is_found() {
    assert_one_problem::<SkippedRecord>(
        "#/request/title",
        "missing field `title`",
        "#[schemars(skip)]",
    );
}

mod number_as_text {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(number: &u32, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(number)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
        String::deserialize(from)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct OnlyReadAsText {
    #[serde(with = "number_as_text")]
    #[schemars(with = "u32")]
    pages: u32,
}
record!(OnlyReadAsTextRecord, OnlyReadAsTextRoute, OnlyReadAsText);

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct OnlyShownAsText {
    #[schemars(with = "String")]
    pages: u32,
}
record!(OnlyShownAsTextRecord, OnlyShownAsTextRoute, OnlyShownAsText);

#[test]
fn a_field_that_is_read_in_another_way_than_it_is_shown_is_found() {
    assert_one_problem::<OnlyReadAsTextRecord>(
        "#/request/pages",
        "invalid type: integer",
        "`with`",
    );
    assert_one_problem::<OnlyShownAsTextRecord>(
        "#/request/pages",
        "invalid type: string",
        "`with`",
    );
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Graded {
    #[schemars(extend("enum" = ["A", "B"]))]
    grade: String,
}
record!(GradedRecord, GradedRoute, Graded);

#[test]
fn values_that_only_the_schema_forbids_are_found() {
    assert_one_problem::<GradedRecord>(
        "#/request/grade",
        "the schema forbids",
        "let the schema say",
    );
}

/// A text of which only some are taken.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
struct Isbn(String);

impl TryFrom<String> for Isbn {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        let is_one = text.starts_with("978-");
        is_one
            .then_some(Self(text))
            .ok_or("an ISBN begins with 978-")
    }
}

impl From<Isbn> for String {
    fn from(isbn: Isbn) -> Self {
        isbn.0
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Book {
    isbn: Isbn,
}
record!(BookRecord, BookRoute, Book);

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct BookWithExample {
    #[schemars(example = "978-3-16-148410-0")]
    isbn: Isbn,
}
record!(BookWithExampleRecord, BookWithExampleRoute, BookWithExample);

#[test]
fn an_example_stands_for_a_type_that_takes_only_some_texts() {
    assert_one_problem::<BookRecord>(
        "#/request/isbn",
        "an ISBN begins",
        "#[schemars(example = ...)]",
    );
    BookWithExampleRecord::check().unwrap();
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
enum Kind {
    #[schemars(rename = "Short")]
    Brief,
    Long,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct WithKinds {
    kinds: Vec<Kind>,
}
record!(WithKindsRecord, WithKindsRoute, WithKinds);

#[test]
fn a_variant_that_is_renamed_for_the_schema_alone_is_found() {
    assert_one_problem::<WithKindsRecord>(
        "#/request/kinds/0",
        "unknown variant `Short`",
        "#[serde(rename = ...)]",
    );
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Demanded {
    #[schemars(required)]
    subtitle: Option<String>,
}
record!(DemandedRecord, DemandedRoute, Demanded);

#[test]
fn a_field_that_only_the_schema_requires_is_found() {
    assert_one_problem::<DemandedRecord>(
        "#/request/subtitle",
        "without a property",
        "#[schemars(required)]",
    );
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Page {
    text: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is")]
enum Tagged {
    Page(Page),
    Blank,
    Picture { file: String },
}
record!(TaggedRecord, TaggedRoute, Tagged);

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "is", content = "of")]
enum Beside {
    Page(Page),
}
record!(BesideRecord, BesideRoute, Beside);

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Page(Page),
    Picture { file: String, frame: Option<Page> },
}
record!(UntaggedRecord, UntaggedRoute, Untagged);

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Flattened {
    number: u32,
    #[serde(flatten)]
    page: Page,
}
record!(FlattenedRecord, FlattenedRoute, Flattened);

#[track_caller]
fn takes<M: Route>(request: &serde_json::Value) {
    read_narrowed::<M>(json!({ "request": request }).to_string().as_bytes()).unwrap();
}

#[track_caller]
fn refuses<M: Route>(request: &serde_json::Value, fault: AnswerFault, path: &str) {
    let answer = json!({ "request": request }).to_string();
    let error = read_narrowed::<M>(answer.as_bytes()).unwrap_err();
    assert_eq!((error.fault(), error.path()), (fault, path), "{error}");
}

#[test]
fn no_enum_lets_an_unknown_field_pass_however_it_is_tagged() {
    let unknown = AnswerFault::UnknownField;
    takes::<TaggedRoute>(&json!({"is": "Page", "text": "a"}));
    refuses::<TaggedRoute>(
        &json!({"is": "Page", "text": "a", "size": 1}),
        unknown,
        "$.request.size",
    );
    refuses::<TaggedRoute>(
        &json!({"is": "Blank", "size": 1}),
        unknown,
        "$.request.size",
    );
    refuses::<TaggedRoute>(
        &json!({"size": 1, "is": "Picture", "file": "a"}),
        unknown,
        "$.request.size",
    );
    takes::<BesideRoute>(&json!({"of": {"text": "a"}, "is": "Page"}));
    refuses::<BesideRoute>(
        &json!({"of": {"text": "a", "size": 1}, "is": "Page"}),
        unknown,
        "$.request.of.size",
    );
    takes::<UntaggedRoute>(&json!({"file": "a", "frame": {"text": "b"}}));
    refuses::<UntaggedRoute>(&json!({"text": "a", "size": 1}), unknown, "$.request.size");
    let framed = json!({"file": "a", "frame": {"text": "b", "size": 1}});
    refuses::<UntaggedRoute>(&framed, unknown, "$.request.frame.size");
    takes::<FlattenedRoute>(&json!({"number": 1, "text": "a"}));
    refuses::<FlattenedRoute>(
        &json!({"number": 1, "text": "a", "size": 1}),
        unknown,
        "$.request.size",
    );
    for record in [
        TaggedRecord::check,
        BesideRecord::check,
        UntaggedRecord::check,
        FlattenedRecord::check,
    ] {
        record().unwrap();
    }
}

#[test]
fn a_list_is_no_struct_within_an_enum_either() {
    let list = json!({"file": "a", "frame": ["b"]});
    refuses::<UntaggedRoute>(&list, AnswerFault::ArrayForObject, "$.request.frame");
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Empty {}
record!(EmptyRecord, EmptyRoute, Empty);

#[test]
fn a_struct_without_fields_is_an_object_without_properties() {
    EmptyRecord::check().unwrap();
    takes::<EmptyRoute>(&json!({}));
    refuses::<EmptyRoute>(&json!({"a": 1}), AnswerFault::UnknownField, "$.request.a");
    let schema = EmptyRoute::schema(Dialect::OpenAiStrict);
    assert_eq!(
        schema.value()["$defs"]["Empty"]["additionalProperties"],
        false,
        "{}",
        schema.text()
    );
    assert_eq!(check_limits(schema), []);
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct OddlyNamed {
    #[serde(rename = "size in mm²")]
    size: u32,
}
record!(OddlyNamedRecord, OddlyNamedRoute, OddlyNamed);

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct WithMap {
    prices: BTreeMap<String, u32>,
}
record!(WithMapRecord, WithMapRoute, WithMap);

#[test]
fn what_a_provider_refuses_is_found_with_its_place_and_a_remedy() {
    let found = problems::<OddlyNamedRecord>();
    let said = found[0].to_string();
    assert_eq!(found.len(), 1, "{said}");
    assert!(
        found[0].pointer.ends_with("/properties/size in mm²"),
        "{said}"
    );
    assert!(
        said.contains("anthropic") && said.contains("#[serde(rename"),
        "{said}"
    );
    let found = problems::<WithMapRecord>();
    let said = format!("{:?}", WithMapRecord::check().unwrap_err());
    assert_eq!(found.len(), 2, "{said}");
    assert!(
        said.contains("openai: objects that take any property"),
        "{said}"
    );
    assert!(
        found
            .iter()
            .all(|problem| problem.remedy.contains("list of pairs")),
        "{said}"
    );
}

/// What is said where something panics.
fn said_by(panics: impl FnOnce()) -> Option<String> {
    let said = catch_unwind(AssertUnwindSafe(panics)).err()?;
    Some(said.downcast_ref::<String>().cloned().unwrap_or_default())
}

#[test]
fn a_debug_build_says_so_at_the_first_use_and_at_each_that_follows() {
    for _use in 0..2 {
        let said = said_by(|| {
            RenamedRoute::schema(Dialect::JsonSchema);
        });
        assert_eq!(said.is_some(), cfg!(debug_assertions));
        let said = said.unwrap_or_default();
        for part in [
            "`RenamedRecord`",
            "`request`",
            "#/request/headline",
            "#[serde(rename = ...)]",
        ] {
            assert!(
                !cfg!(debug_assertions) || said.contains(part),
                "{part}: {said}"
            );
        }
    }
}

#[test]
fn a_debug_build_shows_no_model_a_schema_that_its_provider_refuses() {
    let caller = ModelCaller {
        run: RunId::generate(),
        node: NodeId::new("shop").unwrap(),
        agent_type: "SHOP",
        purpose: Purpose::Step,
        turn: 1,
        correction: 0,
    };
    let context =
        LlmCallContext::<WithMapRecord>::new(caller, Vec::new(), RouteSnapshot::default());
    let shown = |dialect| {
        said_by(|| {
            context.to_call(dialect);
        })
    };
    assert_eq!(shown(Dialect::Gemini), None);
    assert_eq!(shown(Dialect::JsonSchema), None);
    let said = shown(Dialect::OpenAiStrict);
    assert_eq!(said.is_some(), cfg!(debug_assertions));
    let said = said.unwrap_or_default();
    assert!(
        !cfg!(debug_assertions) || said.contains("list of pairs"),
        "{said}"
    );
}
