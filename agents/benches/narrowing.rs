//! Narrowing the schema of a call: looking it up, beside generating it and filtering it each time.
//!
//! `cargo bench -p interrupt-router-agents --bench narrowing`. The columns `alloc` count allocations.

use agents::records::InterruptRouting;
use agents::{AgentKind, RouteType};
use divan::{AllocProfiler, Bencher, black_box};
use interrupt_router::context::Selection;
use interrupt_router::model::Dialect;
use interrupt_router::{AgentType, InterruptRoutes};
use serde_json::{Map, Value};

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// The origin is known only at run time: kind, route, row.
#[divan::bench(sample_size = 10_000, sample_count = 500)]
fn table_look_up(bencher: Bencher) {
    let kinds = AgentKind::ALL;
    // The first touch builds the row; it is measured by `first_touch_of_all_fourteen`.
    for kind in kinds {
        let route = InterruptRouting::route_to(kind.origin_route());
        black_box(Selection::Only(route).schema(Dialect::OpenAiStrict).text());
    }
    bencher.bench_local(|| {
        let kind = black_box(AgentKind::DiscoveryAgent);
        let route = InterruptRouting::route_to(kind.origin_route());
        Selection::Only(route).schema(black_box(Dialect::OpenAiStrict))
    });
}

#[divan::bench]
fn generate_and_filter() -> Value {
    let schema = schemars::schema_for!(InterruptRouting);
    filtered(schema.as_value(), black_box("orchestratorRequest"))
}

#[divan::bench]
fn filter_a_cached_tree(bencher: Bencher) {
    let cached = schemars::schema_for!(InterruptRouting);
    bencher.bench_local(|| filtered(cached.as_value(), black_box("orchestratorRequest")));
}

/// What the first call of a process pays for all fourteen rows of one dialect, without any table.
#[divan::bench]
fn first_touch_of_all_fourteen(bencher: Bencher) {
    bencher.bench_local(|| {
        let table = interrupt_router::schema::SchemaTable::<InterruptRouting>::__build();
        let table: &'static _ = Box::leak(Box::new(table));
        for target in RouteType::ALL {
            black_box(table.narrowed(InterruptRouting::route_to(*target), Dialect::OpenAiStrict));
        }
    });
}

/// Leaves one property, and of the definitions those that it reaches.
fn filtered(full: &Value, field: &str) -> Value {
    let mut schema = full.clone();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _schema| name == field);
    }
    let definitions = schema.get_mut("$defs").map(Value::take).unwrap_or_default();
    let mut kept = Map::new();
    let mut open = references(&schema);
    while let Some(name) = open.pop() {
        if !kept.contains_key(&name)
            && let Some(definition) = definitions.get(&name)
        {
            open.extend(references(definition));
            kept.insert(name, definition.clone());
        }
    }
    schema["$defs"] = Value::Object(kept);
    schema
}

fn references(schema: &Value) -> Vec<String> {
    match schema {
        Value::Object(map) => map
            .iter()
            .flat_map(|(key, value)| match value.as_str() {
                Some(target) if key == "$ref" => target
                    .rsplit('/')
                    .next()
                    .map(str::to_owned)
                    .into_iter()
                    .collect(),
                _ => references(value),
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(references).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}
