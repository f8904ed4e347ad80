//! Checks what says that an item is deprecated, and until when it works.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::super::keywords;
use super::super::model::Shape;
use super::super::reader::{Cursor, NodeReader};
use crate::Profile;
use crate::diagnostic::Code;
use crate::source::Span;

/// The time between the dates of a deprecation and its sunset, in calendar months.
const NOTICE_MONTHS: i32 = 6;

/// Checks `x-deprecated-at`, `x-sunset` and `x-replaced-by` of an item. They require `deprecated`.
pub(super) fn check<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>) {
    if reader.flag(cursor, "deprecated") {
        check_announcement(reader, cursor, cursor.node.span_at("/deprecated"));
        return;
    }
    check_dates(reader, cursor);
    for keyword in ["x-deprecated-at", "x-sunset", "x-replaced-by"] {
        if let Some(entry) = cursor.node.entry(keyword) {
            let message = format!("`{keyword}` requires `deprecated`");
            reader.error(Code::UnsupportedKeyword, entry.key.span, message, "add `deprecated: true`");
        }
    }
}

/// Checks `x-removed-at-sunset` and `x-brownouts` of an operation: whether the server stops to serve it at its sunset, and the times
/// between its deprecation and its sunset at which it does not serve it either.
pub(super) fn check_removal<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>) {
    let is_removed = reader.flag(cursor, "x-removed-at-sunset");
    let has = |keyword: &str| cursor.node.entry(keyword).is_some();
    let documents_410 =
        cursor.node.get("responses").is_some_and(|responses| responses.entry("410").is_some());
    if is_removed && !(has("x-sunset") && documents_410) {
        let message = "`x-removed-at-sunset` requires `x-sunset` and a response with the status 410";
        let help = "add both: the server sends 410 from the sunset on";
        reader.error(Code::MissingKeyword, cursor.node.span_at("/x-removed-at-sunset"), message, help);
    }
    let Some(brownouts) = reader.child(cursor, "x-brownouts") else { return };
    if !is_removed {
        let help = "add `x-removed-at-sunset: true`: a brownout rehearses the removal";
        let message = "`x-brownouts` requires `x-removed-at-sunset`";
        reader.error(Code::MissingKeyword, brownouts.name_span, message, help);
    }
    let day = |keyword: &str| cursor.node.get(keyword)?.as_str()?.parse::<Date>().ok();
    let start_of = |day: Date| day.to_zoned(TimeZone::UTC).ok();
    let from = day("x-deprecated-at").and_then(start_of);
    let until = day("x-sunset").and_then(start_of);
    for brownout in reader.items(&brownouts) {
        let Some(text) = reader.string(&brownout) else { continue };
        let Some((start, end)) = interval(&text.text) else {
            let message = "a brownout is a start and a duration";
            let help = "write them like '2027-01-10T10:00:00Z/PT1H' or '2027-01-20T00:00:00Z/P1D'";
            reader.error(Code::UnsupportedKeyword, text.span, message, help);
            continue;
        };
        if from.as_ref().is_some_and(|from| start < *from) || until.as_ref().is_some_and(|until| *until < end)
        {
            let message = "the brownout is not between `x-deprecated-at` and `x-sunset`";
            reader.error(Code::UnsupportedKeyword, text.span, message, "move it between these days");
        }
    }
}

/// Parses a start and a positive duration, such as `2027-01-10T10:00:00Z/PT1H`. Returns the start and the end.
fn interval(text: &str) -> Option<(Zoned, Zoned)> {
    let (start, duration) = text.split_once('/')?;
    let start = start.parse::<Timestamp>().ok()?.to_zoned(TimeZone::UTC);
    let duration = duration.parse::<jiff::Span>().ok().filter(|duration| duration.is_positive())?;
    let end = start.checked_add(duration).ok()?;
    Some((start, end))
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
            check_announcement(reader, &value, name.span);
        }
    }
}

/// Checks the dates of what is deprecated at this span. The server sends them, so it requires the first.
fn check_announcement<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>, span: Span) {
    check_dates(reader, cursor);
    if reader.profile == Profile::Server && cursor.node.entry("x-deprecated-at").is_none() {
        let message = "what is deprecated requires `x-deprecated-at`";
        let help = "add the date from which it is deprecated, such as `x-deprecated-at: '2027-01-31'`";
        reader.error(Code::MissingKeyword, span, message, help);
    }
}

fn check_dates<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>) {
    reader.string_child(cursor, "x-replaced-by");
    let since = date(reader, cursor, "x-deprecated-at");
    let Some(sunset) = date(reader, cursor, "x-sunset") else { return };
    let earliest = since.map(|since| since.saturating_add(jiff::Span::new().months(NOTICE_MONTHS)));
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
