//! `irq schema`: a schema as a model would get it.

use std::fmt::Display;
use std::str::FromStr;

use agents::catalogue::{self, SchemaError, SchemaQuery};
use interrupts::RouteName;
use routing_core::model::{Caller, Purpose, TurnForm};
use routing_core::{NodeId, RunId};
use serde_json::{Map, Value, json};

use super::print;
use crate::arguments::SchemaArguments;
use crate::exit::{Exit, Failure};
use crate::model::{ModelChoice, Rehearsal};
use crate::nearest::nearest;
use crate::view::json_line;

/// Prints the schema of a record, or the names of all records.
///
/// # Errors
///
/// Where there is no such record, the situation means nothing to it, or nobody reads the output.
pub(crate) fn schema(arguments: &SchemaArguments) -> anyhow::Result<Exit> {
    if arguments.list {
        let names: Vec<&str> = catalogue::records()
            .iter()
            .map(|record| record.name)
            .collect();
        let lines: String = names
            .into_iter()
            .map(|name| {
                if arguments.json {
                    json_line(&name.into())
                } else {
                    format!("{name}\n")
                }
            })
            .collect();
        print(&lines)?;
        return Ok(Exit::Success);
    }
    let query = SchemaQuery {
        origin: typed(arguments.origin.as_ref())?,
        reroute_to: typed(arguments.reroute_to.as_ref())?,
        caller: typed(arguments.caller.as_ref())?,
        dialect: arguments.dialect,
    };
    let shown = if arguments.turn {
        turn(arguments, query)?
    } else {
        let schema = catalogue::schema(&arguments.record, &query);
        schema.map_err(|error| explained(&error))?.value().clone()
    };
    let text = if arguments.json {
        json_line(&shown)
    } else {
        serde_json::to_string_pretty(&shown)? + "\n"
    };
    print(&text)?;
    Ok(Exit::Success)
}

/// An agent type as the built-in workflow has it.
fn typed<T: FromStr<Err: Display>>(name: Option<&RouteName>) -> Result<Option<T>, Failure> {
    let read = name.map(|name| name.as_str().parse::<T>());
    let read = read.transpose();
    read.map_err(|error| Failure::new(Exit::Usage, error.to_string()))
}

/// How a turn with the record is asked: in the form that the model is asked in, or in both where none is named.
fn turn(arguments: &SchemaArguments, mut query: SchemaQuery) -> Result<Value, Failure> {
    let mut form = None;
    if let Some(name) = &arguments.model {
        let choice = ModelChoice::parse(name, arguments.base_url.clone())?;
        let model = choice.open(Rehearsal::default())?;
        query.dialect = model.dialect();
        form = Some(model.turn_form(&Caller {
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
        let schema = catalogue::schema(&arguments.record, &query);
        let schema = schema.map_err(|error| explained(&error))?.value().clone();
        shown.insert(TurnForm::OneStep.name().to_owned(), schema);
    }
    if form != Some(TurnForm::OneStep) {
        let steps = catalogue::two_steps(&arguments.record, &query);
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
            let guess = nearest(given, known)
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
