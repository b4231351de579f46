//! The errors, and a stub, so that code that uses the record is not refused as well.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Ident};

use super::expand::{
    CoverageBodies, MarkerBodies, RecordBodies, actions, assert_coverage, dispatch_signature,
    interrupt_routes, json_schema, marker_impl, marker_struct, routing_impl,
};
use super::plan::{RecordPlan, RefusedRecord};

/// The errors of a record with a stub of its implementation.
pub(super) fn record(refused: &RefusedRecord<'_>) -> TokenStream {
    let errors = refused.errors.to_compile_error();
    let stub = refused.plan.as_ref().map(stub);
    quote! {
        #errors
        #stub
    }
}

/// The error of an item that is no record at all.
pub(super) fn shapeless(input: &DeriveInput, error: &syn::Error) -> TokenStream {
    let errors = error.to_compile_error();
    let possible = input.generics.params.is_empty() && !matches!(input.data, Data::Union(_));
    let stub = possible.then(|| {
        let plan = RecordPlan::shapeless(input);
        shared(&plan)
    });
    quote! {
        #errors
        #stub
    }
}

fn stub(plan: &RecordPlan<'_>) -> TokenStream {
    let never = quote!(loop {});
    let mut seen: HashSet<Ident> = HashSet::new();
    let routes: Vec<_> = plan
        .routes
        .iter()
        .filter(|route| seen.insert(route.marker.clone()))
        .collect();
    let markers = routes.iter().map(|route| marker_struct(plan, route));
    let bodies = MarkerBodies {
        wrap: never.clone(),
        take: never.clone(),
    };
    let marker_impls = routes
        .iter()
        .enumerate()
        .map(|(index, route)| marker_impl(plan, route, index, &bodies));
    let actions = actions(plan);
    let dispatch = dispatch_signature(plan, &never);
    let shared = shared(plan);
    let coverage = agent_types_are_clear(plan).then(|| assert_coverage(plan));
    quote! {
        #(#markers)*
        #actions
        const _: () = {
            #(#marker_impls)*
            #coverage
            #dispatch
        };
        #shared
    }
}

/// The parts of a stub that need nothing but the record.
fn shared(plan: &RecordPlan<'_>) -> TokenStream {
    let routing = routing_impl(plan, &RecordBodies::all(&quote!(loop {})));
    let interrupt_routes = interrupt_routes(
        plan,
        &CoverageBodies {
            route_to: quote!(loop {}),
            agent_type_of: quote!(loop {}),
        },
    );
    let schema = json_schema(plan);
    let record = plan.record;
    quote! {
        const _: () = {
            #routing
            #interrupt_routes
            #schema

            #[automatically_derived]
            impl ::interrupt_router::__private::serde::Serialize for #record {
                fn serialize<S: ::interrupt_router::__private::serde::Serializer>(
                    &self,
                    _serializer: S,
                ) -> ::core::result::Result<S::Ok, S::Error> {
                    loop {}
                }
            }

            #[automatically_derived]
            impl<'de> ::interrupt_router::__private::serde::Deserialize<'de> for #record {
                fn deserialize<D: ::interrupt_router::__private::serde::Deserializer<'de>>(
                    _deserializer: D,
                ) -> ::core::result::Result<Self, D::Error> {
                    loop {}
                }
            }
        };
    }
}

/// Whether the fields' agent types can be trusted: then a missing one is a mistake of its own, not the result of
/// another.
fn agent_types_are_clear(plan: &RecordPlan<'_>) -> bool {
    let mut seen = HashSet::new();
    plan.routes.iter().all(|route| match &route.agent_type {
        Some(agent_type) => seen.insert(&agent_type.variant),
        None => false,
    })
}
