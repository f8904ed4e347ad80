//! Checks what says that an item is deprecated, and until when it works.

use jiff::Span;
use jiff::civil::Date;

use super::super::keywords;
use super::super::model::Shape;
use super::super::reader::{Cursor, NodeReader};
use crate::diagnostic::Code;

/// The time between the dates of a deprecation and its sunset, in calendar months.
const NOTICE_MONTHS: i32 = 6;

/// Checks `x-deprecated-at`, `x-sunset` and `x-replaced-by` of an item. They require `deprecated`.
pub(super) fn check<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>) {
    check_announcement(reader, cursor);
    if reader.flag(cursor, "deprecated") {
        return;
    }
    for keyword in ["x-deprecated-at", "x-sunset", "x-replaced-by"] {
        if let Some(entry) = cursor.node.entry(keyword) {
            let message = format!("`{keyword}` requires `deprecated`");
            reader.error(Code::UnsupportedKeyword, entry.key.span, message, "add `deprecated: true`");
        }
    }
}

/// Checks `x-deprecated-values` of an enum.
pub(super) fn check_values<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>, shape: &Shape) {
    let Some(values) = reader.child(cursor, "x-deprecated-values") else { return };
    let Shape::Enum(known) = shape else {
        let message = "`x-deprecated-values` requires an enum of strings";
        let help = "move it next to `enum`, or remove it";
        reader.error(Code::UnsupportedKeyword, values.name_span, message, help);
        return;
    };
    for (name, value) in reader.children(&values) {
        if !known.values.iter().any(|known| known.text == name.text) {
            let message = format!("`{}` is not a value of the enum", name.text);
            reader.error(Code::UnsupportedKeyword, name.span, message, "write a value that `enum` lists");
        }
        if reader.check_keywords(&value, &keywords::DEPRECATED_VALUE) {
            check_announcement(reader, &value);
        }
    }
}

fn check_announcement<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>) {
    reader.string_child(cursor, "x-replaced-by");
    let since = date(reader, cursor, "x-deprecated-at");
    let Some(sunset) = date(reader, cursor, "x-sunset") else { return };
    let earliest = since.map(|since| since.saturating_add(Span::new().months(NOTICE_MONTHS)));
    if let Some(earliest) = earliest.filter(|earliest| sunset < *earliest) {
        let span = cursor.node.span_at("/x-sunset");
        let message = "`x-sunset` is less than six months after `x-deprecated-at`";
        reader.error(Code::UnsupportedKeyword, span, message, format!("write '{earliest}' or a later date"));
    }
}

fn date<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>, keyword: &str) -> Option<Date> {
    let text = reader.string_child(cursor, keyword)?;
    let is_number =
        |part: &str, count: usize| part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = text.split('-').collect();
    let has_form = matches!(parts[..], [year, month, day] if is_number(year, 4) && is_number(month, 2) && is_number(day, 2));
    let date = text.parse().ok().filter(|_| has_form);
    if date.is_none() {
        let message = format!("`{keyword}` is not a date");
        let help = "write a date in quotes, such as `'2027-01-31'`";
        reader.error(Code::UnsupportedKeyword, text.span, message, help);
    }
    date
}
