//! A keeper of tools as a program of its own, for programs whose `main` cannot call the hook.

use std::process::ExitCode;

fn main() -> ExitCode {
    tools::main_if_keeper().unwrap_or_else(|| {
        eprintln!(
            "this program is started by others, to keep the processes of their tools together"
        );
        ExitCode::from(2)
    })
}
