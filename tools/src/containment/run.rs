//! One program under one keeper, from its start to the death of all that it started.

use std::future;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use interrupt_router::{Outcome, StopReason, StopScope};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines,
};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::time::{Instant, sleep, timeout_at};

use super::{
    BoundedOutput, ContainedCommand, ContainedEnd, Containment, ContainmentConfig, ContainmentError,
};
use crate::keeper::{
    Cgroup, FromKeeper, Input, KEEPER, KeeperEnd, Order, Process, ToKeeper, ToolProcesses,
    is_stopped, write_line,
};
use crate::tool::{Progress, ProgressSink, Stream};
use journal::tool::{ContainmentReport, Mechanism};

/// How long the last output may take to arrive once everything that could write is dead.
const DRAINED_WITHIN: Duration = Duration::from_millis(500);

/// How far a keeper may exceed its deadlines before it is killed itself.
const KEEPER_SLACK: Duration = Duration::from_secs(2);

/// How often it is looked, once the grace is over, whether the tool has stopped its keeper.
const LOOK: Duration = Duration::from_millis(50);

/// How many looks in a row must find nothing alive: a process that forks may slip through one.
const SILENT_LOOKS: usize = 2;

/// The most that is read of an output at once.
const PIECE: usize = 64 * 1024;

impl Containment {
    /// Runs a program until nothing of it is alive. A stop of `scope`, where it is immediate, ends it: its processes
    /// are asked to end, killed after the grace, and their death is verified before this returns.
    ///
    /// What a program leaves running when its first process ends is ended too. One that ended by itself before the
    /// stop reached it has completed.
    ///
    /// # Errors
    ///
    /// [`ContainmentError`]: nothing of the program runs, unless the error says that something may.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the program: its keeper sees the socket close, and does the same as on a stop. Whether
    /// that was verified is lost, and so is the output. Stop `scope` instead.
    pub async fn run(
        &self,
        command: ContainedCommand,
        scope: &StopScope,
        progress: &dyn ProgressSink,
    ) -> Result<Outcome<ContainedEnd, ContainedEnd>, ContainmentError> {
        let order = order(self.config(), command, Input::Nothing);
        let running = Running::start(self.config(), &order, Stdio::piped()).await?;
        running.until_the_end(scope, progress).await
    }
}

/// The order to run a command.
pub(super) fn order(config: &ContainmentConfig, command: ContainedCommand, input: Input) -> Order {
    let variables = command.environment.variables();
    Order {
        environment: variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        program: command.program,
        arguments: command.arguments,
        directory: command.directory,
        input,
        wanted: config.wanted,
        grace: config.grace,
        verify_within: config.verify_within,
    }
}

/// What the keeper said of what it started.
#[derive(Debug)]
struct Started {
    mechanism: Mechanism,
    group: Option<PathBuf>,
}

pub(super) struct Running {
    config: ContainmentConfig,
    keeper: Child,
    orders: OwnedWriteHalf,
    reports: Lines<BufReader<OwnedReadHalf>>,
    stdout: OutputReader<ChildStdout>,
    stderr: OutputReader<ChildStderr>,
    started: Option<Started>,
    asked: Option<(StopReason, Instant)>,
}

/// What happened next.
enum Happened {
    Stop(StopReason),
    Report(FromKeeper),
    KeeperGone,
    KeeperLate,
}

impl Running {
    /// Starts a keeper with this order. Its output, and the program's, goes where is said.
    pub(super) async fn start(
        config: &ContainmentConfig,
        order: &Order,
        output: Stdio,
    ) -> Result<Self, ContainmentError> {
        let (ours, theirs) =
            std::os::unix::net::UnixStream::pair().map_err(ContainmentError::Keeper)?;
        ours.set_nonblocking(true)
            .map_err(ContainmentError::Keeper)?;
        let mut keeper = Command::new(&config.keeper)
            .arg0("irq-tool-keeper")
            .arg(KEEPER)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(output)
            .stderr(Stdio::piped())
            // Out of reach of what a terminal sends to the group in its foreground.
            .process_group(0)
            .spawn()
            .map_err(ContainmentError::Keeper)?;
        let socket = UnixStream::from_std(ours).map_err(ContainmentError::Keeper)?;
        let (reports, orders) = socket.into_split();
        let mut running = Self {
            config: config.clone(),
            stdout: OutputReader::new(keeper.stdout.take(), Stream::Stdout, config.kept_output),
            stderr: OutputReader::new(keeper.stderr.take(), Stream::Stderr, config.kept_output),
            keeper,
            orders,
            reports: BufReader::new(reports).lines(),
            started: None,
            asked: None,
        };
        running
            .order_keeper(&ToKeeper::Run(order.clone()))
            .await
            .map_err(ContainmentError::Keeper)?;
        Ok(running)
    }

    async fn order_keeper(&mut self, order: &ToKeeper) -> std::io::Result<()> {
        let mut line = Vec::new();
        write_line(&mut line, order)?;
        self.orders.write_all(&line).await
    }

    pub(super) async fn until_the_end(
        mut self,
        scope: &StopScope,
        progress: &dyn ProgressSink,
    ) -> Result<Outcome<ContainedEnd, ContainedEnd>, ContainmentError> {
        loop {
            match self.next(scope, progress).await {
                Happened::Stop(reason) => {
                    self.asked = Some((reason, Instant::now()));
                    // If the keeper is gone, its missing report shows that.
                    let _gone = self.order_keeper(&ToKeeper::Stop).await;
                    self.wake_keeper();
                }
                Happened::Report(FromKeeper::Started { mechanism, group }) => {
                    self.started = Some(Started { mechanism, group });
                }
                Happened::Report(FromKeeper::Refused { reason }) => {
                    return Err(ContainmentError::Refused { reason });
                }
                Happened::Report(FromKeeper::Ended(end)) => {
                    return Ok(self.ended(end, progress).await);
                }
                Happened::KeeperGone | Happened::KeeperLate => {
                    return self.without_keeper(progress).await;
                }
            }
        }
    }

    async fn next(&mut self, scope: &StopScope, progress: &dyn ProgressSink) -> Happened {
        let late_at = self.asked.as_ref().map(|(_reason, at)| {
            *at + self.config.grace + 2 * self.config.verify_within + KEEPER_SLACK
        });
        let grace_over = self.asked.as_ref();
        let mut look_at = grace_over.map(|(_reason, at)| *at + self.config.grace + LOOK);
        let asked = self.asked.is_some();
        let keeper = self.keeper_pid();
        let (reports, stdout, stderr) = (&mut self.reports, &mut self.stdout, &mut self.stderr);
        loop {
            tokio::select! {
                // The end is said after the stop was heard, and both before more of the output.
                biased;
                reason = scope.stopped_now(), if !asked => return Happened::Stop(reason),
                line = reports.next_line() => {
                    let report = line.ok().flatten().and_then(|line| serde_json::from_str(&line).ok());
                    return report.map_or(Happened::KeeperGone, Happened::Report);
                }
                () = at(late_at) => return Happened::KeeperLate,
                () = at(look_at) => {
                    if keeper.is_some_and(is_stopped) {
                        return Happened::KeeperLate;
                    }
                    look_at = Some(Instant::now() + LOOK);
                }
                () = either(stdout, stderr, progress) => {}
            }
        }
    }

    async fn ended(
        mut self,
        end: KeeperEnd,
        progress: &dyn ProgressSink,
    ) -> Outcome<ContainedEnd, ContainedEnd> {
        let took = self.asked.as_ref().map(|(_reason, at)| at.elapsed());
        self.drain(progress).await;
        if end.verified {
            // It has nothing left to do but to exit; a later look finds no trace of it.
            let _late = tokio::time::timeout(DRAINED_WITHIN, self.keeper.wait()).await;
        }
        let report = ContainmentReport {
            mechanism: self
                .started
                .as_ref()
                .map_or(Mechanism::Sweep, |started| started.mechanism),
            verified: end.verified,
            forced: end.forced,
            leftovers: end.leftovers,
            survivors: end.survivors,
            took,
        };
        let ended = ContainedEnd {
            exit: end.exit,
            stdout: self.stdout.take_kept(),
            stderr: self.stderr.take_kept(),
            report,
        };
        match self.asked.take() {
            Some((reason, _at)) if end.stopped => Outcome::Interrupted {
                reason,
                partial: ended,
            },
            Some(_) | None => Outcome::Completed(ended),
        }
    }

    /// Reads what is still in the pipes. Does not wait for processes that keep them open longer.
    async fn drain(&mut self, progress: &dyn ProgressSink) {
        let until = Instant::now() + DRAINED_WITHIN;
        let _late = timeout_at(until, async {
            while self.stdout.is_open() {
                self.stdout.piece(progress).await;
            }
            while self.stderr.is_open() {
                self.stderr.piece(progress).await;
            }
        })
        .await;
    }

    fn keeper_pid(&self) -> Option<i32> {
        self.keeper.id().and_then(|pid| i32::try_from(pid).ok())
    }

    /// Continues a keeper that its tool has stopped, so that it hears what it is told, or that no one is left to tell it.
    fn wake_keeper(&self) {
        if let Some(keeper) = self.keeper_pid().and_then(Pid::from_raw) {
            // It is a child that was not waited for, so no other process has its pid.
            let _gone = kill_process(keeper, Signal::CONT);
        }
    }

    /// The keeper died or does nothing: kills what can be found of the tool from here. What the tool started is found as
    /// long as its keeper is there, or where it is in a group.
    async fn without_keeper(
        mut self,
        progress: &dyn ProgressSink,
    ) -> Result<Outcome<ContainedEnd, ContainedEnd>, ContainmentError> {
        // The tool may be faster than its keeper, which says a moment later that it has begun.
        let started = self.started.take();
        let has_begun = started.is_some();
        let mechanism = started.as_ref().map(|started| started.mechanism);
        let mechanism = mechanism.unwrap_or(Mechanism::Sweep);
        let group = started.and_then(|started| started.group).map(Cgroup::at);
        let has_group = group.is_some();
        let processes = ToolProcesses::of(self.keeper_pid().unwrap_or_default(), group);
        let survivors = killed(&processes, self.config.verify_within).await;
        let finds_all = has_group || matches!(self.keeper.try_wait(), Ok(None));
        let _already_dead = self.keeper.kill().await;
        let status = self.keeper.wait().await;
        if !has_begun && status.is_ok_and(|status| status.code().is_some()) {
            // It left by itself before it began.
            let died = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
            return Err(ContainmentError::Keeper(died));
        }
        let verified = finds_all && survivors.is_empty() && !processes.is_populated();
        tracing::warn!(
            mechanism = mechanism.word(),
            verified,
            "the keeper of a tool died before the tool, or was stopped"
        );
        let report = ContainmentReport {
            mechanism,
            verified,
            forced: true,
            leftovers: 0,
            survivors: survivors.iter().map(|process| process.key).collect(),
            took: self.asked.as_ref().map(|(_reason, at)| at.elapsed()),
        };
        self.drain(progress).await;
        match self.asked.take() {
            Some((reason, _at)) => Ok(Outcome::Interrupted {
                reason,
                partial: ContainedEnd {
                    exit: None,
                    stdout: self.stdout.take_kept(),
                    stderr: self.stderr.take_kept(),
                    report,
                },
            }),
            None => Err(ContainmentError::KeeperDied { report }),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.wake_keeper();
    }
}

/// Kills processes until none of them is alive; returns those that are when the time is over.
async fn killed(processes: &ToolProcesses, within: Duration) -> Vec<Process> {
    let until = Instant::now() + within;
    let mut silent = 0;
    loop {
        processes.kill();
        let living = processes.living();
        silent = if living.is_empty() && !processes.is_populated() {
            silent + 1
        } else {
            0
        };
        if silent == SILENT_LOOKS || Instant::now() >= until {
            return living;
        }
        sleep(Duration::from_millis(1)).await;
    }
}

async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => future::pending().await,
    }
}

/// Takes up a piece of one of the two, neither of them preferred.
async fn either(
    stdout: &mut OutputReader<ChildStdout>,
    stderr: &mut OutputReader<ChildStderr>,
    progress: &dyn ProgressSink,
) {
    tokio::select! {
        () = stdout.piece(progress) => {}
        () = stderr.piece(progress) => {}
    }
}

/// One of the two outputs.
struct OutputReader<R> {
    from: Option<R>,
    stream: Stream,
    kept: BoundedOutput,
    buffer: Vec<u8>,
}

impl<R: AsyncRead + Unpin> OutputReader<R> {
    fn new(from: Option<R>, stream: Stream, kept: usize) -> Self {
        Self {
            from,
            stream,
            kept: BoundedOutput::new(kept),
            buffer: vec![0; PIECE],
        }
    }

    fn is_open(&self) -> bool {
        self.from.is_some()
    }

    fn take_kept(&mut self) -> BoundedOutput {
        std::mem::replace(&mut self.kept, BoundedOutput::new(0))
    }

    /// Takes up one piece; waits for ever once there is no more.
    async fn piece(&mut self, progress: &dyn ProgressSink) {
        let Some(from) = &mut self.from else {
            return future::pending().await;
        };
        match from.read(&mut self.buffer).await {
            Ok(0) | Err(_) => self.from = None,
            Ok(length) => {
                let bytes = self.buffer.get(..length).unwrap_or_default();
                self.kept.push(bytes);
                progress.progress(Progress::Output {
                    stream: self.stream,
                    text: String::from_utf8_lossy(bytes).into_owned(),
                });
            }
        }
    }
}
