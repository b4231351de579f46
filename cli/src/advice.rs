//! Commands suggested to the user: they work where this process works, on the store or the server that its own command
//! line named.

use std::sync::OnceLock;

use control::{PROGRAM, next_command};
use interrupts::store::Run;
use journal::executed_by_worker;
use store::StoreLocation;

use crate::arguments::StoreArguments;
use crate::run_owner::workflow_of;
use crate::settings::is_typed;
use crate::workflows;

/// What this process was started with, once it is known.
static OPTIONS: OnceLock<ShellOptions> = OnceLock::new();

/// Commands that work on a store, and through a server as well.
const ANYWHERE: [&str; 19] = [
    "run",
    "resume",
    "fork",
    "ps",
    "watch",
    "interrupt",
    "review",
    "rules",
    "reroute",
    "send",
    "withdraw",
    "redrive",
    "plan",
    "checkpoints",
    "replay",
    "history",
    "stats",
    "policy",
    "doctor",
];

/// Commands that are suggested beside a store only.
const BESIDE_A_STORE: [&str; 3] = ["serve", "token", "purge"];

/// Remembers what this process was started with. Only what its command line alone says has to be typed again:
/// variables and files are there for the next command, too.
pub(crate) fn remember(arguments: &StoreArguments) {
    let given = |value: Option<&str>, key| {
        let value = value.filter(|value| !value.is_empty() && is_typed(key));
        value.map(quoted)
    };
    let token_file = arguments
        .token_file
        .as_ref()
        .map(|file| file.to_string_lossy());
    let ca_certificate = arguments
        .ca_certificate
        .as_ref()
        .map(|file| file.to_string_lossy());
    let store = arguments.store.as_deref().map(|store| match store.parse() {
        // A password is never shown.
        Ok(StoreLocation::Postgres(place)) => place.to_string(),
        Ok(StoreLocation::Memory | StoreLocation::File(_)) | Err(_) => store.to_owned(),
    });
    // Set once, and not read before that.
    let _ = OPTIONS.set(ShellOptions {
        program: workflows::program_name(),
        store: given(store.as_deref(), "store"),
        server: given(arguments.server.as_deref(), "server"),
        token_file: given(token_file.as_deref(), "token_file"),
        ca_certificate: given(ca_certificate.as_deref(), "ca_certificate"),
    });
}

/// A text that tells people what to type, its commands with the options that they need.
pub(crate) fn advised(text: &str) -> String {
    OPTIONS
        .get()
        .map_or_else(|| text.to_owned(), |options| options.put_into(text))
}

/// What continues a run: the command, where this program can or leaves it to a server or a worker; else the program that
/// has its workflow, whose name is not known.
pub(crate) fn continuing(run: &Run) -> String {
    continuing_as(run, &run.id.to_string())
}

/// As [`continuing`], with the run as it is shown.
pub(crate) fn continuing_as(run: &Run, shown: &str) -> String {
    let is_there = OPTIONS
        .get()
        .is_some_and(|options| options.server.is_some() && options.store.is_none());
    let workflow = workflow_of(run);
    if is_there || executed_by_worker(&run.content) || workflows::has(&workflow) {
        return advised(&format!("irq resume {shown}"));
    }
    format!("the program that has the workflow `{workflow}`")
}

/// The options of the command line, as a shell reads them.
#[derive(Debug, Default)]
struct ShellOptions {
    /// What this program is called, if that is not `irq`.
    program: Option<String>,
    store: Option<String>,
    server: Option<String>,
    token_file: Option<String>,
    ca_certificate: Option<String>,
}

impl ShellOptions {
    fn put_into(&self, text: &str) -> String {
        let mut told = String::new();
        let mut rest = text;
        while let Some((before, after)) = next_command(rest) {
            told.push_str(before.strip_suffix(PROGRAM).unwrap_or(before));
            told.push_str(self.program.as_deref().unwrap_or("irq"));
            told.push(' ');
            let name_ends = after.find(|letter: char| !letter.is_ascii_lowercase());
            let (name, arguments) = after.split_at(name_ends.unwrap_or(after.len()));
            told.push_str(name);
            told.push_str(&self.needed_by(name, of_this_command(arguments)));
            rest = arguments;
        }
        told.push_str(rest);
        told
    }

    /// What comes behind a command's name.
    fn needed_by(&self, name: &str, arguments: &str) -> String {
        let has = |option: &str| arguments.split_whitespace().any(|word| word == option);
        let option = |option: &str, value: &Option<String>| {
            value
                .as_ref()
                .filter(|_value| !has(option))
                .map(|value| format!(" {option} {value}"))
                .unwrap_or_default()
        };
        let is_anywhere = ANYWHERE.contains(&name);
        // Without a goal, the text mentions `irq run` and does not suggest it.
        let is_named = name == "run" && arguments.trim().is_empty();
        if !(is_anywhere || BESIDE_A_STORE.contains(&name)) || is_named || has("--store") {
            return String::new();
        }
        let is_there = self.server.is_some() || self.token_file.is_some() || has("--server");
        if is_anywhere && is_there && self.store.is_none() {
            let token_file = option("--token-file", &self.token_file);
            let authority = option("--ca-certificate", &self.ca_certificate);
            return option("--server", &self.server) + &token_file + &authority;
        }
        option("--store", &self.store)
    }
}

/// The part after a command's name that belongs to the command.
fn of_this_command(text: &str) -> &str {
    let end = text.find(['`', '\n', ';']).unwrap_or(text.len());
    let text = &text[..end];
    next_command(text).map_or(text, |(before, _next)| before)
}

/// A word as a shell takes it whole.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_@%+=:,./-".contains(letter);
    if word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::{ShellOptions, quoted};

    fn beside(store: &str) -> ShellOptions {
        ShellOptions {
            store: Some(quoted(store)),
            ..ShellOptions::default()
        }
    }

    fn through(server: &str, token_file: Option<&str>) -> ShellOptions {
        ShellOptions {
            server: Some(quoted(server)),
            token_file: token_file.map(quoted),
            ..ShellOptions::default()
        }
    }

    #[test]
    fn a_program_with_workflows_of_its_own_tells_its_own_commands() {
        let options = ShellOptions {
            program: Some("desk".to_owned()),
            ..beside("a.db")
        };
        assert_eq!(
            options.put_into("`irq ps run_1` says who; irq token create"),
            "`desk ps --store a.db run_1` says who; desk token --store a.db create"
        );
    }

    #[test]
    fn each_command_of_a_text_names_the_store() {
        let beside = beside("a b.db");
        assert_eq!(
            beside.put_into("`irq ps run_1` says who; irq fork run_1 --at N, irq token create"),
            "`irq ps --store 'a b.db' run_1` says who; irq fork --store 'a b.db' run_1 --at N, \
             irq token --store 'a b.db' create"
        );
        assert_eq!(
            beside.put_into("(irq review)"),
            "(irq review --store 'a b.db')"
        );
    }

    #[test]
    fn what_needs_no_store_or_names_one_is_left_as_it_is() {
        for text in [
            "only what `irq run` began",
            "irq run \"…\" --store PATH",
            "`irq schema --list` lists them",
            "the birq run that is no command",
            "nothing to type",
        ] {
            assert_eq!(beside("x.db").put_into(text), text);
        }
        let twice = beside("x.db").put_into(&beside("x.db").put_into("irq resume run_1"));
        assert_eq!(twice, "irq resume --store x.db run_1");
    }

    #[test]
    fn a_server_is_named_with_the_file_of_its_token_and_once() {
        let through = through("http://h:1", Some("t"));
        assert_eq!(
            through.put_into("irq resume run_1"),
            "irq resume --server http://h:1 --token-file t run_1"
        );
        assert_eq!(
            through.put_into("irq resume run_1 --server http://h:1"),
            "irq resume --token-file t run_1 --server http://h:1"
        );
        let beside_it = "`irq token create` makes one; irq resume run_1 --store PATH";
        assert_eq!(through.put_into(beside_it), beside_it);
    }

    #[test]
    fn a_quote_does_not_end_a_quoted_word() {
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("sqlite:/a/b-1.db"), "sqlite:/a/b-1.db");
    }
}
