//! `irq schema`: a schema as a model would get it.

use std::fmt::Display;
use std::str::FromStr;

use agents::catalogue::{self, SchemaError, SchemaQuery};
use interrupt_router::model::{ModelCaller, Purpose, TurnForm};
use interrupt_router::{NodeId, RunId};
use interrupts::RouteName;
use interrupts::catalogue::{Catalogue, RouteEntry};
use llm::RehearsalConfig;
use serde_json::{Map, Value, json};

use super::print;
use crate::arguments::SchemaArguments;
use crate::exit::{Exit, Failure};
use crate::model::{Manner, ModelChoice};
use crate::view::json_line;
use crate::workflows;
use interrupts::nearest;

/// The record that answers the interrupts of the built-in agents.
const USUAL: &str = "InterruptRouting";

/// Prints the schema of a record, or the names of all records.
///
/// # Errors
///
/// If there is no such record, the situation does not apply to it, or the output is closed.
pub(crate) fn schema(arguments: &SchemaArguments) -> anyhow::Result<Exit> {
    if arguments.list {
        let own = workflows::own().map(Catalogue::record);
        let built_in = catalogue::records().iter().map(|record| record.name);
        let line = |name: &str| match arguments.json {
            true => json_line(&name.into()),
            false => format!("{name}\n"),
        };
        let built_in = built_in.filter(|_name| workflows::has_built_in());
        print(&own.chain(built_in).map(line).collect::<String>())?;
        return Ok(Exit::Success);
    }
    if arguments.asyncapi {
        return show(arguments, &server::asyncapi());
    }
    let record = arguments.record.as_deref();
    let mut own = workflows::own();
    if let Some(own) = own.find(|it| record.is_none_or(|record| record == it.record())) {
        return show(arguments, &of_own(own, arguments)?);
    }
    let record = record.unwrap_or(USUAL);
    if !workflows::has_built_in() {
        let text = format!("this program has no record `{record}`");
        return Err(Failure::new(Exit::Usage, text)
            .hint("`irq schema --list` lists them")
            .into());
    }
    let query = SchemaQuery {
        origin: typed(arguments.origin.as_ref())?,
        reroute_to: typed(arguments.reroute_to.as_ref())?,
        caller: typed(arguments.caller.as_ref())?,
        dialect: arguments.dialect,
    };
    let shown = if arguments.turn {
        turn(arguments, record, query)?
    } else {
        let schema = catalogue::schema(record, &query);
        schema.map_err(|error| explained(&error))?.value().clone()
    };
    show(arguments, &shown)
}

fn show(arguments: &SchemaArguments, shown: &Value) -> anyhow::Result<Exit> {
    let text = if arguments.json {
        json_line(shown)
    } else {
        serde_json::to_string_pretty(shown)? + "\n"
    };
    print(&text)?;
    Ok(Exit::Success)
}

/// What a model is shown of the record of one of this program's own workflows: narrowed to a route, or each route's by its
/// name.
fn of_own(own: &Catalogue, arguments: &SchemaArguments) -> Result<Value, Failure> {
    let record = own.record();
    if arguments.turn || arguments.caller.is_some() {
        let text = format!("--turn and --caller are of the built-in records, and {record} is not");
        return Err(Failure::new(Exit::Usage, text).hint("name one of them: irq schema --list"));
    }
    let unknown = |name: &RouteName| {
        let known: Vec<&str> = own.routes().iter().map(|it| it.name.as_str()).collect();
        let text = format!("{record} has no way to {name}");
        Failure::new(Exit::Usage, text).hint(format!("known are: {}", known.join(", ")))
    };
    let origin = match &arguments.origin {
        Some(kind) => {
            let found = own.kind(kind.as_str()).ok_or_else(|| unknown(kind))?;
            Some(&found.origin)
        }
        None => None,
    };
    let shown = |route: &RouteEntry| route.schema_in(record, arguments.dialect).value().clone();
    match arguments.reroute_to.as_ref().or(origin) {
        Some(name) => {
            let route = own.route(name.as_str()).ok_or_else(|| unknown(name))?;
            Ok(shown(route))
        }
        None => {
            let all = own.routes().iter();
            let all = all.map(|route| (route.name.to_string(), shown(route)));
            Ok(Value::Object(all.collect()))
        }
    }
}

/// An agent type as the built-in workflow has it.
fn typed<T: FromStr<Err: Display>>(name: Option<&RouteName>) -> Result<Option<T>, Failure> {
    let read = name.map(|name| name.as_str().parse::<T>());
    let read = read.transpose();
    read.map_err(|error| Failure::new(Exit::Usage, error.to_string()))
}

/// The schema of a turn with the record: in the form that the model is asked in, or in both if none is named.
fn turn(
    arguments: &SchemaArguments,
    record: &str,
    mut query: SchemaQuery,
) -> Result<Value, Failure> {
    let mut form = None;
    if let Some(name) = &arguments.model {
        let choice = ModelChoice::parse(name, arguments.base_url.clone())?;
        let opened = choice.open(RehearsalConfig::default(), &Manner::default())?;
        let model = opened.paid(None)?;
        query.dialect = model.dialect();
        form = Some(model.turn_form(&ModelCaller {
            run: RunId::generate(),
            node: NodeId::root(),
            agent_type: "SCHEMA",
            purpose: Purpose::Step,
            turn: 1,
            correction: 0,
        }));
    }
    let mut shown = Map::new();
    shown.insert("dialect".to_owned(), query.dialect.name().into());
    if form != Some(TurnForm::RouteFirst) {
        let schema = catalogue::schema(record, &query);
        let schema = schema.map_err(|error| explained(&error))?.value().clone();
        shown.insert(TurnForm::OneStep.name().to_owned(), schema);
    }
    if form != Some(TurnForm::OneStep) {
        let steps = catalogue::two_steps(record, &query);
        let steps = steps.map_err(|error| explained(&error))?;
        let requests: Map<String, Value> = steps
            .requests
            .into_iter()
            .map(|(field, schema)| (field.to_owned(), schema.value().clone()))
            .collect();
        shown.insert(
            TurnForm::RouteFirst.name().to_owned(),
            json!({"choose": steps.choice.value(), "fill": requests}),
        );
    }
    Ok(shown.into())
}

fn explained(error: &SchemaError) -> Failure {
    match error {
        SchemaError::UnknownRecord { given, known } => {
            let guess = nearest(given, known.iter().copied())
                .map(|near| format!("did you mean {near}? "))
                .unwrap_or_default();
            Failure::new(Exit::Usage, format!("unknown record `{given}`"))
                .hint(format!("{guess}known are: {}", known.join(", ")))
        }
        SchemaError::NoInterruptAnswer { .. } => Failure::new(Exit::Usage, error.to_string())
            .hint("--origin and --reroute-to narrow InterruptRouting"),
        SchemaError::NoReturnRoute { .. } => Failure::new(Exit::Usage, error.to_string())
            .hint("--caller narrows the records of agents that go back to their caller"),
        SchemaError::NoRoutes { .. } | _ => Failure::new(Exit::Usage, error.to_string()),
    }
}
