//! Programs that are started before and after stops, as a policy's text names them.

use std::time::Duration;

use super::Policy;
use super::rule_settings::USUAL_HANDLER_LIMIT;
use crate::settings::SettingsTable;

/// A program and its arguments. No shell reads them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCommand {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// The programs that are started before and after stops.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookCommands {
    /// Started when a stop was requested, while the scopes that it reaches are being stopped.
    pub before_stop: Option<HookCommand>,
    /// Started when a stop has taken effect and is recorded.
    pub after_stop: Option<HookCommand>,
}

impl HookCommands {
    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.before_stop.is_none() && self.after_stop.is_none()
    }

    pub(super) fn read(table: &SettingsTable<'_>) -> Self {
        let command = |key| {
            let words = table.texts(key)?;
            let mut words = words.iter().map(|word| word.value.to_owned());
            match words.next().filter(|program| !program.is_empty()) {
                Some(program) => Some(HookCommand {
                    program,
                    arguments: words.collect(),
                }),
                None => {
                    let message = format!(
                        "`{key}` names a program and its arguments: [\"notify-send\", \"stopped\"]"
                    );
                    table.refuse(table.span(), message);
                    None
                }
            }
        };
        let commands = Self {
            before_stop: command("before_stop"),
            after_stop: command("after_stop"),
        };
        table.finish();
        commands
    }
}

impl Policy {
    /// The programs that are started before and after stops.
    pub const fn hooks(&self) -> &HookCommands {
        &self.hooks
    }

    /// The longest time that any rule gives a handler.
    pub fn longest_handler_limit(&self) -> Duration {
        let limits = self.rules.iter().chain(&self.default);
        let limits = limits.filter_map(|rule| rule.provisions.handler_limit);
        let longest = limits.fold(USUAL_HANDLER_LIMIT, Ord::max);
        longest.unsigned_abs()
    }
}
