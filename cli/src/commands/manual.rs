//! `irq completions` and `irq man`: the command line described for shells and readers.

use std::path::Path;

use clap::Command;

use super::print;
use crate::arguments::{CompletionsArguments, ManArguments, command_line};
use crate::exit::{Exit, Failure};
use interrupts::nearest;

/// Prints a script that completes commands.
///
/// # Errors
///
/// If the output is closed.
pub(crate) fn completions(arguments: &CompletionsArguments) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    let mut program = command_line();
    let name = program.get_name().to_owned();
    clap_complete::generate(arguments.shell, &mut program, name, &mut script);
    print(&String::from_utf8(script)?)?;
    Ok(Exit::Success)
}

/// Prints a manual page, or writes all of them.
///
/// # Errors
///
/// If there is no such command, or a page cannot be written.
pub(crate) fn man(arguments: &ManArguments) -> anyhow::Result<Exit> {
    if let Some(folder) = &arguments.dir {
        write_all(folder)?;
        print(&format!("The pages are in {}\n", folder.display()))?;
        return Ok(Exit::Success);
    }
    let mut program = command_line();
    program.build();
    let page = match &arguments.command {
        None => rendered(&program)?,
        Some(name) => rendered(named(&program, name)?)?,
    };
    print(&String::from_utf8(page)?)?;
    Ok(Exit::Success)
}

fn named<'p>(program: &'p Command, name: &str) -> Result<&'p Command, Failure> {
    program.find_subcommand(name).ok_or_else(|| {
        let known: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
        let near = nearest(name, known.iter().copied())
            .map(|near| format!("did you mean {near}? "))
            .unwrap_or_default();
        Failure::new(Exit::Usage, format!("there is no command `{name}`"))
            .hint(format!("{near}known are: {}", known.join(", ")))
    })
}

fn rendered(command: &Command) -> anyhow::Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    Ok(page)
}

/// The program's page and that of each command, as `irq.1`, `irq-ps.1` and so on.
fn write_all(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(command_line(), folder))
        .map_err(|error| {
            let text = format!("cannot write to {}: {error}", folder.display());
            Failure::new(Exit::Failure, text)
        })
}
