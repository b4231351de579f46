//! How wide the terminal of a conversation is, and lines in it.

use crate::layout::columns_of;

/// The columns of a terminal that does not say how many it has.
const USUAL_COLUMNS: u16 = 80;

/// The columns of the terminal.
pub(super) fn columns() -> usize {
    let (columns, _rows) = crossterm::terminal::size().unwrap_or((USUAL_COLUMNS, 0));
    // A terminal that reports hardly any columns is wider than that.
    usize::from(if columns < 4 { USUAL_COLUMNS } else { columns })
}

/// A line in rows of so many columns.
pub(super) fn broken(line: &str, columns: usize) -> Vec<String> {
    if columns_of(line) <= columns {
        return vec![line.to_owned()];
    }
    textwrap::wrap(line, columns.max(1))
        .into_iter()
        .map(std::borrow::Cow::into_owned)
        .collect()
}
