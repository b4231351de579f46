//! What differs between two versions of a catalogue, and whether a run that began under one can continue under the
//! other.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::draft::token;
use super::{Catalogue, KindEntry, RouteEntry};
use crate::life::Interrupt;

/// Why a run cannot continue under a catalogue: something that it may have been told, or answered with, no longer
/// applies.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the catalogue of {workflow} has changed at {pointer}: {reason}; go on with the version of the program that began the run"
)]
#[non_exhaustive]
pub struct CatalogueChange {
    /// The workflow.
    pub workflow: String,
    /// Where, as a JSON pointer into the catalogue that the run began under.
    pub pointer: String,
    /// What no longer applies.
    pub reason: String,
}

/// Members of a schema that validate nothing: people and models read them.
const TEXTS: [&str; 5] = ["title", "description", "$comment", "examples", "$schema"];

impl Catalogue {
    /// What this catalogue adds to another one: nothing if only texts differ.
    ///
    /// # Errors
    ///
    /// [`CatalogueChange`] if more has changed than texts and additions.
    pub fn news_since(&self, before: &Self) -> Result<Vec<String>, CatalogueChange> {
        self.compare(before).map_err(|found| before.changed(found))
    }

    /// Whether this catalogue changes how an open interrupt is answered: its kind's request, or the schema of a route.
    ///
    /// # Errors
    ///
    /// [`CatalogueChange`] if its kind or its origin is gone.
    pub fn asks_otherwise(
        &self,
        before: &Self,
        interrupt: &Interrupt,
    ) -> Result<bool, CatalogueChange> {
        let found = self.compare_for(before, interrupt);
        found.map_err(|found| before.changed(found))
    }

    fn compare_for(&self, before: &Self, interrupt: &Interrupt) -> Result<bool, Found> {
        self.same_workflow(before)?;
        if self.kind(interrupt.kind.as_str()).is_none() {
            let who = format!("{} was asked by {}", interrupt.id, interrupt.kind);
            return Err(("/kinds".to_owned(), who));
        }
        let bound = interrupt.bound.as_ref().map(|bound| &bound.target);
        for needed in [&interrupt.origin].into_iter().chain(bound) {
            if before.route(needed.as_str()).is_some() && self.route(needed.as_str()).is_none() {
                let goes = format!("the answer to {} goes to {needed}", interrupt.id);
                return Err(("/routes".to_owned(), goes));
            }
        }
        let compared = Compared::with(self);
        let mut kinds = before.kinds.iter().enumerate();
        let asker = kinds.find(|(_place, it)| it.name == interrupt.kind);
        let mut routes = before.routes.iter().enumerate();
        let is_same = self.record == before.record
            && asker.is_none_or(|(place, it)| compared.kind(self, place, it).is_ok())
            && routes.all(|(place, it)| {
                !interrupt.routes.contains(&it.name) || compared.route(self, place, it).is_ok()
            });
        Ok(!is_same)
    }

    fn changed(&self, (pointer, reason): Found) -> CatalogueChange {
        CatalogueChange {
            workflow: self.name.to_string(),
            pointer,
            reason,
        }
    }

    fn same_workflow(&self, before: &Self) -> Result<(), Found> {
        match self.name == before.name {
            true => Ok(()),
            false => Err(("/name".to_owned(), format!("it is {} now", self.name))),
        }
    }

    fn compare(&self, before: &Self) -> Result<Vec<String>, Found> {
        self.same_workflow(before)?;
        if self.record != before.record {
            let now = format!("it is `{}` now", self.record);
            return Err(("/record".to_owned(), now));
        }
        let compared = Compared::with(self);
        for (place, kind) in before.kinds.iter().enumerate() {
            compared.kind(self, place, kind)?;
        }
        for (place, route) in before.routes.iter().enumerate() {
            compared.route(self, place, route)?;
        }
        let kinds = self.kinds.iter().map(|kind| kind.name.as_str());
        let kinds = kinds.filter(|name| before.kind(name).is_none());
        let routes = self.routes.iter().map(|route| route.name.as_str());
        let routes = routes.filter(|name| before.route(name).is_none());
        let kinds = kinds.map(|name| format!("a kind {name}"));
        let routes = routes.map(|name| format!("a route {name}"));
        Ok(kinds.chain(routes).collect())
    }
}

/// Where something differs, and how.
type Found = (String, String);

struct Compared<'new> {
    /// The names of kinds and routes: a list of names may grow by them.
    names: BTreeSet<&'new str>,
}

impl<'new> Compared<'new> {
    fn with(now: &'new Catalogue) -> Self {
        let names = now.kinds.iter().map(|kind| kind.name.as_str());
        let names = names.chain(now.routes.iter().map(|route| route.name.as_str()));
        Self {
            names: names.collect(),
        }
    }

    /// A kind as it was, at its place, and as it is.
    fn kind(&self, now: &Catalogue, place: usize, kind: &KindEntry) -> Result<(), Found> {
        let pointer = format!("/kinds/{place}");
        let Some(now) = now.kind(kind.name.as_str()) else {
            return Err((pointer, format!("there is no kind {} any more", kind.name)));
        };
        if now.origin != kind.origin {
            let elsewhere = format!("answers to {} go to {} now", kind.name, now.origin);
            return Err((format!("{pointer}/origin"), elsewhere));
        }
        if let Some(gone) = kind.asks.iter().find(|it| !now.asks.contains(it)) {
            let asks = format!("{} may not ask for {gone} any more", kind.name);
            return Err((format!("{pointer}/asks"), asks));
        }
        match (&kind.request, &now.request) {
            (Some(was), Some(is)) => self.schema(was, is, &format!("{pointer}/request")),
            (None, _) | (_, None) => Ok(()),
        }
    }

    /// A route as it was, at its place, and as it is.
    fn route(&self, now: &Catalogue, place: usize, route: &RouteEntry) -> Result<(), Found> {
        let pointer = format!("/routes/{place}");
        let Some(now) = now.route(route.name.as_str()) else {
            let gone = format!("there is no route {} any more", route.name);
            return Err((pointer, gone));
        };
        if now.field != route.field {
            let field = format!("the field of {} is `{}` now", route.name, now.field);
            return Err((format!("{pointer}/field"), field));
        }
        self.schema(&route.schema, &now.schema, &format!("{pointer}/schema"))
    }

    /// Two versions of a schema: all but their texts is the same.
    fn schema(&self, was: &Value, is: &Value, pointer: &str) -> Result<(), Found> {
        match (was, is) {
            (Value::Object(was), Value::Object(is)) => {
                let (was, is) = (checked(was), checked(is));
                both(was, is, pointer, |name, was, is, pointer| {
                    self.keyword(name, (was, is), pointer)
                })
            }
            (Value::Array(was), Value::Array(is)) if was.len() == is.len() => {
                for (place, (was, is)) in was.iter().zip(is).enumerate() {
                    self.schema(was, is, &format!("{pointer}/{place}"))?;
                }
                Ok(())
            }
            (was, is) => same(was, is, pointer),
        }
    }

    fn keyword(&self, name: &str, (was, is): (&Value, &Value), at: &str) -> Result<(), Found> {
        match (name, was, is) {
            // Their members are names, not keywords.
            (
                "properties" | "$defs" | "patternProperties",
                Value::Object(was),
                Value::Object(is),
            ) => both(was.iter(), is.iter(), at, |_name, was, is, at| {
                self.schema(was, is, at)
            }),
            ("enum", Value::Array(was), Value::Array(is)) => self.list(was, is, at),
            // Values, not schemas.
            ("const" | "default" | "required" | "dependentRequired", was, is) => same(was, is, at),
            (_, was, is) => self.schema(was, is, at),
        }
    }

    /// Two versions of a list of values: the new one may have more names of agents.
    fn list(&self, was: &[Value], is: &[Value], pointer: &str) -> Result<(), Found> {
        if let Some(gone) = was.iter().find(|value| !is.contains(value)) {
            return Err((pointer.to_owned(), format!("{gone} is not in it any more")));
        }
        let are_agents = was.iter().all(|value| self.is_agent(value));
        let mut added = is.iter().filter(|value| !was.contains(value));
        match added.find(|value| !are_agents || !self.is_agent(value)) {
            Some(new) => Err((pointer.to_owned(), format!("{new} is new in it"))),
            None => Ok(()),
        }
    }

    fn is_agent(&self, value: &Value) -> bool {
        value.as_str().is_some_and(|name| self.names.contains(name))
    }
}

/// The members of a schema that validate something.
fn checked(schema: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> + Clone {
    let members = schema.iter();
    members.filter(|(name, _value)| !TEXTS.contains(&name.as_str()))
}

/// Two objects with the same members, each of which is compared.
fn both<'value>(
    was: impl Iterator<Item = (&'value String, &'value Value)> + Clone,
    is: impl Iterator<Item = (&'value String, &'value Value)> + Clone,
    pointer: &str,
    compare: impl Fn(&str, &Value, &Value, &str) -> Result<(), Found>,
) -> Result<(), Found> {
    let mut new = is.clone();
    if let Some((name, _value)) = new.find(|(name, _value)| !was.clone().any(|it| it.0 == *name)) {
        return Err((pointer.to_owned(), format!("`{name}` is new in it")));
    }
    for (name, was) in was {
        let pointer = format!("{pointer}/{}", token(name));
        let Some((_name, is)) = is.clone().find(|it| it.0 == name) else {
            return Err((pointer, "it is not there any more".to_owned()));
        };
        compare(name, was, is, &pointer)?;
    }
    Ok(())
}

fn same(was: &Value, is: &Value, pointer: &str) -> Result<(), Found> {
    match was == is {
        true => Ok(()),
        false => Err((pointer.to_owned(), format!("it was {was} and is {is}"))),
    }
}
