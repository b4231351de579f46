//! A customers' desk: six agents, where each one's interrupts may go, and what a run does.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use engine::{Agent, Decided, Effect, Exit, Workflow};
use interrupt_router::{
    AgentInterrupt, AgentType, AnswerForm, InterruptDetails, InterruptRequest, InterruptType,
    Routing,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::shop::Shop;

/// Who works here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AgentType)]
pub enum Colleague {
    /// Takes what customers send.
    Orchestrator,
    /// Looks again at what costs much.
    ReviewAgent,
    /// Pays back.
    Refunds,
    /// Writes for the company.
    Legal,
    /// Sends parcels.
    Shipping,
    /// Puts tickets away.
    Archive,
}

/// Ask the customer something.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Inquiry {
    /// What is asked.
    pub question: String,
}

/// Look at the ticket again.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// What is in doubt.
    pub doubt: String,
}

/// Pay back what the order has cost.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Refund {
    /// What the customer is told.
    pub words: String,
}

/// Object to what the customer wants.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Objection {
    /// On what ground.
    pub ground: String,
}

/// Send the order once more.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Parcel {
    /// What is written on it.
    pub label: String,
}

/// Put the ticket away.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// What is to be remembered.
    pub text: String,
}

/// Where a ticket goes on.
#[derive(Debug, Clone, Routing)]
#[routing(agent_types = Colleague, actions = Colleagues)]
pub struct NextColleague {
    /// The customer has to say more.
    #[route(marker = InquiryRoute, agent_type = Orchestrator)]
    pub inquire: Option<Inquiry>,
    /// Somebody has to look at it again.
    #[route(marker = CheckRoute, agent_type = ReviewAgent)]
    pub check: Option<Check>,
    /// The customer gets the money back.
    #[route(marker = RefundRoute, agent_type = Refunds)]
    pub refund: Option<Refund>,
    /// The company does not agree.
    #[route(marker = LegalRoute, agent_type = Legal)]
    pub object: Option<Objection>,
    /// The customer gets the order once more.
    #[route(marker = ParcelRoute, agent_type = Shipping)]
    pub send: Option<Parcel>,
    /// There is nothing to do.
    #[route(marker = NoteRoute, agent_type = Archive)]
    pub file: Option<Note>,
}

/// What whoever pays back asks: it says how much.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RefundQuestion {
    /// What is asked.
    pub details: InterruptDetails,
    /// How much would be paid back.
    pub cents: u32,
}

impl AgentInterrupt for RefundQuestion {
    fn details(&self) -> InterruptDetails {
        self.details.clone()
    }
}

/// What each of them may ask.
#[derive(Debug, Clone, InterruptRequest)]
#[interrupt(kind = Colleague)]
pub enum DeskQuestion {
    Orchestrator(InterruptDetails),
    ReviewAgent(InterruptDetails),
    Refunds(RefundQuestion),
    Legal(InterruptDetails),
    Shipping(InterruptDetails),
    Archive(InterruptDetails),
}

/// What a customer wants.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ticket {
    /// The number of the order.
    pub order: u32,
    /// In the customer's words.
    pub wish: String,
}

/// What came of a ticket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// What was done, in order.
    pub lines: Vec<String>,
}

/// Above this a person says yes before anything is paid back.
const LARGE: u32 = 10_000;

/// The desk.
pub struct Desk {
    /// The shop that it belongs to: another system, which knows nothing of runs.
    pub shop: Arc<dyn Shop>,
}

/// A ticket on its way from one colleague to the next.
pub struct Walk<'a> {
    front: &'a Agent<Desk>,
    ticket: &'a Ticket,
    cents: u32,
    stations: AtomicU32,
    /// What was written to colleagues who had done their work by then.
    unread: Mutex<Vec<String>>,
}

/// Where a colleague leaves it.
pub enum Step {
    /// It goes on.
    Next(Box<NextColleague>),
    /// This was done, and that is all.
    Done(String),
}

impl Walk<'_> {
    /// The next colleague, below the front of the desk. The same station is the same agent whenever the run comes here.
    fn colleague(&self, kind: Colleague) -> Result<Agent<Desk>, Exit> {
        let station = self.stations.fetch_add(1, Ordering::Relaxed) + 1;
        let name = kind.name().to_lowercase().replace('_', "-");
        self.front.child(kind, &format!("{name}-{station}"))
    }

    /// A colleague has done the work. What came too late for that is kept for whoever reads the receipt.
    async fn leaves(&self, colleague: Agent<Desk>) -> Result<(), Exit> {
        let late = colleague.finish().await?;
        self.unread.lock().expect("nobody panics").extend(late);
        Ok(())
    }
}

#[async_trait]
impl Workflow for Desk {
    const NAME: &'static str = "desk";
    const FIRST: Colleague = Colleague::Orchestrator;
    type Kind = Colleague;
    type Request = DeskQuestion;
    type Routing = NextColleague;
    type Input = Ticket;
    type Output = Receipt;

    async fn run(&self, mut front: Agent<Self>, ticket: Ticket) -> Result<Receipt, Exit> {
        // Recorded: after a death this is read, and not looked up again.
        let find = |_: Effect| self.shop.cents_of(ticket.order);
        let cents = front.effect("find the order", find).await?;
        front.tell(format!(
            "Order {} cost {cents} cents. The customer: {}",
            ticket.order, ticket.wish
        ));
        let mut next = Box::new(front.ask::<NextColleague>().await?);
        let walk = Walk {
            front: &front,
            ticket: &ticket,
            cents,
            stations: AtomicU32::new(0),
            unread: Mutex::default(),
        };
        let mut lines = Vec::new();
        loop {
            match next.dispatch(self, &walk).await? {
                Step::Next(further) => next = further,
                Step::Done(line) => {
                    lines.push(line);
                    break;
                }
            }
        }
        lines.extend(walk.unread.into_inner().expect("nobody panics"));
        lines.extend(front.finish().await?);
        Ok(Receipt { lines })
    }
}

impl Colleagues<Walk<'_>> for Desk {
    type Output = Step;
    type Error = Exit;

    async fn inquire(&self, inquiry: Inquiry, walk: &Walk<'_>) -> Result<Step, Exit> {
        let mut agent = walk.colleague(Colleague::Orchestrator)?;
        // Durable: asked once, however often the desk restarts. The answer's route is the only one left.
        let asked = DeskQuestion::Orchestrator(question(inquiry.question, AnswerForm::Words));
        let decided = agent.interrupt(asked).await?;
        walk.leaves(agent).await?;
        Ok(following(decided))
    }

    async fn check(&self, check: Check, walk: &Walk<'_>) -> Result<Step, Exit> {
        let mut agent = walk.colleague(Colleague::ReviewAgent)?;
        let asked = DeskQuestion::ReviewAgent(question(check.doubt, AnswerForm::Words));
        let decided = agent.interrupt(asked).await?;
        walk.leaves(agent).await?;
        Ok(following(decided))
    }

    async fn refund(&self, refund: Refund, walk: &Walk<'_>) -> Result<Step, Exit> {
        let mut agent = walk.colleague(Colleague::Refunds)?;
        let look = |_: Effect| self.shop.is_paid_back(walk.ticket.order);
        if agent.effect("look at the account", look).await? {
            walk.leaves(agent).await?;
            return Ok(Step::Done("was paid back before".to_owned()));
        }
        if walk.cents > LARGE {
            let proposal = format!("Pay back {} cents? {}", walk.cents, refund.words);
            let asked = RefundQuestion {
                details: question(proposal, AnswerForm::YesOrNo),
                cents: walk.cents,
            };
            let decided = agent.interrupt(asked).await?;
            // Only a yes pays. Why not is on the receipt, for a colleague to read.
            let other = match decided {
                Decided::Approved(_) => None,
                Decided::Rerouted(elsewhere) => Some(Step::Next(Box::new(elsewhere.routing))),
                Decided::Answered(said) => Some(not_paid(said.answer.text)),
                Decided::Declined(no) => Some(not_paid(no.text)),
                Decided::Expired | Decided::Refused { .. } => Some(not_paid(None)),
            };
            if let Some(step) = other {
                walk.leaves(agent).await?;
                return Ok(step);
            }
        }
        let (order, cents) = (walk.ticket.order, walk.cents);
        // The effect's id is the same in every process, so the bank pays once.
        let pay = |effect: Effect| self.shop.pay_back(effect.id().to_string(), order, cents);
        let paid: String = agent.effect("pay back", pay).await?;
        walk.leaves(agent).await?;
        Ok(Step::Done(paid))
    }

    async fn object(&self, objection: Objection, walk: &Walk<'_>) -> Result<Step, Exit> {
        let agent = walk.colleague(Colleague::Legal)?;
        walk.leaves(agent).await?;
        Ok(Step::Done(format!("objected: {}", objection.ground)))
    }

    async fn send(&self, parcel: Parcel, walk: &Walk<'_>) -> Result<Step, Exit> {
        let agent = walk.colleague(Colleague::Shipping)?;
        walk.leaves(agent).await?;
        Ok(Step::Done(format!("sent: {}", parcel.label)))
    }

    async fn file(&self, note: Note, walk: &Walk<'_>) -> Result<Step, Exit> {
        let agent = walk.colleague(Colleague::Archive)?;
        walk.leaves(agent).await?;
        Ok(Step::Done(format!("filed: {}", note.text)))
    }
}

/// Where the ticket goes after an answer to a question that asks for one. After a no it is closed.
fn following(decided: Decided<NextColleague>) -> Step {
    match decided {
        Decided::Approved(next) | Decided::Answered(next) | Decided::Rerouted(next) => {
            Step::Next(Box::new(next.routing))
        }
        Decided::Declined(_) | Decided::Expired | Decided::Refused { .. } => {
            Step::Done("closed without an answer".to_owned())
        }
    }
}

/// What the receipt says where nothing is paid back.
fn not_paid(said: Option<String>) -> Step {
    let said = said.map(|said| format!(": {said}")).unwrap_or_default();
    Step::Done(format!("not paid back{said}"))
}

/// A question to a person, and what an answer to it is.
fn question(reason: String, form: AnswerForm) -> InterruptDetails {
    InterruptDetails {
        answer_form: Some(form),
        ..InterruptDetails::new(InterruptType::HumanReview, reason)
    }
}
