//! `irq routes`: where each agent's interrupt may go, and which ways there are.

use std::io;

use agents::catalogue::{self, RouteRow};
use routing_core::AgentType;
use serde_json::{Value, json};

use super::print;
use crate::arguments::{Global, RoutesArguments};
use crate::exit::Exit;
use crate::layout::fit;
use crate::palette::{Palette, Tone};
use crate::workflows;

/// Prints the routes as a table and a Mermaid graph, or as JSON.
///
/// # Errors
///
/// Where nobody reads the output.
pub(crate) fn routes(arguments: &RoutesArguments, global: Global) -> anyhow::Result<Exit> {
    let text = if arguments.json {
        format!("{}\n", serde_json::to_string_pretty(&as_json())?)
    } else if arguments.mermaid {
        ended_by_a_line(catalogue::mermaid())
    } else {
        let palette = Palette::for_stream(&io::stdout(), global.no_color);
        let graph = ended_by_a_line(catalogue::mermaid());
        format!("{}\n```mermaid\n{graph}```\n", table(palette))
    };
    print(&text)?;
    Ok(Exit::Success)
}

fn ended_by_a_line(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// The agents whose interrupts go back along a route.
fn origins(row: &RouteRow) -> Vec<&'static str> {
    let kinds = workflows::built_in().iter().flat_map(|it| it.kinds());
    kinds
        .filter(|kind| kind.origin.as_str() == row.agent_type.name())
        .map(|kind| kind.name.as_str())
        .collect()
}

fn table(palette: Palette) -> String {
    const AGENT_TYPE: usize = 22;
    const FIELD: usize = 28;
    let head = format!(
        "{}  {}  ANSWERS INTERRUPTS OF",
        fit("AGENT TYPE", AGENT_TYPE),
        fit("FIELD OF InterruptRouting", FIELD)
    );
    let mut text = format!("{}\n", palette.paint(Tone::Strong, &head));
    for row in catalogue::routes() {
        let origins: Vec<&str> = origins(&row)
            .into_iter()
            .map(|origin| {
                if origin == row.agent_type.name() {
                    "itself"
                } else {
                    origin
                }
            })
            .collect();
        text.push_str(&format!(
            "{}  {}  {}\n",
            palette.paint(Tone::Route, &fit(row.agent_type.name(), AGENT_TYPE)),
            fit(row.field, FIELD),
            origins.join(", ")
        ));
    }
    text
}

fn as_json() -> Value {
    let rows: Vec<Value> = catalogue::routes()
        .iter()
        .map(|row| {
            json!({
                "agentType": row.agent_type,
                "field": row.field,
                "marker": row.marker,
                "request": row.request,
                "lastRequest": row.last_request,
                "origins": origins(row),
            })
        })
        .collect();
    let edges: Vec<Value> = catalogue::edges()
        .iter()
        .map(|edge| {
            json!({
                "from": edge.from.name(),
                "to": edge.to.name(),
                "field": edge.field,
                "returns": edge.returns,
            })
        })
        .collect();
    json!({"routes": rows, "edges": edges})
}
