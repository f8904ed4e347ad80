//! What the contract says and poem-openapi cannot: a written list.
//!
//! Each row is as narrow as it can be, and names the behavioural test that sends the violating request or looks at the
//! answer instead. Whatever no row covers is a finding.

use super::facts::Fact;

/// One thing that poem-openapi cannot say.
#[derive(Debug)]
pub struct Row {
    /// A short name.
    pub id: &'static str,
    /// What it is, and why it cannot be said.
    pub what: &'static str,
    /// The test that shows it instead.
    pub test: &'static str,
    /// Whether the last fact of a path is such a thing.
    covers: fn(&[&Fact]) -> bool,
}

/// The list.
pub const ROWS: &[Row] = &[
    Row {
        id: "closed-object",
        what: "`additionalProperties: false`: enforced by `deny_unknown_fields`, never emitted",
        test: "tests/it/validation.rs: an_unknown_body_field_is_refused",
        covers: |path| is(path, "other properties are refused"),
    },
    Row {
        id: "property-names",
        what: "`propertyNames`: a map says what its values are, never its keys",
        test: "tests/it/validation.rs: a_metadata_key_against_its_pattern_is_refused",
        covers: |path| is(path, "property names"),
    },
    Row {
        id: "required-and-nullable",
        what: "required and nullable together: an `Option` is never listed under `required`",
        test: "tests/it/shapes.rs: every_declared_field_is_present_in_every_response",
        covers: |path| {
            is(path, "required") && parent(path).is_some_and(|parent| parent.child("may be null").is_some())
        },
    },
    Row {
        id: "string-format",
        what: "`format` of a string: only times have a type of their own",
        test: "tests/it/shapes.rs: every_response_satisfies_its_schema_with_formats",
        covers: |path| {
            starts(path, "format ")
                && parent(path).is_some_and(|parent| parent.child("type string").is_some())
                && !is(path, "format \"date-time\"")
        },
    },
    Row {
        id: "time-text",
        what: "the length of a time's text: a time is no text to poem-openapi",
        test: "tests/it/validation.rs: an_empty_parameter_is_refused",
        covers: |path| {
            starts(path, "minLength ")
                && parent(path).is_some_and(|parent| parent.child("format \"date-time\"").is_some())
        },
    },
    Row {
        id: "header-bounds",
        what: "bounds of a response header: a header says its type and no more",
        test: "tests/it/shapes.rs: every_response_header_satisfies_its_schema",
        covers: |path| {
            let header = parent(path).is_some_and(|parent| parent.name.starts_with("header `"));
            header && ["pattern ", "minimum ", "maximum ", "value "].iter().any(|bound| starts(path, bound))
        },
    },
];

/// The row that covers the last fact of a path, if one does.
pub fn row(path: &[&Fact]) -> Option<&'static Row> {
    ROWS.iter().find(|row| (row.covers)(path))
}

fn is(path: &[&Fact], name: &str) -> bool {
    path.last().is_some_and(|fact| fact.name == name)
}

fn starts(path: &[&Fact], prefix: &str) -> bool {
    path.last().is_some_and(|fact| fact.name.starts_with(prefix))
}

fn parent<'f>(path: &[&'f Fact]) -> Option<&'f Fact> {
    path.len().checked_sub(2).map(|at| path[at])
}
