//! The rights that handlers ask for.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use control::{Caller, Right};

use super::caller::unauthenticated;
use crate::app::App;
use crate::problem::Problem;

macro_rules! proofs {
    ($($(#[$doc:meta])* $name:ident => $right:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub(crate) struct $name(pub(crate) Caller);

        impl FromRequestParts<App> for $name {
            type Rejection = Problem;

            async fn from_request_parts(parts: &mut Parts, _app: &App) -> Result<Self, Problem> {
                let caller = parts.extensions.get::<Caller>().cloned();
                let caller = caller.ok_or_else(unauthenticated)?;
                Right::$right.demand(&caller)?;
                Ok(Self(caller))
            }
        }
    )*};
}

proofs! {
    /// A caller who may read, within the caller's reach.
    Reads => Read;
    /// A caller who may read everything.
    Surveys => Survey;
    /// A caller who may answer interrupts.
    Decides => Decide;
    /// A caller who may ask for interrupts.
    Requests => Request;
    /// A caller who may direct agents.
    Directs => Direct;
    /// A caller who runs the installation.
    Operates => Operate;
    /// A caller who executes the runs of a workflow.
    Works => Work;
}
