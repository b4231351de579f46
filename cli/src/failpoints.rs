//! Where this process dies, and which fault it has: for proofs that neither goes unnoticed.
//!
//! Only with the feature `failpoints`. The program that is shipped is built without it and has nothing of this.
//!
//! `IRQ_DIE_AT=OPERATION:before|after:N` kills the process, as `kill -9` does, before or after the N-th time that
//! it asks the store for this operation. `IRQ_PLANT` gives it a fault that an auditor has to find.

mod plant;
mod point;
mod store;

use std::sync::Arc;

use interrupts::store::Store;

use crate::exit::{Exit, Failure};
use plant::Plants;
use point::Point;
use store::MortalStore;

/// The store, through which this process dies or errs as its environment says; the store itself where it says nothing.
///
/// # Errors
///
/// [`Exit::Usage`] if that cannot be understood.
pub(crate) fn over(store: Arc<dyn Store>) -> Result<Arc<dyn Store>, Failure> {
    let said = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let unknown = |name: &str| Failure::new(Exit::Usage, format!("{name} cannot be understood"));
    let (point, plant) = (said("IRQ_DIE_AT"), said("IRQ_PLANT"));
    if point.is_none() && plant.is_none() {
        return Ok(store);
    }
    let point = match point {
        Some(text) => Some(Point::parse(&text).ok_or_else(|| unknown("IRQ_DIE_AT"))?),
        None => None,
    };
    let plants = Plants::parse(plant.as_deref(), store);
    let plants = plants.ok_or_else(|| unknown("IRQ_PLANT"))?;
    Ok(Arc::new(MortalStore { plants, point }))
}
