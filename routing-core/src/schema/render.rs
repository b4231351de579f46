//! Writing a schema in a provider's dialect.
//!
//! Every rewriting allows at least what the plain schema allows, or at most the spellings that reading takes: what a
//! dialect cannot say is left out, described to the model in the description, and checked when the answer comes back.
//! What cannot be left out either (a map, a recursion) stays as it is, and [`check_limits`](super::check_limits)
//! reports it. Only the lengths that are added to a schema without any allow less: they keep a model from writing for
//! ever, and an answer that is longer is still accepted.

mod bounds;
mod choice;
mod description;
mod inline;
mod keyword;
mod nullable;
mod simple;

use serde_json::Value;

use super::Dialect;
use super::definition::{put_definitions, take_definitions};
use super::prune::prune;
use super::walk::roots_mut;

pub(super) use description::add_note;
pub(super) use inline::inline_described;
pub(super) use keyword::{keep_known, takes};
pub(super) use simple::simplify;

/// Writes a plain schema in a provider's dialect.
pub(super) fn render(plain: &Value, dialect: Dialect) -> Value {
    let mut schema = plain.clone();
    if dialect == Dialect::Grammar {
        choice::of_routes(&mut schema);
    }
    roots_mut(&mut schema, |tree| {
        simplify(tree, dialect);
        nullable::settle_options(tree, dialect);
    });
    let mut definitions = take_definitions(&mut schema);
    let referred = definitions.clone();
    inline_described(&mut schema, &referred);
    for definition in definitions.values_mut() {
        inline_described(definition, &referred);
    }
    put_definitions(&mut schema, definitions);
    roots_mut(&mut schema, |tree| keep_known(tree, dialect));
    // Most definitions are used within a list.
    let mut definitions = take_definitions(&mut schema);
    bounds::set(&mut schema, dialect, 0);
    for definition in definitions.values_mut() {
        bounds::set(definition, dialect, 1);
    }
    put_definitions(&mut schema, definitions);
    prune(&mut schema);
    schema
}
