//! One file of settings.

use std::any::TypeId;
use std::borrow::Cow;
use std::error::Error as _;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, Command};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::key::{COMMANDS, EVERYWHERE, OF_COMMANDS, flag_of};
use super::origin::Origin;
use crate::exit::{Exit, Failure};
use interrupts::nearest;

/// The table of the profiles of models, which the user's file may have.
pub(super) const PROFILES: &str = "models";

/// One setting of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The command that it is for; `None` if it is for all that have the option.
    pub(crate) command: Option<&'static str>,
    /// The option.
    pub(crate) key: &'static str,
    /// The value, as it would be typed; several if it is a list.
    pub(crate) values: Vec<String>,
}

/// One file, whose entries were checked.
#[derive(Debug)]
pub(super) struct SettingsFile {
    place: PathBuf,
    is_of_folder: bool,
    pub(super) entries: Vec<Entry>,
}

impl SettingsFile {
    /// Reads the file of a folder.
    ///
    /// # Errors
    ///
    /// [`Exit::Usage`] with the line that has an invalid setting. Profiles of models are invalid there: they say where
    /// keys are sent.
    pub(super) fn of_folder(
        place: PathBuf,
        text: &str,
        program: &Command,
    ) -> Result<Self, Failure> {
        let reading = Reading::new(&place, text, program);
        let entries = reading.entries(&[])?;
        Ok(Self {
            place,
            is_of_folder: true,
            entries,
        })
    }

    /// Reads the user's file.
    ///
    /// # Errors
    ///
    /// As [`SettingsFile::of_folder`].
    pub(super) fn of_user(place: PathBuf, text: &str, program: &Command) -> Result<Self, Failure> {
        let reading = Reading::new(&place, text, program);
        let entries = reading.entries(&[PROFILES])?;
        Ok(Self {
            place,
            is_of_folder: false,
            entries,
        })
    }

    /// Its setting of an option, for one command or for all.
    pub(super) fn entry(&self, key: &str, command: Option<&str>) -> Option<&Entry> {
        let mut entries = self.entries.iter();
        entries.find(|entry| entry.key == key && entry.command == command)
    }

    /// The origin of its settings.
    pub(super) fn origin(&self) -> Origin {
        match self.is_of_folder {
            true => Origin::Folder(self.place.clone()),
            false => Origin::User(self.place.clone()),
        }
    }
}

/// A file that is being read.
struct Reading<'a> {
    place: &'a Path,
    text: &'a str,
    program: &'a Command,
}

impl<'a> Reading<'a> {
    const fn new(place: &'a Path, text: &'a str, program: &'a Command) -> Self {
        Self {
            place,
            text,
            program,
        }
    }

    /// The file's settings, without tables that are read elsewhere.
    fn entries(&self, elsewhere: &[&'static str]) -> Result<Vec<Entry>, Failure> {
        let parsed = DeTable::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            self.refused(at, error.message())
        })?;
        let mut entries = Vec::new();
        for (key, value) in parsed.get_ref().iter() {
            let name: &str = key.get_ref();
            if elsewhere.contains(&name) {
                continue;
            }
            if let Some(command) = COMMANDS.iter().find(|command| **command == name) {
                let DeValue::Table(table) = value.get_ref() else {
                    let text =
                        format!("`{name}` is a command: write [{name}] and its options below it");
                    return Err(self.refused(key.span().start, &text));
                };
                for (key, value) in table.iter() {
                    entries.push(self.of_command(command, key, value)?);
                }
                continue;
            }
            let known: Vec<&'static str> = EVERYWHERE.into_iter().chain(OF_COMMANDS).collect();
            let Some(found) = known.iter().find(|known| **known == name) else {
                let others = COMMANDS.iter().chain(elsewhere);
                return Err(self.unknown(key, known.iter().chain(others)));
            };
            let options: Vec<&Arg> = match option_in(self.program, found) {
                Some(option) => vec![option],
                None => COMMANDS
                    .iter()
                    .filter_map(|name| self.option(name, found))
                    .collect(),
            };
            entries.push(self.entry(None, found, &options, value)?);
        }
        Ok(entries)
    }

    fn of_command(
        &self,
        command: &'static str,
        key: &Spanned<Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Entry, Failure> {
        let name: &str = key.get_ref();
        if EVERYWHERE.contains(&name) {
            let text = format!("`{name}` holds for all commands: write it above the first table");
            return Err(self.refused(key.span().start, &text));
        }
        let has = |key: &&&'static str| self.option(command, key).is_some();
        let Some(found) = OF_COMMANDS.iter().filter(has).find(|known| **known == name) else {
            return Err(self.unknown(key, OF_COMMANDS.iter().filter(has)));
        };
        let options: Vec<&Arg> = self.option(command, found).into_iter().collect();
        self.entry(Some(command), found, &options, value)
    }

    /// An option of a command, or of one below it.
    fn option(&self, command: &str, key: &str) -> Option<&'a Arg> {
        let command = self.program.find_subcommand(command)?;
        let below = || {
            command
                .get_subcommands()
                .find_map(|below| option_in(below, key))
        };
        option_in(command, key).or_else(below)
    }

    fn entry(
        &self,
        command: Option<&'static str>,
        key: &'static str,
        options: &[&Arg],
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Entry, Failure> {
        let refused = |text: &str| self.refused(value.span().start, &format!("{key}: {text}"));
        let mut values = Vec::new();
        if let DeValue::Array(items) = value.get_ref() {
            if options
                .iter()
                .any(|it| !matches!(it.get_action(), ArgAction::Append))
            {
                return Err(refused("one value is meant, not a list"));
            }
            for item in items.iter() {
                let item = scalar(item.get_ref());
                values.push(item.ok_or_else(|| refused("a list of texts is meant"))?);
            }
        } else {
            let one = scalar(value.get_ref());
            values.push(one.ok_or_else(|| refused("a text, a number, true or false is meant"))?);
        }
        for option in options {
            for value in &mut values {
                *value = self.checked(option, value).map_err(|text| refused(&text))?;
            }
        }
        Ok(Entry {
            command,
            key,
            values,
        })
    }

    /// A value that the option takes; a path is relative to the folder of the file.
    fn checked(&self, option: &Arg, value: &str) -> Result<String, String> {
        let parser = option.get_value_parser();
        let is_path = parser.type_id() == TypeId::of::<PathBuf>();
        let is_file = option.get_id() == "store" && !value.contains(':');
        let value = match self.place.parent() {
            Some(folder) if is_path || is_file => {
                let path = folder.join(value);
                path.to_str().ok_or("this path is no text")?.to_owned()
            }
            Some(_) | None => value.to_owned(),
        };
        let alone = Arg::new("value").long("value").value_parser(parser.clone());
        let read = Command::new("irq").arg(alone);
        let tried = read.try_get_matches_from(["irq".to_owned(), format!("--value={value}")]);
        match tried {
            Ok(_taken) => Ok(value),
            Err(error) => Err(error.source().map_or_else(
                || {
                    format!(
                        "`{value}` is no value for {}",
                        flag_of(option.get_id().as_str())
                    )
                },
                |cause| format!("`{value}`: {cause}"),
            )),
        }
    }

    fn unknown<'k>(
        &self,
        key: &Spanned<Cow<'_, str>>,
        known: impl Iterator<Item = &'k &'static str>,
    ) -> Failure {
        let name: &str = key.get_ref();
        let mut known: Vec<&str> = known.copied().collect();
        known.sort_unstable();
        let near = nearest(name, known.iter().copied());
        let near = near.map_or_else(String::new, |near| format!("did you mean {near}? "));
        let failure = self.refused(
            key.span().start,
            &format!("there is no setting `{name}` here"),
        );
        failure.hint(format!("{near}known are: {}", known.join(", ")))
    }

    fn refused(&self, at: usize, text: &str) -> Failure {
        let before = self.text.get(..at).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let text = format!("{}:{line}: {text}", self.place.display());
        Failure::new(Exit::Usage, text).hint("docs/configuration.md says what the file may say")
    }
}

fn option_in<'c>(command: &'c Command, key: &str) -> Option<&'c Arg> {
    command
        .get_arguments()
        .find(|option| option.get_id() == key)
}

/// A value as it would be typed.
fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.clone().into_owned()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(truth) => Some(truth.to_string()),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}
