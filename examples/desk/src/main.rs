//! The desk as a program: begins a ticket, or goes on with one, in a store that `irq` reads too.
//!
//! ```console
//! $ cargo run -- new 17 "The cup is broken"
//! $ cargo run -- resume run_…
//! ```

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use engine::keeping::own_name;
use engine::run::{RunEvent, RunLimits, RunObserver, RunOccurrence, RunStatus, RunStore};
use engine::{Keeper, RunSettings};
use interrupts::ActorName;
use interrupts::life::{Actor, Role};
use interrupts::manager::StopHandle;
use interrupts::signals::{
    Leaving, OnHangup, OsSignals, Signal, SignalListener, SignalSettings, listen,
};
use llm::{RehearsalConfig, RehearsalModel};
use routing_core::answer::TypesOnly;
use routing_core::handler::HandlerPolicy;
use routing_core::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use routing_core::{Outcome, RunId, StopMode, StopScope, SystemClock};
use store::{StoreLocation, StoreSettings, bell_at};

use desk::{Desk, Shop, ShopError, Ticket};

/// A shop in which an order costs its number in euros.
struct CornerShop;

#[async_trait]
impl Shop for CornerShop {
    async fn cents_of(&self, order: u32) -> Result<u32, ShopError> {
        // It has to look into its books: time enough for Ctrl+C.
        tokio::time::sleep(Duration::from_secs(1)).await;
        order
            .checked_mul(100)
            .ok_or_else(|| ShopError(format!("there is no order {order}")))
    }

    async fn is_paid_back(&self, _order: u32) -> Result<bool, ShopError> {
        Ok(false)
    }

    async fn pay_back(&self, key: String, order: u32, cents: u32) -> Result<String, ShopError> {
        println!("  the bank pays {cents} cents for order {order} ({key})");
        Ok(format!("paid back {cents} cents for order {order}"))
    }
}

/// People answer elsewhere: on the page, with `irq review`, over REST.
struct Elsewhere;

#[async_trait]
impl Reviewer for Elsewhere {
    async fn answer(&self, _: &Question, _: &StopScope) -> Result<Outcome<Answer>, ReviewError> {
        Err(ReviewError::NobodyThere)
    }

    async fn resume(&self, _: &Pause, _: &StopScope) -> Result<Outcome<Resume>, ReviewError> {
        Err(ReviewError::NobodyThere)
    }
}

/// Prints what happens.
struct Lines;

impl RunObserver for Lines {
    fn observe(&self, occurrence: &RunOccurrence) {
        let again = if occurrence.replayed { "again: " } else { "" };
        match &occurrence.event {
            RunEvent::AgentSpawned { node, .. } => println!("  {again}{node} begins"),
            RunEvent::StepFinished { node, field, .. } => println!("  {again}{node} chose {field}"),
            RunEvent::InterruptRaised {
                node,
                interrupt,
                details,
                ..
            } => println!("  {again}{node} asks ({interrupt}): {}", details.reason),
            RunEvent::InterruptResolved { target, .. } => println!("  {again}goes on at {target}"),
            _ => {}
        }
    }
}

/// Ctrl+C pauses the run at its agent's next call; once more, at once; a third time leaves.
struct Aloud;

impl SignalListener for Aloud {
    fn asked(&mut self, _signal: Signal, _mode: StopMode, _handle: StopHandle) {
        println!("  pausing: what was begun is finished first");
    }

    fn leave(&mut self, _leaving: Leaving) {
        std::process::exit(130);
    }
}

const USAGE: &str = "desk new ORDER WISH    begin a ticket
desk resume RUN        go on with one

The store is $DESK_STORE, or sqlite:desk.db where that is not set.";

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match desk(&arguments).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            let mut cause = error.source();
            while let Some(error) = cause {
                eprintln!("  because: {error}");
                cause = error.source();
            }
            ExitCode::FAILURE
        }
    }
}

/// Who types here.
fn person() -> Result<Actor, Box<dyn Error>> {
    Ok(Actor {
        name: ActorName::new("terminal")?,
        role: Role::Operator,
    })
}

async fn desk(arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    let (run, ticket) = match arguments {
        ["new", order, wish] => {
            let order = order
                .parse()
                .map_err(|_none| format!("`{order}` is no number of an order"))?;
            let wish = (*wish).to_owned();
            (RunId::generate(), Some(Ticket { order, wish }))
        }
        ["resume", run] => (run.parse()?, None),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            return Ok(());
        }
        _ => return Err(USAGE.into()),
    };
    let path = std::env::var("DESK_STORE").unwrap_or_else(|_unset| "sqlite:desk.db".to_owned());
    let location: StoreLocation = path.parse()?;
    let store = location.open(StoreSettings::default()).await?;
    let owner = own_name()?;
    let bell = bell_at(&location, &owner);
    let keeper = Keeper::named::<Desk>(Arc::clone(&store), bell, owner.clone())?;
    let settings = RunSettings {
        run,
        model: Arc::new(RehearsalModel::new(RehearsalConfig::default())),
        constraints: Arc::new(TypesOnly),
        reviewer: Arc::new(Elsewhere),
        observer: Arc::new(Lines),
        limits: RunLimits::default(),
        policy: HandlerPolicy::default(),
        clock: Arc::new(SystemClock),
        tools: None,
        store: RunStore::new(store, owner, ""),
    };
    let desk = Arc::new(Desk {
        shop: Arc::new(CornerShop),
    });
    println!("{run}");
    let settings_of_signals = SignalSettings {
        by: person()?,
        patience: None,
        drain: None,
        on_hangup: OnHangup::Pause,
    };
    let _listening = listen(
        OsSignals::listen()?,
        keeper.manager(),
        settings_of_signals,
        Aloud,
    );
    let executed = match ticket {
        Some(ticket) => keeper.begin(desk, settings, &ticket).await?,
        None => keeper.resume(desk, settings, &person()?).await?,
    };
    match (executed.output, executed.report.status) {
        (Some(receipt), _) => println!("done: {}", receipt.lines.join("; ")),
        (None, RunStatus::Waiting { interrupts, .. }) => {
            for interrupt in interrupts {
                println!("waits: irq review {interrupt} --store {path}");
            }
            println!("then: desk resume {run}");
        }
        (None, RunStatus::Paused { reason }) => println!("paused: {reason}; desk resume {run}"),
        (None, RunStatus::Cancelled { reason, .. }) => println!("cancelled: {reason}"),
        (None, RunStatus::Failed { error, hint, .. }) => {
            return Err(format!(
                "{error}{}",
                hint.map_or(String::new(), |it| format!("; {it}"))
            )
            .into());
        }
        (None, RunStatus::Completed { summary }) => println!("done: {summary}"),
    }
    Ok(())
}
