//! Checks of one enumeration against another, made while the crate that uses the derive compiles.
//!
//! A derive macro sees one item at a time, so it cannot know the variants of an enumeration that its
//! item only names. These functions know them; a panic in them is a compile error at the token that
//! the macro chose.

use super::message::Message;
use crate::__private::AgentRoute;
use crate::agent_type::AgentType;
use crate::interrupt::SealedInterrupt;
use crate::route::RouteInfo;
use crate::routing::InterruptRoutes;

/// The most routes that a record has, and so the most agent types that it covers.
const MOST_ROUTES: usize = 64;

/// The place of a route's agent type, whose discriminant is given.
pub const fn position<M: AgentRoute>(discriminant: i128) -> usize {
    let discriminants = M::AgentType::__DISCRIMINANTS;
    let mut at = 0;
    while at < discriminants.len() {
        if discriminants[at] == discriminant {
            return at;
        }
        at += 1;
    }
    at
}

/// The name of a route's agent type, whose discriminant is given.
pub const fn agent_type_name<M: AgentRoute>(discriminant: i128) -> &'static str {
    M::AgentType::NAMES[position::<M>(discriminant)]
}

/// The place of the route that has the same name as a kind of agent; past the end if there is
/// none, which [`assert_origin`] reports.
pub const fn origin_position<A: AgentType>(variant: &str) -> usize {
    place_of::<A::Route>(variant)
}

/// Checks that a kind of agent has a route of its own name.
///
/// # Panics
///
/// If there is none.
#[track_caller]
pub const fn assert_origin<A: AgentType>(variant: &str, routes: &str) {
    if origin_position::<A>(variant) < A::Route::__VARIANTS.len() {
        return;
    }
    let message = Message::new()
        .push("the agent `")
        .push(variant)
        .push("` is no route of `")
        .push(routes)
        .push("`: name the route of its interrupts with `#[agent_type(origin = ...)]`, which is one of ")
        .push_names(A::Route::__VARIANTS);
    panic!("{}", message.text())
}

/// The place of the kind of agent that has the same name as a variant of a sealed interrupt request;
/// past the end if there is none, which [`assert_kind`] reports.
pub const fn kind_position<I: SealedInterrupt>(variant: &str) -> usize {
    place_of::<I::Kind>(variant)
}

/// Checks that a variant of a sealed interrupt request has a kind of agent.
///
/// # Panics
///
/// If there is none of its name.
#[track_caller]
pub const fn assert_kind<I: SealedInterrupt>(variant: &str, kinds: &str) {
    if kind_position::<I>(variant) < I::Kind::__VARIANTS.len() {
        return;
    }
    let message = Message::new()
        .push("no agent of `")
        .push(kinds)
        .push("` raises the interrupt `")
        .push(variant)
        .push("`: name the variant after the agent, which is one of ")
        .push_names(I::Kind::__VARIANTS);
    panic!("{}", message.text())
}

/// For each agent type, the route that leads to it; 0 if there is none, which
/// [`assert_routes`] reports.
pub const fn routes_by_agent_type(positions: &[usize]) -> [usize; MOST_ROUTES] {
    let mut routes = [0; MOST_ROUTES];
    let mut route = 0;
    while route < positions.len() {
        if positions[route] < MOST_ROUTES {
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
/// If one has none, or more than one. The text names all of them.
#[track_caller]
pub const fn assert_routes<R: InterruptRoutes>(record: &str, positions: &[usize]) {
    let variants = R::AgentType::__VARIANTS;
    let mut missing = Message::new();
    let mut missing_count = 0;
    let mut doubled = Message::new();
    let mut doubled_count = 0;
    let mut agent_type = 0;
    while agent_type < variants.len() {
        match count(positions, agent_type) {
            0 => {
                missing = missing.push_name(variants[agent_type], missing_count == 0);
                missing_count += 1;
            }
            1 => {}
            _ => {
                let fields = fields_of(R::ROUTES, positions, agent_type);
                doubled = doubled
                    .push_name(variants[agent_type], doubled_count == 0)
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
/// Silent where as many variants have no kind: those are misspelt, and reported at their names.
///
/// # Panics
///
/// If one has none. The text names all of them.
#[track_caller]
pub const fn assert_kinds<I: SealedInterrupt>(request: &str, positions: &[usize]) {
    let variants = I::Kind::__VARIANTS;
    let mut missing = Message::new();
    let mut missing_count = 0;
    let mut kind = 0;
    while kind < variants.len() {
        if count(positions, kind) == 0 {
            missing = missing.push_name(variants[kind], missing_count == 0);
            missing_count += 1;
        }
        kind += 1;
    }
    if missing_count > count(positions, variants.len()) {
        let message = Message::new()
            .push("`")
            .push(request)
            .push("` has no variant for ")
            .push(missing.text())
            .push(": add for each a variant of that name with the payload that the agent raises");
        panic!("{}", message.text())
    }
}

/// The place of the agent type whose variant has this name; past the end if there is none.
const fn place_of<A: AgentType>(variant: &str) -> usize {
    let mut at = 0;
    while at < A::__VARIANTS.len() {
        if same(A::__VARIANTS[at], variant) {
            return at;
        }
        at += 1;
    }
    at
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
