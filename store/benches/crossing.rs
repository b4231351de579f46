//! How long it takes from a request in one process until the agent in another one sees it.
//!
//! Prints both sides, measured in turns between the same two processes: a line through a pipe, an insert that is
//! flushed to the disk, and a request that is recorded in the store and rung for. Both processes read the same
//! monotonic clock.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use interrupt_router::{NodeId, RunId, StopMode};
use interrupts::life::{Actor, Role};
use interrupts::manager::{
    AgentRoutes, InterruptManager, ManagerSettings, NoDeliveries, StopRequest, Taking, Target,
};
use interrupts::store::{NewRun, Runs as _};
use interrupts::{ActorName, KindName, OwnerName, RouteName};
use rusqlite::Connection;
use rustix::time::{ClockId, clock_gettime};
use store::{SqliteStore, StoreLocation, StoreSettings, notifier_at};
use tokio::runtime::Handle;

const ROUNDS: usize = 300;
/// What makes this program the process whose agent is interrupted.
const OWNER: &str = "--owner-of";

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    // Test runners ask a bench to list its tests: it has none, and must not measure then.
    if arguments.iter().any(|argument| argument == "--list") {
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let owned = arguments.iter().skip_while(|it| *it != OWNER).nth(1);
    match owned {
        Some(file) => runtime.block_on(own(Path::new(file))),
        None => runtime.block_on(measure()),
    }
}

/// The monotonic clock that all processes share, in nanoseconds.
fn now() -> Result<u64, Failure> {
    let time = clock_gettime(ClockId::Monotonic);
    Ok(u64::try_from(time.tv_sec)? * 1_000_000_000 + u64::try_from(time.tv_nsec)?)
}

async fn manager(file: &Path, name: &str) -> Result<(InterruptManager, Arc<SqliteStore>), Failure> {
    let store = Arc::new(SqliteStore::open(file.to_owned(), StoreSettings::default()).await?);
    let agent_routes = AgentRoutes {
        kind: KindName::new("ORCHESTRATOR")?,
        origin: RouteName::new("ORCHESTRATOR")?,
        routes: vec![RouteName::new("ORCHESTRATOR")?],
    };
    let owner = OwnerName::new(name)?;
    let mut settings = ManagerSettings::new(
        Arc::clone(&store) as Arc<_>,
        owner.clone(),
        Arc::new(agent_routes),
    );
    settings.notifier = notifier_at(&StoreLocation::File(file.to_owned()), &owner);
    Ok((InterruptManager::new(settings, Handle::current()), store))
}

/// The process whose agents are interrupted. It does what its standard input says.
async fn own(file: &Path) -> Result<(), Failure> {
    let (manager, store) = manager(file, "owner").await?;
    let mut kept = Vec::new();
    let orders = std::io::stdin().lines();
    for order in orders {
        match order?.as_str() {
            "pipe" => say(&now()?.to_string())?,
            "run" => {
                let run = RunId::generate();
                let new = NewRun {
                    root: None,
                    id: run,
                    alias: None,
                    content: "{}".to_owned(),
                };
                store.create_run(new).await?;
                let taking = Taking {
                    run,
                    node: NodeId::new("root")?,
                    lost: None,
                    outlasted: None,
                    deliveries: Arc::new(NoDeliveries),
                    messages_after: 0,
                    leaves_agents_out: true,
                };
                let taken = manager.take(taking).await?;
                let scope = taken.node_scope(&NodeId::new("root/worker/helper")?);
                let waits = tokio::spawn(async move {
                    scope.stopping().await;
                    now()
                });
                say(&run.to_string())?;
                say(&waits.await??.to_string())?;
                kept.push(taken);
            }
            _ => break,
        }
    }
    Ok(())
}

fn say(line: &str) -> Result<(), Failure> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}")?;
    Ok(output.flush()?)
}

/// The other process, as this one talks with it.
struct Owner {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Owner {
    fn start(file: &Path) -> Result<Self, Failure> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(OWNER)
            .arg(file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("the owner has no input")?;
        let output = child.stdout.take().ok_or("the owner has no output")?;
        Ok(Self {
            child,
            input,
            output: BufReader::new(output),
        })
    }

    fn order(&mut self, order: &str) -> Result<(), Failure> {
        writeln!(self.input, "{order}")?;
        Ok(self.input.flush()?)
    }

    fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }
}

async fn measure() -> Result<(), Failure> {
    // In the target folder, for a folder of temporary files may lie in memory.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let file = folder.path().join("store.sqlite");
    let (manager, _store) = manager(&file, "requester").await?;
    let bare = bare_file(&folder.path().join("bare.sqlite"))?;
    let mut owner = Owner::start(&file)?;
    let (mut piped, mut inserted) = (Vec::new(), Vec::new());
    let (mut seen, mut recorded) = (Vec::new(), Vec::new());
    for _round in 0..ROUNDS {
        let began = now()?;
        owner.order("pipe")?;
        piped.push(Duration::from_nanos(
            owner.line()?.parse::<u64>()?.saturating_sub(began),
        ));
        let began = Instant::now();
        bare.prepare_cached("INSERT INTO bare (body) VALUES (?)")?
            .execute(("x".repeat(1_000),))?;
        inserted.push(began.elapsed());

        owner.order("run")?;
        let run: RunId = owner.line()?.parse()?;
        tokio::time::sleep(Duration::from_millis(2)).await;
        let by = Actor {
            name: ActorName::new("bench")?,
            role: Role::Operator,
        };
        let pause = StopRequest::by_user(Target::Run(run), StopMode::Graceful, by, "measured");
        let began = now()?;
        manager.request(pause).recorded().await?;
        let accepted = now()?;
        recorded.push(Duration::from_nanos(accepted.saturating_sub(began)));
        seen.push(Duration::from_nanos(
            owner.line()?.parse::<u64>()?.saturating_sub(began),
        ));
    }
    owner.order("end")?;
    owner.child.wait()?;
    println!("from the call in one process, {ROUNDS} rounds in turns, to:");
    for (name, mut times) in [
        ("a line read from a pipe by the other", piped),
        ("an insert flushed to the disk", inserted),
        ("the request recorded durably", recorded),
        ("the agent in the other process told", seen),
    ] {
        times.sort_unstable();
        let at = |part: usize| times.get(times.len() * part / 100).copied();
        let (middle, high) = (at(50).unwrap_or_default(), at(99).unwrap_or_default());
        println!("  {name:<38} p50 {middle:>9.1?}  p99 {high:>9.1?}");
    }
    Ok(())
}

fn bare_file(path: &Path) -> Result<Connection, Failure> {
    let file = Connection::open(path)?;
    file.pragma_update(None, "journal_mode", "WAL")?;
    file.pragma_update(None, "synchronous", "FULL")?;
    file.execute_batch("CREATE TABLE bare (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT")?;
    Ok(file)
}
