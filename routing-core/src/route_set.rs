//! Sets of routes of one record, with the algebra of sets, usable in constants.

use std::fmt::{self, Debug};
use std::marker::PhantomData;

use crate::route::{Route, RouteId};
use crate::routing::Routing;

/// A set of routes of the record `R`: a bit for each field.
pub struct RouteSet<R: Routing> {
    bits: u64,
    record: PhantomData<fn() -> R>,
}

impl<R: Routing> RouteSet<R> {
    /// No route.
    pub const EMPTY: Self = Self::from_bits(0);

    /// Every route of the record.
    pub const ALL: Self = match R::ROUTES.len() {
        0 => Self::EMPTY,
        count => Self::from_bits(u64::MAX >> (64 - count)),
    };

    /// The routes that lead back to the caller of the agent.
    pub const RETURNS: Self = {
        let mut bits = 0;
        let mut index = 0;
        while index < R::ROUTES.len() {
            if R::ROUTES[index].returns {
                bits |= 1 << index;
            }
            index += 1;
        }
        Self::from_bits(bits)
    };

    const fn from_bits(bits: u64) -> Self {
        Self {
            bits,
            record: PhantomData,
        }
    }

    /// The set of one marker's route.
    pub const fn of<M: Route<Routing = R>>() -> Self {
        Self::from_bits(1 << M::INDEX)
    }

    /// The set of one route.
    pub const fn only(route: RouteId<R>) -> Self {
        Self::from_bits(1 << route.index())
    }

    /// What is in either.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self::from_bits(self.bits | other.bits)
    }

    /// What is in both.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self::from_bits(self.bits & other.bits)
    }

    /// What is here and not in `other`.
    #[must_use]
    pub const fn difference(self, other: Self) -> Self {
        Self::from_bits(self.bits & !other.bits)
    }

    /// Every route of the record that is not here.
    #[must_use]
    pub const fn complement(self) -> Self {
        Self::ALL.difference(self)
    }

    /// Whether the route is in the set.
    pub const fn contains(self, route: RouteId<R>) -> bool {
        self.bits & (1 << route.index()) != 0
    }

    /// Whether every route here is also in `other`.
    pub const fn is_subset(self, other: Self) -> bool {
        self.bits & !other.bits == 0
    }

    /// Whether there is no route in the set.
    pub const fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// How many routes there are in the set.
    pub const fn len(self) -> usize {
        self.bits.count_ones() as usize
    }

    /// The only route of the set, or `None` if there is none or more than one.
    pub fn single(self) -> Option<RouteId<R>> {
        (self.len() == 1)
            .then(|| RouteId::from_index_unchecked(self.bits.trailing_zeros() as usize))
    }

    /// The routes, in the record's order.
    pub fn iter(self) -> impl Iterator<Item = RouteId<R>> {
        (0..R::ROUTES.len())
            .map(RouteId::from_index_unchecked)
            .filter(move |route| self.contains(*route))
    }

    /// The fields' names in JSON, in the record's order.
    pub fn fields(self) -> Vec<&'static str> {
        self.iter().map(RouteId::field).collect()
    }
}

impl<R: Routing> FromIterator<RouteId<R>> for RouteSet<R> {
    fn from_iter<I: IntoIterator<Item = RouteId<R>>>(routes: I) -> Self {
        routes
            .into_iter()
            .fold(Self::EMPTY, |set, route| set.union(Self::only(route)))
    }
}

impl<R: Routing> Clone for RouteSet<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: Routing> Copy for RouteSet<R> {}

impl<R: Routing> PartialEq for RouteSet<R> {
    fn eq(&self, other: &Self) -> bool {
        self.bits == other.bits
    }
}

impl<R: Routing> Eq for RouteSet<R> {}

impl<R: Routing> Debug for RouteSet<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.fields()).finish()
    }
}
