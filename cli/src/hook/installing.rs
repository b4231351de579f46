//! The hook in the settings of an agent: put there, and taken away again.

use std::path::{Path, PathBuf};

use jiff::SignedDuration;
use serde_json::{Map, Value, json};

use super::CodingAgent;
use super::event::EventName;
use super::json_text::{append, items, member, place_of, remove, replace, root};
use crate::exit::{Exit, Failure};

/// How much longer than this program waits its agent waits for it, in seconds.
const SPARE: i64 = 30;

/// Whose settings are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Those of the project in this folder.
    Project,
    /// Those of this user.
    User,
}

/// The hook that is wanted.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// In which event.
    pub(crate) event: EventName,
    /// Of which tools.
    pub(crate) matcher: String,
    /// How long it waits for a person.
    pub(crate) timeout: SignedDuration,
    /// The program, as a shell finds it.
    pub(crate) program: String,
    /// What is written behind the command.
    pub(crate) options: String,
}

/// A change of a settings file.
#[derive(Debug)]
pub(crate) struct Change {
    /// The file.
    pub(crate) path: PathBuf,
    /// What is in it; nothing where it is not there.
    pub(crate) before: String,
    /// What will be.
    pub(crate) after: String,
}

impl CodingAgent {
    /// Its settings.
    ///
    /// # Errors
    ///
    /// [`Exit::Usage`] where nothing says where this user's are.
    fn settings(self, scope: Scope) -> Result<PathBuf, Failure> {
        let folder = match (self, scope) {
            (Self::ClaudeCode, Scope::Project) => PathBuf::from(".claude"),
            (Self::Codex, Scope::Project) => PathBuf::from(".codex"),
            (Self::ClaudeCode, Scope::User) => of_user("CLAUDE_CONFIG_DIR", ".claude")?,
            (Self::Codex, Scope::User) => of_user("CODEX_HOME", ".codex")?,
        };
        Ok(folder.join(match self {
            Self::ClaudeCode => "settings.json",
            Self::Codex => "hooks.json",
        }))
    }

    fn hook(self, wanted: &Wanted) -> Value {
        let command = format!(
            "{} hook {} --timeout {}s{}",
            wanted.program,
            self.name(),
            wanted.timeout.as_secs(),
            wanted.options,
        );
        let mut hook = json!({
            "type": "command",
            "command": command,
            "timeout": wanted.timeout.as_secs().saturating_add(SPARE),
        });
        // Older versions let a tool through whose hook was killed; those that know this do not.
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

fn of_user(variable: &str, folder: &str) -> Result<PathBuf, Failure> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(set) = set(variable) {
        return Ok(PathBuf::from(set));
    }
    let home = set("HOME").ok_or_else(|| {
        Failure::new(Exit::Usage, "nothing says where your settings are")
            .hint("set HOME, or use --project")
    })?;
    Ok(Path::new(&home).join(folder))
}

impl Change {
    /// What installing the hook changes.
    ///
    /// # Errors
    ///
    /// Where the settings cannot be read, or are not as the agent documents them.
    pub(crate) fn install(
        agent: CodingAgent,
        scope: Scope,
        wanted: &Wanted,
    ) -> Result<Self, Failure> {
        let path = agent.settings(scope)?;
        let before = read(&path)?;
        let entry = agent.hook(wanted);
        let mut after = before.clone();
        for event in EventName::ALL
            .into_iter()
            .filter(|event| *event != wanted.event)
        {
            after = without(agent, after, event, &path)?;
        }
        let after = with(agent, after, (wanted.event, &entry), &path)?;
        Ok(Self {
            path,
            before,
            after,
        })
    }

    /// What removing the hook changes.
    ///
    /// # Errors
    ///
    /// As [`Change::install`].
    pub(crate) fn remove(agent: CodingAgent, scope: Scope) -> Result<Self, Failure> {
        let path = agent.settings(scope)?;
        let before = read(&path)?;
        let mut after = before.clone();
        for event in EventName::ALL {
            after = without(agent, after, event, &path)?;
        }
        Ok(Self {
            path,
            before,
            after,
        })
    }

    /// Whether there is anything to change.
    pub(crate) fn is_nothing(&self) -> bool {
        self.before == self.after
    }

    /// Writes the file, unless it was changed since it was read.
    ///
    /// # Errors
    ///
    /// [`Exit::Conflict`] where it was; [`Exit::Failure`] where it cannot be written.
    pub(crate) fn write(&self) -> Result<(), Failure> {
        let path = self.path.display();
        if read(&self.path)? != self.before {
            let text = format!("{path} was changed meanwhile");
            return Err(Failure::new(Exit::Conflict, text).hint("do it again"));
        }
        let failed = |error: std::io::Error| {
            Failure::new(Exit::Failure, format!("cannot write {path}: {error}"))
        };
        // A link to the settings stays one.
        let real = std::fs::canonicalize(&self.path).unwrap_or_else(|_absent| self.path.clone());
        let folder = real.parent().filter(|it| !it.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(failed)?;
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        std::io::Write::write_all(&mut file, self.after.as_bytes()).map_err(failed)?;
        if let Ok(metadata) = std::fs::metadata(&real) {
            let permissions = metadata.permissions();
            std::fs::set_permissions(file.path(), permissions).map_err(failed)?;
        }
        file.persist(&real).map_err(|error| failed(error.error))?;
        Ok(())
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => {
            let text = format!("cannot read {}: {error}", path.display());
            Err(Failure::new(Exit::NotFound, text))
        }
    }
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
