//! The blackboard: what the nodes of a run have produced, typed, in order.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::ids::NodeId;
use crate::route::RouteId;
use crate::routing::Routing;

/// One thing on the blackboard.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its place in the history, from 0.
    pub position: usize,
    /// The node that put it there.
    pub node: NodeId,
    /// The type's path, for people.
    pub type_name: &'static str,
    value: Arc<dyn Any + Send + Sync>,
}

impl Entry {
    /// The value, if it is a `T`.
    pub fn value<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        Arc::clone(&self.value).downcast().ok()
    }

    /// Whether the value is of this type.
    pub fn is(&self, type_id: TypeId) -> bool {
        // The deref matters: the type is that of the value, not of the `Arc`.
        (*self.value).type_id() == type_id
    }
}

/// What the nodes of a run have produced, in order. Shared by all nodes; nothing is ever taken away.
#[derive(Debug, Default)]
pub struct Blackboard {
    history: Mutex<History>,
}

#[derive(Debug, Default)]
struct History {
    entries: Vec<Entry>,
    /// The place of the last value of each type: long histories are asked at every step, also for types that they
    /// do not have.
    last: HashMap<TypeId, usize>,
}

impl History {
    fn last_of(&self, type_id: TypeId) -> Option<&Entry> {
        self.entries.get(*self.last.get(&type_id)?)
    }
}

impl Blackboard {
    /// An empty blackboard.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a value at the end of the history, and returns its place.
    pub fn post<T: Any + Send + Sync>(&self, node: &NodeId, value: T) -> usize {
        self.post_shared(node, Arc::new(value))
    }

    /// As [`Blackboard::post`], for a value that is shared.
    pub fn post_shared<T: Any + Send + Sync>(&self, node: &NodeId, value: Arc<T>) -> usize {
        let mut history = self.lock();
        let position = history.entries.len();
        history.last.insert(TypeId::of::<T>(), position);
        history.entries.push(Entry {
            position,
            node: node.clone(),
            type_name: type_name::<T>(),
            value,
        });
        position
    }

    /// The last value of this type.
    pub fn last<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.lock()
            .last_of(TypeId::of::<T>())
            .and_then(Entry::value)
    }

    /// All values of this type, oldest first.
    pub fn all<T: Any + Send + Sync>(&self) -> Vec<Arc<T>> {
        self.lock()
            .entries
            .iter()
            .filter_map(Entry::value)
            .collect()
    }

    /// The whole history, oldest first.
    pub fn history(&self) -> Vec<Entry> {
        self.lock().entries.clone()
    }

    /// The last request that went along a route, as a record with that one field set.
    pub fn last_request<R: Routing>(&self, route: RouteId<R>) -> Option<R> {
        let wanted = R::__request_type(route.index());
        let last = self.lock().last_of(wanted).cloned()?;
        R::__from_request(route.index(), &*last.value)
    }

    fn lock(&self) -> MutexGuard<'_, History> {
        // Two insertions are all that ever happens under the lock, so a panic elsewhere leaves the history whole.
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
