//! What files and variables say of how `irq` works here: options of the command line under their own names.
//!
//! A flag wins over a variable, a variable over the folder's file, and that over the user's. A file's value becomes the
//! default of an option, so that it is read and checked as if it had been typed.

mod file;
mod key;
mod origin;
mod paths;
mod profiles;
mod trust;

use std::path::PathBuf;

use clap::{Arg, Command};

use crate::exit::{Exit, Failure};

pub(crate) use file::Entry;
use file::SettingsFile;
pub(crate) use key::{OF_COMMANDS, variable_of};
pub(crate) use origin::{Origin, is_typed, origin_of, remember};
pub(crate) use paths::{CONFIG_VARIABLE, user_file};
pub(crate) use profiles::Profiles;
pub(crate) use trust::trust_folder;

/// The settings, with the strongest file first.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    files: Vec<SettingsFile>,
    /// The folder's file, if its user has not trusted it.
    untrusted: Option<PathBuf>,
    /// The file that the environment names, if it does not exist.
    absent: Option<PathBuf>,
}

impl Settings {
    /// Reads and checks all files that apply to this command line.
    ///
    /// # Errors
    ///
    /// [`Exit::Usage`] if one of them has an invalid setting, with its line; [`Exit::NotFound`] if one cannot be read.
    pub(crate) fn read(program: &Command) -> Result<Self, Failure> {
        let mut settings = Self::default();
        if let Some(folder) = paths::folder_file()
            && let Some(text) = paths::read(&folder)?
        {
            if trust::is_trusted(&folder, &text) {
                let read = SettingsFile::of_folder(folder, &text, program)?;
                settings.files.push(read);
            } else {
                settings.untrusted = Some(folder);
            }
        }
        if let Some(user) = user_file() {
            match paths::read(&user)? {
                Some(text) => {
                    let read = SettingsFile::of_user(user, &text, program)?;
                    settings.files.push(read);
                }
                None => settings.absent = paths::named_file(),
            }
        }
        Ok(settings)
    }

    /// Refuses to work without the file that the environment names: its settings, such as which store, would be
    /// missing. And refuses to work in a folder with a file of settings until its user has trusted it: it could name
    /// another store, another policy, programs to start.
    ///
    /// # Errors
    ///
    /// [`Exit::NotFound`] and [`Exit::Usage`] with what to do.
    pub(crate) fn demand_files(&self) -> Result<(), Failure> {
        if let Some(file) = &self.absent {
            let text = format!(
                "{CONFIG_VARIABLE} names {}, which is not there",
                file.display()
            );
            let hint = format!("write it, even an empty one, or unset {CONFIG_VARIABLE}");
            return Err(Failure::new(Exit::NotFound, text).hint(hint));
        }
        let Some(file) = &self.untrusted else {
            return Ok(());
        };
        let text = format!(
            "{} says how irq works in this folder, and you have not said that you trust it as it is now",
            file.display()
        );
        Err(Failure::new(Exit::Usage, text).hint(format!(
            "read it, and then: irq config trust. Or have {CONFIG_VARIABLE} name the file that counts instead"
        )))
    }

    /// The command line with these as its defaults, and with the variables of the same options.
    pub(crate) fn applied(&self, program: Command) -> Command {
        let program = key::EVERYWHERE.iter().fold(program, |program, name| {
            program.mut_arg(name, |option| self.option(option, None))
        });
        key::COMMANDS.iter().fold(program, |program, name| {
            program.mut_subcommand(name, |command| self.command(command, name))
        })
    }

    fn command(&self, command: Command, name: &str) -> Command {
        let command = command.mut_args(|option| {
            if key::OF_COMMANDS.contains(&option.get_id().as_str()) {
                self.option(option, Some(name))
            } else {
                option
            }
        });
        command.mut_subcommands(|below| self.command(below, name))
    }

    fn option(&self, option: Arg, command: Option<&str>) -> Arg {
        let said = self.entry(option.get_id().as_str(), command);
        let values = said.map(|(_file, entry)| entry.values.clone());
        key::applied(option, values)
    }

    /// The value that applies to an option: from the strongest file, and there a value for this command before one for
    /// all commands.
    fn entry(&self, key: &str, command: Option<&str>) -> Option<(&SettingsFile, &Entry)> {
        self.files.iter().find_map(|file| {
            let own = command.and_then(|_named| file.entry(key, command));
            Some((file, own.or_else(|| file.entry(key, None))?))
        })
    }

    /// All settings that apply: those that a stronger file overrides are left out.
    pub(crate) fn holding(&self) -> impl Iterator<Item = (Origin, &Entry)> {
        self.files.iter().enumerate().flat_map(move |(at, file)| {
            let is_hidden = move |entry: &Entry| {
                let stronger = &self.files[..at];
                stronger
                    .iter()
                    .any(|file| file.entry(entry.key, entry.command).is_some())
            };
            let shown = file.entries.iter().filter(move |entry| !is_hidden(entry));
            shown.map(|entry| (file.origin(), entry))
        })
    }
}
