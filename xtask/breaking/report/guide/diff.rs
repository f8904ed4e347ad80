//! Values as lines of JSON, and the difference between two texts.

use contract::node::{Node, Value};
use contract::plain_text::plain_text;
use similar::{Algorithm, DiffTag, capture_diff_slices_by_key, group_diff_ops};

/// The number of unchanged lines before and after a change.
const CONTEXT: usize = 2;
/// The maximum number of removed lines, and of added ones, at one place.
const MAX_CHANGED: usize = 12;
/// The maximum number of characters of a line.
pub(super) const MAX_LINE: usize = 120;
/// The maximum number of characters of a string in a body.
const MAX_STRING: usize = 100;
/// The maximum number of characters of a list or an object on one line.
const MAX_INLINE: usize = 80;

/// Returns the lines of a value. Short lists and objects within it are on one line.
pub(super) fn json_lines(value: &Node) -> Vec<String> {
    let json = serde_json::to_string_pretty(&shortened(value)).unwrap_or_default();
    let (mut lines, mut open) = (Vec::<String>::new(), Vec::new());
    for line in json.lines() {
        if line.ends_with(['[', '{']) {
            open.push(lines.len());
        }
        lines.push(line.to_owned());
        let is_end = line.trim_start().starts_with([']', '}']);
        let Some(start) = open.pop_if(|_| is_end).filter(|start| *start > 0) else { continue };
        let inner: Vec<&str> = lines[start + 1..lines.len() - 1].iter().map(|line| line.trim()).collect();
        let inline = format!("{}{}{}", lines[start], inner.join(" "), line.trim_start());
        if inline.chars().count() <= MAX_INLINE {
            lines.truncate(start);
            lines.push(inline.replace("[\"…\"]", "[…]"));
        }
    }
    lines
}

/// Leaves the content of nested lists and objects out if the value takes too many lines.
pub(super) fn summarized(value: &Node) -> Node {
    let mut value = value.clone();
    let omit = |value: &mut Node| value.value = Value::Sequence(vec![Node::string("…")]);
    if json_lines(&value).len() > MAX_CHANGED {
        match &mut value.value {
            Value::Mapping(entries) => {
                let is_long = |value: &Node| json_lines(value).len() > 2;
                entries
                    .iter_mut()
                    .filter(|entry| is_long(&entry.value))
                    .for_each(|entry| omit(&mut entry.value));
            }
            _ => omit(&mut value),
        }
    }
    value
}

/// Shortens the long strings of a value.
fn shortened(value: &Node) -> Node {
    let mut value = value.clone();
    match &mut value.value {
        Value::String(text) => *text = shorten(text, MAX_STRING),
        Value::Sequence(items) => items.iter_mut().for_each(|item| *item = shortened(item)),
        Value::Mapping(entries) => entries.iter_mut().for_each(|entry| entry.value = shortened(&entry.value)),
        _ => {}
    }
    value
}

fn shorten(text: &str, limit: usize) -> String {
    let count = text.chars().count();
    if count <= limit {
        return text.to_owned();
    }
    format!("{}… ({count} characters)", text.chars().take(limit / 2).collect::<String>())
}

/// Renders the difference between two texts as a code block in Markdown. Returns `None` if there is none. A comma at the end of a
/// line is not a difference.
pub(super) fn diff(before: &[String], after: &[String]) -> Option<String> {
    let without_comma = |line: &String| line.trim_end_matches(',').to_owned();
    if before.iter().map(without_comma).eq(after.iter().map(without_comma)) {
        return None;
    }
    let changes = capture_diff_slices_by_key(Algorithm::Myers, before, after, without_comma);
    let changes = group_diff_ops(changes, CONTEXT).concat();
    // A gap would take as much space as the line that it stands for.
    let gap = |lines: &[String]| if lines.len() > 1 { vec!["  …".to_owned()] } else { marked(" ", lines) };
    let mut text = marked(" ", &before[..changes.first()?.old_range().start.min(1)]);
    let mut end = text.len();
    for (index, change) in changes.iter().enumerate() {
        let (tag, old, new) = change.as_tag_tuple();
        text.extend(gap(&before[end..old.start]));
        end = old.end;
        if tag != DiffTag::Equal {
            text.extend([marked("-", &before[old]), marked("+", &after[new])].concat());
            continue;
        }
        let mut lines = after[new].to_vec();
        // Before a removed line, the old text has the comma.
        if changes.get(index + 1).is_some_and(|next| next.tag() == DiffTag::Delete)
            && let Some(last) = lines.last_mut()
        {
            last.clone_from(&before[old.end - 1]);
        }
        text.extend(lines.iter().flat_map(|line| marked(" ", std::slice::from_ref(line))));
    }
    text.extend(gap(&before[end..]));
    let text = text.join("\n");
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    Some(format!("{fence}diff\n{text}\n{fence}\n"))
}

/// Returns lines with a mark, of many only the first ones.
fn marked(mark: &str, lines: &[String]) -> Vec<String> {
    let shown = if lines.len() > MAX_CHANGED { MAX_CHANGED - 1 } else { lines.len() };
    let line =
        |text: &String| format!("{mark} {}", plain_text(&shorten(text, MAX_LINE))).trim_end().to_owned();
    let rest = (shown < lines.len()).then(|| format!("{mark} …"));
    lines[..shown].iter().map(line).chain(rest).collect()
}
