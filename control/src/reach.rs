//! How far a caller reaches: an agent's token is bound to a run, or to an agent with those that it started.
//!
//! What lies beyond does not exist for its holder: it is missing from lists, and requested by name it is refused with
//! the words for what does not exist.

use interrupt_router::{InterruptId, NodeId, RunId};
use interrupts::life::{Interrupt, RunState};
use interrupts::store::{Filter, NodeRow, Page, Run, Store, StoreError, TokenScope};

use crate::address::{FoundAgent, find_agent, first_agent, in_run};
use crate::refusal::{Code, NotDone, Refusal, no_agent, no_interrupt, no_run};
use crate::request::Target;

/// What of the runs a caller sees and may act on: what the token is bound to, or everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reach(pub Option<TokenScope>);

impl Reach {
    /// Everything there is.
    pub const EVERYTHING: Self = Self(None);

    /// Whether it reaches an agent of a run.
    pub fn covers(&self, run: RunId, node: &NodeId) -> bool {
        let scope = self.0.as_ref();
        scope.is_none_or(|scope| scope.covers(run, node))
    }

    /// Refuses an agent beyond it as one that does not exist.
    pub(crate) fn demand(&self, agent: &Target<'_>) -> Result<(), Refusal> {
        if self.covers(agent.run.id, agent.node) {
            return Ok(());
        }
        self.demand_whole_run()?;
        Err(no_agent(agent.node.as_str()))
    }

    /// Whether it reaches something of a run: what belongs to no agent belongs to the whole run.
    pub fn covers_part(&self, run: Option<RunId>, node: Option<&NodeId>) -> bool {
        let Some(scope) = &self.0 else {
            return true;
        };
        let TokenScope::Run {
            run: bound,
            node: own,
        } = scope
        else {
            return false;
        };
        let within = match (own, node) {
            (None, _) => true,
            (Some(own), Some(node)) => node.is_within(own),
            (Some(_), None) => false,
        };
        within && run == Some(*bound)
    }

    /// The run that the caller is bound to, if any.
    pub fn bound_run(&self) -> Option<RunId> {
        self.0.as_ref().and_then(TokenScope::run)
    }

    /// Refuses what concerns a whole run to a caller who is bound to an agent of it.
    ///
    /// # Errors
    ///
    /// [`Code::Forbidden`].
    pub fn demand_whole_run(&self) -> Result<(), Refusal> {
        match &self.0 {
            Some(TokenScope::Run {
                run,
                node: Some(node),
            }) => Err(Refusal::new(
                Code::Forbidden,
                format!("this is of a whole run; your token is bound to the agent {run}/{node}"),
                "use a token that is bound to the run: `irq token create --name NAME --role agent --run RUN`",
            )),
            Some(TokenScope::Run { node: None, .. } | TokenScope::Workflow { .. }) | None => Ok(()),
        }
    }

    /// A run by its id, or by the name that its client gave it.
    ///
    /// # Errors
    ///
    /// [`Code::RunNotFound`], or the store failed.
    ///
    /// # Cancel safety
    ///
    /// Safe, as all of these: it only reads.
    pub async fn run(&self, store: &dyn Store, text: &str) -> Result<Run, NotDone> {
        let found = match (self.bound_run(), text.parse()) {
            (Some(bound), _) => {
                let named =
                    |run: &Run| text == run.id.to_string() || run.alias.as_deref() == Some(text);
                store.run(bound).await.map(|run| run.filter(named))
            }
            (None, Ok(id)) => store.run(id).await,
            (None, Err(_not_an_id)) => store.run_of(text).await,
        };
        let found = found.map_err(NotDone::Store)?;
        found.ok_or_else(|| no_run(text).into())
    }

    /// An agent by its address, or by its id if one live run has it: for a bound caller, only that run is searched.
    ///
    /// # Errors
    ///
    /// [`Code::AgentNotFound`], [`Code::AmbiguousAgent`], [`Code::RunNotFound`], or the store failed.
    pub async fn agent(&self, store: &dyn Store, text: &str) -> Result<FoundAgent, NotDone> {
        let Some(bound) = self.bound_run() else {
            return find_agent(store, text).await;
        };
        let (run, node) = match text.split_once('/') {
            Some((run, node)) if run.starts_with("run_") => (run, Some(node)),
            Some(_) | None if text.starts_with("run_") => (text, None),
            Some(_) | None => ("", Some(text)),
        };
        if !run.is_empty() && run != bound.to_string() {
            return Err(no_run(run).into());
        }
        let run = self.run(store, &bound.to_string()).await?;
        let none = || NotDone::Refused(no_agent(text));
        let found = match node {
            None => first_agent(store, run).await?,
            Some(node) => {
                let node = NodeId::new(node).map_err(|_error| none())?;
                in_run(store, run, &node, text).await?
            }
        };
        let covered = self.covers(bound, &found.node.node);
        covered.then_some(found).ok_or_else(none)
    }

    /// An interrupt by the text of its id.
    ///
    /// # Errors
    ///
    /// [`Code::InterruptNotFound`], or the store failed.
    pub async fn interrupt(&self, store: &dyn Store, text: &str) -> Result<Interrupt, NotDone> {
        let found = match text.parse::<InterruptId>() {
            Ok(id) => store.interrupt(id).await.map_err(NotDone::Store)?,
            Err(_error) => None,
        };
        found
            .filter(|found| self.covers(found.run, &found.node))
            .ok_or_else(|| no_interrupt(text).into())
    }

    /// A part of the runs in some states, or of all of them, in the order of their creation.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn runs(
        &self,
        store: &dyn Store,
        states: &[RunState],
        page: Page,
    ) -> Result<Vec<(u64, Run)>, NotDone> {
        let Some(bound) = self.bound_run() else {
            return store.runs(states, page).await.map_err(NotDone::Store);
        };
        let run = store.run(bound).await.map_err(NotDone::Store)?;
        // It is the only run, so its position in the list is its own.
        let run = run.filter(|run| states.is_empty() || states.contains(&run.state));
        let run = run.filter(|_run| page.after == 0);
        Ok(run.into_iter().map(|run| (1, run)).collect())
    }

    /// A part of the agents of a run, in the order in which they came to be.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn agents(
        &self,
        store: &dyn Store,
        run: RunId,
        page: Page,
    ) -> Result<Vec<(u64, NodeRow)>, NotDone> {
        let read = |page| store.nodes(Some(run), page);
        within(page, read, |row| self.covers(row.run, &row.node)).await
    }

    /// A part of the interrupts that a filter lets through, in the order of their admission.
    ///
    /// # Errors
    ///
    /// [`Code::RunNotFound`] if the filter names a run beyond it, or the store failed.
    pub async fn interrupts(
        &self,
        store: &dyn Store,
        filter: &Filter,
        page: Page,
    ) -> Result<Vec<(u64, Interrupt)>, NotDone> {
        if let (Some(bound), Some(run)) = (self.bound_run(), filter.run)
            && bound != run
        {
            return Err(no_run(&run.to_string()).into());
        }
        let filter = Filter {
            run: self.bound_run().or(filter.run),
            ..filter.clone()
        };
        let read = |page| store.interrupts(&filter, page);
        within(page, read, |one| self.covers(one.run, &one.node)).await
    }
}

/// A part of a list as a bound caller sees it: rows beyond the caller's reach take no place in it.
async fn within<T, F>(
    mut page: Page,
    read: impl Fn(Page) -> F,
    covers: impl Fn(&T) -> bool,
) -> Result<Vec<(u64, T)>, NotDone>
where
    F: Future<Output = Result<Vec<(u64, T)>, StoreError>>,
{
    let mut part = Vec::new();
    loop {
        let rows = read(page).await.map_err(NotDone::Store)?;
        let full = rows.len() == page.limit as usize;
        for (position, row) in rows {
            page.after = position;
            if covers(&row) {
                part.push((position, row));
            }
            if part.len() == page.limit as usize {
                return Ok(part);
            }
        }
        if !full {
            return Ok(part);
        }
    }
}
