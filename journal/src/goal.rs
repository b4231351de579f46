//! What a run is to do, as a title for people.

use serde_json::Value;

use crate::header::executed_by_worker;

/// The members of an input that name what it is about, best first.
const TITLES: [&str; 9] = [
    "goal", "title", "question", "task", "prompt", "subject", "topic", "name", "text",
];

/// The most members of an input without such a name that stand in its title.
const MEMBERS: usize = 4;

/// What a run is to do, if its content says so: its goal. The input of a worker's run may be anything, so its title is
/// made of what it has.
pub fn goal_in(content: &str) -> Option<String> {
    let order: Value = serde_json::from_str(content).ok()?;
    let goal = order.get("goal")?;
    let text = goal.as_str().or_else(|| goal.get("text")?.as_str())?;
    let input = order
        .get("input")
        .filter(|_input| executed_by_worker(content));
    let title = input.and_then(title);
    Some(title.unwrap_or_else(|| text.to_owned()))
}

/// The title of an input that is no text.
fn title(input: &Value) -> Option<String> {
    let members = input.as_object()?;
    let named = TITLES.iter().find_map(|name| members.get(*name)?.as_str());
    if let Some(named) = named.filter(|text| !text.trim().is_empty()) {
        return Some(named.to_owned());
    }
    let said: Vec<String> = members
        .iter()
        .filter_map(|(name, value)| Some(format!("{name} {}", scalar(value)?)))
        .take(MEMBERS)
        .collect();
    (!said.is_empty()).then(|| said.join(", "))
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::goal_in;

    fn of(input: &Value) -> Option<String> {
        let goal = input.as_str().map_or(input.to_string(), str::to_owned);
        let order = json!({"executor": "worker", "goal": goal, "input": input});
        goal_in(&order.to_string())
    }

    #[test]
    fn the_goal_of_a_workers_run_is_a_title_and_no_json() {
        for (input, title) in [
            (json!("bake bread"), "bake bread"),
            (
                json!({"order": 17, "shop": "north", "lines": [1]}),
                "order 17, shop north",
            ),
            (json!({"id": 3, "question": "Which oven?"}), "Which oven?"),
        ] {
            assert_eq!(of(&input).as_deref(), Some(title), "{input}");
        }
        // There is nothing to make a title of.
        assert_eq!(of(&json!([1, 2])).as_deref(), Some("[1,2]"));
        let own = json!({"goal": "{\"as\": \"it is\"}"}).to_string();
        assert_eq!(goal_in(&own).as_deref(), Some("{\"as\": \"it is\"}"));
    }
}
