//! The implementation of a record.

mod actions;
mod coverage;
mod marker;
mod record;
mod schema;
mod serde;

use proc_macro2::TokenStream;
use quote::quote;

use super::plan::{CheckedRecord, RecordPlan, RecordRoute};

pub(super) use actions::{actions, dispatch_signature};
pub(super) use coverage::{CoverageBodies, assert_coverage, interrupt_routes};
pub(super) use marker::{MarkerBodies, marker_impl, marker_struct};
pub(super) use record::{RecordBodies, routing_impl};
pub(super) use schema::json_schema;

/// Everything that the derive makes.
pub(super) fn routing(CheckedRecord(plan): &CheckedRecord<'_>) -> TokenStream {
    let markers = plan.routes.iter().map(|route| marker_struct(plan, route));
    let marker_impls = plan
        .routes
        .iter()
        .enumerate()
        .map(|(index, route)| marker_impl(plan, route, index, &marker_bodies(plan, route)));
    let empty = empty(plan);
    let routing = routing_impl(plan, &record::bodies(plan));
    let coverage = assert_coverage(plan);
    let interrupt_routes = interrupt_routes(plan, &coverage::bodies(plan));
    let serde = serde::serde(plan);
    let schema = json_schema(plan);
    let actions = actions(plan);
    let dispatch = actions::dispatch(plan);
    quote! {
        #(#markers)*
        #actions
        const _: () = {
            #empty
            #(#marker_impls)*
            #routing
            #coverage
            #interrupt_routes
            #serde
            #schema
            #dispatch
        };
    }
}

/// The record with nothing set, from which every record with one field set is made.
fn empty(plan: &RecordPlan<'_>) -> Option<TokenStream> {
    if plan.routes.len() == 1 {
        return None;
    }
    let record = plan.record;
    let fields = plan.routes.iter().map(|route| route.field);
    Some(quote! {
        const __EMPTY: #record = #record {
            #(#fields: ::core::option::Option::None,)*
        };
    })
}

fn marker_bodies(plan: &RecordPlan<'_>, route: &RecordRoute<'_>) -> MarkerBodies {
    let field = route.field;
    // In a record with one field, nothing is left to take from the empty one.
    let others = (plan.routes.len() > 1).then(|| quote!(..__EMPTY));
    MarkerBodies {
        wrap: quote! {
            Self::Routing {
                #field: ::core::option::Option::Some(request),
                #others
            }
        },
        take: quote!(routing.#field),
    }
}
