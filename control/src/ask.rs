//! What can be asked for as it is stored: rows of the store, and what is read from several of them.
//!
//! A question is a value. Beside the store it is answered at once; through a server it goes there as its name and the rest
//! of it as JSON, and the answer comes back in the same form.

use std::fmt::{self, Debug, Formatter};

use interrupt_router::{InterruptId, NodeId, RuleId, RunId};
use interrupts::IdempotencyKey;
use interrupts::catalogue::{Catalogue, CatalogueBook, SharedCatalogue};
use interrupts::life::{Interrupt, RunState};
use interrupts::rules::StandingRule;
use interrupts::store::{
    AuditRow, Checkpoint, Filter, JournalEntry, NodeRow, Page, Run, StandingRules, Store,
    StoreError, StoredMessage,
};
use jiff::Timestamp;
use planning::PlanReading;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::progress::RunProgress;
use crate::reach::Reach;
use crate::refusal::{Code, NotDone, Refusal, no_run, plan_not_read};
use crate::right::Right;
use crate::token::TokenView;

/// Where questions are answered: a store, the catalogues that its program has read, and how far the caller reaches.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// The store.
    pub store: &'a dyn Store,
    /// The catalogues.
    pub catalogues: &'a CatalogueBook,
    /// Whether a process executes a run now.
    pub is_executed: &'a (dyn Fn(&Run) -> bool + Sync),
    /// How far the caller reaches.
    pub reach: &'a Reach,
    /// When it is asked.
    pub now: Timestamp,
}

impl Debug for Reading<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let mut fields = formatter.debug_struct("Reading");
        fields.field("reach", &self.reach).finish_non_exhaustive()
    }
}

/// A question that only reads, and may be asked again at will.
pub trait Ask: Serialize + DeserializeOwned + Send + Sync {
    /// What is answered. What there is not is null, and so is what lies beyond the caller's reach.
    type Answer: Serialize + DeserializeOwned + Send;

    /// What is known of it without reading the rest.
    const QUESTION: Question;

    /// Answers it.
    ///
    /// # Errors
    ///
    /// The store failed, or the caller reaches only a part of what this needs whole.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    fn answer(
        &self,
        from: &Reading<'_>,
    ) -> impl Future<Output = Result<Self::Answer, NotDone>> + Send;
}

/// What is known of a question without reading the rest of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// Its name.
    pub name: &'static str,
    /// What the caller needs for it.
    pub right: Right,
    /// Whether it asks for a part of a list.
    pub is_list: bool,
}

macro_rules! questions {
    ($(
        $(#[$doc:meta])*
        $name:ident($path:literal, $right:ident $(, $page:ident)?) {
            $($(#[$field_doc:meta])* $field:ident: $type:ty,)*
        } -> $answer:ty = |$of:ident, $from:ident| $body:expr;
    )*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
            #[serde(deny_unknown_fields)]
            pub struct $name {
                $($(#[$field_doc])* pub $field: $type,)*
            }

            impl Ask for $name {
                type Answer = $answer;

                const QUESTION: Question = Question {
                    name: $path,
                    right: Right::$right,
                    is_list: !<[&str]>::is_empty(&[$(stringify!($page))?]),
                };

                async fn answer(&self, $from: &Reading<'_>) -> Result<$answer, NotDone> {
                    let $of = self;
                    $(fair($of.$page)?;)?
                    $body
                }
            }
        )*

        /// All questions.
        pub const QUESTIONS: &[Question] = &[$($name::QUESTION),*];

        /// Answers the question of this name, the rest of which is JSON, in JSON.
        ///
        /// # Errors
        ///
        /// As of [`Ask::answer`]; [`Code::Parameter`] if it is no question.
        ///
        /// # Cancel safety
        ///
        /// Safe: it only reads.
        pub async fn answered(name: &str, of: &str, from: &Reading<'_>) -> Result<Box<RawValue>, NotDone> {
            match name {
                $($path => in_json(&read::<$name>(of)?.answer(from).await?),)*
                _ => Err(misread("path", "there is no such question").into()),
            }
        }
    };
}

questions! {
    /// A run, by its id or its alias.
    AskRun("run", Read) {
        /// Which.
        name: String,
    } -> Option<Run> = |of, from| found(from.reach.run(from.store, &of.name).await);

    /// Runs in the order of their creation, with their positions.
    AskRuns("runs", Read, page) {
        /// Only those in these states, unless there are none.
        states: Vec<RunState>,
        /// Which part.
        page: Page,
    } -> Vec<(u64, Run)> = |of, from| from.reach.runs(from.store, &of.states, of.page).await;

    /// How far a run has come.
    AskProgress("progress", Read) {
        /// The run.
        run: RunId,
    } -> Option<RunProgress> = |of, from| {
        from.whole(of.run)?;
        stored(RunProgress::of(from.store, of.run, from.is_executed).await)
    };

    /// The plan of a run, with everything that is shown of it; nothing if it has saved none yet.
    AskPlan("plan", Read) {
        /// The run.
        run: RunId,
    } -> Option<PlanReading> = |of, from| {
        from.whole(of.run)?;
        match stored(from.store.run(of.run).await)? {
            Some(run) => PlanReading::of(from.store, &run).await.map_err(plan_not_read),
            None => Ok(None),
        }
    };

    /// The catalogue of kinds and routes that a run follows.
    AskCatalogueOfRun("catalogue_of_run", Read) {
        /// Its id or its alias.
        name: String,
    } -> Option<Catalogue> = |of, from| {
        match found(from.reach.run(from.store, &of.name).await)? {
            Some(run) => shared(from.catalogues.of_run(from.store, &run).await),
            None => Ok(None),
        }
    };

    /// An agent.
    AskAgent("agent", Read) {
        /// Its run.
        run: RunId,
        /// Its id.
        node: NodeId,
    } -> Option<NodeRow> = |of, from| {
        let row = stored(from.store.node(of.run, &of.node).await)?;
        Ok(row.filter(|row| from.reach.covers(row.run, &row.node)))
    };

    /// The agents of a run, in the order in which they came to be, with their positions.
    AskAgents("agents", Read, page) {
        /// The run.
        run: RunId,
        /// Which part.
        page: Page,
    } -> Vec<(u64, NodeRow)> = |of, from| from.reach.agents(from.store, of.run, of.page).await;

    /// The checkpoints that a run can continue from.
    AskCheckpoints("checkpoints", Read, page) {
        /// The run.
        run: RunId,
        /// Which part.
        page: Page,
    } -> Vec<Checkpoint> = |of, from| {
        from.whole(of.run)?;
        stored(from.store.checkpoints(of.run, of.page).await)
    };

    /// What a run did, and the results.
    AskJournal("journal", Read, page) {
        /// The run.
        run: RunId,
        /// Which part.
        page: Page,
    } -> Vec<JournalEntry> = |of, from| {
        from.whole(of.run)?;
        stored(from.store.journal(of.run, of.page).await)
    };

    /// The messages to the agents of a run.
    AskMessages("messages", Read, page) {
        /// The run.
        run: RunId,
        /// Which part.
        page: Page,
    } -> Vec<StoredMessage> = |of, from| {
        from.whole(of.run)?;
        stored(from.store.messages(of.run, of.page).await)
    };

    /// An interrupt.
    AskInterrupt("interrupt", Read) {
        /// Its id.
        id: InterruptId,
    } -> Option<Interrupt> = |of, from| {
        let found = stored(from.store.interrupt(of.id).await)?;
        Ok(found.filter(|found| from.reach.covers(found.run, &found.node)))
    };

    /// The interrupt that a request made.
    AskInterruptOf("interrupt_of", Read) {
        /// The key of the request.
        key: IdempotencyKey,
    } -> Option<Interrupt> = |of, from| {
        let found = stored(from.store.interrupt_of(&of.key).await)?;
        Ok(found.filter(|found| from.reach.covers(found.run, &found.node)))
    };

    /// Interrupts in the order of their admission, with their positions.
    AskInterrupts("interrupts", Read, page) {
        /// Which.
        filter: Filter,
        /// Which part.
        page: Page,
    } -> Vec<(u64, Interrupt)> = |of, from| {
        from.reach.interrupts(from.store, &of.filter, of.page).await
    };

    /// The catalogue that an interrupt was raised under.
    AskCatalogueOfInterrupt("catalogue_of_interrupt", Read) {
        /// Its id.
        id: InterruptId,
    } -> Option<Catalogue> = |of, from| {
        match (AskInterrupt { id: of.id }).answer(from).await? {
            Some(interrupt) => shared(from.catalogues.of_interrupt(from.store, &interrupt).await),
            None => Ok(None),
        }
    };

    /// A standing rule.
    AskRule("rule", Survey) {
        /// Its id.
        id: RuleId,
    } -> Option<StandingRule> = |of, from| stored(from.store.rule(of.id).await);

    /// The standing rules in the order in which they were made, with their positions.
    AskRules("rules", Survey, page) {
        /// Which part.
        page: Page,
    } -> Vec<(u64, StandingRule)> = |of, from| {
        stored(StandingRules::rules(from.store, of.page).await)
    };

    /// The tokens, in the order in which they were made.
    AskTokens("tokens", Operate) {} -> Vec<TokenView> = |_of, from| stored(TokenView::all(from.store, from.now).await);

    /// The audit, each row with the text that its digest covers.
    AskAudit("audit", Survey, page) {
        /// Which part.
        page: Page,
    } -> Vec<AuditRow> = |of, from| stored(from.store.audit(of.page).await);
}

impl Reading<'_> {
    /// Refuses a run of which the caller reaches nothing or a part.
    fn whole(&self, run: RunId) -> Result<(), Refusal> {
        if self.reach.bound_run().is_some_and(|bound| bound != run) {
            return Err(no_run(&run.to_string()));
        }
        self.reach.demand_whole_run()
    }
}

fn stored<T>(read: Result<T, StoreError>) -> Result<T, NotDone> {
    read.map_err(NotDone::Store)
}

fn shared(read: Result<Option<SharedCatalogue>, StoreError>) -> Result<Option<Catalogue>, NotDone> {
    Ok(stored(read)?.map(|catalogue| Catalogue::clone(&catalogue)))
}

/// Nothing, where it is refused because it is not there.
fn found<T>(read: Result<T, NotDone>) -> Result<Option<T>, NotDone> {
    match read {
        Err(NotDone::Refused(refusal)) if refusal.code().status() == 404 => Ok(None),
        read => read.map(Some),
    }
}

/// The most rows of a part of a list.
pub const LONGEST_PAGE: u32 = 500;

fn fair(page: Page) -> Result<(), Refusal> {
    if page.after > i64::MAX as u64 {
        return Err(misread("of", "no list goes that far"));
    }
    if !(1..=LONGEST_PAGE).contains(&page.limit) {
        return Err(misread(
            "of",
            &format!("1 to {LONGEST_PAGE} rows are possible"),
        ));
    }
    Ok(())
}

pub(crate) fn misread(parameter: &str, reason: &str) -> Refusal {
    let text = format!("{parameter}: {reason}");
    let hint = "use the same version of `irq` as the server";
    Refusal::new(Code::Parameter, text, hint).with("parameter", parameter)
}

fn read<A: Ask>(of: &str) -> Result<A, Refusal> {
    serde_json::from_str(of).map_err(|error| misread("of", &error.to_string()))
}

pub(crate) fn in_json(answer: &impl Serialize) -> Result<Box<RawValue>, NotDone> {
    to_raw_value(answer).map_err(|error| NotDone::Failed(error.into()))
}
