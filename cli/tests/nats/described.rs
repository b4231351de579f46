//! The description of the bus by AsyncAPI.

use std::collections::BTreeSet;

use serde_json::Value;
use tests::nats::installed;

use crate::program::{end, irq};
use crate::scene::Scene;

fn described() -> Value {
    let ended = end(irq().args(["schema", "--asyncapi"])).exits_with(0);
    serde_json::from_str(&ended.output).unwrap()
}

#[test]
fn it_is_what_asyncapi_says_that_a_description_is() {
    let path = installed().join("node/node_modules/@asyncapi/specs/schemas/3.0.0.json");
    let Ok(schema) = std::fs::read_to_string(&path) else {
        assert!(
            std::env::var_os("PROVE_ALL").is_none(),
            "run `tests/nats/install`"
        );
        eprintln!("nothing was tested: `tests/nats/install` has not been run");
        return;
    };
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let described = described();
    let errors: Vec<String> = validator
        .iter_errors(&described)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(errors, Vec::<String>::new());
    let mut wrong = described;
    wrong["channels"]["events"]["address"] = 1.into();
    assert!(!validator.is_valid(&wrong));
}

#[test]
fn each_of_its_references_leads_somewhere() {
    let described = described();
    let mut references = BTreeSet::new();
    collect(&described, &mut references);
    assert!(references.len() > 50);
    for reference in references {
        let pointer = reference.strip_prefix('#').unwrap();
        assert!(described.pointer(pointer).is_some(), "{reference}");
    }
}

fn collect<'v>(value: &'v Value, references: &mut BTreeSet<&'v str>) {
    match value {
        Value::Object(fields) => {
            references.extend(fields.get("$ref").and_then(Value::as_str));
            fields.values().for_each(|field| collect(field, references));
        }
        Value::Array(all) => all.iter().for_each(|one| collect(one, references)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[tokio::test]
async fn what_a_run_tells_fits_it() {
    let Some(scene) = Scene::new() else { return };
    let server = scene.serve();
    let run = scene.start_asking(&server).await;
    scene.question(&server).await;
    scene.is_published().await;
    let described = scene.get(&server, "/asyncapi.json").await;
    assert_eq!(described, self::described());
    let mut names = BTreeSet::new();
    for one in scene.heard().await {
        let name = one.subject.splitn(6, '.').last().unwrap().to_owned();
        let mut schema = described["components"]["messages"][&name]["payload"].clone();
        schema["components"] = described["components"].clone();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let fits = validator
            .validate(&one.event)
            .map_err(|error| error.to_string());
        assert_eq!(fits, Ok(()), "{name}: {}", one.event);
        names.insert(name);
    }
    assert!(names.contains("interrupt.opened"), "{run}: {names:?}");
}
