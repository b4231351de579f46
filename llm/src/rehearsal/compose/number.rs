//! Numbers within bounds.

use serde_json::{Number, Value, json};

use crate::rehearsal::schema_view::Demands;

/// An integer that satisfies the demands: counted up in lists, small elsewhere.
pub(super) fn integer(demands: &Demands, name: &str, index: usize) -> Value {
    let whole = |keyword| demands.get(keyword).and_then(to_whole);
    let above =
        whole("exclusiveMinimum").map(|bound| bound.round(Rounding::Down).saturating_add(1));
    let below = whole("exclusiveMaximum").map(|bound| bound.round(Rounding::Up).saturating_sub(1));
    let least = max(
        whole("minimum").map(|bound| bound.round(Rounding::Up)),
        above,
    );
    let most = min(
        whole("maximum").map(|bound| bound.round(Rounding::Down)),
        below,
    );
    let usual = match name {
        "confidence" | "score" | "percent" => 90,
        _ => i128::try_from(index).unwrap_or(0) + 1,
    };
    let mut value = usual;
    value = most.map_or(value, |most| value.min(most));
    value = least.map_or(value, |least| value.max(least));
    let step = whole("multipleOf")
        .map(|step| step.round(Rounding::Down))
        .filter(|step| *step > 1);
    if let Some(step) = step {
        let up = value
            .div_euclid(step)
            .saturating_add(i128::from(value.rem_euclid(step) != 0))
            * step;
        value = if most.is_some_and(|most| up > most) {
            up - step
        } else {
            up
        };
    }
    written(value)
}

/// A number that satisfies the demands.
pub(super) fn number(demands: &Demands, name: &str, index: usize) -> Value {
    if demands.contains_key("multipleOf") || !name_is_share(name) {
        let whole = integer(demands, name, index);
        if within(demands, &whole) {
            return whole;
        }
    }
    let bound = |keyword| demands.get(keyword).and_then(Value::as_f64);
    let least = bound("minimum").or(bound("exclusiveMinimum"));
    let most = bound("maximum").or(bound("exclusiveMaximum"));
    let shares = [0.87, 0.5, 0.25];
    let value = match (least, most) {
        _ if within(demands, &json!(0.87)) => 0.87,
        (Some(least), Some(most)) => shares
            .iter()
            .map(|share| least + (most - least) * share)
            .find(|value| within(demands, &json!(value)))
            .unwrap_or(least),
        (Some(least), None) => least + least.abs().max(1.0) * 0.5,
        (None, Some(most)) => most - most.abs().max(1.0) * 0.5,
        (None, None) => 0.87,
    };
    if let Some(step) = bound("multipleOf").filter(|step| *step > 0.0) {
        return json!((value / step).ceil() * step);
    }
    json!(value)
}

fn name_is_share(name: &str) -> bool {
    matches!(name, "confidence" | "score" | "probability" | "certainty")
}

fn within(demands: &Demands, value: &Value) -> bool {
    let bound = |keyword| demands.get(keyword).and_then(Value::as_f64);
    let Some(value) = value.as_f64() else {
        return false;
    };
    let fits_step = bound("multipleOf").is_none_or(|step| {
        let times = value / step;
        (times - times.round()).abs() < f64::EPSILON
    });
    fits_step
        && bound("minimum").is_none_or(|least| value >= least)
        && bound("maximum").is_none_or(|most| value <= most)
        && bound("exclusiveMinimum").is_none_or(|least| value > least)
        && bound("exclusiveMaximum").is_none_or(|most| value < most)
}

/// A bound: exact where it is written as an integer.
#[derive(Debug, Clone, Copy)]
enum Bound {
    Exact(i128),
    Inexact(f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rounding {
    Up,
    Down,
}

impl Bound {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a bound beyond the range of integers saturates, which bounds as well"
    )]
    fn round(self, rounding: Rounding) -> i128 {
        match (self, rounding) {
            (Self::Exact(bound), _) => bound,
            (Self::Inexact(bound), Rounding::Up) => bound.ceil() as i128,
            (Self::Inexact(bound), Rounding::Down) => bound.floor() as i128,
        }
    }
}

fn to_whole(value: &Value) -> Option<Bound> {
    value
        .as_i64()
        .map(|bound| Bound::Exact(bound.into()))
        .or_else(|| value.as_u64().map(|bound| Bound::Exact(bound.into())))
        .or_else(|| value.as_f64().map(Bound::Inexact))
}

fn max(one: Option<i128>, other: Option<i128>) -> Option<i128> {
    one.max(other)
}

fn min(one: Option<i128>, other: Option<i128>) -> Option<i128> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "an integer beyond 64 bits can only be written as a float"
)]
fn written(value: i128) -> Value {
    Number::from_i128(value).map_or_else(|| json!(value as f64), Value::Number)
}
