//! Colours and weights, if they are wanted.

use ratatui::style::{Color, Modifier, Style};

use crate::palette::{Palette, Tone};

/// How things look. Without colours, weight and reversal alone tell things apart.
#[derive(Debug, Clone, Copy)]
pub(in crate::watch) struct Theme {
    is_coloured: bool,
}

impl Theme {
    pub(in crate::watch) fn new(palette: Palette) -> Self {
        Self {
            is_coloured: palette.is_coloured(),
        }
    }

    fn coloured(self, color: Color) -> Style {
        if self.is_coloured {
            Style::new().fg(color)
        } else {
            Style::new()
        }
    }

    /// How a tone looks.
    pub(super) fn of(self, tone: Tone) -> Style {
        match tone {
            Tone::Plain | Tone::Route => self.plain(),
            Tone::Strong => self.strong(),
            Tone::Faint => self.faint(),
            Tone::Good => self.good(),
            Tone::Bad => self.bad(),
            Tone::Waiting => self.waiting(),
            Tone::Active => self.active(),
        }
    }

    pub(super) const fn plain(self) -> Style {
        Style::new()
    }

    pub(super) const fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(super) const fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// The row or the button that has the keys.
    pub(super) const fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    pub(super) fn good(self) -> Style {
        self.coloured(Color::Green)
    }

    pub(super) fn bad(self) -> Style {
        self.coloured(Color::Red).add_modifier(Modifier::BOLD)
    }

    pub(super) fn waiting(self) -> Style {
        self.coloured(Color::Yellow)
    }

    pub(super) fn active(self) -> Style {
        self.coloured(Color::Cyan)
    }
}
