//! The implementation of `Routing`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;

use crate::routing::plan::{RecordPlan, RecordRoute};
use crate::type_name::type_name;

/// The bodies of the record's functions.
pub(in crate::routing) struct RecordBodies {
    pub(in crate::routing) set_routes: TokenStream,
    pub(in crate::routing) schemas: TokenStream,
    pub(in crate::routing) deserialize_field: TokenStream,
    pub(in crate::routing) parse_narrowed: TokenStream,
    pub(in crate::routing) request_type: TokenStream,
    pub(in crate::routing) from_request: TokenStream,
    pub(in crate::routing) into_request: TokenStream,
    pub(in crate::routing) request_schema: TokenStream,
}

impl RecordBodies {
    /// The same body for every function.
    pub(in crate::routing) fn all(body: &TokenStream) -> Self {
        Self {
            set_routes: body.clone(),
            schemas: body.clone(),
            deserialize_field: body.clone(),
            parse_narrowed: body.clone(),
            request_type: body.clone(),
            from_request: body.clone(),
            into_request: body.clone(),
            request_schema: body.clone(),
        }
    }
}

/// The implementation of `Routing` with these bodies.
pub(in crate::routing) fn routing_impl(
    plan: &RecordPlan<'_>,
    bodies: &RecordBodies,
) -> TokenStream {
    let record = plan.record;
    let name = &plan.name;
    let description = &plan.description;
    let kind = match plan.agent_types {
        Some(_) => quote!(Interrupt),
        None => quote!(Agent),
    };
    let routes = plan.routes.iter().map(route_info);
    let functions = functions(bodies);
    quote! {
        #[automatically_derived]
        impl ::interrupt_router::__private::MadeByDerive for #record {}

        #[automatically_derived]
        impl ::interrupt_router::Routing for #record {
            const NAME: &'static str = #name;
            const KIND: ::interrupt_router::RoutingKind = ::interrupt_router::RoutingKind::#kind;
            const ROUTES: &'static [::interrupt_router::RouteInfo] = &[#(#routes),*];

            #functions

            fn __description() -> &'static str {
                #description
            }
        }
    }
}

fn functions(bodies: &RecordBodies) -> TokenStream {
    let RecordBodies {
        set_routes,
        schemas,
        deserialize_field,
        parse_narrowed,
        request_type,
        from_request,
        into_request,
        request_schema,
    } = bodies;
    quote! {
        fn set_routes(&self) -> ::interrupt_router::RouteSet<Self> {
            #set_routes
        }

        fn schemas() -> &'static ::interrupt_router::schema::SchemaTable<Self> {
            #schemas
        }

        fn __deserialize_field<'de, D: ::interrupt_router::__private::serde::Deserializer<'de>>(
            index: usize,
            deserializer: D,
        ) -> ::core::result::Result<::core::option::Option<Self>, D::Error> {
            #deserialize_field
        }

        fn __parse_narrowed(
            index: usize,
            answer: &[u8],
        ) -> ::core::result::Result<Self, ::interrupt_router::answer::AnswerError> {
            #parse_narrowed
        }

        fn __request_type(index: usize) -> ::core::any::TypeId {
            #request_type
        }

        fn __from_request(
            index: usize,
            request: &dyn ::core::any::Any,
        ) -> ::core::option::Option<Self> {
            #from_request
        }

        fn __into_request(
            self,
            index: usize,
        ) -> ::core::option::Option<
            ::std::boxed::Box<dyn ::core::any::Any + ::core::marker::Send>,
        > {
            #into_request
        }

        fn __request_schema(
            index: usize,
            generator: &mut ::interrupt_router::__private::schemars::SchemaGenerator,
        ) -> ::interrupt_router::__private::schemars::Schema {
            #request_schema
        }
    }
}

/// The bodies for a record without mistakes.
pub(super) fn bodies(plan: &RecordPlan<'_>) -> RecordBodies {
    let record = plan.record;
    let fields: Vec<_> = plan.routes.iter().map(|route| route.field).collect();
    let markers: Vec<_> = plan.routes.iter().map(|route| &route.marker).collect();
    let places: Vec<usize> = (0..markers.len()).collect();
    RecordBodies {
        set_routes: quote! {
            let mut set = ::interrupt_router::RouteSet::EMPTY;
            #(if self.#fields.is_some() {
                set = set.union(::interrupt_router::RouteSet::of::<#markers>());
            })*
            set
        },
        schemas: quote! {
            static TABLE: ::std::sync::OnceLock<::interrupt_router::schema::SchemaTable<#record>> =
                ::std::sync::OnceLock::new();
            TABLE.get_or_init(::interrupt_router::schema::SchemaTable::__build)
        },
        deserialize_field: quote! {
            match index {
                #(#places => ::interrupt_router::__private::deserialize_field::<#markers, D>(deserializer),)*
                _ => ::core::result::Result::Ok(::core::option::Option::None),
            }
        },
        parse_narrowed: quote! {
            match index {
                #(#places => ::interrupt_router::answer::read_narrowed::<#markers>(answer)
                    .map(::interrupt_router::Narrowed::into_routing),)*
                _ => ::core::result::Result::Err(::interrupt_router::__private::no_such_route::<Self>(index)),
            }
        },
        request_type: quote! {
            match index {
                #(#places => ::interrupt_router::__private::request_type::<#markers>(),)*
                _ => ::core::any::TypeId::of::<Self>(),
            }
        },
        from_request: quote! {
            match index {
                #(#places => ::interrupt_router::__private::wrap_copy::<#markers>(request),)*
                _ => ::core::option::Option::None,
            }
        },
        into_request: quote! {
            match index {
                #(#places => ::interrupt_router::__private::boxed_request::<#markers>(self),)*
                _ => ::core::option::Option::None,
            }
        },
        request_schema: quote! {
            match index {
                #(#places => ::interrupt_router::__private::request_schema::<#markers>(generator),)*
                _ => false.into(),
            }
        },
    }
}

fn route_info(route: &RecordRoute<'_>) -> TokenStream {
    let name = &route.name;
    let field = route.field.unraw().to_string();
    let marker = route.marker.to_string();
    let request = type_name(route.request);
    let description = &route.description;
    let returns = route.returns;
    let agent_type = match &route.agent_type {
        Some(_) => {
            let marker = &route.marker;
            quote! {
                ::core::option::Option::Some(
                    ::interrupt_router::__private::agent_type_name::<#marker>(
                        <#marker as ::interrupt_router::__private::AgentRoute>::AGENT_TYPE as i128,
                    )
                )
            }
        }
        None => quote!(::core::option::Option::None),
    };
    quote! {
        ::interrupt_router::RouteInfo::__new(
            [#name, #field, #marker, #request],
            #agent_type,
            #description,
            #returns,
        )
    }
}
