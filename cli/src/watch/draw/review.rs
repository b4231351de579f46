//! One interrupt: what is asked, what may be answered, where it goes.

use control::Destination;
use interrupt_router::review::Question;
use interrupt_router::{ConfirmationItem, InterruptId};
use interrupts::life::{Family, Interrupt, Verdict};
use journal::tool::ToolQuestionKind;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::agents::text;
use super::{Theme, draw_text, packed};
use crate::advice::advised;
use crate::asking;
use crate::layout::{columns_of, wrap};
use crate::palette::Tone;
use crate::question;
use crate::quoted::{self, BAR, Painted};
use crate::refused::decided;
use crate::reviewer::suggested;
use crate::state_words::state_words;
use crate::time::ago;
use crate::visible::{visible_line, visible_lines};
use crate::watch::draft::AnswerDraft;
use crate::watch::state::ScreenState;

pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &ScreenState,
    id: InterruptId,
    look: Theme,
) {
    let Some(interrupt) = state.snapshot.interrupt(id) else {
        let lines = vec![
            Line::from(format!("{id} has ended. What became of it:")),
            Line::from(advised(&format!("    irq review {id}"))),
        ];
        frame.render_widget(text(lines, " Review "), area);
        return;
    };
    let mut lines = heading(interrupt, state, look);
    let width = usize::from(area.width.saturating_sub(2));
    match question::question(interrupt) {
        Ok(question) => lines.extend(asked_lines(interrupt, &question, state, (look, width))),
        Err(_it_stops) => {
            let author = format!("{} writes:", interrupt.requested_by.name);
            lines.push(Line::styled(author, look.faint()));
            let words = quoted::quoted((Tone::Plain, &interrupt.reason), width, "");
            lines.extend(painted(words, look));
            let askings = asking::lines(interrupt);
            if !askings.is_empty() {
                lines.push(Line::default());
                lines.extend(askings.iter().flat_map(|asking| paragraph(asking, look)));
            }
        }
    }
    // What can be done stays in sight, however much there is to read.
    let buttons = buttons(interrupt, usize::from(area.width), look);
    let height = u16::try_from(buttons.len()).unwrap_or(u16::MAX);
    let [reading, doing] =
        Layout::vertical([Constraint::Min(3), Constraint::Length(height)]).areas(area);
    draw_text(frame, reading, state, (lines, " Review "));
    frame.render_widget(Paragraph::new(buttons), doing);
}

fn heading(interrupt: &Interrupt, state: &ScreenState, look: Theme) -> Vec<Line<'static>> {
    let mut lines = vec![Line::from(vec![
        Span::styled(format!("{} ", interrupt.interrupt_type), look.strong()),
        Span::raw(format!("of {} ", interrupt.node)),
        Span::styled(
            format!(
                "{} · {} · version {}",
                ago(interrupt.requested_at, state.now),
                state_words(interrupt.state),
                interrupt.version
            ),
            look.faint(),
        ),
    ])];
    if let Some(decision) = &interrupt.decision {
        lines.push(Line::styled(decided(decision), look.good()));
    }
    if let Some(by) = interrupt.held_by {
        let held = format!("Held: {by} goes first.");
        lines.push(Line::styled(held, look.waiting()));
    }
    let claim = interrupt
        .review
        .as_ref()
        .and_then(|review| review.claim_at(state.now));
    if let Some(claim) = claim {
        let claimed = format!("{} looks at it.", claim.by);
        lines.push(Line::styled(claimed, look.waiting()));
    }
    lines.push(Line::default());
    lines
}

fn paragraph(given: &str, look: Theme) -> Vec<Line<'static>> {
    visible_lines(given)
        .into_iter()
        .map(|line| Line::styled(line, look.plain()))
        .collect()
}

/// Lines as the theme paints them.
fn painted(lines: Vec<Painted>, look: Theme) -> impl Iterator<Item = Line<'static>> {
    lines
        .into_iter()
        .map(move |(tone, line)| Line::styled(line, look.of(tone)))
}

fn asked_lines(
    interrupt: &Interrupt,
    question: &Question,
    state: &ScreenState,
    (look, width): (Theme, usize),
) -> Vec<Line<'static>> {
    let details = &question.details;
    let is_tool = ToolQuestionKind::of(question).is_some();
    let mut lines: Vec<Line<'static>> =
        painted(quoted::asked_lines(question, width, ""), look).collect();
    if !details.choices.is_empty() {
        lines.push(Line::default());
    }
    let draft = state.drafts.get(&question.interrupt);
    for (index, choice) in details.choices.iter().enumerate() {
        let is_chosen = draft.is_some_and(|draft| draft.is_chosen(index));
        let mark = if is_chosen { "[x]" } else { "[ ]" };
        let head = Span::styled(format!("  {} {mark} ", index + 1), look.active());
        let said = [
            (&choice.label, look.plain()),
            (&choice.description, look.faint()),
        ];
        lines.extend(hanging(head, &said, width));
    }
    let items = details.confirmation_items.iter();
    lines.extend(items.flat_map(|item| to_confirm(item, draft, (look, width))));
    lines.push(Line::default());
    if !is_tool {
        lines.push(Line::from(vec![
            Span::styled(Destination::of(interrupt).to_string(), look.active()),
            Span::styled(
                elsewhere(question.routes.len().saturating_sub(1)),
                look.faint(),
            ),
        ]));
    }
    lines
}

/// An agent's words behind what marks them: on one line, or each further line behind a bar.
fn hanging(head: Span<'static>, said: &[(&String, Style)], width: usize) -> Vec<Line<'static>> {
    let said = said
        .iter()
        .map(|(words, style)| (visible_line(words), *style));
    let said: Vec<_> = said.filter(|(words, _style)| !words.is_empty()).collect();
    let columns: usize = said
        .iter()
        .map(|(words, _style)| columns_of(words) + 2)
        .sum();
    if head.width() + columns <= width + 2 {
        let between = |(index, (words, style)): (usize, (String, Style))| {
            let gap = if index == 0 { "" } else { "  " };
            Span::styled(format!("{gap}{words}"), style)
        };
        let words = said.into_iter().enumerate().map(between);
        return vec![Line::from_iter(std::iter::once(head).chain(words))];
    }
    let bar = " ".repeat(head.width().saturating_sub(columns_of(BAR))) + BAR;
    let wrapped = |(words, style): (String, Style)| {
        let lines = wrap(&words, width, &bar).into_iter();
        lines
            .map(move |line| Line::styled(line, style))
            .collect::<Vec<_>>()
    };
    let mut lines: Vec<_> = said.into_iter().flat_map(wrapped).collect();
    if let Some(first) = lines.first_mut() {
        let rest = first.to_string().split_off(bar.len());
        *first = Line::from(vec![head, Span::styled(rest, first.style)]);
    }
    lines
}

fn to_confirm(
    item: &ConfirmationItem,
    draft: Option<&AnswerDraft>,
    (look, width): (Theme, usize),
) -> Vec<Line<'static>> {
    let impact = item.impact_if_no.as_ref();
    let otherwise = impact.map_or_else(String::new, |impact| format!("if not: {impact}"));
    let head = Span::styled("  • to confirm: ", look.faint());
    let said = [
        (&item.prompt, look.plain()),
        (&otherwise, look.faint()),
        (&said_so_far(draft, item), look.active()),
    ];
    hanging(head, &said, width)
}

/// What was said to an item so far, or what the agent suggests to say.
fn said_so_far(draft: Option<&AnswerDraft>, item: &ConfirmationItem) -> String {
    match draft.and_then(|draft| draft.said(&item.id)) {
        Some(true) => "yes".to_owned(),
        Some(false) => "no".to_owned(),
        None => suggested(item).map_or_else(String::new, ToString::to_string),
    }
}

/// The other targets of an answer.
fn elsewhere(others: usize) -> String {
    match others {
        0 => String::new(),
        1 => " R sends it to the one other.".to_owned(),
        others => format!(" R sends it to one of {others} others."),
    }
}

fn buttons(interrupt: &Interrupt, width: usize, look: Theme) -> Vec<Line<'static>> {
    let keys: &[(&str, &str, Option<Verdict>)] = match interrupt.family() {
        Family::Question => &[
            ("a", "approve", Some(Verdict::Approve)),
            ("1-9", "choose", None),
            ("r", "answer", Some(Verdict::Respond)),
            ("e", "edit", Some(Verdict::Edit)),
            ("x", "reject", Some(Verdict::Reject)),
            ("i", "ignore", Some(Verdict::Ignore)),
            ("m", "change plan", Some(Verdict::ModifyPlan)),
            ("R", "reroute", Some(Verdict::Reroute)),
            ("c", "claim", None),
        ],
        Family::Stop => &[
            ("a", "resume unchanged", None),
            ("r", "resume with new input", None),
            ("m", "change plan", None),
            ("R", "reroute", None),
            ("c", "claim", None),
        ],
    };
    // What the question does not allow is not offered.
    let offered = |verdict: &Option<Verdict>| {
        verdict.is_none_or(|verdict| interrupt.verdicts().any(|allowed| allowed == verdict))
    };
    let keys = keys.iter().filter(|(.., verdict)| offered(verdict));
    let keys = keys.map(|(key, meaning, _)| {
        vec![
            Span::styled(format!(" {key} "), look.chosen()),
            Span::raw(format!(" {meaning} ")),
        ]
    });
    packed(keys, width)
}

#[cfg(test)]
mod tests {
    use ratatui::style::Style;
    use ratatui::text::Span;

    use super::hanging;

    #[test]
    fn no_line_of_a_long_choice_stands_without_its_mark_or_a_bar() {
        let label = format!("{}Checked by Interrupt Router: yes", "a ".repeat(40));
        let said = [(&label, Style::new()), (&"why".to_owned(), Style::new())];
        for width in [40, 90, 200] {
            let lines = hanging(Span::raw("  1 [ ] "), &said, width);
            for (index, line) in lines.iter().enumerate() {
                let begins = if index == 0 { "  1 [ ] " } else { "      │ " };
                let line = line.to_string();
                assert!(line.starts_with(begins), "{width}: {line:?}");
                assert!(line.chars().count() <= width, "{width}: {line:?}");
            }
            assert_eq!(lines.len() == 1, width == 200, "{width}");
        }
    }
}
