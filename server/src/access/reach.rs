//! How far a caller reaches: an agent's token is bound to a run, or to an agent with those that it started.
//!
//! What lies beyond does not exist for its holder: it is missing from lists, and requested by name it is refused with
//! the words for what does not exist.

use control::no_interrupt;
use interrupts::life::{Interrupt, RunState};
use interrupts::store::{Filter, NodeRow, Page, Run, StoreError, TokenScope};
use routing_core::{NodeId, RunId};

use super::caller::Caller;
use crate::acting::interrupt_named;
use crate::address::{Found, find_agent, first_of, in_run, nobody};
use crate::app::{App, no_run};
use crate::feed::Filter as FeedFilter;
use crate::problem::{Code, Problem};

impl Caller {
    /// Whether the caller reaches an agent of a run.
    pub(crate) fn covers(&self, run: RunId, node: &NodeId) -> bool {
        self.scope
            .as_ref()
            .is_none_or(|scope| scope.covers(run, node))
    }

    /// Whether the caller reaches something of a run: what belongs to no agent belongs to the whole run.
    pub(crate) fn covers_part(&self, run: Option<RunId>, node: Option<&NodeId>) -> bool {
        let Some(scope) = &self.scope else {
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
    pub(crate) fn bound_run(&self) -> Option<RunId> {
        self.scope.as_ref().and_then(TokenScope::run)
    }

    /// Refuses what concerns a whole run to a caller who is bound to an agent of it.
    pub(crate) fn demand_whole_run(&self) -> Result<(), Problem> {
        match &self.scope {
            Some(TokenScope::Run {
                run,
                node: Some(node),
            }) => Err(Problem::new(
                Code::Forbidden,
                format!("this is of a whole run; your token is bound to the agent {run}/{node}"),
                "use a token that is bound to the run: `irq token create --name NAME --role agent --run RUN`",
            )),
            Some(TokenScope::Run { node: None, .. } | TokenScope::Workflow { .. }) | None => Ok(()),
        }
    }

    /// A run by its id, or by the name that its client gave it.
    pub(crate) async fn run(&self, app: &App, text: &str) -> Result<Run, Problem> {
        let Some(bound) = self.bound_run() else {
            return app.run_named(text).await;
        };
        let run = app.run(bound).await?;
        let named = text == bound.to_string() || run.alias.as_deref() == Some(text);
        named.then_some(run).ok_or_else(|| no_run(text))
    }

    /// An agent by its address, or by its id: for a bound caller, only that run is searched.
    pub(crate) async fn agent(&self, app: &App, text: &str) -> Result<Found, Problem> {
        let Some(bound) = self.bound_run() else {
            return find_agent(app, text).await;
        };
        let (run, node) = match text.split_once('/') {
            Some((run, node)) if run.starts_with("run_") => (run, Some(node)),
            Some(_) | None if text.starts_with("run_") => (text, None),
            Some(_) | None => ("", Some(text)),
        };
        if !run.is_empty() && run != bound.to_string() {
            return Err(no_run(run));
        }
        let run = app.run(bound).await?;
        let found = match node {
            None => first_of(app, run).await?,
            Some(node) => {
                let node = NodeId::new(node).map_err(|_error| nobody(text))?;
                in_run(app, run, &node, text).await?
            }
        };
        let covered = self.covers(bound, &found.node.node);
        covered.then_some(found).ok_or_else(|| nobody(text))
    }

    /// An interrupt by its id.
    pub(crate) async fn interrupt(&self, app: &App, text: &str) -> Result<Interrupt, Problem> {
        let interrupt = interrupt_named(app, text).await?;
        let covered = self.covers(interrupt.run, &interrupt.node);
        covered
            .then_some(interrupt)
            .ok_or_else(|| no_interrupt(text).into())
    }

    /// A part of the runs in some states, in the order of their creation.
    pub(crate) async fn runs(
        &self,
        app: &App,
        states: &[RunState],
        page: Page,
    ) -> Result<Vec<(u64, Run)>, Problem> {
        let Some(bound) = self.bound_run() else {
            let rows = app.store().runs(states, page).await;
            return Ok(rows?);
        };
        let run = app.store().run(bound).await?;
        // It is the only run, so its position in the list is its own.
        let run = run.filter(|run| states.is_empty() || states.contains(&run.state));
        let run = run.filter(|_run| page.after == 0);
        Ok(run.into_iter().map(|run| (1, run)).collect())
    }

    /// A part of the agents of a run, in the order in which they came to be.
    pub(crate) async fn nodes(
        &self,
        app: &App,
        run: RunId,
        page: Page,
    ) -> Result<Vec<(u64, NodeRow)>, Problem> {
        let read = |page| app.store().nodes(Some(run), page);
        within(page, read, |row| self.covers(row.run, &row.node)).await
    }

    /// A part of the interrupts that a filter lets through, in the order of their admission.
    pub(crate) async fn interrupts(
        &self,
        app: &App,
        filter: &Filter,
        page: Page,
    ) -> Result<Vec<(u64, Interrupt)>, Problem> {
        let filter = Filter {
            run: self.bound_run().or(filter.run),
            ..filter.clone()
        };
        let read = |page| app.store().interrupts(&filter, page);
        within(page, read, |one| self.covers(one.run, &one.node)).await
    }

    /// The events of the feed that the caller gets: those requested, as far as the caller reaches.
    pub(crate) async fn listens(
        &self,
        app: &App,
        filter: FeedFilter,
        run: Option<&str>,
        agent: Option<&str>,
    ) -> Result<FeedFilter, Problem> {
        let mut filter = filter;
        if let Some(TokenScope::Run { run, node }) = &self.scope {
            filter.run = Some(*run);
            filter.node.clone_from(node);
        }
        if let Some(run) = run {
            filter.run = Some(self.run(app, run).await?.id);
        }
        if let Some(agent) = agent {
            let found = self.agent(app, agent).await?;
            filter.run = Some(found.run.id);
            filter.node = Some(found.node.node);
        }
        Ok(filter)
    }
}

/// A part of a list as a bound caller sees it: rows beyond the caller's reach take no place in it.
async fn within<T, F>(
    mut page: Page,
    read: impl Fn(Page) -> F,
    covers: impl Fn(&T) -> bool,
) -> Result<Vec<(u64, T)>, Problem>
where
    F: Future<Output = Result<Vec<(u64, T)>, StoreError>>,
{
    let mut part = Vec::new();
    loop {
        let rows = read(page).await?;
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
