//! An answer that can hold one route and no other.

use crate::route::Route;

/// The request of the route `M`, as it stands in an answer: an object with that one property.
///
/// In JSON the property is required and not null, and nothing else may stand beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Narrowed<M: Route>(M::Request);

impl<M: Route> Narrowed<M> {
    /// Wraps a request.
    pub fn new(request: M::Request) -> Self {
        Self(request)
    }

    /// The request.
    pub fn into_request(self) -> M::Request {
        self.0
    }

    /// The record with this request in its field, and nothing else set.
    pub fn into_routing(self) -> M::Routing {
        M::wrap(self.0)
    }
}
