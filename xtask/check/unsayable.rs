//! What the contract says and poem-openapi cannot: a written list.
//!
//! Each row is as narrow as it can be, and names the behavioural test that sends the violating request or looks at the
//! answer instead. Whatever no row covers is a finding.

use super::facts::Fact;

/// One thing that poem-openapi cannot say.
#[derive(Debug)]
pub(crate) struct Row {
    /// A short name.
    pub id: &'static str,
    /// What it is, and why it cannot be said.
    pub what: &'static str,
    /// The test, or the judge that many tests call, that shows it instead: a file and a function.
    pub test: &'static str,
    /// Whether the last fact of a path is such a thing.
    covers: fn(&[&Fact]) -> bool,
}

/// The list.
pub(crate) const ROWS: &[Row] = &[
    Row {
        id: "closed-object",
        what: "`additionalProperties: false`: enforced by `deny_unknown_fields`, never emitted",
        test: "tests/it/students.rs: what_the_contract_does_not_name_is_refused_with_its_place",
        covers: |path| is(path, "other properties are refused"),
    },
    Row {
        id: "property-names",
        what: "`propertyNames`: a map says what its values are, never its keys",
        test: "tests/it/students.rs: each_bound_holds_to_the_last_character",
        covers: |path| is(path, "property names"),
    },
    Row {
        id: "required-and-nullable",
        what: "required and nullable together: an `Option` is never listed under `required`",
        test: "tests/it/conformance.rs: assert_documents",
        covers: |path| {
            is(path, "required") && parent(path).is_some_and(|parent| parent.child("may be null").is_some())
        },
    },
    Row {
        id: "string-format",
        what: "`format` of a string: only times have a type of their own",
        test: "tests/it/conformance.rs: assert_documents",
        covers: |path| {
            starts(path, "format ")
                && parent(path).is_some_and(|parent| parent.child("type string").is_some())
                && !is(path, "format \"date-time\"")
        },
    },
    Row {
        id: "time-text",
        what: "the length of a time's text, or of bytes in base64: neither is a text to poem-openapi",
        test: "tests/it/pagination.rs: a_parameter_out_of_its_bounds_is_named",
        covers: |path| {
            let typed = ["format \"date-time\"", "format \"date\"", "format \"uuid\"", "format \"byte\""];
            let parent =
                parent(path).filter(|parent| typed.iter().any(|format| parent.child(format).is_some()));
            parent.is_some()
                && ["minLength ", "maxLength ", "pattern "].iter().any(|bound| starts(path, bound))
        },
    },
    Row {
        id: "list-parameter",
        what: "bounds of the items of a list that is sent as a parameter: only the list has validators",
        test: "tests/second/parameters.rs: each_fault_of_a_query_is_told",
        covers: |path| {
            let list = path.len().checked_sub(3).map(|at| path[at]);
            inside(path) == 1
                && list.is_some_and(|list| list.name.contains(" parameter `"))
                && BOUNDS.iter().any(|bound| starts(path, bound))
        },
    },
    Row {
        id: "nested-bounds",
        what: "bounds of what is inside a list within a list: validators know one level",
        test: "tests/second/bodies.rs: each_fault_of_a_body_is_told",
        covers: |path| {
            let holds = |bounds: &[&str]| bounds.iter().any(|bound| starts(path, bound));
            (inside(path) > 0 && holds(&COUNTS)) || (inside(path) > 1 && holds(&BOUNDS))
        },
    },
    Row {
        id: "field-counts",
        what: "how many fields an object with named ones has: only maps have such validators",
        test: "tests/second/bodies.rs: a_patch_knows_what_is_absent_from_what_is_null",
        covers: |path| {
            let named = |fact: &&Fact| fact.children.iter().any(|child| child.name.starts_with("property `"));
            let object = parent(path).filter(named);
            object.is_some() && ["minProperties ", "maxProperties "].iter().any(|bound| starts(path, bound))
        },
    },
    Row {
        id: "body-bounds",
        what: "bounds of a body as a whole: its payload says its type and no more",
        test: "tests/second/bodies.rs: texts_and_bytes_are_bodies_too",
        covers: |path| {
            let body = parent(path).is_some_and(|parent| MEDIA.contains(&&*parent.name));
            body && BOUNDS.iter().chain(&COUNTS).any(|bound| starts(path, bound))
        },
    },
    Row {
        id: "header-bounds",
        what: "bounds of a response header: a header says its type and no more",
        test: "tests/it/conformance.rs: assert_documents",
        covers: |path| {
            let header = parent(path).is_some_and(|parent| parent.name.starts_with("header `"));
            header && ["pattern ", "minimum ", "maximum ", "value "].iter().any(|bound| starts(path, bound))
        },
    },
];

/// The media types whose payloads have a schema.
const MEDIA: [&str; 2] = ["application/json", "text/plain"];
/// Bounds of a scalar.
const BOUNDS: [&str; 9] = [
    "pattern ",
    "minLength ",
    "maxLength ",
    "minimum ",
    "maximum ",
    "exclusiveMinimum ",
    "exclusiveMaximum ",
    "multipleOf ",
    "value ",
];
/// Bounds of a list or map.
const COUNTS: [&str; 5] = ["minItems ", "maxItems ", "uniqueItems", "minProperties ", "maxProperties "];

/// In how many lists or maps the thing stands that the last fact is about.
fn inside(path: &[&Fact]) -> usize {
    let above = path.iter().rev().skip(1);
    above.take_while(|fact| ["items", "each value"].contains(&&*fact.name)).count()
}

/// The row that covers the last fact of a path, if one does.
pub(crate) fn row(path: &[&Fact]) -> Option<&'static Row> {
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
