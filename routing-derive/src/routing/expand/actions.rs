//! The actions of a record: a trait with one method for each route, and the call of the right one.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use crate::routing::plan::RecordPlan;

/// The trait, declared beside the record.
pub(in crate::routing) fn actions(plan: &RecordPlan<'_>) -> TokenStream {
    let RecordPlan {
        record,
        visibility,
        actions,
        ..
    } = plan;
    let documentation =
        format!("What is done with each request of [`{record}`]: one action for each route.");
    let methods = plan.routes.iter().map(|route| {
        let field = route.field;
        let request = route.request;
        let documentation = match route.description.as_str() {
            "" => format!("Takes the request of the route `{field}`."),
            description => description.to_owned(),
        };
        // At the field's span, for a missing action is reported there.
        quote_spanned! {field.span()=>
            #[doc = #documentation]
            fn #field(
                &self,
                request: #request,
                context: &__Context,
            ) -> impl ::core::future::Future<
                Output = ::core::result::Result<Self::Output, Self::Error>,
            > + ::core::marker::Send;
        }
    });
    quote! {
        #[doc = #documentation]
        #visibility trait #actions<__Context: ?::core::marker::Sized + ::core::marker::Sync>:
            ::core::marker::Sync
        {
            /// What an action gives.
            type Output: ::core::marker::Send;

            /// Why an action failed.
            type Error;

            #(#methods)*
        }
    }
}

/// The inherent function that calls the action of the one set field.
pub(super) fn dispatch(plan: &RecordPlan<'_>) -> TokenStream {
    let actions = &plan.actions;
    let arms = plan.routes.iter().enumerate().map(|(index, route)| {
        let field = route.field;
        quote! {
            ::core::option::Option::Some(#index) => {
                if let ::core::option::Option::Some(request) = self.#field {
                    return #actions::#field(actions, request, context)
                        .await
                        .map_err(|source| ::interrupt_router::DispatchError::Action {
                            action: ::core::stringify!(#field),
                            source,
                        });
                }
            }
        }
    });
    dispatch_signature(
        plan,
        &quote! {
            let set = ::interrupt_router::Routing::set_routes(&self);
            match set.single().map(::interrupt_router::RouteId::index) {
                #(#arms)*
                _ => {}
            }
            ::core::result::Result::Err(::interrupt_router::DispatchError::Route(
                ::interrupt_router::OneRouteError::__new(set),
            ))
        },
    )
}

/// The inherent function with this body.
pub(in crate::routing) fn dispatch_signature(
    plan: &RecordPlan<'_>,
    body: &TokenStream,
) -> TokenStream {
    let RecordPlan {
        record,
        visibility,
        actions,
        ..
    } = plan;
    quote! {
        #[automatically_derived]
        impl #record {
            /// Gives the request of the one set field to its action.
            ///
            /// # Errors
            ///
            /// Where not exactly one field is set, in which case no action is called, and where the
            /// action fails.
            ///
            /// # Cancel safety
            ///
            /// As cancel safe as the action that is called; the record itself is lost when the future
            /// is dropped.
            #visibility async fn dispatch<__Actions, __Context>(
                self,
                actions: &__Actions,
                context: &__Context,
            ) -> ::core::result::Result<
                <__Actions as #actions<__Context>>::Output,
                ::interrupt_router::DispatchError<<__Actions as #actions<__Context>>::Error>,
            >
            where
                __Actions: #actions<__Context> + ?::core::marker::Sized,
                __Context: ?::core::marker::Sized + ::core::marker::Sync,
            {
                #body
            }
        }
    }
}
