//! The implementation.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Ident, Path};

use super::check::{CheckedAgent, CheckedEnumeration};
use crate::type_name::type_name;

/// Everything that the derive makes.
pub(super) fn agent_type(checked: &CheckedEnumeration<'_>) -> TokenStream {
    let implementation = implementation(checked);
    let origins = assert_origins(checked);
    let text = text(checked);
    let serde = serde(checked);
    quote! {
        const _: () = {
            #implementation
            #origins
            #text
            #serde
        };
    }
}

fn implementation(checked: &CheckedEnumeration<'_>) -> TokenStream {
    let ident = checked.ident;
    let variants: Vec<_> = checked.agents.iter().map(|agent| agent.ident).collect();
    let rust_names = variants.iter().map(|variant| variant.unraw().to_string());
    let names = checked.agents.iter().map(|agent| &agent.name);
    let places = 0..checked.agents.len();
    let route = match &checked.route {
        Some(route) => quote!(#route),
        None => quote!(Self),
    };
    let origin_route = origin_route(checked);
    quote! {
        #[automatically_derived]
        impl ::interrupt_router::__private::MadeByDerive for #ident {}

        #[automatically_derived]
        impl ::interrupt_router::AgentType for #ident {
            type Route = #route;

            const ALL: &'static [Self] = &[#(Self::#variants),*];

            const NAMES: &'static [&'static str] = &[#(#names),*];

            fn index(self) -> usize {
                match self {
                    #(Self::#variants => #places,)*
                }
            }

            #origin_route

            const __VARIANTS: &'static [&'static str] = &[#(#rust_names),*];

            const __DISCRIMINANTS: &'static [i128] = &[#(Self::#variants as i128),*];
        }
    }
}

fn origin_route(checked: &CheckedEnumeration<'_>) -> TokenStream {
    let Some(route) = &checked.route else {
        return quote! {
            fn origin_route(self) -> Self {
                self
            }
        };
    };
    let variants = checked.agents.iter().map(|agent| agent.ident);
    let origins = checked
        .agents
        .iter()
        .map(|agent| origin(checked.ident, agent, route));
    quote! {
        fn origin_route(self) -> #route {
            match self {
                #(Self::#variants => #origins,)*
            }
        }
    }
}

/// The origin route of one agent: the one that it names, or the one with its own name.
fn origin(ident: &Ident, agent: &CheckedAgent<'_>, route: &Path) -> TokenStream {
    if let Some(origin) = &agent.origin {
        return quote!(<#route>::#origin);
    }
    let variant = agent.ident.unraw().to_string();
    quote! {
        {
            const PLACE: usize = ::interrupt_router::__private::origin_position::<#ident>(#variant);
            ::interrupt_router::__private::origin_route::<#ident>(PLACE)
        }
    }
}

/// The checks that each agent which names no origin route has one with its own name.
fn assert_origins(checked: &CheckedEnumeration<'_>) -> TokenStream {
    let Some(route) = &checked.route else {
        return TokenStream::new();
    };
    let ident = checked.ident;
    let routes = type_name(route);
    let unnamed = checked.agents.iter().filter(|agent| agent.origin.is_none());
    let checks = unnamed.map(|agent| {
        let variant = agent.ident.unraw().to_string();
        quote_spanned! {agent.ident.span()=>
            const _: () = ::interrupt_router::__private::assert_origin::<#ident>(#variant, #routes);
        }
    });
    quote!(#(#checks)*)
}

fn text(checked: &CheckedEnumeration<'_>) -> TokenStream {
    let ident = checked.ident;
    quote! {
        #[automatically_derived]
        impl ::core::fmt::Display for #ident {
            fn fmt(&self, formatter: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                formatter.pad(::interrupt_router::AgentType::name(*self))
            }
        }

        #[automatically_derived]
        impl ::core::str::FromStr for #ident {
            type Err = ::interrupt_router::UnknownAgentType;

            fn from_str(name: &str) -> ::core::result::Result<Self, Self::Err> {
                ::interrupt_router::__private::parse_agent_type(name)
            }
        }
    }
}

fn serde(checked: &CheckedEnumeration<'_>) -> TokenStream {
    let ident = checked.ident;
    let name = ident.unraw().to_string();
    let description = &checked.description;
    quote! {
        #[automatically_derived]
        impl ::interrupt_router::__private::serde::Serialize for #ident {
            fn serialize<S: ::interrupt_router::__private::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(::interrupt_router::AgentType::name(*self))
            }
        }

        #[automatically_derived]
        impl<'de> ::interrupt_router::__private::serde::Deserialize<'de> for #ident {
            fn deserialize<D: ::interrupt_router::__private::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                ::interrupt_router::__private::deserialize_agent_type(deserializer)
            }
        }

        #[automatically_derived]
        impl ::interrupt_router::__private::schemars::JsonSchema for #ident {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                ::std::borrow::Cow::Borrowed(#name)
            }

            fn schema_id() -> ::std::borrow::Cow<'static, str> {
                ::std::borrow::Cow::Borrowed(::core::concat!(::core::module_path!(), "::", #name))
            }

            fn json_schema(
                _generator: &mut ::interrupt_router::__private::schemars::SchemaGenerator,
            ) -> ::interrupt_router::__private::schemars::Schema {
                ::interrupt_router::__private::agent_type_schema::<Self>(#description)
            }
        }
    }
}
