//! Which node may go where, read from the routing records themselves.

use std::collections::BTreeSet;
use std::fmt::Write;

use interrupt_router::{AgentType, RouteInfo};

use super::{RecordInfo, RecordKind, records};
use crate::agent_kind::{AgentKind, RouteType};

/// The field of every agent's record that raises an interrupt.
const INTERRUPT_FIELD: &str = "interruptRequest";

/// An end of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeEnd {
    /// An agent of this kind.
    Agent(AgentKind),
    /// The one handler of all interrupts.
    InterruptHandler,
    /// A result: the router's own code receives it and decides where the workflow continues.
    Result,
}

impl EdgeEnd {
    /// The name in graphs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agent(kind) => kind.name(),
            Self::InterruptHandler => "INTERRUPT",
            Self::Result => "RESULT",
        }
    }
}

/// A way from one node to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Where it starts.
    pub from: EdgeEnd,
    /// Where it ends.
    pub to: EdgeEnd,
    /// The field that is set to take it, by its name in JSON.
    pub field: &'static str,
    /// Whether it leads back to the caller, and is open to that caller alone.
    pub returns: bool,
}

/// Every way that a routing record has, in the order of the records and of their fields.
pub fn edges() -> Vec<Edge> {
    records().iter().flat_map(edges_of).collect()
}

fn edges_of(record: &'static RecordInfo) -> impl Iterator<Item = Edge> {
    let from = match record.kind {
        RecordKind::AgentAnswer(kind) => EdgeEnd::Agent(kind),
        RecordKind::InterruptAnswer | RecordKind::ReviewDecision => EdgeEnd::InterruptHandler,
    };
    record.routes.iter().map(move |route| Edge {
        from,
        to: end_of(route),
        field: route.field,
        returns: route.returns,
    })
}

fn end_of(route: &RouteInfo) -> EdgeEnd {
    let target = route
        .agent_type
        .and_then(|name| name.parse::<RouteType>().ok());
    match target {
        Some(target) => EdgeEnd::Agent(target.kind()),
        None if route.field == INTERRUPT_FIELD => EdgeEnd::InterruptHandler,
        None => EdgeEnd::Result,
    }
}

/// The graph of all ways, for Mermaid.
///
/// Interrupts are drawn as one arrow from all that may raise them, and one to all that they may lead
/// to; ways back to a caller are dotted.
pub fn mermaid() -> String {
    let edges = edges();
    let mut graph = String::from("flowchart TD\n");
    let places: BTreeSet<EdgeEnd> = edges.iter().flat_map(|edge| [edge.from, edge.to]).collect();
    for place in &places {
        draw_place(&mut graph, *place);
    }
    for edge in &edges {
        let of_interrupts = [edge.from, edge.to].contains(&EdgeEnd::InterruptHandler);
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
        (edge.to == EdgeEnd::InterruptHandler).then_some(edge.from)
    });
    let reached = ends(&edges, |edge| {
        (edge.from == EdgeEnd::InterruptHandler).then_some(edge.to)
    });
    let handler = EdgeEnd::InterruptHandler.name();
    line(
        &mut graph,
        format_args!("{raising} -.->|{INTERRUPT_FIELD}| {handler}"),
    );
    line(&mut graph, format_args!("{handler} -.-> {reached}"));
    graph
}

fn draw_place(graph: &mut String, place: EdgeEnd) {
    let name = place.name();
    match place {
        EdgeEnd::Agent(kind) if kind.is_worker() => line(graph, format_args!("{name}([{name}])")),
        EdgeEnd::Agent(_) => line(graph, format_args!("{name}[{name}]")),
        EdgeEnd::InterruptHandler => line(graph, format_args!("{name}{{{{interrupt}}}}")),
        EdgeEnd::Result => line(graph, format_args!("{name}((result))")),
    }
}

fn draw_edge(graph: &mut String, edge: &Edge) {
    let from = edge.from.name();
    // A worker's result goes to the node that started it.
    let to = match (edge.from, edge.to) {
        (EdgeEnd::Agent(kind), EdgeEnd::Result) if kind.is_worker() => kind.origin_route().name(),
        (_, to) => to.name(),
    };
    let arrow = if edge.returns { "-.->" } else { "-->" };
    line(graph, format_args!("{from} {arrow}|{}| {to}", edge.field));
}

fn ends(edges: &[Edge], end: impl Fn(&Edge) -> Option<EdgeEnd>) -> String {
    let names: Vec<&str> = edges.iter().filter_map(end).map(EdgeEnd::name).collect();
    names.join(" & ")
}

fn line(graph: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _written = writeln!(graph, "    {text}");
}
