//! The proof that each agent type has a route, checked in a constant, and the functions between both.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;

use crate::routing::plan::{RecordPlan, RecordRoute};

/// The bodies of the functions between routes and agent types.
pub(in crate::routing) struct CoverageBodies {
    pub(in crate::routing) route_to: TokenStream,
    pub(in crate::routing) agent_type_of: TokenStream,
}

/// The index of a route's agent type in its enumeration, as a constant expression.
fn position(route: &RecordRoute<'_>) -> TokenStream {
    let marker = &route.marker;
    quote! {
        ::interrupt_router::__private::position::<#marker>(
            <#marker as ::interrupt_router::__private::AgentRoute>::AGENT_TYPE as i128
        )
    }
}

/// The check that each agent type has exactly one route, for a record that answers interrupts.
pub(in crate::routing) fn assert_coverage(plan: &RecordPlan<'_>) -> Option<TokenStream> {
    let agent_types = plan.agent_types.as_ref()?;
    let record = plan.record;
    let name = record.to_string();
    let positions = positions(plan);
    Some(quote_spanned! {agent_types.span()=>
        const _: () = ::interrupt_router::__private::assert_routes::<#record>(
            #name,
            &[#positions],
        );
    })
}

/// The implementation of `InterruptRoutes`, for a record that answers interrupts.
pub(in crate::routing) fn interrupt_routes(
    plan: &RecordPlan<'_>,
    bodies: &CoverageBodies,
) -> Option<TokenStream> {
    let agent_types = plan.agent_types.as_ref()?;
    let record = plan.record;
    let CoverageBodies {
        route_to,
        agent_type_of,
    } = bodies;
    Some(quote! {
        #[automatically_derived]
        impl ::interrupt_router::InterruptRoutes for #record {
            type AgentType = #agent_types;

            fn route_to(agent_type: Self::AgentType) -> ::interrupt_router::RouteId<Self> {
                #route_to
            }

            fn agent_type_of(route: ::interrupt_router::RouteId<Self>) -> Self::AgentType {
                #agent_type_of
            }
        }
    })
}

/// The bodies for a record without mistakes: two tables, which the check proves total.
pub(super) fn bodies(plan: &RecordPlan<'_>) -> CoverageBodies {
    let agent_types = plan.agent_types.to_token_stream();
    let positions = positions(plan);
    let markers = plan.routes.iter().map(|route| &route.marker);
    let count = plan.routes.len();
    CoverageBodies {
        route_to: quote! {
            const ROUTES: [usize; 64] = ::interrupt_router::__private::routes_by_agent_type(&[#positions]);
            ::interrupt_router::__private::route_at(&ROUTES, agent_type)
        },
        agent_type_of: quote! {
            const AGENT_TYPES: [#agent_types; #count] = [
                #(<#markers as ::interrupt_router::__private::AgentRoute>::AGENT_TYPE),*
            ];
            AGENT_TYPES[route.index()]
        },
    }
}

fn positions(plan: &RecordPlan<'_>) -> TokenStream {
    let positions = plan
        .routes
        .iter()
        .filter(|route| route.agent_type.is_some())
        .map(position);
    quote!(#(#positions),*)
}
