//! The desk as a program: begins a ticket, or goes on with one, in a store that `irq` reads too.
//!
//! ```console
//! $ cargo run -- new 17 "The cup is broken"
//! $ cargo run -- resume run_…
//! ```

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use engine::keeping::own_name;
use engine::run::{RunEvent, RunLimits, RunObserver, RunOccurrence, RunStatus, RunStore};
use engine::{Keeper, RunSettings};
use llm::{RehearsalConfig, RehearsalModel};
use routing_core::answer::TypesOnly;
use routing_core::handler::HandlerPolicy;
use routing_core::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use routing_core::{Outcome, RunId, StopScope, SystemClock};
use store::{StoreLocation, StoreSettings, bell_at};

use desk::{Desk, Shop, ShopError, Ticket};

/// A shop in which an order costs its number in euros.
struct CornerShop;

#[async_trait]
impl Shop for CornerShop {
    async fn cents_of(&self, order: u32) -> Result<u32, ShopError> {
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

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let path = std::env::var("DESK_STORE").unwrap_or_else(|_unset| "sqlite:desk.db".to_owned());
    let location: StoreLocation = path.parse()?;
    let store = location.open(StoreSettings::default()).await?;
    let owner = own_name()?;
    let bell = bell_at(&location, &owner);
    let keeper = Keeper::named::<Desk>(Arc::clone(&store), bell, owner.clone())?;
    let run = match arguments.as_slice() {
        ["resume", run] => run.parse()?,
        _ => RunId::generate(),
    };
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
    let executed = match arguments.as_slice() {
        ["new", order, wish] => {
            let ticket = Ticket {
                order: order.parse()?,
                wish: (*wish).to_owned(),
            };
            keeper.begin(desk, settings, &ticket).await?
        }
        ["resume", _run] => keeper.resume(desk, settings).await?,
        _ => return Err("say `new ORDER WISH` or `resume RUN`".into()),
    };
    match (executed.output, executed.report.status) {
        (Some(receipt), _) => println!("done: {}", receipt.lines.join("; ")),
        (None, RunStatus::Waiting { interrupts, .. }) => {
            for interrupt in interrupts {
                println!("waits: irq review {interrupt} --store {path}");
            }
            println!("then: desk resume {run}");
        }
        (None, status) => println!("{status:?}"),
    }
    Ok(())
}
