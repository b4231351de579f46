//! Objects: the fields that a schema names, and the keys of maps.

use serde_json::{Map, Value, json};

use super::{Composer, DEEP, ValuePosition};
use crate::rehearsal::route_choice;
use crate::rehearsal::schema_view::{Demands, SchemaView, required};

impl Composer<'_> {
    pub(super) fn object(
        &mut self,
        demands: &Demands,
        place: ValuePosition<'_>,
        given: Option<&Map<String, Value>>,
    ) -> Value {
        let mut object = Map::new();
        let properties = demands.get("properties").and_then(Value::as_object);
        let properties = || properties.into_iter().flatten();
        let names = properties().map(|(name, _schema)| name.as_str());
        let home = route_choice::return_field(names, self.caller);
        for (name, schema) in properties() {
            if let Some(given) = given.and_then(|given| given.get(name)) {
                object.insert(name.clone(), given.clone());
                continue;
            }
            let must = required(demands).any(|other| other == name);
            let away = name.starts_with("returnTo") && home != Some(name);
            // Made up, it would refuse what people answer.
            let unsaid = away || name == "answerForm";
            if let Some(value) = self.member(schema, name, must, unsaid, place) {
                object.insert(name.clone(), value);
            }
        }
        // Given fields that the schema lacks are written all the same: the caller learns from the refusal, not from
        // silence.
        for (name, value) in given.into_iter().flatten() {
            object.entry(name.clone()).or_insert_with(|| value.clone());
        }
        self.fill_up(demands, &mut object, place);
        Value::Object(object)
    }

    /// The value of one field, or `None` where it is better left out.
    fn member(
        &mut self,
        schema: &Value,
        name: &str,
        must: bool,
        away: bool,
        around: ValuePosition<'_>,
    ) -> Option<Value> {
        let demands = self.view.demands(schema);
        let deep = around.depth >= DEEP;
        if (away || deep) && self.view.takes_null(&demands) {
            return must.then_some(Value::Null);
        }
        let optional = away || deep || SchemaView::is_impossible(schema);
        if !must && (optional || self.view.least_depth(schema).is_none()) {
            return None;
        }
        let place = ValuePosition {
            name,
            index: if around.listed { around.index } else { 0 },
            listed: around.listed,
            depth: around.depth + 1,
        };
        Some(self.value(schema, place))
    }

    /// Keys beyond the named ones: in maps, and where the schema demands more of them.
    fn fill_up(
        &mut self,
        demands: &Demands,
        object: &mut Map<String, Value>,
        place: ValuePosition<'_>,
    ) {
        for name in required(demands) {
            if !object.contains_key(name) {
                let anything = json!({});
                let schema = demands.get("additionalProperties").unwrap_or(&anything);
                let value = self.value(schema, ValuePosition { name, ..place });
                object.insert(name.to_owned(), value);
            }
        }
        let Some(schema) = demands
            .get("additionalProperties")
            .filter(|schema| !SchemaView::is_impossible(schema))
        else {
            return;
        };
        let bound = |keyword| demands.get(keyword).and_then(Value::as_u64);
        let fewest = usize::try_from(bound("minProperties").unwrap_or(0)).unwrap_or(0);
        let most = bound("maxProperties").map_or(usize::MAX, |most| {
            usize::try_from(most).unwrap_or(usize::MAX)
        });
        let is_map = object.is_empty() && schema.is_object() && place.depth < DEEP;
        let offered = if place.name == "confirmations" {
            self.facts.confirmations.clone()
        } else {
            vec!["source".to_owned()]
        };
        let wanted = if is_map { offered.len() } else { 0 };
        let mut index = 0;
        while object.len() < wanted.max(fewest).min(most) {
            let name = offered
                .get(index)
                .cloned()
                .unwrap_or_else(|| format!("note{index}"));
            index += 1;
            let place = ValuePosition {
                name: &name,
                index,
                listed: place.listed,
                depth: place.depth + 1,
            };
            let value = self.value(schema, place);
            object.insert(name.clone(), value);
        }
    }
}
