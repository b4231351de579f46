//! Runs on a server: started there, continued there, followed from here.

mod ending;
mod follow;
mod occurrences;
mod rendering;

use std::sync::Arc;

use client::{Client, NewRun};
use control::ResumeOrder;
use interrupt_router::RunId;
use interrupts::life::{Family, RunState, State};
use interrupts::store::Filter;
use serde_json::{Map, Value, json};

use super::goal::GoalSource;
use super::script;
use super::talk::Talk;
use crate::address::find_run;
use crate::arguments::{ForkArguments, Global, ResumeArguments, RunArguments};
use crate::backend::{Backend, Remote, ServerLocation, client_at};
use crate::commands::print;
use crate::exit::{Exit, Failure};
use crate::listing;
use crate::run_owner::has_process;
use crate::settings::is_typed;
use crate::view::json_line;

use follow::FollowedRun;
pub(in crate::commands) use rendering::FeedEntry;

/// Starts a run on a server, and follows it to its end.
///
/// # Errors
///
/// If the server refuses it, or the run did not end in success.
pub(super) fn run(
    arguments: &RunArguments,
    place: &ServerLocation,
    global: Global,
) -> anyhow::Result<Exit> {
    refuse_local_flags()?;
    if is_typed("tools") {
        let text = "--tools gives agents a folder of the machine that executes the run";
        return Err(Failure::new(Exit::Usage, text)
            .hint("run it there, with --store; a server gives its runs no tools")
            .into());
    }
    let source = GoalSource::of(arguments.goal.as_deref());
    let talk = Talk {
        input_is_free: !source.takes_input(),
        ..Talk::of(&arguments.talk)
    };
    let options = options(arguments)?;
    let goal = source.read()?.as_str().to_owned();
    super::complete(async {
        let server = RemoteServer::at(place)?;
        let after = server.client.whoami().await?.seq;
        let mut new = NewRun::new(goal);
        new.options = options;
        let run = server.client.start(new).await?;
        if arguments.detach {
            return print_id(run, &server, talk.json);
        }
        server.follow(run, after, talk, global).await
    })
}

/// Continues a run on a server, and follows it.
///
/// # Errors
///
/// As [`run`].
pub(in crate::commands) fn resume(
    arguments: &ResumeArguments,
    place: &ServerLocation,
    global: Global,
) -> anyhow::Result<Exit> {
    refuse_local_flags()?;
    super::complete(async {
        let server = RemoteServer::at(place)?;
        let after = server.client.whoami().await?.seq;
        let run = find_run(&*server.remote, &arguments.run).await?;
        let how = ResumeOrder {
            checkpoint: None,
            input: arguments.message.clone(),
            accept_catalogue: arguments.accept_catalogue,
            drop_pending: false,
        };
        // A working run is only followed, and one that waits for answers goes on when they are given; a paused one was
        // stopped apart from its questions.
        let works = has_process(&run) && matches!(run.state, RunState::Created | RunState::Running);
        let may_wait = run.state != RunState::Paused;
        let follows = works || (may_wait && server.has_questions(run.id).await?);
        if how.input.is_some() || how.accept_catalogue || !follows {
            server.client.resume(run.id, &how).await?;
        }
        if arguments.detach {
            return print_id(run.id, &server, arguments.talk.json);
        }
        let talk = Talk::of(&arguments.talk);
        server.follow(run.id, after, talk, global).await
    })
}

/// Begins another run on a server from a checkpoint of one, and follows it.
///
/// # Errors
///
/// As [`run`].
pub(in crate::commands) fn fork(
    arguments: &ForkArguments,
    place: &ServerLocation,
    global: Global,
) -> anyhow::Result<Exit> {
    refuse_local_flags()?;
    super::complete(async {
        let server = RemoteServer::at(place)?;
        let after = server.client.whoami().await?.seq;
        let from = find_run(&*server.remote, &arguments.run).await?;
        let how = ResumeOrder {
            checkpoint: Some(arguments.at.unwrap_or(from.checkpoint)),
            input: arguments.message.clone(),
            accept_catalogue: false,
            drop_pending: arguments.drop_pending,
        };
        let run = server.client.resume(from.id, &how).await?;
        if arguments.detach {
            return print_id(run, &server, arguments.talk.json);
        }
        let talk = Talk::of(&arguments.talk);
        server.follow(run, after, talk, global).await
    })
}

/// A server: what only a server offers, and what it has in common with a store.
struct RemoteServer {
    client: Client,
    remote: Arc<dyn Backend>,
    url: String,
    place: ServerLocation,
}

impl RemoteServer {
    fn at(place: &ServerLocation) -> Result<Self, Failure> {
        let client = client_at(place)?;
        Ok(Self {
            url: client.address().to_string(),
            remote: Arc::new(Remote::over(client.clone())),
            place: place.clone(),
            client,
        })
    }

    async fn has_questions(&self, run: RunId) -> Result<bool, Failure> {
        let filter = Filter {
            run: Some(run),
            node: None,
            states: vec![State::AwaitingReview],
        };
        let waiting = listing::interrupts(&*self.remote as &dyn Backend, &filter).await?;
        let (pauses, questions): (Vec<_>, Vec<_>) = waiting
            .iter()
            .partition(|interrupt| interrupt.family() == Family::Stop);
        Ok(pauses.is_empty() && !questions.is_empty())
    }

    async fn follow(
        self,
        run: RunId,
        after: String,
        talk: Talk,
        global: Global,
    ) -> anyhow::Result<Exit> {
        let following = FollowedRun::of(self, run, after, talk, global)?;
        // Tasks beside the following stay on its thread.
        tokio::task::LocalSet::new()
            .run_until(following.until_its_end())
            .await
    }
}

/// Prints the run's id; the server has the rest.
fn print_id(run: RunId, server: &RemoteServer, as_json: bool) -> anyhow::Result<Exit> {
    print(&if as_json {
        json_line(&json!({"run_id": run, "server": server.url}))
    } else {
        format!("{run}\n")
    })?;
    Ok(Exit::Success)
}

/// Refuses flags that only apply to a process that executes runs itself.
fn refuse_local_flags() -> Result<(), Failure> {
    let local = [
        ("pace", "--pace"),
        ("grace", "--grace"),
        ("prices", "--prices"),
        ("max_memory", "--max-memory"),
        ("max_cpu_time", "--max-cpu-time"),
        ("policy", "--policy"),
    ];
    // Variables and files set these for runs that are executed here.
    let Some((_key, flag)) = local.into_iter().find(|(key, _flag)| is_typed(key)) else {
        return Ok(());
    };
    let text = format!("{flag} is the server's to say, which executes the run");
    Err(Failure::new(Exit::Usage, text).hint(format!("leave {flag} out; `irq serve --help`")))
}

/// The options besides the goal; the server uses its own for those not given.
fn options(arguments: &RunArguments) -> Result<Map<String, Value>, Failure> {
    let mut options = Map::new();
    let mut say = |name: &str, value: Value| {
        options.insert(name.to_owned(), value);
    };
    // Variables and files set these for runs that are executed here.
    if is_typed("workspace") && arguments.workspace != std::path::Path::new(".") {
        say("workspace", json!(arguments.workspace));
    }
    for (key, said) in [
        ("model", &arguments.model),
        ("base_url", &arguments.base_url),
    ] {
        if let Some(said) = said.as_ref().filter(|_said| is_typed(key)) {
            say(key, json!(said));
        }
    }
    // Always sent: the server's program may have another default workflow.
    say("workflow", json!(arguments.workflow));
    if arguments.seed != 1 {
        say("seed", json!(arguments.seed));
    }
    if let Some(path) = &arguments.script {
        let text = script::read_text(path)?;
        let script = serde_json::from_str(&text)
            .map_err(|error| Failure::new(Exit::Usage, format!("the script: {error}")))?;
        say("script", script);
    }
    if let Some(most) = arguments.limits.max_steps {
        say("max_steps", json!(most));
    }
    if !arguments.needs.is_empty() {
        say("needs", json!(arguments.needs));
    }
    if let Some(corrections) = arguments.corrections {
        say("corrections", json!(corrections));
    }
    if let Some(budget) = &arguments.limits.budget.budget_usd {
        say("budget_usd", json!(budget));
    }
    if let Some(timeout) = arguments.limits.timeout {
        if timeout.subsec_nanos() != 0 {
            let failure = Failure::new(Exit::Usage, "--timeout counts whole seconds on a server");
            return Err(failure.hint("say 2s, 90s or 15m"));
        }
        say("timeout_s", json!(timeout.as_secs()));
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::options;
    use crate::arguments::{Arguments, Command};

    #[test]
    fn a_server_of_another_program_is_told_which_workflow_is_meant() {
        let given = Arguments::try_parse_from(["irq", "run", "Describe this folder"]).unwrap();
        let Command::Run(run) = given.command else {
            panic!("another command was read")
        };
        assert_eq!(options(&run).unwrap()["workflow"], "agents");
    }
}
