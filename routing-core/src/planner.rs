//! The planner: dispatches the one set component of a routing to its action.
//!
//! It knows routings in general and no record in particular.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::interrupt::SealedInterrupt;
use crate::routing::{DispatchError, OneRouteError, Routing};

/// Where a routing leads: its one set field, without its types.
#[derive(Debug)]
pub struct Step {
    /// The record's name.
    pub record: &'static str,
    /// The field that is set, by its name in JSON.
    pub field: &'static str,
    /// The type of the request, as written in the record.
    pub request: &'static str,
    value: Box<dyn Any + Send>,
}

impl Step {
    /// Takes out the one set field of a routing.
    ///
    /// # Errors
    ///
    /// [`OneRouteError`] if none is set, or more than one.
    pub fn of<R: Routing>(routing: R) -> Result<Self, OneRouteError> {
        let (route, value) = routing.into_one()?;
        let info = route.info();
        Ok(Self {
            record: R::NAME,
            field: info.field,
            request: info.request,
            value,
        })
    }
}

/// What an action leads to.
pub enum Next<O> {
    /// Another routing: the planner [continues](BlackboardRoutingPlanner::dispatch).
    Routing(Result<Step, OneRouteError>),
    /// The end.
    Finished(O),
}

impl<O> Next<O> {
    /// Continues with a routing.
    pub fn routing(routing: impl Routing) -> Self {
        Self::Routing(Step::of(routing))
    }
}

type ActionFuture<'a, O, E> = Pin<Box<dyn Future<Output = Result<Next<O>, E>> + Send + 'a>>;
type RunAction<C, O, E> =
    dyn for<'a> Fn(Box<dyn Any + Send>, &'a C) -> Option<ActionFuture<'a, O, E>> + Send + Sync;

/// What is known of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActionInfo {
    /// Its name.
    pub name: &'static str,
    /// Whether it may run again with the same input.
    pub rerunnable: bool,
    /// What it costs, if a planner can choose; the unit is the orchestrator's.
    pub cost: u32,
}

struct Action<C, O, E> {
    info: ActionInfo,
    run: Arc<RunAction<C, O, E>>,
}

impl<C, O, E> Clone for Action<C, O, E> {
    fn clone(&self) -> Self {
        Self {
            info: self.info,
            run: Arc::clone(&self.run),
        }
    }
}

/// Dispatches routings to actions by the type of the request.
pub struct BlackboardRoutingPlanner<C, O, E> {
    actions: HashMap<TypeId, Action<C, O, E>>,
}

/// Two actions that take the same request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the actions `{first}` and `{second}` both take `{request}`; a request has one action")]
#[non_exhaustive]
pub struct ActionTaken {
    /// The action that was there.
    pub first: &'static str,
    /// The action that came.
    pub second: &'static str,
    /// The request's type.
    pub request: &'static str,
}

impl<C, O, E> Default for BlackboardRoutingPlanner<C, O, E> {
    fn default() -> Self {
        Self {
            actions: HashMap::new(),
        }
    }
}

impl<C: Sync + 'static, O: 'static, E: 'static> BlackboardRoutingPlanner<C, O, E> {
    /// A planner without actions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the action that takes requests of the type `I`.
    ///
    /// # Errors
    ///
    /// [`ActionTaken`] if another action takes them.
    pub fn add<I, F>(&mut self, info: ActionInfo, action: F) -> Result<(), ActionTaken>
    where
        I: Any + Send,
        F: for<'a> Fn(I, &'a C) -> ActionFuture<'a, O, E> + Send + Sync + 'static,
    {
        let run: Arc<RunAction<C, O, E>> = Arc::new(move |value, context| {
            let input = value.downcast::<I>().ok()?;
            Some(action(*input, context))
        });
        self.insert(TypeId::of::<I>(), type_name::<I>(), Action { info, run })
    }

    /// Adds the action that takes every payload of a sealed interrupt request, as that request.
    ///
    /// # Errors
    ///
    /// [`ActionTaken`] if another action takes one of them.
    pub fn add_sealed<I, F>(&mut self, info: ActionInfo, action: F) -> Result<(), ActionTaken>
    where
        I: SealedInterrupt,
        F: for<'a> Fn(I, &'a C) -> ActionFuture<'a, O, E> + Send + Sync + 'static,
    {
        let action = Arc::new(action);
        for (type_id, request, seal) in I::__payloads() {
            let action = Arc::clone(&action);
            let run: Arc<RunAction<C, O, E>> =
                Arc::new(move |value, context| Some(action(seal(value)?, context)));
            self.insert(type_id, request, Action { info, run })?;
        }
        Ok(())
    }

    fn insert(
        &mut self,
        type_id: TypeId,
        request: &'static str,
        action: Action<C, O, E>,
    ) -> Result<(), ActionTaken> {
        if let Some(there) = self.actions.get(&type_id) {
            return Err(ActionTaken {
                first: there.info.name,
                second: action.info.name,
                request,
            });
        }
        self.actions.insert(type_id, action);
        Ok(())
    }

    /// What is known of the action that takes requests of this type.
    pub fn action_of<I: Any>(&self) -> Option<ActionInfo> {
        self.actions
            .get(&TypeId::of::<I>())
            .map(|action| action.info)
    }

    /// Runs the action that takes the one set component of a routing: `dispatch(Step::of(routing), context)`.
    ///
    /// # Errors
    ///
    /// [`DispatchError`]: none or two components, no action for it, or the action's own failure.
    ///
    /// # Cancel safety
    ///
    /// As safe as the action: dropping the future drops the action's.
    pub async fn dispatch(
        &self,
        step: Result<Step, OneRouteError>,
        context: &C,
    ) -> Result<Next<O>, DispatchError<E>> {
        let Step {
            record,
            field,
            request,
            value,
        } = step?;
        let action = self.actions.get(&(*value).type_id());
        let running = action.and_then(|action| Some((action, (action.run)(value, context)?)));
        let Some((action, running)) = running else {
            let known = self.names();
            return Err(DispatchError::NoAction {
                record,
                field,
                request,
                known,
            });
        };
        running.await.map_err(|source| DispatchError::Action {
            action: action.info.name,
            source,
        })
    }

    fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self
            .actions
            .values()
            .map(|action| action.info.name)
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}
