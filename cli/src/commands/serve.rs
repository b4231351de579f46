//! `irq serve`: the page, the interface and the runs of one process, until it is stopped.

mod awaiting;
#[cfg(feature = "nats")]
mod broker;
#[cfg(not(feature = "nats"))]
#[path = "serve/no_broker.rs"]
mod broker;
mod delays;
mod launcher;
mod needs;
mod news;
mod order;
mod predecessor;
mod standstill;
mod stopping;
mod welcome;
mod work;
mod worker;

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use interrupts::signals::OsSignals;
use interrupts::store::{Page, StoreError};
use server::{
    Drained, Remote, ServeError, ServerConfig, StoreTimes, TlsIdentity, check_reach,
    serve as serve_http,
};
use store::{StoreLocation, notifier_at};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::run::complete;
use crate::arguments::{Global, ServeArguments, StoreArguments};
use crate::exit::{Exit, Failure, causes};
use crate::hooks::CommandHook;
use crate::run_owner::{RunOwner, own_name};
use crate::storage::Storage;
use crate::time::Grace;
use crate::workflows;

use broker::Broker;
use launcher::{Launcher, RunShare};
use order::Defaults;
pub(crate) use order::{is_launched, waits_for_server};
use stopping::Stopping;
use welcome::Welcome;
pub(crate) use worker::worker;

/// Serves until the process is stopped.
///
/// # Errors
///
/// If it cannot listen or the store cannot be used; nothing was served then. If it could not be drained to its end.
pub(crate) fn serve(
    arguments: &ServeArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    let defaults = Defaults::of(&arguments.runs, Some(&arguments.new_runs))?;
    let remote = remote(arguments)?;
    let broker = Broker::of(arguments)?;
    complete(async { until_stopped((arguments, global), store, defaults, (remote, broker)).await })
}

async fn until_stopped(
    (arguments, global): (&ServeArguments, Global),
    store: &StoreArguments,
    defaults: Defaults,
    (remote, broker): (Remote, Option<Broker>),
) -> anyhow::Result<Exit> {
    // From here on no signal ends the process by itself.
    let signals = OsSignals::listen()?;
    refuse_strangers(&remote, arguments.listen)?;
    let listener = listen(arguments.listen, "--listen").await?;
    let address = listener.local_addr()?;
    let times = Arc::new(StoreTimes::default());
    let storage = Storage::create_timed(store, &times).await?;
    storage.say_notice();
    let welcomed = remote.clone();
    let mut config = config(arguments, remote, &storage)?;
    config.store_times = times;
    config.bus = Broker::connected(broker).await?;
    // Before anything is printed, and before a run of an earlier server is taken up.
    let reach = check_reach(&listener, &config).await;
    reach.map_err(|error| not_served(&error))?;
    let drain = config.drain_time;
    let kept = Arc::clone(&storage.store);
    let policy = defaults.limits.policy();
    let run_owner = run_owner(storage, &defaults, drain)?;
    let share = RunShare::of_server(arguments.runs_by_workers);
    let launcher = Arc::new(Launcher::of_server(Arc::clone(&run_owner), defaults, share));
    let config = ServerConfig {
        policy,
        launcher: Arc::clone(&launcher) as Arc<_>,
        ..config
    };
    let stop = CancellationToken::new();
    let stopping = Stopping::begin(signals, run_owner, (*launcher).clone(), stop.clone());
    let hurry = stopping.hurry();
    // A decision that comes while runs are looked at is among the news.
    let news = launcher.news().await;
    if !arguments.no_resume {
        launcher.go_on_with_what_was_left().await;
    }
    let going_on = {
        let launcher = Arc::clone(&launcher);
        tokio::spawn(async move { launcher.go_on_with_what_was_put_aside(news).await })
    };
    let watching = (!arguments.no_resume).then(|| {
        let launcher = Arc::clone(&launcher);
        tokio::spawn(async move { launcher.watch_for_orphaned_runs().await })
    });
    let welcome = Welcome::issue(&*kept, address, &arguments.host, &welcomed).await?;
    welcome.say(global)?;
    let opened = arguments.open.then(|| welcome.open());
    let served = tokio::select! {
        served = serve_http(listener, config, stop.clone()) => served,
        // The runtime closes what is still open.
        () = hurry.cancelled() => Ok(Drained { cut: 0 }),
    };
    drop(opened);
    going_on.abort();
    if let Some(watching) = watching {
        watching.abort();
    }
    // A server that never began may still have runs to stop.
    stop.cancel();
    let rest = stopping.ended(drain).await;
    let page = Page { after: 0, limit: 1 };
    if let Err(gone @ StoreError::Gone { .. }) = kept.runs(&[], page).await {
        return Err(Failure::from(gone).into());
    }
    ended(served.map_err(|error| not_served(&error))?, rest)
}

/// What owns the runs of this process, and calls the hooks of its policy.
fn run_owner(
    storage: Storage,
    defaults: &Defaults,
    drain: Duration,
) -> anyhow::Result<Arc<RunOwner>> {
    let policy = defaults.limits.policy();
    let grace = defaults.limits.grace().and_then(Grace::duration);
    let grace = grace.unwrap_or(drain / 2);
    let run_owner = Arc::new(RunOwner::with_grace(storage, &policy, grace)?);
    if let Some(hook) = CommandHook::of(&policy, |text| tracing::warn!("{text}")) {
        run_owner.manager.add_hook(Arc::new(hook));
    }
    Ok(run_owner)
}

/// Refuses other machines without TLS.
fn refuse_strangers(remote: &Remote, address: SocketAddr) -> Result<(), Failure> {
    if matches!(remote, Remote::Refused) && !address.ip().is_loopback() {
        return Err(not_served(&ServeError::Remote { address }));
    }
    Ok(())
}

async fn listen(address: SocketAddr, flag: &str) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| {
        let failure = Failure::new(
            Exit::Failure,
            format!("cannot listen on {address}: {error}"),
        );
        if error.kind() == std::io::ErrorKind::AddrInUse {
            failure.hint(format!(
                "another program listens there; {flag} 127.0.0.1:0 takes a free port"
            ))
        } else {
            failure
        }
    })
}

fn config(
    arguments: &ServeArguments,
    remote: Remote,
    storage: &Storage,
) -> anyhow::Result<ServerConfig> {
    // The manager listens under the owner's name; this one notifies, and listens for the feed.
    let name = interrupts::OwnerName::new(format!("{}-http", own_name()?))?;
    let notifier = notifier_at(storage.location(), &name);
    let mut config = ServerConfig::new(Arc::clone(&storage.store), notifier);
    config.store_notice = storage.notice().map(str::to_owned);
    config.catalogues = workflows::built_in().to_vec();
    config.hosts.clone_from(&arguments.host);
    if let StoreLocation::Postgres(_) = storage.location() {
        // Every commit notifies: this poll is for lost notifications.
        config.limits.feed_poll = RARE_POLL;
    }
    config.limits.requests_per_second = arguments.requests_per_second;
    config.limits.request_burst = arguments.requests_per_second.saturating_mul(TWICE);
    config.limits.failures_per_minute = arguments.failures_per_minute;
    config.drain_time = arguments.runs.drain_timeout.unsigned_abs();
    config.remote = remote;
    Ok(config)
}

/// How other machines reach it.
fn remote(arguments: &ServeArguments) -> Result<Remote, Failure> {
    // The command line does not check this if a file or a variable sets it.
    let unfit = |text: &str| {
        Err(Failure::new(Exit::Usage, text).hint("irq config show --origin says who says which"))
    };
    match (&arguments.tls_cert, &arguments.tls_key) {
        (Some(_), Some(_)) if arguments.behind_proxy => {
            unfit("tls_cert and behind_proxy exclude each other")
        }
        (Some(certificate), Some(key)) => match TlsIdentity::read(certificate, key) {
            Ok(identity) => Ok(Remote::OverTls(identity)),
            Err(error) => Err(Failure::new(Exit::Usage, causes(&error))
                .hint("--tls-cert and --tls-key name two files of PEM: the certificate with those between it and its authority, and its key")),
        },
        (Some(_), None) | (None, Some(_)) => unfit("tls_cert and tls_key are needed together"),
        (None, None) if arguments.behind_proxy => Ok(Remote::BehindProxy),
        (None, None) => Ok(Remote::Refused),
    }
}

fn not_served(error: &ServeError) -> Failure {
    let failure = Failure::new(Exit::Usage, causes(error));
    if let ServeError::Remote { .. } = error {
        failure.hint("--tls-cert FILE and --tls-key FILE let it speak TLS, --behind-proxy says that a proxy before it does; it needs a token, too")
    } else if let ServeError::NoTokens = error {
        failure.hint("irq token create --name NAME --role admin")
    } else {
        Failure::new(Exit::Failure, causes(error))
    }
}

/// The exit code for the end of the server.
fn ended(drained: Drained, rest: Result<(), Failure>) -> anyhow::Result<Exit> {
    rest?;
    if drained.cut == 0 {
        return Ok(Exit::Success);
    }
    let text = match drained.cut {
        1 => "1 connection was cut".to_owned(),
        more => format!("{more} connections were cut"),
    };
    Err(Failure::new(Exit::Failure, text)
        .hint("give them longer with --drain-timeout")
        .into())
}

/// How often the feed polls by itself when every commit notifies.
const RARE_POLL: Duration = Duration::from_millis(500);

/// How much faster a short burst of requests may be.
const TWICE: NonZeroU32 = NonZeroU32::MIN.saturating_add(1);

/// How long a step of the cleanup may take.
const MOMENT: Duration = Duration::from_secs(2);
