//! The scopes of a run: one for the run, one for each node, each node's below its parent's.

use std::collections::HashMap;

use interrupt_router::{NodeId, StopReason, StopScope};

/// How far a stop reaches within its run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reach {
    /// The whole run.
    Run,
    /// A node, and all that it started.
    Node(NodeId),
}

/// Something that can be stopped, together with all below it.
pub(crate) trait Stoppable: Clone {
    /// Makes a child, which stops with this.
    fn below(&self) -> Self;

    /// Stops it. A stop is permanent; a softer one never undoes a harder one.
    fn stop(&self, reason: &StopReason);
}

impl Stoppable for StopScope {
    fn below(&self) -> Self {
        self.child()
    }

    fn stop(&self, reason: &StopReason) {
        Self::stop(self, reason.clone());
    }
}

/// The scopes of one run. Scopes are made on demand, together with those of the nodes above, so a
/// stop reaches nodes that do not exist yet.
#[derive(Debug)]
pub(crate) struct Tree<S> {
    root: S,
    nodes: HashMap<NodeId, S>,
}

impl<S: Stoppable> Tree<S> {
    /// A tree whose scopes stop with `above`.
    pub(crate) fn below(above: &S) -> Self {
        Self {
            root: above.below(),
            nodes: HashMap::new(),
        }
    }

    /// The scope of the run.
    pub(crate) const fn root(&self) -> &S {
        &self.root
    }

    /// The scope of a node. `made` is called with each scope that had to be made, the highest first.
    pub(crate) fn node(&mut self, node: &NodeId, made: &impl Fn(&NodeId, &S)) -> S {
        if let Some(scope) = self.nodes.get(node) {
            return scope.clone();
        }
        let above = match node.parent() {
            Some(parent) => self.node(&parent, made),
            None => self.root.clone(),
        };
        let scope = above.below();
        made(node, &scope);
        self.nodes.insert(node.clone(), scope.clone());
        scope
    }

    /// Forgets the scopes of a node and of all below it: the next call makes new ones.
    pub(crate) fn forget(&mut self, node: &NodeId) {
        self.nodes.retain(|known, _scope| !known.is_within(node));
    }
}
