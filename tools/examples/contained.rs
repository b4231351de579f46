//! Runs a program so that nothing of it outlives this process, and says what became of it:
//! `cargo run -p interrupt-router-tools --example contained -- bash -c 'sleep 100 & echo started'`.

use std::process::ExitCode;

use interrupt_router::{Outcome, StopMode, StopReason, StopScope, StopSource};
use tools::{ContainedCommand, Containment, Progress, ProgressSink, ToolEnvironment};

/// Passes on what the program writes.
struct Show;

impl ProgressSink for Show {
    fn progress(&self, progress: Progress) {
        if let Progress::Output { text, .. } = progress {
            print!("{text}");
        }
    }
}

fn main() -> ExitCode {
    // First thing: this program is its own keeper.
    if let Some(code) = tools::main_if_keeper() {
        return code;
    }
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn run() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let Some(program) = arguments.next() else {
        eprintln!("name a program and its arguments");
        return Ok(ExitCode::from(2));
    };
    let command = ContainedCommand {
        program,
        arguments: arguments.collect(),
        environment: ToolEnvironment::allowed(),
        directory: std::env::current_dir()?,
    };
    let scope = StopScope::new();
    let containment = Containment::default();
    let running = containment.run(command, &scope, &Show);
    tokio::pin!(running);
    let outcome = tokio::select! {
        outcome = &mut running => outcome?,
        _pressed = tokio::signal::ctrl_c() => {
            scope.stop(StopReason {
                source: StopSource::User,
                mode: StopMode::Immediate,
                message: "Ctrl+C".to_owned(),
                timestamp: jiff::Timestamp::now(),
            });
            running.await?
        }
    };
    let (Outcome::Completed(end) | Outcome::Interrupted { partial: end, .. }) = outcome;
    let (exit, report) = (end.exit, end.report);
    eprintln!(
        "[{exit:?}; held together by a {}; all dead: {}; left running by its first process: {}]",
        report.mechanism.word(),
        report.verified,
        report.leftovers,
    );
    Ok(ExitCode::SUCCESS)
}
