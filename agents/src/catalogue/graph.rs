//! Which node may go where, read from the routing records themselves.

use std::collections::BTreeSet;
use std::fmt::Write;

use routing_core::{AgentType, RouteInfo};

use super::{RecordInfo, RecordKind, records};
use crate::agent_kind::{AgentKind, RouteType};

/// The field of every agent's record that raises an interrupt.
const INTERRUPT_FIELD: &str = "interruptRequest";

/// An end of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// An agent of this kind.
    Agent(AgentKind),
    /// The one handler of all interrupts.
    InterruptHandler,
    /// A result: our code takes it, and it decides where the workflow goes on.
    Result,
}

impl Place {
    /// The name in graphs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agent(kind) => kind.name(),
            Self::InterruptHandler => "INTERRUPT",
            Self::Result => "RESULT",
        }
    }
}

/// A way from one place to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Where it starts.
    pub from: Place,
    /// Where it ends.
    pub to: Place,
    /// The field that is set to take it, by its name in JSON.
    pub field: &'static str,
    /// Whether it leads back to whoever called, and is open to that caller alone.
    pub returns: bool,
}

/// Every way that a routing record has, in the order of the records and of their fields.
pub fn edges() -> Vec<Edge> {
    records().iter().flat_map(edges_of).collect()
}

fn edges_of(record: &'static RecordInfo) -> impl Iterator<Item = Edge> {
    let from = match record.kind {
        RecordKind::AgentAnswer(kind) => Place::Agent(kind),
        RecordKind::InterruptAnswer | RecordKind::ReviewDecision => Place::InterruptHandler,
    };
    record.routes.iter().map(move |route| Edge {
        from,
        to: end_of(route),
        field: route.field,
        returns: route.returns,
    })
}

fn end_of(route: &RouteInfo) -> Place {
    let target = route
        .agent_type
        .and_then(|name| name.parse::<RouteType>().ok());
    match target {
        Some(target) => Place::Agent(target.kind()),
        None if route.field == INTERRUPT_FIELD => Place::InterruptHandler,
        None => Place::Result,
    }
}

/// The graph of all ways, for Mermaid.
///
/// Interrupts are drawn as one arrow from all that may raise them, and one to all that they may lead
/// to; ways back to a caller are dotted.
pub fn mermaid() -> String {
    let edges = edges();
    let mut graph = String::from("flowchart TD\n");
    let places: BTreeSet<Place> = edges.iter().flat_map(|edge| [edge.from, edge.to]).collect();
    for place in &places {
        draw_place(&mut graph, *place);
    }
    for edge in &edges {
        let of_interrupts = [edge.from, edge.to].contains(&Place::InterruptHandler);
        if !of_interrupts {
            draw_edge(&mut graph, edge);
        }
    }
    for kind in AgentKind::ALL.iter().filter(|kind| kind.is_worker()) {
        line(
            &mut graph,
            format_args!("{} ==>|starts| {kind}", kind.origin_route()),
        );
    }
    let raising = ends(&edges, |edge| {
        (edge.to == Place::InterruptHandler).then_some(edge.from)
    });
    let reached = ends(&edges, |edge| {
        (edge.from == Place::InterruptHandler).then_some(edge.to)
    });
    let handler = Place::InterruptHandler.name();
    line(
        &mut graph,
        format_args!("{raising} -.->|{INTERRUPT_FIELD}| {handler}"),
    );
    line(&mut graph, format_args!("{handler} -.-> {reached}"));
    graph
}

fn draw_place(graph: &mut String, place: Place) {
    let name = place.name();
    match place {
        Place::Agent(kind) if kind.is_worker() => line(graph, format_args!("{name}([{name}])")),
        Place::Agent(_) => line(graph, format_args!("{name}[{name}]")),
        Place::InterruptHandler => line(graph, format_args!("{name}{{{{interrupt}}}}")),
        Place::Result => line(graph, format_args!("{name}((result))")),
    }
}

fn draw_edge(graph: &mut String, edge: &Edge) {
    let from = edge.from.name();
    // A worker's result goes to the node that started it.
    let to = match (edge.from, edge.to) {
        (Place::Agent(kind), Place::Result) if kind.is_worker() => kind.origin_route().name(),
        (_, to) => to.name(),
    };
    let arrow = if edge.returns { "-.->" } else { "-->" };
    line(graph, format_args!("{from} {arrow}|{}| {to}", edge.field));
}

fn ends(edges: &[Edge], end: impl Fn(&Edge) -> Option<Place>) -> String {
    let names: Vec<&str> = edges.iter().filter_map(end).map(Place::name).collect();
    names.join(" & ")
}

fn line(graph: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _written = writeln!(graph, "    {text}");
}
