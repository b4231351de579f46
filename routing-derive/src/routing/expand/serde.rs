//! Reading and writing a record as JSON.

use proc_macro2::TokenStream;
use quote::quote;

use crate::routing::plan::RecordPlan;

/// `Serialize`, which writes the set fields alone, and `Deserialize`, which is strict.
pub(super) fn serde(plan: &RecordPlan<'_>) -> TokenStream {
    let record = plan.record;
    let fields = plan.routes.iter().map(|route| route.field);
    let markers = plan.routes.iter().map(|route| &route.marker);
    quote! {
        #[automatically_derived]
        impl ::interrupt_router::__private::serde::Serialize for #record {
            fn serialize<S: ::interrupt_router::__private::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                let set = ::interrupt_router::Routing::set_routes(self);
                let mut map = serializer.serialize_map(::core::option::Option::Some(set.len()))?;
                #(::interrupt_router::__private::serialize_field::<#markers, _>(&mut map, &self.#fields)?;)*
                ::interrupt_router::__private::serde::ser::SerializeMap::end(map)
            }
        }

        #[automatically_derived]
        impl<'de> ::interrupt_router::__private::serde::Deserialize<'de> for #record {
            fn deserialize<D: ::interrupt_router::__private::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                ::interrupt_router::answer::__deserialize_record(
                    deserializer,
                    ::interrupt_router::RouteSet::<Self>::ALL,
                )
            }
        }
    }
}
