//! Checks of one enumeration against another, made while the crate that uses the derive compiles.
//!
//! A derive macro sees one item at a time, so it cannot know the variants of an enumeration that its
//! item only names. These functions know them; a panic in them is a compile error at the token that
//! the macro chose.

use super::message::Message;
use crate::agent_type::AgentType;
use crate::route::RouteInfo;

/// The place of the agent type with this discriminant.
pub const fn position<A: AgentType>(discriminant: i128) -> usize {
    let mut at = 0;
    while at < A::__DISCRIMINANTS.len() {
        if A::__DISCRIMINANTS[at] == discriminant {
            return at;
        }
        at += 1;
    }
    at
}

/// The place of the agent type whose variant has this name.
///
/// # Panics
///
/// Where there is none: `wanted_by` says what needs it, `remedy` what to do.
#[track_caller]
pub const fn position_of_name<A: AgentType>(
    variant: &str,
    enumeration: &str,
    wanted_by: &str,
    remedy: &str,
) -> usize {
    let mut at = 0;
    while at < A::__VARIANTS.len() {
        if same(A::__VARIANTS[at], variant) {
            return at;
        }
        at += 1;
    }
    let message = Message::new()
        .push(wanted_by)
        .push(" `")
        .push(variant)
        .push("` has no counterpart in `")
        .push(enumeration)
        .push("`: ")
        .push(remedy);
    panic!("{}", message.text())
}

/// For each agent type, the route that leads to it; 0 where there is none, which
/// [`assert_routes`] reports.
pub const fn routes_by_agent_type<const N: usize>(positions: &[usize]) -> [usize; N] {
    let mut routes = [0; N];
    let mut route = 0;
    while route < positions.len() {
        if positions[route] < N {
            routes[positions[route]] = route;
        }
        route += 1;
    }
    routes
}

/// Checks that each agent type has exactly one route.
///
/// # Panics
///
/// Where one has none, or more than one. The text names all of them.
#[track_caller]
pub const fn assert_routes<A: AgentType>(record: &str, routes: &[RouteInfo], positions: &[usize]) {
    let mut missing = Message::new();
    let mut missing_count = 0;
    let mut doubled = Message::new();
    let mut doubled_count = 0;
    let mut agent_type = 0;
    while agent_type < A::__VARIANTS.len() {
        match count(positions, agent_type) {
            0 => {
                missing = missing.push_name(A::__VARIANTS[agent_type], missing_count == 0);
                missing_count += 1;
            }
            1 => {}
            _ => {
                let fields = fields_of(routes, positions, agent_type);
                doubled = doubled
                    .push_name(A::__VARIANTS[agent_type], doubled_count == 0)
                    .push(" (fields ")
                    .push(fields.text())
                    .push(")");
                doubled_count += 1;
            }
        }
        agent_type += 1;
    }
    if doubled_count > 0 {
        let message = Message::new()
            .push("`")
            .push(record)
            .push("` has more than one route to ")
            .push(doubled.text())
            .push(": keep one field for each agent type");
        panic!("{}", message.text())
    }
    if missing_count > 0 {
        let message = Message::new()
            .push("`")
            .push(record)
            .push("` has no route to ")
            .push(missing.text())
            .push(
                ": add for each an optional field with `#[route(agent_type = ...)]` that names it",
            );
        panic!("{}", message.text())
    }
}

/// Checks that each kind of agent has a variant in a sealed interrupt request.
///
/// # Panics
///
/// Where one has none. The text names all of them.
#[track_caller]
pub const fn assert_kinds<A: AgentType>(request: &str, positions: &[usize]) {
    let mut missing = Message::new();
    let mut missing_count = 0;
    let mut kind = 0;
    while kind < A::__VARIANTS.len() {
        if count(positions, kind) == 0 {
            missing = missing.push_name(A::__VARIANTS[kind], missing_count == 0);
            missing_count += 1;
        }
        kind += 1;
    }
    if missing_count > 0 {
        let message = Message::new()
            .push("`")
            .push(request)
            .push("` has no variant for ")
            .push(missing.text())
            .push(": add for each a variant of that name with the payload that the agent raises");
        panic!("{}", message.text())
    }
}

const fn count(positions: &[usize], wanted: usize) -> usize {
    let mut found = 0;
    let mut at = 0;
    while at < positions.len() {
        if positions[at] == wanted {
            found += 1;
        }
        at += 1;
    }
    found
}

const fn fields_of(routes: &[RouteInfo], positions: &[usize], agent_type: usize) -> Message {
    let mut fields = Message::new();
    let mut first = true;
    let mut route = 0;
    while route < positions.len() {
        if positions[route] == agent_type {
            fields = fields.push_name(routes[route].rust_field, first);
            first = false;
        }
        route += 1;
    }
    fields
}

const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}
