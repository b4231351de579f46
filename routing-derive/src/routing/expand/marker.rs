//! The marker types.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::routing::plan::{RecordPlan, RecordRoute};
use crate::type_name::type_name;

/// The bodies of a marker's functions.
pub(in crate::routing) struct MarkerBodies {
    pub(in crate::routing) wrap: TokenStream,
    pub(in crate::routing) take: TokenStream,
}

/// The declaration of a marker, beside the record.
pub(in crate::routing) fn marker_struct(
    plan: &RecordPlan<'_>,
    route: &RecordRoute<'_>,
) -> TokenStream {
    let visibility = plan.visibility;
    let marker = &route.marker;
    let documentation = format!(
        "The route `{}` of [`{}`], which carries `{}`.",
        route.field,
        plan.record,
        type_name(route.request)
    );
    let description = (!route.description.is_empty()).then(|| {
        let description = &route.description;
        quote! {
            #[doc = ""]
            #[doc = #description]
        }
    });
    quote! {
        #[doc = #documentation]
        #description
        #[derive(
            ::core::fmt::Debug,
            ::core::clone::Clone,
            ::core::marker::Copy,
            ::core::default::Default,
            ::core::cmp::PartialEq,
            ::core::cmp::Eq,
            ::core::hash::Hash,
        )]
        #visibility struct #marker;
    }
}

/// The implementations of a marker.
pub(in crate::routing) fn marker_impl(
    plan: &RecordPlan<'_>,
    route: &RecordRoute<'_>,
    index: usize,
    bodies: &MarkerBodies,
) -> TokenStream {
    let record = plan.record;
    let marker = &route.marker;
    let marker_name = marker.to_string();
    let request = route.request;
    let name = &route.name;
    let MarkerBodies { wrap, take } = bodies;
    let agent_route = agent_route(route);
    let assert_request = quote_spanned! {request.span()=>
        const _: ::core::option::Option<::interrupt_router::__private::AssertRequest<#request>> =
            ::core::option::Option::None;
    };
    let assert_name = quote_spanned! {route.named_at=>
        const _: () = ::interrupt_router::__private::assert_property_name(#name);
    };
    quote! {
        #assert_request
        #assert_name

        #[automatically_derived]
        impl ::interrupt_router::__private::MadeByDerive for #marker {}

        #[automatically_derived]
        impl ::interrupt_router::Route for #marker {
            type Routing = #record;
            type Request = #request;

            const NAME: &'static str = #marker_name;
            const FIELD: &'static str = #name;
            const INDEX: usize = #index;

            fn wrap(request: Self::Request) -> Self::Routing {
                #wrap
            }

            fn take(routing: Self::Routing) -> ::core::option::Option<Self::Request> {
                #take
            }
        }

        #agent_route
    }
}

fn agent_route(route: &RecordRoute<'_>) -> Option<TokenStream> {
    let marker = &route.marker;
    let agent_type = route.agent_type.as_ref()?;
    let enumeration = &agent_type.enumeration;
    let variant = &agent_type.variant;
    let path = quote_spanned!(variant.span()=> <#enumeration>::#variant);
    Some(quote! {
        #[automatically_derived]
        #[allow(dead_code)]
        impl #marker {
            /// Where the route leads.
            pub const AGENT_TYPE: #enumeration = #path;
        }

        #[automatically_derived]
        impl ::interrupt_router::__private::AgentRoute for #marker {
            type AgentType = #enumeration;

            const AGENT_TYPE: Self::AgentType = #path;
        }
    })
}
