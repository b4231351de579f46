//! Colours, if they are wanted.

use std::io::IsTerminal;

use anstyle::{AnsiColor, Style};

/// What a piece of text is to the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Running text.
    Plain,
    /// What to look at first.
    Strong,
    /// What can be skipped.
    Faint,
    /// Something went well.
    Good,
    /// Something went wrong.
    Bad,
    /// Waits for a person.
    Waiting,
    /// Something is under way.
    Active,
    /// A path that something takes: a route, a reroute.
    Route,
}

/// Paints text for one stream, or leaves it as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Palette {
    coloured: bool,
}

impl Palette {
    /// Without colours.
    #[cfg(test)]
    pub(crate) const PLAIN: Self = Self { coloured: false };

    /// Colours only on a terminal that knows them, and only if the user did not refuse them.
    pub(crate) fn for_stream(stream: &impl IsTerminal, refused: bool) -> Self {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            coloured: !refused && !no_color && !is_dumb() && stream.is_terminal(),
        }
    }

    /// With colours, for tests.
    #[cfg(test)]
    pub(crate) const COLOURED: Self = Self { coloured: true };

    /// Whether there are colours.
    pub(crate) const fn is_coloured(self) -> bool {
        self.coloured
    }

    /// The text in its tone.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        if !self.coloured || tone == Tone::Plain || text.is_empty() {
            return text.to_owned();
        }
        let style = style_of(tone);
        format!("{}{text}{}", style.render(), style.render_reset())
    }
}

/// Whether the terminal says of itself that it can do nothing but print.
pub(crate) fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb")
}

fn style_of(tone: Tone) -> Style {
    let style = Style::new();
    let coloured = |colour: AnsiColor| style.fg_color(Some(colour.into()));
    match tone {
        Tone::Plain => style,
        Tone::Strong => style.bold(),
        Tone::Faint => style.dimmed(),
        Tone::Good => coloured(AnsiColor::Green),
        Tone::Bad => coloured(AnsiColor::Red).bold(),
        Tone::Waiting => coloured(AnsiColor::Yellow).bold(),
        Tone::Active => coloured(AnsiColor::Cyan),
        Tone::Route => coloured(AnsiColor::Magenta),
    }
}

#[cfg(test)]
mod tests {
    use super::{Palette, Tone};

    #[test]
    fn paint_leaves_text_alone_where_colours_are_off_and_closes_them_where_they_are_on() {
        assert_eq!(Palette::PLAIN.paint(Tone::Bad, "no"), "no");
        let painted = Palette::COLOURED.paint(Tone::Bad, "no");
        assert!(painted.starts_with("\u{1b}[") && painted.ends_with("\u{1b}[0m"));
    }
}
