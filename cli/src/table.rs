//! Rows in columns that are as wide as their contents.

use std::io::{self, IsTerminal};

use crate::layout::{columns_of, cut, fit, screen_size};
use crate::palette::{Palette, Tone};

/// The text between two columns.
const GAP: &str = "  ";

/// A cell: what it is to the reader, and its text.
pub(crate) type Cell = (Tone, String);

/// A table with a line of heads. The last column takes what room is left.
#[derive(Debug)]
pub(crate) struct Table {
    heads: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new(heads: &[&'static str]) -> Self {
        Self {
            heads: heads.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row with one cell for each head.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// The lines. They are cut to the terminal's width only if they go to one.
    pub(crate) fn text(&self, palette: Palette) -> String {
        let columns = io::stdout().is_terminal().then(|| screen_size().0);
        self.lines(palette, columns)
    }

    fn lines(&self, palette: Palette, columns: Option<usize>) -> String {
        let widths = self.widths();
        let heads: Vec<Cell> = self
            .heads
            .iter()
            .map(|head| (Tone::Strong, (*head).to_owned()))
            .collect();
        let mut text = String::new();
        for cells in std::iter::once(&heads).chain(&self.rows) {
            text.push_str(&line(cells, &widths, palette, columns));
            text.push('\n');
        }
        text
    }

    fn widths(&self) -> Vec<usize> {
        (0..self.heads.len())
            .map(|index| {
                let cells = self.rows.iter().filter_map(|row| row.get(index));
                let widest = cells.map(|(_tone, text)| columns_of(text)).max();
                let head = self.heads.get(index).map_or(0, |head| columns_of(head));
                widest.unwrap_or(0).max(head)
            })
            .collect()
    }
}

fn line(cells: &[Cell], widths: &[usize], palette: Palette, columns: Option<usize>) -> String {
    let mut line = String::new();
    let mut used = 0;
    for (index, (tone, text)) in cells.iter().enumerate() {
        let is_last = index + 1 == cells.len();
        let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(used));
        let width = widths.get(index).copied().unwrap_or(0);
        let shown = if is_last {
            cut(text, room)
        } else {
            fit(text, width.min(room))
        };
        used += columns_of(&shown) + columns_of(GAP);
        // Spaces are not painted, so that no background shows.
        let bare = shown.trim_end();
        line.push_str(&palette.paint(*tone, bare));
        if !is_last {
            line.extend(std::iter::repeat_n(' ', shown.len() - bare.len()));
            line.push_str(GAP);
        }
    }
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::Table;
    use crate::layout::columns_of;
    use crate::palette::{Palette, Tone};

    fn table() -> Table {
        let mut table = Table::new(&["A", "LONG HEAD", "REST"]);
        for (first, second, third) in [("1", "two", "three and more"), ("1234", "大き", "x")] {
            table.row(vec![
                (Tone::Plain, first.to_owned()),
                (Tone::Good, second.to_owned()),
                (Tone::Plain, third.to_owned()),
            ]);
        }
        table
    }

    #[test]
    fn columns_are_as_wide_as_what_stands_in_them() {
        assert_eq!(
            table().lines(Palette::PLAIN, None),
            "A     LONG HEAD  REST\n1     two        three and more\n1234  大き       x\n"
        );
    }

    #[test]
    fn on_a_terminal_the_last_column_gives_way() {
        let text = table().lines(Palette::PLAIN, Some(24));
        assert!(text.contains("three …"), "{text}");
        assert!(text.lines().all(|line| columns_of(line) <= 24), "{text}");
    }
}
