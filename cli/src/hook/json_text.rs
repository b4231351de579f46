//! Changing one place of a JSON text, while every other byte of it stays as it is.
//!
//! The text was read as JSON before, so the scanner here only has to find its way.

use std::ops::Range;

use serde_json::Value;

/// An item of an object or a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    /// The whole item, with its name.
    whole: Range<usize>,
    name: Option<String>,
    /// Its value.
    pub(super) value: Range<usize>,
}

/// The items of the object or list that begins here.
pub(super) fn items(text: &str, container: &Range<usize>) -> Vec<Item> {
    let is_object = text.as_bytes().get(container.start) == Some(&b'{');
    let mut found = Vec::new();
    let mut at = container.start + 1;
    loop {
        at = skip(text, at, |byte| byte.is_ascii_whitespace() || byte == b',');
        if at + 1 >= container.end {
            return found;
        }
        let start = at;
        let mut name = None;
        if is_object {
            at = end_of_value(text, at);
            name = serde_json::from_str(&text[start..at]).ok();
            at = skip(text, at, |byte| byte.is_ascii_whitespace() || byte == b':');
        }
        let value = at..end_of_value(text, at);
        at = value.end;
        found.push(Item {
            whole: start..at,
            name,
            value,
        });
    }
}

/// The value of a member.
pub(super) fn member(text: &str, object: &Range<usize>, name: &str) -> Option<Range<usize>> {
    let mut members = items(text, object).into_iter();
    let found = members.find(|item| item.name.as_deref() == Some(name));
    found.map(|item| item.value)
}

/// The whole value of a text.
pub(super) fn root(text: &str) -> Range<usize> {
    let start = skip(text, 0, |byte| byte.is_ascii_whitespace());
    start..end_of_value(text, start)
}

fn skip(text: &str, from: usize, skips: impl Fn(u8) -> bool) -> usize {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| skips(**byte)).count()
}

fn end_of_value(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0_usize, start);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_string(bytes, at),
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => {
                depth -= 1;
                at += 1;
            }
            _ if depth == 0 => {
                let ends = |byte: u8| byte.is_ascii_whitespace() || b",:]}".contains(&byte);
                return skip(text, at, |byte| !ends(byte));
            }
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    at
}

fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// Replaces a value.
pub(super) fn replace(text: &str, place: &Range<usize>, value: &Value, depth: usize) -> String {
    let value = rendered(text, value, depth);
    format!("{}{value}{}", &text[..place.start], &text[place.end..])
}

/// Appends a value to an object, under a name, or to a list, at this depth of the text.
pub(super) fn append(
    text: &str,
    container: &Range<usize>,
    (name, value): (Option<&str>, &Value),
    depth: usize,
) -> String {
    let indent = indent_of(text);
    let mut item = rendered(text, value, depth + 1);
    if let Some(name) = name {
        item = format!("{}: {item}", Value::from(name));
    }
    let line = format!("\n{}", indent.repeat(depth + 1));
    match items(text, container).last() {
        Some(last) => {
            let end = last.whole.end;
            format!("{},{line}{item}{}", &text[..end], &text[end..])
        }
        None => {
            let (before, after) = (&text[..=container.start], &text[container.end - 1..]);
            format!("{before}{line}{item}\n{}{after}", indent.repeat(depth))
        }
    }
}

/// Removes an item from its object or list.
pub(super) fn remove(text: &str, container: &Range<usize>, place: usize) -> String {
    let all = items(text, container);
    let cut = match (
        place.checked_sub(1).and_then(|it| all.get(it)),
        all.get(place + 1),
    ) {
        (Some(before), _) => before.whole.end..all[place].whole.end,
        (None, Some(after)) => all[place].whole.start..after.whole.start,
        (None, None) => container.start + 1..container.end - 1,
    };
    format!("{}{}", &text[..cut.start], &text[cut.end..])
}

/// The place of a member among those of its object.
pub(super) fn place_of(text: &str, object: &Range<usize>, name: &str) -> Option<usize> {
    let members = items(text, object);
    members
        .iter()
        .position(|item| item.name.as_deref() == Some(name))
}

/// How the text is indented: as its first indented line, else by two spaces.
fn indent_of(text: &str) -> String {
    let blank = |line: &str| -> String {
        line.chars()
            .take_while(|char| *char == ' ' || *char == '\t')
            .collect()
    };
    let mut indented = text.lines().map(blank).filter(|blank| !blank.is_empty());
    indented.next().unwrap_or_else(|| "  ".to_owned())
}

fn rendered(text: &str, value: &Value, depth: usize) -> String {
    let indent = indent_of(text);
    let pretty = format!("{value:#}");
    let mut lines = pretty.lines();
    let mut rendered = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let content = line.trim_start();
        let levels = (line.len() - content.len()) / 2;
        rendered.push('\n');
        rendered.push_str(&indent.repeat(depth + levels));
        rendered.push_str(content);
    }
    rendered
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{append, items, member, place_of, remove, replace, root};

    const TEXT: &str = "{\n\t\"a\": [1, {\"x\": \"}\\\"]\"}],\n\t\"b\":{ },  \"c\" : null\n}\n";

    #[test]
    fn a_place_is_found_and_changed_and_all_else_stays() {
        let whole = root(TEXT);
        assert_eq!(items(TEXT, &whole).len(), 3);
        let list = member(TEXT, &whole, "a").unwrap();
        assert_eq!(&TEXT[list.clone()], "[1, {\"x\": \"}\\\"]\"}]");
        let inner = items(TEXT, &list)[1].value.clone();
        assert_eq!(&TEXT[member(TEXT, &inner, "x").unwrap()], "\"}\\\"]\"");
        let replaced = replace(
            TEXT,
            &member(TEXT, &whole, "c").unwrap(),
            &json!({"d": 1}),
            1,
        );
        assert_eq!(replaced, TEXT.replace("null", "{\n\t\t\"d\": 1\n\t}"));
        let object = member(TEXT, &whole, "b").unwrap();
        let appended = append(TEXT, &object, (Some("k"), &json!(2)), 1);
        assert_eq!(appended, TEXT.replace("{ }", "{\n\t\t\"k\": 2\n\t}"));
        let longer = append(TEXT, &list, (None, &json!(3)), 1);
        assert_eq!(longer, TEXT.replace("\"}]", "\"},\n\t\t3]"));
    }

    #[test]
    fn what_is_appended_is_removed_again_without_a_trace() {
        for text in ["{\"a\": 1}", "{\n  \"a\": 1\n}\n", TEXT] {
            let whole = root(text);
            let longer = append(text, &whole, (Some("z"), &json!([1])), 0);
            let whole = root(&longer);
            let place = place_of(&longer, &whole, "z").unwrap();
            assert_eq!(remove(&longer, &whole, place), text);
        }
        assert_eq!(remove("[1, 2]", &(0..6), 0), "[2]");
        assert_eq!(remove("[ 1 ]", &(0..5), 0), "[]");
    }
}
