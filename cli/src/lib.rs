//! What the program `irq` does, for a program of your own with workflows of your own: all its commands, the page and
//! REST.
//!
//! ```no_run
//! # struct Desk;
//! # fn with(desk: impl engine::Workflow) -> std::process::ExitCode {
//! irq::program().workflow(desk).main()
//! # }
//! ```

mod activity;
mod actor;
mod address;
mod advice;
mod arguments;
mod asker;
mod asking;
mod audited;
mod authority;
mod backend;
mod branched;
mod browser;
mod commands;
mod due;
mod exit;
#[cfg(feature = "failpoints")]
mod failpoints;
mod hook;
mod hooks;
mod http_log;
mod interned_name;
mod keyboard;
mod layout;
mod listing;
mod logins;
#[cfg(feature = "mcp")]
mod mcp;
mod model;
mod number;
mod palette;
mod plan;
mod policy;
mod program;
mod progress;
mod question;
mod quoted;
mod refused;
mod report;
mod request;
mod reviewer;
mod run_owner;
mod settings;
mod size;
mod spending;
mod state_words;
mod storage;
mod table;
mod telemetry;
mod terminal_events;
mod terminal_output;
mod time;
mod tooling;
mod view;
mod visible;
mod watch;
mod withdrawal;
mod workflows;

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::{ColorChoice, FromArgMatches};
use interrupts::store::StoreError;

use advice::advised;
use arguments::{Arguments, Command, Global, StoreArguments};
use backend::Whereabouts;
use exit::{Exit, Failure, causes};
use palette::{Palette, Tone};
use program::described;
use settings::Settings;
use telemetry::{Logged, Telemetry};
use visible::visible_lines;

/// How long the file of a store may take to be closed.
const CLOSING: Duration = Duration::from_secs(3);

pub use program::{Program, program};

/// Does what the command line says.
fn run_command_line() -> ExitCode {
    let (arguments, name) = match parse() {
        Ok(parsed) => parsed,
        Err(NoCommand::Refused(failure)) => return fail(failure.into(), Global::default()).into(),
        Err(NoCommand::Told(error)) => {
            // Help that is not read to its end is no failure.
            let _ = error.print();
            return match error.exit_code() {
                0 => Exit::Success.into(),
                _ => Exit::Usage.into(),
            };
        }
    };
    advice::remember(&arguments.store);
    let global = arguments.global;
    let serves = matches!(
        arguments.command,
        Command::Serve(_) | Command::Worker(_) | Command::Mcp(_)
    );
    let shows = matches!(
        arguments.command,
        Command::Run(_) | Command::Resume(_) | Command::Fork(_)
    );
    let logged = match (serves, shows) {
        (true, _) => Logged::OfServer,
        (false, true) => Logged::OfRun,
        (false, false) => Logged::Nothing,
    };
    if let Some(file) = &arguments.debug_http
        && let Err(failure) = http_log::begin(file)
    {
        return fail(failure.into(), global).into();
    }
    let telemetry = Telemetry::begin(telemetry::log_filter(global, logged));
    // A server's own span would last for days.
    let span = (!serves).then(|| tracing::info_span!("irq", command = name).entered());
    let exit = match perform(arguments.command, &arguments.store, global) {
        Ok(exit) => exit,
        Err(error) => fail(error, global),
    };
    drop(span);
    telemetry.end(global);
    // Do not wait for a disk that does not answer: everything is durable already.
    store::until_closed(CLOSING);
    exit.into()
}

/// Refuses a server for commands that cannot work through one.
fn demand_store(command: &Command, store: &StoreArguments) -> Result<(), Failure> {
    let (name, instead) = match command {
        Command::Serve(_) => ("serve", "leave --server out: this is the server"),
        Command::Worker(_) => (
            "worker",
            "start it with the store that the server has, with --store",
        ),
        Command::Purge(_) => (
            "purge",
            "purge beside the server's store, with --store PATH",
        ),
        Command::Mcp(_) => (
            "mcp",
            "start it beside the server's store, with --store PATH",
        ),
        // It says so to the agent that asks.
        Command::Hook(_)
        | Command::Chat(_)
        | Command::Run(_)
        | Command::Resume(_)
        | Command::Fork(_)
        | Command::Ps(_)
        | Command::Watch(_)
        | Command::Interrupt(_)
        | Command::Review(_)
        | Command::Reroute(_)
        | Command::Send(_)
        | Command::Withdraw(_)
        | Command::Redrive(_)
        | Command::Checkpoints(_)
        | Command::Replay(_)
        | Command::History(_)
        | Command::Stats(_)
        | Command::Policy(_)
        | Command::Rules(_)
        | Command::Store(_)
        | Command::Token(_)
        | Command::Plan(_)
        | Command::Schema(_)
        | Command::Routes(_)
        | Command::Doctor(_)
        | Command::McpLogin(_)
        | Command::Config(_)
        | Command::Completions(_)
        | Command::Man(_) => return Ok(()),
    };
    Whereabouts::demand_store(store, name, instead)
}

fn perform(command: Command, store: &StoreArguments, global: Global) -> anyhow::Result<Exit> {
    demand_store(&command, store)?;
    match command {
        Command::Run(run) => commands::run(&run, store, global),
        Command::Resume(resume) => commands::resume(&resume, store, global),
        Command::Fork(fork) => commands::fork(&fork, store, global),
        Command::Chat(chat) => commands::chat(&chat, store, global),
        Command::Serve(serve) => commands::serve(&serve, store, global),
        Command::Worker(worker) => commands::worker(&worker, store),
        #[cfg(feature = "mcp")]
        Command::Mcp(mcp) => commands::mcp(&mcp, store),
        #[cfg(not(feature = "mcp"))]
        Command::Mcp(_) => Err(Failure::built_without("MCP").into()),
        Command::McpLogin(login) => commands::mcp_login(&login),
        Command::Hook(hook) => commands::hook(&hook, store),
        Command::Rules(rules) => commands::rules(&rules, store, global),
        Command::Store(whole) => commands::store(&whole),
        Command::Token(token) => commands::token(&token, store, global),
        Command::Ps(ps) => commands::ps(&ps, store, global),
        Command::Watch(watch) => watch::watch(&watch, store, global),
        Command::Interrupt(interrupt) => commands::interrupt(&interrupt, store, global),
        Command::Review(review) => commands::review(&review, store, global),
        Command::Reroute(reroute) => commands::reroute(&reroute, store),
        Command::Send(send) => commands::send(&send, store),
        Command::Withdraw(withdraw) => commands::withdraw(&withdraw, store),
        Command::Redrive(redrive) => commands::redrive(&redrive, store),
        Command::Plan(plan) => commands::plan(&plan, store, global),
        Command::Checkpoints(of) => commands::checkpoints(&of, store, global),
        Command::Replay(replay) => commands::replay(&replay, store, global),
        Command::History(history) => commands::history(&history, store, global),
        Command::Stats(stats) => commands::stats(&stats, store, global),
        Command::Purge(purge) => commands::purge(&purge, store, global),
        Command::Policy(policy) => commands::policy(&policy, store),
        Command::Schema(schema) => commands::schema(&schema),
        Command::Routes(routes) => commands::routes(&routes, global),
        Command::Doctor(doctor) => commands::doctor(&doctor, store, global),
        Command::Config(config) => commands::config(&config, store, global),
        Command::Completions(completions) => commands::completions(&completions),
        Command::Man(man) => commands::man(&man),
    }
}

/// Why there is no command to carry out.
enum NoCommand {
    /// Help, or what is wrong with the command line.
    Told(clap::Error),
    /// What is wrong with a file of settings.
    Refused(Failure),
}

/// The arguments, completed by the files of settings, and the name of the command.
fn parse() -> Result<(Arguments, String), NoCommand> {
    // Clap writes help and errors before it has told us whether colours are refused.
    let refused = std::env::args_os().any(|argument| argument == "--no-color");
    let colours = if refused {
        ColorChoice::Never
    } else {
        ColorChoice::Auto
    };
    let program = described().color(colours);
    let read = Settings::read(&program);
    let (settings, refusal) = match read {
        Ok(settings) => (settings, None),
        Err(failure) => (Settings::default(), Some(failure)),
    };
    let program = settings.applied(program);
    let matches = program.try_get_matches().map_err(NoCommand::Told)?;
    let name = matches.subcommand_name().unwrap_or_default().to_owned();
    // These report what is wrong, or do nothing that a setting could change.
    if !["config", "completions", "man"].contains(&name.as_str()) {
        let usable = refusal.map_or_else(|| settings.demand_files(), Err);
        usable.map_err(NoCommand::Refused)?;
    }
    settings::remember(&settings, &matches);
    let arguments = Arguments::from_arg_matches(&matches).map_err(NoCommand::Told)?;
    Ok((arguments, name))
}

/// Says what went wrong, once, and what may help.
fn fail(error: anyhow::Error, global: Global) -> Exit {
    let error = told_as_failure(error);
    let is_broken_pipe = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == ErrorKind::BrokenPipe);
    if is_broken_pipe {
        // The reader has read enough.
        return Exit::Success;
    }
    let failure = error.downcast_ref::<Failure>();
    let palette = Palette::for_stream(&io::stderr(), global.no_color);
    // A run that stopped to ask has not failed.
    let (tone, label) = match failure.map(|failure| failure.exit) {
        Some(Exit::Asking) => (Tone::Waiting, "waiting"),
        Some(_) | None => (Tone::Bad, "error"),
    };
    let mut text = labelled(palette, tone, label, &causes(error.as_ref()));
    if let Some(hint) = failure.and_then(Failure::advice) {
        text.push_str(&labelled(palette, Tone::Strong, "hint", &advised(hint)));
    }
    // If even this cannot be written, the exit code still says it.
    let _ = io::stderr().write_all(text.as_bytes());
    failure.map_or(Exit::Failure, |failure| failure.exit)
}

/// An error of a server or a store as a failure with its exit code and hint, however deep it is.
fn told_as_failure(error: anyhow::Error) -> anyhow::Error {
    let error = match error.downcast::<client::ClientError>() {
        Ok(error) => return Failure::from(error).into(),
        Err(error) => error,
    };
    match error.downcast::<StoreError>() {
        Ok(error) => Failure::from(error).into(),
        Err(error) => error,
    }
}

fn labelled(palette: Palette, tone: Tone, label: &str, text: &str) -> String {
    let text = visible_lines(text).join("\n       ");
    format!("{} {text}\n", palette.paint(tone, &format!("{label}:")))
}
