//! `irq routes`: where each agent's interrupt may go, and which routes there are.

use std::io;

use agents::catalogue;
use interrupt_router::AgentType;
use interrupts::catalogue::Catalogue;
use journal::Workflow;
use serde_json::{Value, json};

use super::print;
use crate::arguments::{Global, RoutesArguments};
use crate::exit::{Exit, Failure};
use crate::layout::fit;
use crate::palette::{Palette, Tone};
use crate::workflows;

/// Prints the routes as a table and a Mermaid graph, or as JSON.
///
/// # Errors
///
/// If the output is closed.
pub(crate) fn routes(arguments: &RoutesArguments, global: Global) -> anyhow::Result<Exit> {
    let agents = agents::catalogue::of_workflow(&Workflow::Agents);
    let agents =
        agents.ok_or_else(|| Failure::new(Exit::Failure, "the agents have no catalogue"))?;
    let own: String = {
        let palette = Palette::for_stream(&io::stdout(), global.no_color);
        let tables = workflows::own().map(|own| format!("{}\n", table(palette, own)));
        tables.collect()
    };
    let text = if !workflows::has_built_in() {
        if arguments.mermaid {
            let text = "the workflows of this program are code, which has no graph";
            return Err(Failure::new(Exit::Usage, text)
                .hint("leave --mermaid out")
                .into());
        }
        match arguments.json {
            true => format!("{}\n", serde_json::to_string_pretty(&all_own_as_json())?),
            false => own,
        }
    } else if arguments.json {
        format!("{}\n", serde_json::to_string_pretty(&as_json(&agents))?)
    } else if arguments.mermaid {
        ended_by_a_line(catalogue::mermaid())
    } else {
        let palette = Palette::for_stream(&io::stdout(), global.no_color);
        let graph = ended_by_a_line(catalogue::mermaid());
        format!("{own}{}\n```mermaid\n{graph}```\n", table(palette, &agents))
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
fn origins<'of>(of: &'of Catalogue, route: &str) -> Vec<&'of str> {
    let kinds = of.kinds().iter();
    kinds
        .filter(|kind| kind.origin.as_str() == route)
        .map(|kind| kind.name.as_str())
        .collect()
}

/// The routes of a workflow, as its record has them.
fn table(palette: Palette, of: &Catalogue) -> String {
    const AGENT_TYPE: usize = 22;
    const FIELD: usize = 28;
    let head = format!(
        "{}  {}  ANSWERS INTERRUPTS OF",
        fit("AGENT TYPE", AGENT_TYPE),
        fit(&format!("FIELD OF {}", of.record()), FIELD)
    );
    let mut text = format!("{}\n", palette.paint(Tone::Strong, &head));
    for route in of.routes() {
        let name = route.name.as_str();
        let itself = |origin| if origin == name { "itself" } else { origin };
        let origins: Vec<&str> = origins(of, name).into_iter().map(itself).collect();
        text.push_str(&format!(
            "{}  {}  {}\n",
            palette.paint(Tone::Route, &fit(name, AGENT_TYPE)),
            fit(&route.field, FIELD),
            origins.join(", ")
        ));
    }
    text
}

/// The routes of one of this program's own workflows.
fn own_as_json(own: &Catalogue) -> Value {
    let routes = own.routes().iter().map(|route| {
        json!({
            "agentType": route.name,
            "field": route.field,
            "request": route.request,
            "origins": origins(own, route.name.as_str()),
        })
    });
    json!({"workflow": own.name(), "record": own.record(), "routes": routes.collect::<Vec<_>>()})
}

fn all_own_as_json() -> Value {
    json!({"workflows": workflows::own().map(own_as_json).collect::<Vec<_>>()})
}

fn as_json(agents: &Catalogue) -> Value {
    let rows: Vec<Value> = catalogue::routes()
        .iter()
        .map(|row| {
            json!({
                "agentType": row.agent_type,
                "field": row.field,
                "marker": row.marker,
                "request": row.request,
                "lastRequest": row.last_request,
                "origins": origins(agents, row.agent_type.name()),
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
    let own: Vec<Value> = workflows::own().map(own_as_json).collect();
    let mut all = json!({"routes": rows, "edges": edges});
    if !own.is_empty() {
        all["workflows"] = own.into();
    }
    all
}
