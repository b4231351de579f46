//! `irq config show`: the settings that hold, and where each comes from.

use std::io;

use serde_json::json;

use super::print;
use crate::actor::{actor, set_name};
use crate::arguments::{
    ConfigArguments, ConfigCommand, ConfigShowArguments, Global, StoreArguments,
};
use crate::exit::Exit;
use crate::installation::Whereabouts;
use crate::palette::{Palette, Tone};
use crate::storage::StoreChoice;
use crate::table::Table;
use crate::view::json_line;
use crate::visible::visible_line;

/// One setting.
struct Setting {
    name: &'static str,
    value: String,
    origin: String,
}

/// Prints the settings.
///
/// # Errors
///
/// Where one of them cannot hold.
pub(crate) fn config(
    arguments: &ConfigArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    let ConfigCommand::Show(arguments) = &arguments.command;
    let settings = settings(store, global)?;
    let text = if arguments.json {
        settings.iter().map(as_json).collect()
    } else {
        table(arguments, &settings).text(Palette::for_stream(&io::stdout(), global.no_color))
    };
    print(&text)?;
    Ok(Exit::Success)
}

fn settings(store: &StoreArguments, global: Global) -> anyhow::Result<Vec<Setting>> {
    let place = StoreChoice::of(store)?;
    let from_environment = std::env::var("IRQ_STORE").ok() == store.store;
    let store_origin = match (&store.store, from_environment) {
        _ if place.is_usual => "usual place".to_owned(),
        (Some(_), true) => "IRQ_STORE".to_owned(),
        (Some(_) | None, _) => "--store".to_owned(),
    };
    let user = set_name().map(|_name| "IRQ_USER");
    let editor = ["VISUAL", "EDITOR"]
        .into_iter()
        .find_map(|name| variable(name).map(|value| (value, name)));
    let policy = variable("IRQ_POLICY");
    let no_color = variable("NO_COLOR").is_some();
    let colours = match (global.no_color, no_color) {
        (true, _) => ("never", "--no-color"),
        (false, true) => ("never", "NO_COLOR"),
        (false, false) => ("on terminals", "usual"),
    };
    let (editor, editor_origin) = editor.unwrap_or(("none".to_owned(), "nothing is set"));
    let (server, server_origin) = match Whereabouts::of(store)? {
        Whereabouts::Server(place) => (place.url, place.named_by),
        Whereabouts::Store => ("none: the store of this machine".to_owned(), "usual"),
    };
    let token_file = store.token_file.as_ref();
    let token_origin = match variable("IRQ_TOKEN_FILE") {
        _ if token_file.is_none() => "usual",
        Some(named) if token_file.is_some_and(|file| file.as_os_str() == named.as_str()) => {
            "IRQ_TOKEN_FILE"
        }
        Some(_) | None => "--token-file",
    };
    Ok(vec![
        setting("server", server, server_origin),
        setting(
            "token file",
            token_file.map_or_else(|| "none".to_owned(), |file| file.display().to_string()),
            token_origin,
        ),
        setting("store", place.location.to_string(), &store_origin),
        setting("user", actor()?.name.to_string(), user.unwrap_or("user id")),
        setting(
            "policy",
            policy.clone().unwrap_or_else(|| "built in".to_owned()),
            if policy.is_some() {
                "IRQ_POLICY"
            } else {
                "usual"
            },
        ),
        models(),
        setting("editor", editor, editor_origin),
        setting("colours", colours.0.to_owned(), colours.1),
    ])
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Where the profiles of models are.
fn models() -> Setting {
    let file = crate::model::settings_place();
    let file = file.map_or_else(|| "none".to_owned(), |file| file.display().to_string());
    let origin = variable("IRQ_CONFIG").map_or("usual", |_file| "IRQ_CONFIG");
    setting("models", file, origin)
}

fn setting(name: &'static str, value: String, origin: &str) -> Setting {
    Setting {
        name,
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
        let mut cells = vec![(Tone::Plain, setting.name.to_owned())];
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
