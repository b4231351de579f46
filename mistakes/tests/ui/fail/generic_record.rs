//! A record with type parameters.
use interrupt_router::Routing;

#[derive(Debug, Clone, Routing)]
struct Record<T> {
    review_request: Option<T>,
}

fn main() {}
