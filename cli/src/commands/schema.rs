//! `irq schema`: a schema as a model would get it.

use agents::catalogue::{self, SchemaError, SchemaQuery};

use super::print;
use crate::arguments::SchemaArguments;
use crate::exit::{Exit, Failure};
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
        origin: arguments.origin,
        reroute_to: arguments.reroute_to,
        caller: arguments.caller,
        dialect: arguments.dialect,
    };
    let schema = catalogue::schema(&arguments.record, &query).map_err(|error| explained(&error))?;
    let text = if arguments.json {
        json_line(schema.value())
    } else {
        serde_json::to_string_pretty(schema.value())? + "\n"
    };
    print(&text)?;
    Ok(Exit::Success)
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
        _ => Failure::new(Exit::Usage, error.to_string()),
    }
}
