//! The schema of a record.

use proc_macro2::TokenStream;
use quote::quote;

use crate::routing::plan::RecordPlan;

/// `JsonSchema`: an object of optional properties that refer to the requests.
pub(in crate::routing) fn json_schema(plan: &RecordPlan<'_>) -> TokenStream {
    let record = plan.record;
    let name = &plan.name;
    quote! {
        #[automatically_derived]
        impl ::interrupt_router::__private::schemars::JsonSchema for #record {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                ::std::borrow::Cow::Borrowed(#name)
            }

            fn schema_id() -> ::std::borrow::Cow<'static, str> {
                ::std::borrow::Cow::Borrowed(::core::concat!(::core::module_path!(), "::", #name))
            }

            fn json_schema(
                generator: &mut ::interrupt_router::__private::schemars::SchemaGenerator,
            ) -> ::interrupt_router::__private::schemars::Schema {
                ::interrupt_router::__private::record_schema::<Self>(generator)
            }
        }
    }
}
