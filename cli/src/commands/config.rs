//! `irq config`: the effective settings, where each comes from, and whether the folder's are trusted.

use std::io;

use serde_json::json;

use super::print;
use crate::actor::{actor, set_name};
use crate::arguments::{
    ConfigArguments, ConfigCommand, ConfigShowArguments, Global, StoreArguments, command_line,
};
use crate::backend::Whereabouts;
use crate::exit::Exit;
use crate::palette::{Palette, Tone};
use crate::settings::{
    CONFIG_VARIABLE, OF_COMMANDS, Settings, origin_of, trust_folder, user_file, variable_of,
};
use crate::storage::StoreChoice;
use crate::table::Table;
use crate::view::json_line;
use crate::visible::visible_line;

/// One setting.
struct Setting {
    name: String,
    value: String,
    origin: String,
}

/// Prints the settings.
///
/// # Errors
///
/// If one of them is invalid.
pub(crate) fn config(
    arguments: &ConfigArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    let arguments = match &arguments.command {
        ConfigCommand::Show(arguments) => arguments,
        ConfigCommand::Trust => {
            let file = trust_folder(&command_line())?;
            print(&format!(
                "{} counts in its folder, as it is now.\n",
                file.display()
            ))?;
            return Ok(Exit::Success);
        }
    };
    let read = Settings::read(&command_line())?;
    let settings = settings(&read, store, global)?;
    let text = if arguments.json {
        settings.iter().map(as_json).collect()
    } else {
        table(arguments, &settings).text(Palette::for_stream(&io::stdout(), global.no_color))
    };
    print(&text)?;
    read.demand_files()?;
    Ok(Exit::Success)
}

fn settings(
    read: &Settings,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Vec<Setting>> {
    let place = StoreChoice::of(store)?;
    let store_origin = match place.is_usual {
        true => "usual place".to_owned(),
        false => origin_of("store").to_string(),
    };
    let user = set_name().map(|_name| "IRQ_USER");
    let editor = ["VISUAL", "EDITOR"]
        .into_iter()
        .find_map(|name| variable(name).map(|value| (value, name)));
    let no_color = variable("NO_COLOR").is_some();
    let colours = match (global.no_color, no_color) {
        (true, _) => ("never", "--no-color"),
        (false, true) => ("never", "NO_COLOR"),
        (false, false) => ("on terminals", "usual"),
    };
    let (editor, editor_origin) = editor.unwrap_or(("none".to_owned(), "nothing is set"));
    let (server, server_origin) = match Whereabouts::of(store)? {
        Whereabouts::Server(place) => (place.url, place.named_by.to_string()),
        Whereabouts::Store => (
            "none: the store of this machine".to_owned(),
            "usual".to_owned(),
        ),
    };
    let token_file = store.token_file.as_ref();
    let token_file =
        token_file.map_or_else(|| "none".to_owned(), |file| file.display().to_string());
    let mut settings = vec![
        setting("server", server, &server_origin),
        setting(
            "token file",
            token_file,
            &origin_of("token_file").to_string(),
        ),
        setting("store", place.location.to_string(), &store_origin),
        setting("user", actor()?.name.to_string(), user.unwrap_or("user id")),
        models(),
        setting("editor", editor, editor_origin),
        setting("colours", colours.0.to_owned(), colours.1),
    ];
    settings.extend(said_of_commands(read));
    Ok(settings)
}

/// The options of commands that variables and files set.
fn said_of_commands(read: &Settings) -> Vec<Setting> {
    let by_variable = OF_COMMANDS.iter().filter_map(|key| {
        let name = variable_of(key);
        let value = variable(&name)?;
        Some(setting(key, without_password(key, &value), &name))
    });
    let by_file = read.holding().filter_map(|(origin, entry)| {
        let is_of_commands = OF_COMMANDS.contains(&entry.key);
        let is_hidden = variable(&variable_of(entry.key)).is_some();
        (is_of_commands && !is_hidden).then(|| {
            let command = entry.command.map(|command| format!("{command}."));
            let name = format!("{}{}", command.unwrap_or_default(), entry.key);
            let values: Vec<String> = entry
                .values
                .iter()
                .map(|it| without_password(entry.key, it))
                .collect();
            setting(&name, values.join(", "), &origin.to_string())
        })
    });
    by_variable.chain(by_file).collect()
}

/// A value without its password, if it has one.
fn without_password(key: &str, value: &str) -> String {
    match (key, value.split_once('@')) {
        ("bus", Some((_credentials, place))) => format!("nats://…@{place}"),
        _ => value.to_owned(),
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Where the profiles of models are.
fn models() -> Setting {
    let file = user_file();
    let file = file.map_or_else(|| "none".to_owned(), |file| file.display().to_string());
    let origin = variable(CONFIG_VARIABLE).map_or("usual", |_file| CONFIG_VARIABLE);
    setting("models", file, origin)
}

fn setting(name: &str, value: String, origin: &str) -> Setting {
    Setting {
        name: name.to_owned(),
        value,
        origin: origin.to_owned(),
    }
}

fn table(arguments: &ConfigShowArguments, settings: &[Setting]) -> Table {
    let heads: &[&'static str] = if arguments.origin {
        &["SETTING", "ORIGIN", "VALUE"]
    } else {
        &["SETTING", "VALUE"]
    };
    let mut table = Table::new(heads);
    for setting in settings {
        let mut cells = vec![(Tone::Plain, setting.name.clone())];
        if arguments.origin {
            cells.push((Tone::Faint, visible_line(&setting.origin)));
        }
        cells.push((Tone::Plain, visible_line(&setting.value)));
        table.row(cells);
    }
    table
}

fn as_json(setting: &Setting) -> String {
    json_line(&json!({
        "name": setting.name,
        "value": setting.value,
        "origin": setting.origin,
    }))
}
