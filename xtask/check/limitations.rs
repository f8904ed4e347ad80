//! Constructs of the contract that are missing in the OpenAPI document that poem-openapi creates from the code, because
//! poem-openapi cannot express them.
//!
//! Each limitation is as narrow as possible, and names the test that sends a violating request or checks the response instead. A
//! statement of the contract that is missing in the document is reported, unless a limitation covers it.

use super::facts::Fact;

/// A construct that poem-openapi cannot express.
#[derive(Debug)]
pub(crate) struct Limitation {
    /// The id.
    pub id: &'static str,
    /// The construct, and why it cannot be expressed.
    pub construct: &'static str,
    /// The test that covers the construct, or the assertion that many tests call: a file and a function.
    pub test: &'static str,
    /// Whether the last fact of a path is such a construct.
    covers: fn(&[&Fact]) -> bool,
}

/// All limitations.
pub(crate) const LIMITATIONS: &[Limitation] = &[
    Limitation {
        id: "closed-object",
        construct: "`additionalProperties: false`: enforced by `deny_unknown_fields`, but not part of the document",
        test: "tests/it/students.rs: an_undeclared_or_mistyped_field_is_rejected_with_its_location",
        covers: |path| is(path, "no additional properties"),
    },
    Limitation {
        id: "property-names",
        construct: "`propertyNames`: maps declare the schema of their values, not of their keys",
        test: "tests/it/students.rs: length_limits_are_exact",
        covers: |path| is(path, "property names"),
    },
    Limitation {
        id: "required-and-nullable",
        construct: "required and nullable together: an `Option` is not listed in `required`",
        test: "tests/it/support/conformance.rs: assert_documents",
        covers: |path| {
            is(path, "required") && parent(path).is_some_and(|parent| parent.child("may be null").is_some())
        },
    },
    Limitation {
        id: "string-format",
        construct: "`format` of a string, except times, dates, UUIDs and base64: the other formats are plain strings",
        test: "tests/it/support/conformance.rs: assert_documents",
        covers: |path| {
            starts(path, "format ")
                && parent(path).is_some_and(|parent| parent.child("type string").is_some())
                && !TYPED_FORMATS.iter().any(|format| is(path, format))
        },
    },
    Limitation {
        id: "time-text",
        construct: "length and pattern of times, dates, UUIDs and base64: poem-openapi does not treat their types as strings",
        test: "tests/it/pagination.rs: an_invalid_parameter_is_named",
        covers: |path| {
            let parent = parent(path)
                .filter(|parent| TYPED_FORMATS.iter().any(|format| parent.child(format).is_some()));
            parent.is_some()
                && ["minLength ", "maxLength ", "pattern "].iter().any(|bound| starts(path, bound))
        },
    },
    Limitation {
        id: "list-parameter",
        construct: "bounds of the items of a list parameter: validators apply only to the list",
        test: "tests/second_version/parameters.rs: each_invalid_query_parameter_is_reported",
        covers: |path| {
            let parameter = path.len().checked_sub(3).map(|at| path[at]);
            nesting_depth(path) == 1
                && parameter.is_some_and(|parameter| parameter.name.contains(" parameter `"))
                && SCALAR_BOUNDS.iter().any(|bound| starts(path, bound))
        },
    },
    Limitation {
        id: "nested-bounds",
        construct: "bounds within nested lists: validators support only one level",
        test: "tests/second_version/bodies.rs: each_invalid_body_field_is_reported",
        covers: |path| {
            let is_bound = |bounds: &[&str]| bounds.iter().any(|bound| starts(path, bound));
            (nesting_depth(path) > 0 && is_bound(&SIZE_BOUNDS))
                || (nesting_depth(path) > 1 && is_bound(&SCALAR_BOUNDS))
        },
    },
    Limitation {
        id: "field-counts",
        construct: "number of properties of an object with declared properties: only maps have such validators",
        test: "tests/second_version/bodies.rs: a_patch_distinguishes_absent_from_null",
        covers: |path| {
            let has_properties =
                |fact: &&Fact| fact.children.iter().any(|child| child.name.starts_with("property `"));
            let object = parent(path).filter(has_properties);
            object.is_some() && ["minProperties ", "maxProperties "].iter().any(|bound| starts(path, bound))
        },
    },
    Limitation {
        id: "body-bounds",
        construct: "bounds of a body as a whole: payloads declare only their type",
        test: "tests/second_version/bodies.rs: bodies_can_be_text_or_bytes",
        covers: |path| {
            let is_body = parent(path).is_some_and(|parent| MEDIA_TYPES.contains(&&*parent.name));
            is_body && SCALAR_BOUNDS.iter().chain(&SIZE_BOUNDS).any(|bound| starts(path, bound))
        },
    },
    Limitation {
        id: "header-bounds",
        construct: "bounds of a response header: headers declare only their type",
        test: "tests/it/support/conformance.rs: assert_documents",
        covers: |path| {
            let is_header = parent(path).is_some_and(|parent| parent.name.starts_with("header `"));
            is_header
                && ["pattern ", "minimum ", "maximum ", "value "].iter().any(|bound| starts(path, bound))
        },
    },
];

/// The formats of strings that have types of their own, which declare the format.
const TYPED_FORMATS: [&str; 4] =
    ["format \"date-time\"", "format \"date\"", "format \"uuid\"", "format \"byte\""];
/// The media types whose payloads have a schema.
const MEDIA_TYPES: [&str; 2] = ["application/json", "text/plain"];
/// The beginnings of the facts that restrict a scalar. `value` is a value of an `enum`.
const SCALAR_BOUNDS: [&str; 9] = [
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
const SIZE_BOUNDS: [&str; 5] = ["minItems ", "maxItems ", "uniqueItems", "minProperties ", "maxProperties "];

/// Returns the number of lists or maps that directly enclose the last fact.
fn nesting_depth(path: &[&Fact]) -> usize {
    let above = path.iter().rev().skip(1);
    above.take_while(|fact| ["items", "each value"].contains(&&*fact.name)).count()
}

/// Returns the limitation that covers the last fact of a path, if any.
pub(crate) fn limitation(path: &[&Fact]) -> Option<&'static Limitation> {
    LIMITATIONS.iter().find(|limitation| (limitation.covers)(path))
}

/// Returns whether the last fact of a path has this name.
fn is(path: &[&Fact], name: &str) -> bool {
    path.last().is_some_and(|fact| fact.name == name)
}

/// Returns whether the name of the last fact of a path starts with this prefix.
fn starts(path: &[&Fact], prefix: &str) -> bool {
    path.last().is_some_and(|fact| fact.name.starts_with(prefix))
}

/// Returns the fact that contains the last fact of a path.
fn parent<'f>(path: &[&'f Fact]) -> Option<&'f Fact> {
    path.len().checked_sub(2).map(|at| path[at])
}
