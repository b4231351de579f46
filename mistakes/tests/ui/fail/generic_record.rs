//! A record with type parameters.
use routing_core::Routing;

#[derive(Debug, Clone, Routing)]
struct Record<T> {
    review_request: Option<T>,
}

fn main() {}
