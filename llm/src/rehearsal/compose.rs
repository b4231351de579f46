//! Values that satisfy a schema, made of what there is to speak about.

mod kind;
mod number;
mod object;
mod text;

use std::borrow::Cow;

use kind::{ValueKind, kind, type_name};
use routing_core::model::ModelCaller;
use serde_json::{Map, Value, json};

use super::facts::Facts;
use super::prose::Prose;
use super::random::Random;
use super::route_choice::{self, Routes};
use super::schema_view::{Demands, SchemaView, is_null, joint, names_type, required, variants};

/// Below this depth only what must be there is made, so that recursive schemas come to an end.
const DEEP: usize = 6;

/// Below this depth nothing is made at all: the schema has no finite value.
const BOTTOM: usize = 40;

/// A route that was decided on outside, and what is given of its fields.
#[derive(Debug, Clone)]
pub(crate) struct FixedRoute {
    /// The route's name.
    pub(crate) route: &'static str,
    /// Fields of its request that are not to be made up.
    pub(crate) fields: Map<String, Value>,
}

/// Where in the answer a value is.
#[derive(Debug, Clone, Copy)]
struct ValuePosition<'p> {
    /// The name of the field, or of the list that it is an element of.
    name: &'p str,
    /// Which element of a list, from 0; 0 outside of lists.
    index: usize,
    /// Whether it is, or is within, an element of a list.
    listed: bool,
    /// How many objects and lists are around it.
    depth: usize,
}

/// Makes one answer.
pub(crate) struct Composer<'a> {
    view: &'a SchemaView<'a>,
    facts: &'a Facts,
    caller: &'a ModelCaller,
    random: Random,
    prose: Prose,
}

impl<'a> Composer<'a> {
    pub(crate) fn new(
        view: &'a SchemaView<'a>,
        facts: &'a Facts,
        caller: &'a ModelCaller,
        mut random: Random,
    ) -> Self {
        let prose = Prose::starting_at(random.below(1 << 16));
        Self {
            view,
            facts,
            caller,
            random,
            prose,
        }
    }

    /// The whole answer: in a routing record one route alone, else everything.
    pub(crate) fn answer(&mut self, wanted: Option<&FixedRoute>) -> Value {
        let root = self.view.root();
        let place = ValuePosition {
            name: "answer",
            index: 0,
            listed: false,
            depth: 0,
        };
        let routes = route_choice::routes(self.view, &root)
            .or_else(|| wanted.and_then(|wanted| route_choice::only(&root, wanted.route)));
        match routes {
            Some(routes) => self.routed(&root, &routes, wanted),
            None => self.satisfying(&root, place),
        }
    }

    fn routed(&mut self, root: &Demands, routes: &Routes, wanted: Option<&FixedRoute>) -> Value {
        let wanted = wanted.filter(|wanted| routes.iter().any(|(name, _)| name == wanted.route));
        let chosen = match wanted {
            Some(wanted) => Some(wanted.route),
            None => route_choice::choose(routes, self.facts, self.caller),
        };
        let mut answer = Map::new();
        for (name, schema) in routes {
            if Some(name.as_str()) == chosen {
                let demands = self.view.demands(schema);
                let demands = self.view.without_null(&demands);
                let place = ValuePosition {
                    name,
                    index: 0,
                    listed: false,
                    depth: 1,
                };
                let given = wanted.map(|wanted| &wanted.fields);
                answer.insert(name.clone(), self.object(&demands, place, given));
            } else if required(root).any(|other| other == name) {
                answer.insert(name.clone(), Value::Null);
            }
        }
        Value::Object(answer)
    }

    fn value(&mut self, schema: &Value, place: ValuePosition<'_>) -> Value {
        if place.depth > BOTTOM {
            return Value::Null;
        }
        let demands = self.view.demands(schema);
        self.satisfying(&demands, place)
    }

    fn satisfying(&mut self, demands: &Demands, place: ValuePosition<'_>) -> Value {
        if let Some(constant) = demands.get("const") {
            return constant.clone();
        }
        if let Some(Value::Array(values)) = demands.get("enum") {
            return self.one_of(values, demands);
        }
        if let Some(choice) = self.chosen(demands, place) {
            return self.satisfying(&choice, place);
        }
        match kind(demands) {
            ValueKind::Null => Value::Null,
            ValueKind::Boolean => json!(true),
            ValueKind::Integer => number::integer(demands, place.name, place.index),
            ValueKind::Number => number::number(demands, place.name, place.index),
            ValueKind::Text => {
                let sentence = self.sentence(place);
                text::fitting(demands, sentence, place.index, &mut self.random)
            }
            ValueKind::List => self.list(demands, place),
            ValueKind::Object => self.object(demands, place, None),
        }
    }

    fn one_of(&mut self, values: &[Value], demands: &Demands) -> Value {
        let fits = |value: &&Value| {
            demands
                .get("type")
                .is_none_or(|types| names_type(types, type_name(value)))
        };
        let values: Vec<&Value> = values.iter().filter(fits).collect();
        route_choice::forward_value(&values)
            .or_else(|| self.random.pick(&values).copied())
            .cloned()
            .unwrap_or(Value::Null)
    }

    /// The demands joined with those of one variant, where there are variants.
    fn chosen<'d>(
        &mut self,
        demands: &'d Demands,
        place: ValuePosition<'_>,
    ) -> Option<Cow<'d, Demands>>
    where
        'a: 'd,
    {
        let keyword = if demands.contains_key("oneOf") {
            "oneOf"
        } else {
            "anyOf"
        };
        let possible: Vec<&Value> = variants(demands)?
            .iter()
            .filter(|variant| !SchemaView::is_impossible(variant))
            .collect();
        let telling: Vec<&Value> = possible
            .iter()
            .copied()
            .filter(|variant| !is_null(variant))
            .collect();
        // An enumeration whose values are described is written as a choice of constants.
        let constants: Option<Vec<&Value>> =
            telling.iter().map(|variant| variant.get("const")).collect();
        let forward = constants.as_deref().and_then(route_choice::forward_value);
        let variant = if let Some(forward) = forward {
            telling
                .iter()
                .copied()
                .find(|variant| variant.get("const") == Some(forward))
        } else if place.depth >= DEEP || telling.is_empty() {
            possible
                .into_iter()
                .min_by_key(|variant| self.view.least_depth(variant).unwrap_or(usize::MAX))
        } else {
            self.random.pick(&telling).copied()
        };
        let variant = variant.map(|variant| self.view.demands(variant));
        let variant = variant.unwrap_or_default();
        if demands.len() == 1 {
            return Some(variant);
        }
        let mut rest = demands.clone();
        rest.remove(keyword);
        Some(Cow::Owned(joint(rest, &variant)))
    }

    fn list(&mut self, demands: &Demands, place: ValuePosition<'_>) -> Value {
        let bound = |keyword| demands.get(keyword).and_then(Value::as_u64);
        let fewest = usize::try_from(bound("minItems").unwrap_or(0)).unwrap_or(0);
        let most = bound("maxItems").map_or(usize::MAX, |most| {
            usize::try_from(most).unwrap_or(usize::MAX)
        });
        let usual = match place.depth {
            // Work for agents: enough of them to see that they work side by side.
            0..4 if place.name == "requests" => 3,
            0..4 => 2 + self.random.below(2),
            4..DEEP => 1,
            _ => 0,
        };
        let first = demands.get("prefixItems").and_then(Value::as_array);
        let first = first.map_or(&[][..], Vec::as_slice);
        let anything = json!({});
        let items = demands.get("items").unwrap_or(&anything);
        let wanted = match self.given_items(place) {
            Some(given) if kind(&self.view.demands(items)) == ValueKind::Text => {
                return json!(&given[..given.len().clamp(0, most)]);
            }
            _ => usual.max(first.len()).clamp(fewest, most.max(fewest)),
        };
        let mut made = Vec::new();
        let unique = demands.get("uniqueItems") == Some(&json!(true));
        for index in 0..wanted {
            let schema = first.get(index).unwrap_or(items);
            if SchemaView::is_impossible(schema) {
                break;
            }
            let place = ValuePosition {
                index,
                listed: true,
                depth: place.depth + 1,
                ..place
            };
            let element = self.value(schema, place);
            if !unique || !made.contains(&element) {
                made.push(element);
            }
        }
        Value::Array(made)
    }

    /// Lists whose elements must be ones that were offered, not made up.
    fn given_items(&self, place: ValuePosition<'_>) -> Option<Vec<String>> {
        (place.name == "selectedChoices")
            .then(|| self.facts.choices.iter().take(1).cloned().collect())
    }

    fn sentence(&mut self, place: ValuePosition<'_>) -> String {
        self.prose.sentence(
            place.name,
            place.index,
            place.listed,
            self.facts,
            &mut self.random,
        )
    }
}

#[cfg(test)]
mod tests;
