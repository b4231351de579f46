//! What differs between two versions of a catalogue, and whether a run that began under one can continue under the
//! other.

use serde_json::Value;

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
        let mut kinds = before.kinds.iter().enumerate();
        let asker = kinds.find(|(_place, it)| it.name == interrupt.kind);
        let mut routes = before.routes.iter().enumerate();
        let is_same = self.record == before.record
            && asker.is_none_or(|(place, it)| same_kind(self, place, it).is_ok())
            && routes.all(|(place, it)| {
                !interrupt.routes.contains(&it.name) || same_route(self, place, it).is_ok()
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
        for (place, kind) in before.kinds.iter().enumerate() {
            same_kind(self, place, kind)?;
        }
        for (place, route) in before.routes.iter().enumerate() {
            same_route(self, place, route)?;
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

/// A kind as it was, at its place, and as it is.
fn same_kind(now: &Catalogue, place: usize, kind: &KindEntry) -> Result<(), Found> {
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
        (Some(was), Some(is)) => same_schema(was, is, &format!("{pointer}/request")),
        (None, _) | (_, None) => Ok(()),
    }
}

/// A route as it was, at its place, and as it is.
fn same_route(now: &Catalogue, place: usize, route: &RouteEntry) -> Result<(), Found> {
    let pointer = format!("/routes/{place}");
    let Some(now) = now.route(route.name.as_str()) else {
        let gone = format!("there is no route {} any more", route.name);
        return Err((pointer, gone));
    };
    if now.field != route.field {
        let field = format!("the field of {} is `{}` now", route.name, now.field);
        return Err((format!("{pointer}/field"), field));
    }
    same_schema(&route.schema, &now.schema, &format!("{pointer}/schema"))
}

/// Two versions of a schema: all but their texts is the same.
fn same_schema(was: &Value, is: &Value, pointer: &str) -> Result<(), Found> {
    same(&without_texts(was), &without_texts(is), pointer)
}

/// A schema without what people and models read.
fn without_texts(schema: &Value) -> Value {
    let member = |(name, value): (&String, &Value)| {
        let value = match (name.as_str(), value) {
            // Their members are names, not keywords.
            ("properties" | "$defs" | "patternProperties", Value::Object(named)) => {
                let schemas = named
                    .iter()
                    .map(|(name, it)| (name.clone(), without_texts(it)));
                Value::Object(schemas.collect())
            }
            // Values, not schemas.
            ("const" | "default" | "enum" | "required" | "dependentRequired", value) => {
                value.clone()
            }
            (_, value) => without_texts(value),
        };
        (name.clone(), value)
    };
    match schema {
        Value::Object(members) => {
            let checked = members
                .iter()
                .filter(|(name, _)| !TEXTS.contains(&name.as_str()));
            Value::Object(checked.map(member).collect())
        }
        Value::Array(schemas) => schemas.iter().map(without_texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema.clone(),
    }
}

/// Two values, and where they begin to differ.
fn same(was: &Value, is: &Value, pointer: &str) -> Result<(), Found> {
    let (Value::Object(was), Value::Object(is)) = (was, is) else {
        return match was == is {
            true => Ok(()),
            false => Err((pointer.to_owned(), format!("it was {was} and is {is}"))),
        };
    };
    if let Some(new) = is.keys().find(|name| !was.contains_key(*name)) {
        return Err((pointer.to_owned(), format!("`{new}` is new in it")));
    }
    for (name, was) in was {
        let pointer = format!("{pointer}/{}", token(name));
        let Some(is) = is.get(name) else {
            return Err((pointer, "it is not there any more".to_owned()));
        };
        same(was, is, &pointer)?;
    }
    Ok(())
}
