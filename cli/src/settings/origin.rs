//! Where settings come from.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::path::PathBuf;
use std::sync::OnceLock;

use clap::ArgMatches;
use clap::parser::ValueSource;

use super::Settings;
use super::key::{EVERYWHERE, OF_COMMANDS, flag_of, variable_of};

/// Where the value of each option of this process comes from, once its command line is read.
static ORIGINS: OnceLock<BTreeMap<&'static str, Origin>> = OnceLock::new();

/// Where a value comes from; the later ones are stronger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The default.
    Usual,
    /// The user's file.
    User(PathBuf),
    /// The folder's file.
    Folder(PathBuf),
    /// A variable.
    Variable(String),
    /// The command line.
    Typed(String),
}

impl Origin {
    /// How strong it is.
    pub(crate) const fn strength(&self) -> u8 {
        match self {
            Self::Usual => 0,
            Self::User(_) => 1,
            Self::Folder(_) => 2,
            Self::Variable(_) => 3,
            Self::Typed(_) => 4,
        }
    }
}

impl Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usual => formatter.write_str("usual"),
            Self::User(file) | Self::Folder(file) => Display::fmt(&file.display(), formatter),
            Self::Variable(name) | Self::Typed(name) => formatter.write_str(name),
        }
    }
}

/// Remembers where the values of a command line come from that was read with these settings.
pub(crate) fn remember(settings: &Settings, matches: &ArgMatches) {
    let name = matches.subcommand_name();
    let mut deepest = matches;
    while let Some((_name, below)) = deepest.subcommand() {
        deepest = below;
    }
    let everywhere = EVERYWHERE.iter().map(|key| (*key, None));
    let of_commands = OF_COMMANDS.iter().map(|key| (*key, name));
    let mut origins = BTreeMap::new();
    for (key, command) in everywhere.chain(of_commands) {
        if !matches!(deepest.try_contains_id(key), Ok(true)) {
            continue;
        }
        let by_file = || {
            let said = settings.entry(key, command);
            said.map_or(Origin::Usual, |(file, _entry)| file.origin())
        };
        let origin = match deepest.value_source(key) {
            Some(ValueSource::CommandLine) => Origin::Typed(flag_of(key)),
            Some(ValueSource::EnvVariable) => Origin::Variable(variable_of(key)),
            Some(_) => by_file(),
            None => Origin::Usual,
        };
        origins.insert(key, origin);
    }
    // A process has one command line.
    let _ = ORIGINS.set(origins);
}

/// Where the value of an option comes from.
pub(crate) fn origin_of(key: &str) -> Origin {
    let said = ORIGINS.get().and_then(|origins| origins.get(key));
    said.cloned().unwrap_or(Origin::Usual)
}

/// Whether the command line itself sets it.
pub(crate) fn is_typed(key: &str) -> bool {
    matches!(origin_of(key), Origin::Typed(_))
}
