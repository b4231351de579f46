//! The context of a model call, and the decorators that prepare it.
//!
//! A context carries a snapshot of everything a decorator may look at. Decorators are synchronous and
//! read nothing else, so the same context gives the same bytes on every retry.

use std::sync::Arc;

use crate::model::{
    AnswerSchemaRef, ChunkSink, Dialect, Message, ModelCall, ModelCaller, TurnForm,
};
use crate::route::RouteId;
use crate::route_set::RouteSet;
use crate::routing::{Routing, RoutingKind};
use crate::schema::AnswerSchema;

/// Where an answer may go, as of when the context was made.
#[derive(Debug)]
pub struct RouteSnapshot<T: Routing> {
    /// The target that a decision has already fixed. Wins over everything.
    pub decided: Option<RouteId<T>>,
    /// The target of the reroute event that is bound to the interrupt. Wins over the origin.
    pub reroute: Option<RouteId<T>>,
    /// The route of the agent that raised the interrupt.
    pub origin: Option<RouteId<T>>,
    /// The route back to the caller of the agent, for records with return routes.
    pub caller: Option<RouteId<T>>,
}

impl<T: Routing> Default for RouteSnapshot<T> {
    fn default() -> Self {
        Self {
            decided: None,
            reroute: None,
            origin: None,
            caller: None,
        }
    }
}

impl<T: Routing> RouteSnapshot<T> {
    /// The one target of a resolved interrupt: what was decided, else the bound reroute, else the origin.
    pub fn target(&self) -> Option<RouteId<T>> {
        self.decided.or(self.reroute).or(self.origin)
    }
}

// Not derived: a derive would ask the record itself to be `Copy`.
impl<T: Routing> Clone for RouteSnapshot<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Routing> Copy for RouteSnapshot<T> {}

/// Which routes of a record an answer may take.
#[derive(Debug)]
pub enum Selection<T: Routing> {
    /// Any of them.
    All,
    /// This one and no other.
    Only(RouteId<T>),
    /// Any but the return routes, and of those this one.
    Returning(RouteId<T>),
}

impl<T: Routing> Clone for Selection<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Routing> Copy for Selection<T> {}

impl<T: Routing> Selection<T> {
    /// The routes as a set.
    pub fn routes(self) -> RouteSet<T> {
        match self {
            Self::All => RouteSet::ALL,
            Self::Only(route) => RouteSet::only(route),
            Self::Returning(caller) if RouteSet::RETURNS.contains(caller) => {
                RouteSet::RETURNS.complement().union(RouteSet::only(caller))
            }
            // A route that leads back to no caller narrows nothing, in the schema neither.
            Self::Returning(_) => RouteSet::ALL,
        }
    }

    /// The schema that a model is shown. A table look-up.
    pub fn schema(self, dialect: Dialect) -> &'static AnswerSchema {
        match self {
            Self::All => T::schemas().full(dialect),
            Self::Only(route) => T::schemas().narrowed(route, dialect),
            Self::Returning(caller) => T::schemas().returning(caller, dialect),
        }
    }
}

/// A call to a model whose answer is a `T`, before it is made.
#[derive(Clone)]
pub struct LlmCallContext<T: Routing> {
    /// On whose behalf the model is called.
    pub caller: ModelCaller,
    /// The conversation.
    pub messages: Vec<Message>,
    /// Where the answer may go, as of when the context was made.
    pub snapshot: RouteSnapshot<T>,
    /// Which routes the answer may take. Decorators narrow it.
    pub selection: Selection<T>,
    /// How an answer that may take several routes is asked for.
    pub form: TurnForm,
    /// Routes that are not offered when the route is chosen first: those that would lead in a circle. An answer that
    /// names one of them is no legal choice then; if all would be left out, all are offered.
    pub withheld: RouteSet<T>,
    /// The route that leads the work forward, if there is one: it is named first when the route is chosen first, since
    /// small models take what comes first.
    pub forward: Option<RouteId<T>>,
    /// Receives each piece of the answer as it arrives.
    pub chunks: Option<Arc<dyn ChunkSink>>,
}

impl<T: Routing> LlmCallContext<T> {
    /// A context in which every route is still allowed.
    pub fn new(caller: ModelCaller, messages: Vec<Message>, snapshot: RouteSnapshot<T>) -> Self {
        Self {
            caller,
            messages,
            snapshot,
            selection: Selection::All,
            form: TurnForm::OneStep,
            withheld: RouteSet::EMPTY,
            forward: None,
            chunks: None,
        }
    }

    /// The context after these decorators, in their order.
    #[must_use]
    pub fn decorated(self, decorators: &[Arc<dyn Decorator<T>>]) -> Self {
        let decorators = decorators.iter();
        decorators.fold(self, |context, decorator| decorator.decorate(context))
    }

    /// The routes that are offered when the route is chosen first.
    pub fn offered(&self) -> RouteSet<T> {
        let allowed = self.selection.routes();
        let offered = allowed.difference(self.withheld);
        if offered.is_empty() { allowed } else { offered }
    }

    /// The call for a model that takes schemas in this dialect.
    ///
    /// In a debug build it panics if the provider would not take the schema, which [`Routing::check`] says too.
    pub fn to_call(&self, dialect: Dialect) -> ModelCall {
        let schema = self.selection.schema(dialect);
        T::schemas().assert_taken(schema);
        ModelCall {
            caller: self.caller.clone(),
            messages: self.messages.clone(),
            schema: Some(AnswerSchemaRef::Fixed(schema)),
            tools: Arc::default(),
            forward: self.forward.map(RouteId::field),
            chunks: self.chunks.clone(),
        }
    }
}

/// Prepares a call. It sees only the context: no store, no clock, no bus.
pub trait Decorator<T: Routing>: Send + Sync {
    /// The context with this decorator's change.
    fn decorate(&self, context: LlmCallContext<T>) -> LlmCallContext<T>;
}

/// Narrows where an answer may go.
///
/// The answer to an interrupt: to its one target, which is what was decided, else the target of the bound reroute event,
/// else the origin. An agent's own record: of its return routes, to the one that leads back to its caller.
#[derive(Debug, Clone, Copy, Default)]
pub struct FilterPropertiesDecorator;

impl<T: Routing> Decorator<T> for FilterPropertiesDecorator {
    fn decorate(&self, mut context: LlmCallContext<T>) -> LlmCallContext<T> {
        let RouteSnapshot { caller, .. } = context.snapshot;
        match T::KIND {
            RoutingKind::Interrupt => {
                if let Some(target) = context.snapshot.target() {
                    context.selection = Selection::Only(target);
                }
            }
            RoutingKind::Agent => {
                if let Some(caller) = caller.filter(|&it| RouteSet::<T>::RETURNS.contains(it)) {
                    context.selection = Selection::Returning(caller);
                }
            }
        }
        context
    }
}
