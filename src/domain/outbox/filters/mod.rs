//! Filters of subscriptions: conditions on the data of events. A subscription receives an event if it meets all conditions
//! for its type.
//!
//! A condition is one line: the event type, a JSON pointer (RFC 6901) into `data`, an operator and its values, such as
//! `order.paid /total_amount gte 10000` or `student.created /metadata/plan in pro, "two words"`. This is also the stored
//! form. Null is equal to null only, and timestamps are compared as points in time.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use entity::webhook_subscriptions::Subscriber;
use jiff::Timestamp;

use crate::app::App;
use crate::contract::{EventType, FieldKind};
use crate::text_enum::text_enum;
use foundation::config::suggestion;

/// Maximum number of conditions for one event type.
pub const MAX_CONDITIONS: usize = 10;
/// Maximum number of values of a condition.
const MAX_VALUES: usize = 100;
/// Maximum number of characters of a value or a pointer.
const MAX_CHARACTERS: usize = 500;

/// How a condition compares a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// The field is equal to the value.
    Equal,
    /// The field is equal to one of the values.
    In,
    /// The field is present and not null, or the opposite with the value `false`.
    Exists,
    /// The field is greater than the value.
    Greater,
    /// The field is greater than the value or equal to it.
    GreaterOrEqual,
    /// The field is less than the value.
    Less,
    /// The field is less than the value or equal to it.
    LessOrEqual,
    /// The string begins with the value.
    StartsWith,
    /// The list contains the value.
    Contains,
}

text_enum!(Operator, "an operator", {
    Equal = "eq", In = "in", Exists = "exists", Greater = "gt", GreaterOrEqual = "gte", Less = "lt", LessOrEqual = "lte",
    StartsWith = "starts_with", Contains = "contains",
});

impl Operator {
    /// Returns whether fields of this kind can be compared so.
    const fn compares(self, kind: FieldKind) -> bool {
        match self {
            Self::Exists => true,
            Self::Equal | Self::In => {
                matches!(
                    kind,
                    FieldKind::Boolean | FieldKind::Integer | FieldKind::Text | FieldKind::Timestamp
                )
            }
            Self::Greater | Self::GreaterOrEqual | Self::Less | Self::LessOrEqual => {
                matches!(kind, FieldKind::Integer | FieldKind::Timestamp)
            }
            Self::StartsWith => matches!(kind, FieldKind::Text),
            Self::Contains => matches!(kind, FieldKind::TextList),
        }
    }
}

/// A value that a condition compares with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operand {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A string.
    Text(String),
    /// A point in time.
    Timestamp(Timestamp),
}

/// The value of a field in an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    /// The field does not exist.
    Missing,
    /// Null.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A string, which can be a timestamp.
    Text(String),
    /// The strings in a list.
    List(Vec<String>),
    /// Any other value.
    Object,
}

/// Reads fields in the data of an encoded event: one value for each JSON pointer. `AppParts::read_fields` is such a function.
pub type FieldReader = fn(body: &[u8], pointers: &[&str]) -> Vec<FieldValue>;

/// A condition on the events of one type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The type of the events.
    pub event_type: EventType,
    /// The JSON pointer of the field.
    pub pointer: String,
    /// How the field is compared.
    pub operator: Operator,
    /// What it is compared with.
    pub operands: Vec<Operand>,
}

/// A word of a condition.
struct Word {
    text: String,
    is_quoted: bool,
}

impl Condition {
    /// Parses a line, and validates it against the fields of its event type.
    ///
    /// # Errors
    /// Returns a message that names the problem and the remedy.
    pub fn parse(line: &str) -> Result<Self, String> {
        let mut words = split(line)?.into_iter();
        let (Some(event_type), Some(pointer), Some(operator)) = (words.next(), words.next(), words.next())
        else {
            return Err("expected an event type, a field and an operator, such as `order.paid /total_amount gte 10000`"
                .to_owned());
        };
        let (event_type, pointer) = (parse_event_type(&event_type.text)?, pointer.text);
        let kind = kind_of(event_type, &pointer)?;
        let operator: Operator =
            operator.text.parse().map_err(|error: crate::text_enum::UnknownVariant| error.to_string())?;
        if !operator.compares(kind) {
            let usable = Operator::ALL.iter().filter(|operator| operator.compares(kind));
            let usable: Vec<&str> = usable.map(|operator| operator.as_str()).collect();
            return Err(format!(
                "`{operator}` cannot compare `{pointer}`, which is {}; use {}",
                noun(kind),
                usable.join(" or ")
            ));
        }
        let operands: Vec<Operand> =
            words.map(|word| parse_operand(operator, kind, word)).collect::<Result<_, String>>()?;
        let (counts, expected) = match operator {
            Operator::Exists => (0..=1, "no value, or `true` or `false`"),
            Operator::In => (1..=MAX_VALUES, "1 to 100 values"),
            _ => (1..=1, "one value; put a text with spaces or commas in quotation marks"),
        };
        if !counts.contains(&operands.len()) {
            return Err(format!("`{operator}` requires {expected}"));
        }
        Ok(Self { event_type, pointer, operator, operands })
    }

    /// Returns whether a field with this value meets the condition.
    pub fn holds(&self, value: &FieldValue) -> bool {
        let Some(operand) = self.operands.first() else { return is_present(value) };
        let order = || operand.order(value);
        match self.operator {
            Operator::Exists => is_present(value) == (*operand != Operand::Boolean(false)),
            Operator::Equal | Operator::In => {
                self.operands.iter().any(|operand| operand.order(value) == Some(Ordering::Equal))
            }
            Operator::Greater => order().is_some_and(Ordering::is_gt),
            Operator::GreaterOrEqual => order().is_some_and(Ordering::is_ge),
            Operator::Less => order().is_some_and(Ordering::is_lt),
            Operator::LessOrEqual => order().is_some_and(Ordering::is_le),
            Operator::StartsWith => {
                matches!((value, operand), (FieldValue::Text(text), Operand::Text(start)) if text.starts_with(start.as_str()))
            }
            Operator::Contains => {
                matches!((value, operand), (FieldValue::List(items), Operand::Text(item)) if items.contains(item))
            }
        }
    }
}

const fn is_present(value: &FieldValue) -> bool {
    !matches!(value, FieldValue::Missing | FieldValue::Null)
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.event_type.as_str(), Quoted(&self.pointer), self.operator)?;
        for (index, operand) in self.operands.iter().enumerate() {
            f.write_str(if index == 0 { " " } else { ", " })?;
            match operand {
                Operand::Null => f.write_str("null")?,
                Operand::Boolean(value) => value.fmt(f)?,
                Operand::Integer(value) => value.fmt(f)?,
                Operand::Text(text) => Quoted(text).fmt(f)?,
                Operand::Timestamp(at) => at.fmt(f)?,
            }
        }
        Ok(())
    }
}

/// Formats a word, in quotation marks if it would otherwise be read differently.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = |c: char| !c.is_whitespace() && !matches!(c, ',' | '"' | '\\');
        if !self.0.is_empty() && self.0 != "null" && self.0.chars().all(is_plain) {
            return f.write_str(self.0);
        }
        write!(f, "\"{}\"", self.0.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

impl Operand {
    /// Compares the value of a field with this one. Returns `None` if they are of different kinds.
    fn order(&self, value: &FieldValue) -> Option<Ordering> {
        match (value, self) {
            (FieldValue::Null, Self::Null) => Some(Ordering::Equal),
            (FieldValue::Boolean(value), Self::Boolean(operand)) => Some(value.cmp(operand)),
            (FieldValue::Integer(value), Self::Integer(operand)) => Some(value.cmp(operand)),
            (FieldValue::Text(value), Self::Text(operand)) => Some(value.cmp(operand)),
            (FieldValue::Text(value), Self::Timestamp(operand)) => {
                Some(value.parse::<Timestamp>().ok()?.cmp(operand))
            }
            _ => None,
        }
    }
}

/// Splits a line into words, which are separated by spaces and commas.
fn split(line: &str) -> Result<Vec<Word>, String> {
    let mut words = Vec::new();
    let mut characters = line.chars().peekable();
    let is_separator = |c: &char| c.is_whitespace() || *c == ',';
    loop {
        while characters.next_if(is_separator).is_some() {}
        let Some(first) = characters.peek() else { return Ok(words) };
        let (mut text, is_quoted) = (String::new(), *first == '"');
        if is_quoted {
            characters.next();
            loop {
                match characters.next() {
                    Some('"') => break,
                    Some('\\') => text.extend(characters.next()),
                    Some(character) => text.push(character),
                    None => return Err("a quotation mark is missing at the end of a value".to_owned()),
                }
            }
        } else {
            text.extend(std::iter::from_fn(|| characters.next_if(|c| !is_separator(c))));
        }
        if text.chars().count() > MAX_CHARACTERS || text.contains('\0') {
            return Err(format!("a value must have at most {MAX_CHARACTERS} characters and no NUL"));
        }
        words.push(Word { text, is_quoted });
    }
}

fn parse_event_type(text: &str) -> Result<EventType, String> {
    let event_type = EventType::ALL.iter().find(|event_type| event_type.as_str() == text).copied();
    event_type.ok_or_else(|| {
        let names = EventType::NAMES.iter().map(|&name| name.to_owned());
        let shown: String = text.chars().take(64).collect();
        format!("`{shown}` is not an event type{}", suggestion(text, names))
    })
}

/// Returns the kind of the field that a JSON pointer refers to.
fn kind_of(event_type: EventType, pointer: &str) -> Result<FieldKind, String> {
    if !pointer.starts_with('/') {
        return Err(format!("`{pointer}` is not a JSON pointer; it must begin with `/`, such as `/id`"));
    }
    let escapes = pointer.split('~').skip(1).find(|rest| !rest.starts_with(['0', '1']));
    if let Some(rest) = escapes {
        let escape: String = rest.chars().take(1).collect();
        return Err(format!(
            "`~{escape}` in `{pointer}` is not an escape; write `~0` for `~` and `~1` for `/`"
        ));
    }
    if let Some((_, kind)) = event_type.fields().iter().find(|(field, _)| *field == pointer) {
        return Ok(*kind);
    }
    for (field, kind) in event_type.fields() {
        let Some(key) = pointer.strip_prefix(field).and_then(|rest| rest.strip_prefix('/')) else { continue };
        return match kind {
            FieldKind::Object => continue,
            FieldKind::TextMap if !key.contains('/') => Ok(FieldKind::Text),
            FieldKind::TextList => Err(format!(
                "`{field}` is a list, whose items have no pointers; use `{field} contains VALUE`"
            )),
            FieldKind::List => {
                Err(format!("`{field}` is a list of objects, which cannot be compared; use `{field} exists`"))
            }
            _ => Err(format!("`{field}` is {}, so `{pointer}` does not exist; use `{field}`", noun(*kind))),
        };
    }
    let fields = event_type.fields().iter().map(|(field, _)| (*field).to_owned());
    Err(format!("`{}` has no field `{pointer}`{}", event_type.as_str(), suggestion(pointer, fields)))
}

/// Returns a noun for a kind of field, with its article.
pub const fn noun(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::Boolean => "a boolean",
        FieldKind::Integer => "an integer",
        FieldKind::Text => "a string",
        FieldKind::Timestamp => "a timestamp",
        FieldKind::TextList => "a list of strings",
        FieldKind::TextMap => "an object with strings",
        FieldKind::List => "a list of objects",
        FieldKind::Object => "an object",
    }
}

fn parse_operand(operator: Operator, kind: FieldKind, word: Word) -> Result<Operand, String> {
    let Word { text, is_quoted } = word;
    if text == "null" && !is_quoted && matches!(operator, Operator::Equal | Operator::In) {
        return Ok(Operand::Null);
    }
    let wrong = |expected: &str| format!("expected {expected}, got `{text}`");
    let kind = if operator == Operator::Exists { FieldKind::Boolean } else { kind };
    match kind {
        FieldKind::Boolean => text.parse().map(Operand::Boolean).map_err(|_| wrong("`true` or `false`")),
        FieldKind::Integer => text.parse().map(Operand::Integer).map_err(|_| wrong("an integer")),
        FieldKind::Timestamp => {
            let expected = "a timestamp with a time zone, such as 2026-01-31T12:00:00Z";
            text.parse().map(Operand::Timestamp).map_err(|_| wrong(expected))
        }
        FieldKind::Text | FieldKind::TextList | FieldKind::TextMap | FieldKind::List | FieldKind::Object => {
            Ok(Operand::Text(text))
        }
    }
}

/// Validates a filter and returns it in its stored form. Returns the errors with the indexes of their lines.
pub(crate) fn normalize(text: &str) -> Result<String, Vec<(usize, String)>> {
    let (mut conditions, mut errors) = (Vec::<Condition>::new(), Vec::new());
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match Condition::parse(line) {
            Ok(condition) => {
                let same_type = |other: &&Condition| other.event_type == condition.event_type;
                if conditions.iter().filter(same_type).count() == MAX_CONDITIONS {
                    let event_type = condition.event_type.as_str();
                    let message = format!(
                        "`{event_type}` has more than {MAX_CONDITIONS} conditions; remove one, or combine values with `in`"
                    );
                    errors.push((index, message));
                    break;
                }
                conditions.push(condition);
            }
            Err(message) => errors.push((index, message)),
        }
    }
    let lines: Vec<String> = conditions.iter().map(Condition::to_string).collect();
    if errors.is_empty() { Ok(lines.join("\n")) } else { Err(errors) }
}

/// Returns the conditions of a stored filter on events of a type.
pub(crate) fn conditions(filter: &str, event_type: &str) -> Vec<Condition> {
    let of_type =
        filter.lines().filter(|line| line.strip_prefix(event_type).is_some_and(|rest| rest.starts_with(' ')));
    let parse = |line: &str| {
        let parsed = Condition::parse(line);
        parsed.inspect_err(|error| tracing::warn!(error, "a stored condition is ignored")).ok()
    };
    of_type.filter_map(parse).collect()
}

/// Returns whether an encoded event meets all of each of these lists of conditions on its type. Decodes the event once.
pub(crate) fn evaluate(app: &App, body: &[u8], lists: &[Vec<Condition>]) -> Vec<bool> {
    let pointers: BTreeSet<&str> = lists.iter().flatten().map(|condition| &*condition.pointer).collect();
    let pointers: Vec<&str> = pointers.into_iter().collect();
    let values = (app.read_fields)(body, &pointers);
    let values: BTreeMap<&str, &FieldValue> = pointers.into_iter().zip(&values).collect();
    let holds =
        |condition: &Condition| values.get(&*condition.pointer).is_some_and(|value| condition.holds(value));
    lists.iter().map(|conditions| conditions.iter().all(holds)).collect()
}

/// Removes the subscriptions whose filter an event does not meet. Evaluates each distinct filter once.
pub(super) fn retain_matching(app: &App, event: &entity::events::Model, subscribers: &mut Vec<Subscriber>) {
    let filters: BTreeSet<&str> =
        subscribers.iter().filter_map(|subscriber| subscriber.filters.as_deref()).collect();
    let lists: Vec<Vec<Condition>> =
        filters.iter().map(|filter| conditions(filter, &event.event_type)).collect();
    if lists.iter().all(Vec::is_empty) {
        return;
    }
    let results = evaluate(app, &event.body, &lists);
    let failed: BTreeSet<String> = filters
        .into_iter()
        .zip(results)
        .filter(|(_, holds)| !holds)
        .map(|(filter, _)| filter.to_owned())
        .collect();
    subscribers
        .retain(|subscriber| subscriber.filters.as_ref().is_none_or(|filter| !failed.contains(filter)));
}

#[cfg(test)]
mod tests;
