//! A desk with its shop, its people and its store, and the runs in it.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use engine::run::{RunEvent, RunObserver, RunOccurrence, RunStore};
use engine::{Execution, RunSettings};
use interrupt_router::model::{
    Dialect, LanguageModel, ModelCall, ModelError, ModelReply, PartialReply, Purpose, TokenUsage,
};
use interrupt_router::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use interrupt_router::{Outcome, RunId, StopScope};
use interrupts::OwnerName;
use interrupts::store::{Filter, Page, Store};
use llm::{RehearsalConfig, RehearsalModel};
use store::{StoreSettings, open_any};
use tests::postgres::{is_asked_for, own_store};
use tokio::sync::Notify;

use desk::{Desk, Ticket};
use desk::{Shop, ShopError};

/// The bank keeps what it has paid, by its key.
#[derive(Default)]
pub(crate) struct Bank {
    pub(crate) cents: u32,
    pub(crate) paid: Mutex<HashMap<String, u32>>,
    pub(crate) looked_up: AtomicU32,
    /// Where there is one, nobody is told anything of an account before it is rung.
    pub(crate) opens: Option<Arc<Notify>>,
    /// What it says before it works.
    pub(crate) troubles: Mutex<VecDeque<String>>,
    /// The keys with which it was asked to pay, each time.
    pub(crate) asked: Mutex<Vec<String>>,
}

impl Bank {
    pub(crate) fn payments(&self) -> usize {
        self.paid.lock().unwrap().len()
    }
}

#[async_trait]
impl Shop for Bank {
    async fn cents_of(&self, _order: u32) -> Result<u32, ShopError> {
        self.looked_up.fetch_add(1, Ordering::SeqCst);
        Ok(self.cents)
    }

    async fn is_paid_back(&self, _order: u32) -> Result<bool, ShopError> {
        if let Some(open) = &self.opens {
            open.notified().await;
        }
        Ok(false)
    }

    async fn pay_back(&self, key: String, order: u32, cents: u32) -> Result<String, ShopError> {
        self.asked.lock().unwrap().push(key.clone());
        if let Some(trouble) = self.troubles.lock().unwrap().pop_front() {
            return Err(ShopError(trouble));
        }
        self.paid.lock().unwrap().insert(key, cents);
        Ok(format!("paid back {cents} cents for order {order}"))
    }
}

/// Answers with what was prepared for the front of the desk; else with the smallest that fits.
pub(crate) struct Clerk {
    /// What the front of the desk chooses.
    pub(crate) first: &'static str,
    rehearsal: RehearsalModel,
    pub(crate) told: Mutex<Vec<String>>,
}

#[async_trait]
impl LanguageModel for Clerk {
    fn name(&self) -> &str {
        "clerk"
    }

    fn dialect(&self) -> Dialect {
        Dialect::JsonSchema
    }

    async fn call(
        &self,
        call: ModelCall,
        scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        let texts = call.messages.iter().map(|message| message.text.to_string());
        self.told.lock().unwrap().extend(texts);
        if call.caller.purpose == Purpose::Step {
            return Ok(Outcome::Completed(ModelReply {
                text: self.first.to_owned(),
                tool_requests: Vec::new(),
                usage: TokenUsage::default(),
                cut_off: false,
            }));
        }
        self.rehearsal.call(call, scope).await
    }
}

/// Somebody who answers what was prepared, and is gone after that.
#[derive(Default)]
pub(crate) struct Person {
    pub(crate) answers: Mutex<VecDeque<Answer>>,
    pub(crate) always: bool,
    pub(crate) asked: Mutex<Vec<Question>>,
}

#[async_trait]
impl Reviewer for Person {
    async fn answer(
        &self,
        question: &Question,
        _scope: &StopScope,
    ) -> Result<Outcome<Answer>, ReviewError> {
        self.asked.lock().unwrap().push(question.clone());
        if self.always {
            // A plain yes.
            return Ok(Outcome::Completed(Answer::default()));
        }
        let answer = self.answers.lock().unwrap().pop_front();
        answer
            .map(Outcome::Completed)
            .ok_or(ReviewError::NobodyThere)
    }

    async fn resume(&self, _: &Pause, _: &StopScope) -> Result<Outcome<Resume>, ReviewError> {
        Err(ReviewError::NobodyThere)
    }
}

/// All that was told.
#[derive(Default)]
pub(crate) struct Log(pub(crate) Mutex<Vec<RunEvent>>);

impl RunObserver for Log {
    fn observe(&self, occurrence: &RunOccurrence) {
        self.0.lock().unwrap().push(occurrence.event.clone());
    }
}

/// A desk, and one run in its store.
pub(crate) struct Counter {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) run: RunId,
    pub(crate) bank: Arc<Bank>,
    pub(crate) clerk: Arc<Clerk>,
    pub(crate) person: Arc<Person>,
    pub(crate) log: Arc<Log>,
}

/// The front of the desk wants the money paid back.
pub(crate) const REFUND: &str = r#"{"refund":{"words":"we are sorry"}}"#;

impl Counter {
    /// A desk whose order cost so much and whose front chooses this.
    pub(crate) async fn new(cents: u32, first: &'static str, person: Person) -> Self {
        Self::opening(cents, first, person, None).await
    }

    /// The same, whose bank opens when this is rung.
    pub(crate) async fn opening(
        cents: u32,
        first: &'static str,
        person: Person,
        opens: Option<Arc<Notify>>,
    ) -> Self {
        let store = empty_store().await;
        Self {
            run: RunId::generate(),
            bank: Arc::new(Bank {
                cents,
                opens,
                ..Bank::default()
            }),
            clerk: Arc::new(Clerk {
                first,
                rehearsal: RehearsalModel::new(RehearsalConfig::default()),
                told: Mutex::default(),
            }),
            store,
            person: Arc::new(person),
            log: Arc::default(),
        }
    }

    pub(crate) fn ticket() -> Ticket {
        Ticket {
            order: 17,
            wish: "I want my money back".to_owned(),
        }
    }

    /// An execution that this observer is told of.
    pub(crate) fn watched(&self, observer: Arc<dyn RunObserver>) -> Execution<Desk> {
        let kept = RunStore::new(Arc::clone(&self.store), owner(), "");
        let (desk, settings) = self.equipment(kept, observer);
        Execution::begin(desk, settings, &Self::ticket()).unwrap()
    }

    /// The desk, and what an execution needs beside it.
    pub(crate) fn equipment(
        &self,
        kept: RunStore,
        observer: Arc<dyn RunObserver>,
    ) -> (Arc<Desk>, RunSettings) {
        let model = Arc::clone(&self.clerk) as Arc<_>;
        let mut settings = RunSettings::new(self.run, model, kept);
        settings.reviewer = Arc::clone(&self.person) as Arc<_>;
        settings.observer = observer;
        let desk = Arc::new(Desk {
            shop: Arc::clone(&self.bank) as Arc<_>,
        });
        (desk, settings)
    }

    pub(crate) fn execution(&self) -> Execution<Desk> {
        self.watched(Arc::clone(&self.log) as Arc<_>)
    }

    /// The interrupts of the run in the store.
    pub(crate) async fn interrupts(&self) -> Vec<interrupts::life::Interrupt> {
        let filter = Filter {
            run: Some(self.run),
            ..Filter::default()
        };
        let page = Page {
            after: 0,
            limit: 100,
        };
        let rows = self.store.interrupts(&filter, page).await.unwrap();
        rows.into_iter().map(|(_, row)| row).collect()
    }
}

/// A store in memory, or the same tests over PostgreSQL.
pub(crate) async fn empty_store() -> Arc<dyn Store> {
    let place = match is_asked_for() {
        true => own_store().unwrap(),
        false => "memory:".to_owned(),
    };
    open_any(&place, StoreSettings::default()).await.unwrap()
}

/// The process that executes: one after the other, each has the name of the first.
pub(crate) fn owner() -> OwnerName {
    OwnerName::new("desk").unwrap()
}
