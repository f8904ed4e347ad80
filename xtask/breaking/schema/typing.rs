//! Types, formats and `null`.

use std::collections::BTreeSet;

use contract::node::Node;

use super::Two;
use super::types::Types;
use super::value;
use super::view::View;
use crate::compare::{Comparison, Places};
use crate::rule::{Aspect, Direction, Effect, Site, Topic};

const T: Topic = Topic::Types;

/// The rules of this family.
pub(super) const ASPECTS: &[Aspect] = &[
    Aspect::new(T, Effect::Alters, "type-changed", "type-changed"),
    Aspect::new(T, Effect::Widens, "type-generalized", "type-specialized"),
    Aspect::new(T, Effect::Narrows, "type-specialized", "type-generalized"),
    Aspect::new(T, Effect::Notes, "type-compatible", "type-compatible"),
    Aspect::new(T, Effect::Widens, "list-of-types-widened", "list-of-types-narrowed"),
    Aspect::new(T, Effect::Narrows, "list-of-types-narrowed", "list-of-types-widened"),
    Aspect::new(T, Effect::Widens, "became-nullable", "became-not-nullable"),
    Aspect::new(T, Effect::Narrows, "became-not-nullable", "became-nullable"),
];

/// The keywords of this family.
pub(super) const KEYWORDS: &[&str] = &["type", "format", "nullable"];

/// Compares types, then formats, then `null`.
pub(super) fn compare<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    let (base, revision) = (&two.base, &two.revision);
    if base.never != revision.never {
        let (word, message) = if revision.never {
            (specialized(two.site), "no value is valid any more")
        } else {
            ("type-generalized", "values are valid where none was")
        };
        two.note(on, word, Places::new(base.at, revision.at), "never", message.to_owned());
        return;
    }
    let places = Places::new(base.types_at.unwrap_or(base.at), revision.types_at.unwrap_or(revision.at));
    let mut compatible = false;
    if base.types != revision.types {
        let word = word(two);
        compatible = word == "type-compatible";
        let facts = format!("{} to {}", base.types, revision.types);
        two.note(
            on,
            word,
            places,
            &facts,
            format!("the type went from {} to {}", base.types, revision.types),
        );
    }
    format(on, two);
    let along = |all: &View<'_>, some: &View<'_>| {
        all.types.is_any() && !some.types.is_any() && all.null && !some.null && !compatible
    };
    if along(base, revision) || along(revision, base) {
        // A schema without a type lets `null` through along with all else.
        return;
    }
    match (base.null, revision.null) {
        (false, true) => {
            two.note(on, "became-nullable", places, "", "it can be null now".to_owned());
        }
        (true, false) => {
            two.note(on, "became-not-nullable", places, "", "it cannot be null any more".to_owned());
        }
        _ => {}
    }
}

/// What the change of types is called.
fn word(two: &Two<'_>) -> &'static str {
    let (base, revision) = (two.base.types, two.revision.types);
    let implied =
        |view: &View<'_>, types: Types| view.values_types().is_some_and(|values| types.holds(values));
    if implied(&two.base, base.and(revision)) && implied(&two.revision, base.and(revision)) {
        return "type-compatible";
    }
    // In a URL or a header every plain value is a string already.
    let is_text = two.site.is_text() && Types::PLAIN.holds(base);
    if is_text && revision == Types::STRING && is_any_text(two) {
        return "type-generalized";
    }
    let listed = base.is_list() || revision.is_list();
    if revision.holds(base) {
        return if listed { "list-of-types-widened" } else { "type-generalized" };
    }
    if base.holds(revision) {
        return if listed { "list-of-types-narrowed" } else { specialized(two.site) };
    }
    "type-changed"
}

/// Keywords that speak of strings alone.
const STRING_KEYWORDS: [&str; 6] =
    ["pattern", "minLength", "maxLength", "contentEncoding", "contentMediaType", "contentSchema"];

/// Whether a string may be whatever was written for a value that is none: what is said of strings was not said of that.
fn is_any_text(two: &Two<'_>) -> bool {
    let was = formats(&two.base, Types::ANY);
    let says = |format: &&str| types_of(format).holds(Types::STRING) || !was.contains(format);
    STRING_KEYWORDS.iter().all(|keyword| two.revision.entry(keyword).is_none())
        && !formats(&two.revision, Types::ANY).iter().any(says)
}

/// What fewer values are called: oasdiff tells them from other changes in responses only, and inside of parameters.
fn specialized(site: Site) -> &'static str {
    match site {
        Site::ParameterProperty => "type-specialized",
        _ if site.direction() == Direction::Request => "type-changed",
        _ => "type-specialized",
    }
}

/// Formats of strings.
const STRING_FORMATS: [&str; 22] = [
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "uri-template",
    "iri",
    "iri-reference",
    "uuid",
    "json-pointer",
    "relative-json-pointer",
    "regex",
    "byte",
    "binary",
    "password",
];

/// The types whose values a format speaks of: all of them, when nobody knows it.
fn types_of(format: &str) -> Types {
    match format {
        "int8" | "int16" | "int32" | "int64" | "uint8" | "uint16" | "uint32" | "uint64" => {
            Types::of_integer()
        }
        // A number without a fraction is the same in both.
        "float" | "double" => Types::FRACTION,
        _ if STRING_FORMATS.contains(&format) => Types::STRING,
        _ => Types::ANY,
    }
}

/// The formats that speak of a value of these types.
fn formats<'n>(view: &View<'n>, types: Types) -> BTreeSet<&'n str> {
    let names = view.entries("format").filter_map(|entry| entry.value.as_str());
    names.filter(|name| types_of(name).and(types) != Types::NONE).collect()
}

/// Compares formats: where the type changed, those that speak of the values which it left valid.
fn format<'n>(on: &mut Comparison<'n>, two: &Two<'n>) {
    let same = two.base.types == two.revision.types;
    let types = if same { Types::ANY } else { two.base.types.and(two.revision.types) };
    let (base, revision) = (formats(&two.base, types), formats(&two.revision, types));
    if base == revision {
        return;
    }
    let pair = (Vec::from_iter(base.iter().copied()), Vec::from_iter(revision.iter().copied()));
    let word = match (pair.0.as_slice(), pair.1.as_slice()) {
        (["int32"], ["int64"]) | (["float"], ["double"]) => "type-generalized",
        (["int64"], ["int32"]) | (["double"], ["float"]) => specialized(two.site),
        _ if revision.is_subset(&base) => "type-generalized",
        _ if base.is_subset(&revision) => specialized(two.site),
        _ => "type-changed",
    };
    let shown = |names: &[&str]| {
        if names.is_empty() { "none".to_owned() } else { format!("`{}`", names.join("` and `")) }
    };
    let change = format!("{} to {}", shown(&pair.0), shown(&pair.1));
    two.note(
        on,
        word,
        two.places("format"),
        &format!("format {change}"),
        format!("the format went from {change}"),
    );
}

impl View<'_> {
    /// The types of the only values that are valid, when those are listed.
    fn values_types(&self) -> Option<Types> {
        let listed = self.entries("enum").filter_map(|entry| entry.value.items()).flatten();
        let listed = listed.chain(self.lists.iter().flat_map(|list| list.values.iter().copied()));
        let fixed = self.entries("const").map(|entry| &entry.value);
        let values: Vec<&Node> = listed.chain(fixed).collect();
        let (first, rest) = values.split_first()?;
        let of = |value: &&Node| {
            if value::number(value).is_some_and(|number| number.fract() == 0.0) {
                // 1.0 is an integer too.
                Types::of_integer()
            } else {
                Types::of_value(value)
            }
        };
        Some(rest.iter().fold(of(first), |types, value| types.or(of(value))).without_null())
    }
}
