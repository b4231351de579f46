//! Colours only where somebody sees them and nobody refused them.

use crate::program::{end, irq, run_in, workspace};

#[test]
fn a_pipe_gets_no_colours() {
    let folder = workspace();
    let ended = end(run_in(folder.path()).arg("--no-input")).exits_with(0);
    assert!(!ended.output.contains('\u{1b}') && !ended.error_output.contains('\u{1b}'));
    let ended = end(irq().args(["run", "", "--no-color"])).exits_with(2);
    assert!(!ended.error_output.contains('\u{1b}'), "{ended:?}");
}
