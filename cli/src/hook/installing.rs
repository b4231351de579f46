//! The hook in the settings of an agent: put there, and taken away again.

use std::path::{Path, PathBuf};

use jiff::SignedDuration;

use super::event::EventName;
use super::{CodingAgent, plugin, settings};
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
pub(crate) struct HookSpec {
    /// In which event.
    pub(crate) event: EventName,
    /// Of which tools.
    pub(crate) matcher: String,
    /// How long it waits for a person.
    pub(crate) timeout: SignedDuration,
    /// The program, as the search path finds it.
    pub(crate) program: String,
    /// What is written behind the command.
    pub(crate) options: Vec<String>,
}

impl HookSpec {
    /// The words of the command that an agent starts.
    pub(super) fn command(&self, agent: CodingAgent) -> Vec<String> {
        let timeout = format!("{}s", self.timeout.as_secs());
        let mut words = vec![self.program.clone()];
        words.extend(["hook", agent.name(), "--timeout", &timeout].map(str::to_owned));
        words.extend(self.options.iter().cloned());
        words
    }

    /// How long an agent waits for the command, in seconds.
    pub(super) fn patience(&self) -> i64 {
        self.timeout.as_secs().saturating_add(SPARE)
    }
}

/// A change of a settings file.
#[derive(Debug)]
pub(crate) struct Change {
    /// The file.
    pub(crate) path: PathBuf,
    /// What is in it; empty if it does not exist.
    pub(crate) before: String,
    /// What will be in it; empty if the file is removed.
    pub(crate) after: String,
}

impl CodingAgent {
    /// Its settings; of opencode, the plugin.
    ///
    /// # Errors
    ///
    /// [`Exit::Usage`] if the location of this user's settings is not known.
    fn settings(self, scope: Scope) -> Result<PathBuf, Failure> {
        let folder = match (self, scope) {
            (Self::ClaudeCode, Scope::Project) => PathBuf::from(".claude"),
            (Self::Codex, Scope::Project) => PathBuf::from(".codex"),
            (Self::ClaudeCode, Scope::User) => of_user("CLAUDE_CONFIG_DIR", ".claude")?,
            (Self::Codex, Scope::User) => of_user("CODEX_HOME", ".codex")?,
            (Self::Opencode, Scope::Project) => PathBuf::from(".opencode"),
            (Self::Opencode, Scope::User) => {
                of_user("XDG_CONFIG_HOME", ".config")?.join("opencode")
            }
        };
        Ok(folder.join(match self {
            Self::ClaudeCode => "settings.json",
            Self::Codex => "hooks.json",
            Self::Opencode => "plugin/irq.js",
        }))
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
    /// If the settings cannot be read, or are not as the agent documents them.
    pub(crate) fn install(
        agent: CodingAgent,
        scope: Scope,
        wanted: &HookSpec,
    ) -> Result<Self, Failure> {
        let path = agent.settings(scope)?;
        let before = read(&path)?;
        let after = match agent {
            CodingAgent::Opencode => plugin::with(wanted, &before, &path)?,
            CodingAgent::ClaudeCode | CodingAgent::Codex => {
                settings::with_hook(agent, wanted, &before, &path)?
            }
        };
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
        let after = match agent {
            CodingAgent::Opencode => plugin::without(&before, &path)?,
            CodingAgent::ClaudeCode | CodingAgent::Codex => {
                settings::without_hook(agent, &before, &path)?
            }
        };
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
    /// [`Exit::Conflict`] if it was; [`Exit::Failure`] if it cannot be written.
    pub(crate) fn write(&self) -> Result<(), Failure> {
        let path = self.path.display();
        if read(&self.path)? != self.before {
            let text = format!("{path} was changed meanwhile");
            return Err(Failure::new(Exit::Conflict, text).hint("do it again"));
        }
        let failed = |error: std::io::Error| {
            Failure::new(Exit::Failure, format!("cannot write {path}: {error}"))
        };
        if self.after.is_empty() {
            return std::fs::remove_file(&self.path).map_err(|error| {
                Failure::new(Exit::Failure, format!("cannot remove {path}: {error}"))
            });
        }
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
