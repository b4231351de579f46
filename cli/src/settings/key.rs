//! Which options files and variables may set.

use clap::builder::BoolishValueParser;
use clap::{Arg, ArgAction};

/// The options of every command.
pub(super) const EVERYWHERE: [&str; 4] = ["store", "server", "token_file", "ca_certificate"];

/// The commands with options that may be set.
pub(super) const COMMANDS: [&str; 7] =
    ["run", "resume", "fork", "chat", "serve", "worker", "policy"];

/// The options of these commands that may be set: how an installation is set up and what it may spend, never what a
/// single command is to do.
pub(crate) const OF_COMMANDS: [&str; 30] = [
    "base_url",
    "behind_proxy",
    "budget_usd",
    "bus",
    "corrections",
    "drain_timeout",
    "failures_per_minute",
    "grace",
    "host",
    "label",
    "listen",
    "max_cpu_time",
    "max_memory",
    "max_steps",
    "mcp",
    "model",
    "pace",
    "permissions",
    "policy",
    "prices",
    "probes",
    "put_aside_after",
    "requests_per_second",
    "runs_by_workers",
    "slots",
    "timeout",
    "tls_cert",
    "tls_key",
    "tools",
    "workspace",
];

/// The variable for a key.
pub(crate) fn variable_of(key: &str) -> String {
    format!("IRQ_{}", key.to_ascii_uppercase())
}

/// An option as it is typed.
pub(super) fn flag_of(key: &str) -> String {
    format!("--{}", key.replace('_', "-"))
}

/// An option that its variable sets too, with these default values.
pub(super) fn applied(option: Arg, values: Option<Vec<String>>) -> Arg {
    let variable = variable_of(option.get_id().as_str());
    let is_flag = matches!(option.get_action(), ArgAction::SetTrue);
    // A list has no variable: what would separate its items?
    let is_list = matches!(option.get_action(), ArgAction::Append);
    let option = match (is_list, is_flag) {
        (true, _) => option,
        (false, true) => option.env(variable).value_parser(BoolishValueParser::new()),
        (false, false) => option.env(variable),
    };
    let option = option.hide_env_values(true);
    match values {
        None => option,
        // Help says what options mean, and not what a store's address is, which may have a password in it.
        Some(values) => option.default_values(values).hide_default_value(true),
    }
}
