//! A server somewhere else.

mod failure;

use std::time::Duration;

use async_trait::async_trait;
use client::{Client, ClientSettings};
use control::{Ask, Command, NewDecision, no_plan};
use interrupt_router::InterruptId;
use interrupts::life::Interrupt;
use interrupts::store::Run;
use planning::{PlanChangeRequest, StoredPlan};

use super::{Backend, Place, RefusedDecisions, ServerLocation, Verified};
use crate::authority;
use crate::exit::{Exit, Failure};
use crate::plan;
use crate::refused::no_interrupt;

use failure::{of_address, of_authorities, of_problem, of_token};

/// How often to ask a server while waiting for something.
const PACE: Duration = Duration::from_millis(250);

/// A client of the server at a place. Nothing is sent yet.
///
/// # Errors
///
/// If the address, the token's file or that of the authorities cannot be read.
pub(crate) fn client_at(place: &ServerLocation) -> Result<Client, Failure> {
    let address = client::Address::parse(&place.url).map_err(|error| of_address(&error))?;
    let mut settings = ClientSettings::new(address);
    if let Some(file) = &place.token_file {
        let token = client::Token::read(file).map_err(|error| of_token(file, &error))?;
        settings = settings.token(token);
    }
    if let Some(file) = &place.ca_certificate {
        settings = settings.authorities(authority::read(file)?);
    }
    let place = place.ca_certificate.as_deref();
    settings
        .build()
        .map_err(|error| of_authorities(place, error))
}

/// A server, as what commands work on.
pub(crate) struct Remote {
    client: Client,
}

impl Remote {
    /// The server at a place. Nothing is asked of it yet.
    ///
    /// # Errors
    ///
    /// If the address or the token's file cannot be read.
    pub(crate) fn at(place: &ServerLocation) -> Result<Self, Failure> {
        client_at(place).map(Self::over)
    }

    /// The server that a client speaks to.
    pub(crate) const fn over(client: Client) -> Self {
        Self { client }
    }

    /// Answers a question about what is stored.
    pub(super) async fn ask<A: Ask>(&self, ask: A) -> Result<A::Answer, Failure> {
        Ok(self.client.ask(ask).await?)
    }

    /// Carries out a command.
    pub(super) async fn carry_out<C: Command>(&self, command: C) -> Result<C::Done, Failure> {
        Ok(self.client.carry_out(command).await?)
    }

    /// An interrupt that was just changed, in its current state.
    async fn now(&self, id: InterruptId) -> Result<Interrupt, Failure> {
        let at: &dyn Backend = self;
        at.interrupt(id).await?.ok_or_else(|| no_interrupt(id))
    }
}

#[async_trait(?Send)]
impl Backend for Remote {
    fn place(&self) -> Place<'_> {
        Place::Server(self)
    }

    fn pace(&self) -> Duration {
        PACE
    }

    fn page(&self) -> Option<String> {
        Some(self.client.address().to_string())
    }

    async fn sweep(&self) -> Result<(), Failure> {
        // The server does it.
        Ok(())
    }

    async fn verify_audit(&self) -> Result<Verified, Failure> {
        match self.client.verify_audit().await.map_err(Failure::from) {
            Ok(found) => Ok(Verified::Whole(found)),
            // The one refusal of a request without parameters: the audit is broken.
            Err(failure) if failure.exit == Exit::Conflict => {
                Ok(Verified::Broken(failure.to_string()))
            }
            Err(failure) => Err(failure),
        }
    }

    fn has_appeared(&self) -> bool {
        // One that is not there is an error each time, and is asked again each time.
        false
    }

    async fn change_plan(
        &self,
        run: &Run,
        wish: PlanChangeRequest,
        if_version: Option<usize>,
    ) -> Result<StoredPlan, Failure> {
        let saved = self.client.change_plan(run.id, wish, if_version).await?;
        let plan = plan::saved_at(self, saved).await?;
        Ok(plan.ok_or_else(|| no_plan(run.id))?)
    }

    async fn decide_together(
        &self,
        decisions: Vec<(InterruptId, NewDecision)>,
    ) -> Result<Result<Vec<Interrupt>, RefusedDecisions>, Failure> {
        if let Some(refused) = self.client.decide_together(&decisions).await? {
            let place = |id: &str| {
                decisions
                    .iter()
                    .position(|(interrupt, _)| interrupt.to_string() == id)
            };
            let told = refused
                .into_iter()
                .map(|(id, problem)| (place(&id).unwrap_or_default(), of_problem(&problem)));
            return Ok(Err(told.collect()));
        }
        let mut decided = Vec::with_capacity(decisions.len());
        for (interrupt, _decision) in decisions {
            decided.push(self.now(interrupt).await?);
        }
        Ok(Ok(decided))
    }

    async fn see_to(&self, _stop: &Interrupt) -> Result<Option<Interrupt>, Failure> {
        // The server does.
        Ok(None)
    }

    async fn my_name(&self) -> Result<String, Failure> {
        Ok(self.client.whoami().await?.name)
    }
}
