//! What wraps a model does the same for models that answer with JSON as for models that talk.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use interrupt_router::model::{LanguageModel, Message, ModelCall, PartialReply};
use interrupt_router::{Outcome, StopReason, StopScope};
use llm::{
    Charge, Charged, ChatCall, ChatModel, ChatUsage, Fallback, ModelRegistry, Reserved,
    RetryPolicy, Retrying, TokenCount,
};
use tests::providers::{Behaviour, ProviderDouble, WireForm};

use crate::calls::{ANSWER, Ending, Pieces, call, double, model, reason, stop_now};
use crate::chat::opening;

fn json_call(model: &dyn LanguageModel) -> ModelCall {
    call(model.dialect())
}

fn talk() -> ChatCall {
    ChatCall::new(vec![Message::user("Hello")])
}

fn interrupted(ending: Ending) -> (StopReason, PartialReply) {
    match ending.unwrap() {
        Outcome::Interrupted { reason, partial } => (reason, partial),
        Outcome::Completed(reply) => panic!("{reply:?}"),
    }
}

async fn received(double: &ProviderDouble, count: usize) {
    while double.received_count() < count {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_chain_asks_the_next_model_and_an_interrupt_ends_it_whole() {
    let form = WireForm::OpenAi;
    let failing = double(form, [Behaviour::BreaksAfter(opening(form) + 1)]).await;
    let stalling = double(form, [Behaviour::StallsAfter(opening(form) + 2)]).await;
    let never = double(form, [Behaviour::Answers]).await;
    let chain = Fallback::new_language(
        Arc::new(model(&failing, form)),
        vec![
            Arc::new(model(&stalling, form)),
            Arc::new(model(&never, form)),
        ],
    )
    .unwrap();
    let pieces = Pieces::new();
    let call = ModelCall {
        chunks: Some(pieces.clone()),
        ..json_call(&chain)
    };
    let scope = StopScope::new();
    let (ending, ()) = tokio::join!(chain.call(call, &scope), async {
        pieces.reached(3).await;
        stop_now(&scope);
    });
    assert_eq!(interrupted(ending).1.text, ANSWER[..10]);
    assert!(
        pieces
            .text()
            .ends_with(&format!("<restarted>{}", &ANSWER[..10]))
    );
    assert_eq!(never.received_count(), 0);
}

#[tokio::test]
async fn a_chain_of_models_that_take_other_schemas_is_refused() {
    let one = double(WireForm::OpenAi, [Behaviour::Answers]).await;
    let first: Arc<dyn LanguageModel> = Arc::new(model(&one, WireForm::OpenAi));
    let other: Arc<dyn LanguageModel> = Arc::new(model(&one, WireForm::Gemini));
    let error = Fallback::new_language(Arc::clone(&first), vec![first, other]).unwrap_err();
    assert_eq!(error.other, "gemini:some-model");
}

#[tokio::test]
async fn the_registry_interrupts_the_calls_of_all_its_models() {
    let form = WireForm::Anthropic;
    let double = double(form, [Behaviour::Endless]).await;
    let registry = ModelRegistry::new();
    let main = registry.register("main", Arc::new(model(&double, form)));
    let spare = registry.register("spare", Arc::new(model(&double, form)));
    assert_eq!(registry.names(), ["main", "spare"]);
    assert!(registry.model("spare").is_some());
    let scope = StopScope::new();
    let (first, second, ()) = tokio::join!(
        main.chat(talk(), &scope),
        spare.chat(talk(), &scope),
        async {
            received(&double, 2).await;
            registry.interrupt(reason());
        }
    );
    assert!(matches!(first.unwrap(), Outcome::Interrupted { .. }));
    assert!(matches!(second.unwrap(), Outcome::Interrupted { .. }));
    assert!(!scope.is_stopping(), "the caller's scope is its own");
    double.hang_ups().reached(2).await;
}

/// Keeps what was reserved and charged. Refuses from some call on.
#[derive(Clone, Default)]
struct Ledger {
    entries: Arc<Mutex<Vec<Entry>>>,
    allowed: usize,
}

#[derive(Debug, Clone, PartialEq)]
enum Entry {
    Reserved(String, u64),
    Settled(ChatUsage),
    Forfeited,
}

struct Hold {
    ledger: Ledger,
    is_open: bool,
}

#[async_trait]
impl Charge for Ledger {
    async fn reserve(&self, model: &str, input: u64) -> Result<Box<dyn Reserved>, StopReason> {
        let mut entries = self.entries.lock().unwrap();
        let reserved = entries
            .iter()
            .filter(|entry| matches!(entry, Entry::Reserved(..)));
        if reserved.count() == self.allowed {
            return Err(StopReason {
                message: "the budget is spent".to_owned(),
                ..reason()
            });
        }
        entries.push(Entry::Reserved(model.to_owned(), input));
        Ok(Box::new(Hold {
            ledger: self.clone(),
            is_open: true,
        }))
    }
}

impl Reserved for Hold {
    fn settle(mut self: Box<Self>, usage: ChatUsage) {
        self.is_open = false;
        self.ledger
            .entries
            .lock()
            .unwrap()
            .push(Entry::Settled(usage));
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if self.is_open {
            self.ledger.entries.lock().unwrap().push(Entry::Forfeited);
        }
    }
}

impl Ledger {
    fn allowing(allowed: usize) -> Self {
        Self {
            allowed,
            ..Self::default()
        }
    }

    fn settled(&self) -> Vec<ChatUsage> {
        let entries = self.entries.lock().unwrap();
        let usages = entries.iter().filter_map(|entry| match entry {
            Entry::Settled(usage) => Some(*usage),
            Entry::Reserved(..) | Entry::Forfeited => None,
        });
        usages.collect()
    }
}

#[tokio::test]
async fn each_call_is_reserved_for_and_settled_with_what_is_known() {
    let form = WireForm::OpenAi;
    let double = double(
        form,
        [
            Behaviour::Answers,
            Behaviour::refuses(429),
            Behaviour::BreaksAfter(2),
            Behaviour::StallsAfter(opening(form) + 2),
        ],
    )
    .await;
    let ledger = Ledger::allowing(4);
    let charged = Charged::new(model(&double, form), ledger.clone());
    let scope = StopScope::new();
    charged.chat(talk(), &scope).await.unwrap();
    charged.call(json_call(&charged), &scope).await.unwrap_err();
    charged.chat(talk(), &scope).await.unwrap_err();
    let pieces = Pieces::new();
    let last = ChatCall {
        chunks: Some(pieces.clone()),
        ..talk()
    };
    let (ended, ()) = tokio::join!(charged.chat(last, &scope), async {
        pieces.reached(2).await;
        stop_now(&scope);
    });
    ended.unwrap();
    let settled = ledger.settled();
    assert_eq!(settled.len(), 4);
    assert_eq!(settled[0].output, TokenCount::Reported(7));
    assert_eq!(settled[1], ChatUsage::NOTHING_SENT);
    assert_eq!(settled[2].output, TokenCount::Unknown);
    assert!(matches!(
        settled[3].output,
        TokenCount::Estimated { tokens: 3, .. }
    ));
    let entries = ledger.entries.lock().unwrap();
    assert_eq!(
        entries[0],
        Entry::Reserved("openai:some-model".to_owned(), 2)
    );
}

#[tokio::test]
async fn each_try_is_paid_for_and_what_is_not_paid_for_is_not_made() {
    let form = WireForm::OpenAi;
    let double = double(form, [Behaviour::refuses(500)]).await;
    let ledger = Ledger::allowing(2);
    let policy = RetryPolicy {
        tries: 5,
        first_wait: Duration::from_millis(1),
        ..RetryPolicy::default()
    };
    let model = Retrying::new(Charged::new(model(&double, form), ledger.clone()), policy);
    let ending = model.call(json_call(&model), &StopScope::new()).await;
    assert_eq!(interrupted(ending).0.message, "the budget is spent");
    assert_eq!(double.received_count(), 2);
    assert_eq!(ledger.settled().len(), 2);
}

#[tokio::test]
async fn a_dropped_call_forfeits_what_was_reserved() {
    let form = WireForm::OpenAi;
    let double = double(form, [Behaviour::StallsBeforeHeaders]).await;
    let ledger = Ledger::allowing(1);
    let charged = Charged::new(model(&double, form), ledger.clone());
    let scope = StopScope::new();
    tokio::select! {
        ended = charged.chat(talk(), &scope) => panic!("{ended:?}"),
        () = received(&double, 1) => {}
    }
    assert_eq!(
        ledger.entries.lock().unwrap().last(),
        Some(&Entry::Forfeited)
    );
}
