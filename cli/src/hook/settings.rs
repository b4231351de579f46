//! The hook in settings that are JSON, whose other bytes stay as they are.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::CodingAgent;
use super::event::EventName;
use super::installing::HookSpec;
use super::json_text::{append, items, member, place_of, remove, replace, root};
use crate::exit::{Exit, Failure};

/// The settings with this hook, and no other of it.
///
/// # Errors
///
/// [`Exit::Usage`] if they are not as the agent documents them.
pub(super) fn with_hook(
    agent: CodingAgent,
    wanted: &HookSpec,
    text: &str,
    path: &Path,
) -> Result<String, Failure> {
    let mut text = text.to_owned();
    for event in EventName::ALL
        .into_iter()
        .filter(|event| *event != wanted.event)
    {
        text = without(agent, text, event, path)?;
    }
    with(agent, text, (wanted.event, &agent.hook(wanted)), path)
}

/// The settings without the hook.
///
/// # Errors
///
/// As [`with_hook`].
pub(super) fn without_hook(agent: CodingAgent, text: &str, path: &Path) -> Result<String, Failure> {
    let mut text = text.to_owned();
    for event in EventName::ALL {
        text = without(agent, text, event, path)?;
    }
    Ok(text)
}

impl CodingAgent {
    fn hook(self, wanted: &HookSpec) -> Value {
        let words = wanted.command(self);
        let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        let command = words.join(" ");
        let mut hook = json!({
            "type": "command",
            "command": command,
            "timeout": wanted.patience(),
        });
        // Older versions allow a tool whose hook was killed; versions that know this option do not.
        if self == Self::ClaudeCode {
            hook["onFailure"] = json!("block");
        }
        json!({"matcher": wanted.matcher, "hooks": [hook]})
    }

    /// Whether an entry is one of this hook.
    fn is_own(self, entry: &Value) -> bool {
        let hooks = entry["hooks"].as_array();
        let words = format!(" hook {}", self.name());
        hooks.is_some_and(|hooks| {
            let command = |hook: &Value| hook["command"].as_str().map(str::to_owned);
            let is_own = |command: String| command.contains(&words);
            !hooks.is_empty() && hooks.iter().all(|hook| command(hook).is_some_and(is_own))
        })
    }
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-:+".contains(&byte);
    if text.bytes().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The settings as JSON, and the entries of an event.
fn parsed(text: &str, event: EventName, path: &Path) -> Result<Vec<Value>, Failure> {
    let strange = |what: String| {
        let text = format!("{}: {what}", path.display());
        Failure::new(Exit::Usage, text).hint("nothing was changed; mend the file first")
    };
    let value: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| strange(format!("no JSON object: {error}")))?;
    let Some(hooks) = value.get("hooks") else {
        return Ok(Vec::new());
    };
    let hooks = hooks
        .as_object()
        .ok_or_else(|| strange("`hooks` is no object".to_owned()))?;
    let Some(entries) = hooks.get(event.name()) else {
        return Ok(Vec::new());
    };
    let entries = entries.as_array().cloned();
    entries.ok_or_else(|| strange(format!("`hooks.{}` is no list", event.name())))
}

fn with(
    agent: CodingAgent,
    text: String,
    (event, entry): (EventName, &Value),
    path: &Path,
) -> Result<String, Failure> {
    if text.trim().is_empty() {
        let whole = json!({"hooks": {event.name(): [entry]}});
        return Ok(format!("{whole:#}\n"));
    }
    let entries = parsed(&text, event, path)?;
    let whole = root(&text);
    let Some(hooks) = member(&text, &whole, "hooks") else {
        let hooks = json!({event.name(): [entry]});
        return Ok(append(&text, &whole, (Some("hooks"), &hooks), 0));
    };
    let Some(list) = member(&text, &hooks, event.name()) else {
        let list = json!([entry]);
        return Ok(append(&text, &hooks, (Some(event.name()), &list), 1));
    };
    let own: Vec<usize> = own_places(agent, &entries);
    match own.split_first() {
        None => Ok(append(&text, &list, (None, entry), 2)),
        Some((first, [])) if entries[*first] == *entry => Ok(text),
        Some((first, _)) => {
            let replaced = replace(&text, &items(&text, &list)[*first].value, entry, 3);
            let mut text = replaced;
            for place in own.iter().skip(1).rev() {
                let hooks = member(&text, &root(&text), "hooks").unwrap_or_default();
                let list = member(&text, &hooks, event.name()).unwrap_or_default();
                text = remove(&text, &list, *place);
            }
            Ok(text)
        }
    }
}

fn own_places(agent: CodingAgent, entries: &[Value]) -> Vec<usize> {
    let own = entries
        .iter()
        .enumerate()
        .filter(|(_place, entry)| agent.is_own(entry));
    own.map(|(place, _entry)| place).collect()
}

/// The settings without the hook; what becomes empty by that goes with it.
fn without(
    agent: CodingAgent,
    text: String,
    event: EventName,
    path: &Path,
) -> Result<String, Failure> {
    if text.trim().is_empty() {
        return Ok(text);
    }
    let entries = parsed(&text, event, path)?;
    let own = own_places(agent, &entries);
    if own.is_empty() {
        return Ok(text);
    }
    let whole = root(&text);
    let hooks = member(&text, &whole, "hooks").unwrap_or_default();
    if own.len() < entries.len() {
        let mut text = text;
        for place in own.into_iter().rev() {
            let hooks = member(&text, &root(&text), "hooks").unwrap_or_default();
            let list = member(&text, &hooks, event.name()).unwrap_or_default();
            text = remove(&text, &list, place);
        }
        return Ok(text);
    }
    let (object, name) = if items(&text, &hooks).len() == 1 {
        (whole, "hooks")
    } else {
        (hooks, event.name())
    };
    match place_of(&text, &object, name) {
        Some(place) => Ok(remove(&text, &object, place)),
        None => Ok(text),
    }
}
