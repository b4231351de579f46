//! A program that we talk with over its standard input and output, and that ends when we stop talking with it.

use std::fmt::{self, Debug};
use std::os::fd::OwnedFd;
use std::process::Stdio;

use interrupt_router::{Outcome, StopScope};
use tokio::net::UnixStream;

use super::run::{Running, order};
use super::{ContainedCommand, ContainedEnd, Containment, ContainmentError};
use crate::keeper::Input;
use crate::tool::ProgressSink;

/// A program that we talk with. Dropping it ends the program, and everything that it started.
#[must_use = "the program ends as soon as this is dropped"]
pub struct ContainedTalk {
    running: Running,
}

impl Containment {
    /// Starts a program whose standard input and output are the two directions of the socket that is returned. Its
    /// input ends when the socket is shut down for writing; its standard error is kept as with [`Containment::run`].
    ///
    /// # Errors
    ///
    /// [`ContainmentError::Keeper`] if no keeper could be started. If the program itself cannot be run,
    /// [`ContainedTalk::until_the_end`] says so.
    ///
    /// # Cancel safety
    ///
    /// Safe: dropped, the program ends, if it began at all.
    pub async fn talk(
        &self,
        command: ContainedCommand,
    ) -> Result<(ContainedTalk, UnixStream), ContainmentError> {
        let (ours, theirs) =
            std::os::unix::net::UnixStream::pair().map_err(ContainmentError::Keeper)?;
        ours.set_nonblocking(true)
            .map_err(ContainmentError::Keeper)?;
        let order = order(self.config(), command, Input::Output);
        let output = Stdio::from(OwnedFd::from(theirs));
        let running = Running::start(self.config(), &order, output).await?;
        let socket = UnixStream::from_std(ours).map_err(ContainmentError::Keeper)?;
        Ok((ContainedTalk { running }, socket))
    }
}

impl ContainedTalk {
    /// Waits until nothing of the program is alive, and ends it when `scope` is stopped immediately, as
    /// [`Containment::run`] does. Its standard output goes to the owner of the socket, and is not in the end that is
    /// returned.
    ///
    /// # Errors
    ///
    /// [`ContainmentError`], as with [`Containment::run`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the program, and whether that was verified is lost. Stop `scope` instead.
    pub async fn until_the_end(
        self,
        scope: &StopScope,
        progress: &dyn ProgressSink,
    ) -> Result<Outcome<ContainedEnd, ContainedEnd>, ContainmentError> {
        self.running.until_the_end(scope, progress).await
    }
}

impl Debug for ContainedTalk {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ContainedTalk")
            .finish_non_exhaustive()
    }
}
