//! Reads the parameters of paths and operations.

use super::super::keywords;
use super::super::model::{Parameter, ParameterLocation, Shape};
use super::super::node::SpannedString;
use super::super::reader::{Cursor, NodeReader};
use super::{deprecation, header, schema, shared};
use crate::Profile;
use crate::diagnostic::Code;

/// Returns the parameters of an operation, including those of its path item that it does not override.
pub(super) fn of_operation<'n>(
    reader: &mut NodeReader<'n>,
    item: &Cursor<'n>,
    operation: &Cursor<'n>,
) -> Vec<Parameter> {
    // The errors of the path item were already reported. Do not report them again for each operation.
    let reported = reader.diagnostics.len();
    let mut all = list(reader, item);
    reader.diagnostics.truncate(reported);
    let own = list(reader, operation);
    all.retain(|inherited| {
        !own.iter().any(|parameter| {
            inherited.name.text == parameter.name.text && inherited.location == parameter.location
        })
    });
    all.extend(own);
    all
}

/// Reads `parameters`.
pub(super) fn list<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>) -> Vec<Parameter> {
    let Some(list) = reader.child(cursor, "parameters") else { return Vec::new() };
    let items = reader.items(&list);
    items
        .into_iter()
        .filter_map(|item| shared::inline_or_shared(reader, item, "parameters", parameter))
        .collect()
}

/// Reads a parameter.
pub(super) fn parameter<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>) -> Option<Parameter> {
    if !reader.check_keywords(cursor, &keywords::PARAMETER) {
        return None;
    }
    shared::examples(reader, cursor);
    deprecation::check(reader, cursor);
    let name = reader.required_child(cursor, "name", "a parameter").and_then(|name| reader.string(&name))?;
    let location =
        reader.required_child(cursor, "in", "a parameter").and_then(|location| reader.string(&location))?;
    let location = parse_location(reader, &location)?;
    if location == ParameterLocation::Header && is_ignored_header(&name) {
        if reader.profile == Profile::Open {
            return None;
        }
        let help = "remove it: `content` declares media types, and `security` declares API keys";
        let message = format!("OpenAPI ignores a header parameter named `{}`", name.text);
        reader.error(Code::UnsupportedKeyword, name.span, message, help);
    }
    if location == ParameterLocation::Header {
        header::check_name(reader, &name);
    }
    let schema = reader.required_child(cursor, "schema", "a parameter")?;
    let schema = schema::read(reader, &schema)?;
    let explode = explode(reader, cursor, location, &schema.shape);
    Some(Parameter {
        name,
        location,
        required: reader.flag(cursor, "required"),
        description: reader.string_child(cursor, "description").map(|text| text.text),
        deprecated: reader.flag(cursor, "deprecated"),
        explode,
        schema,
    })
}

/// Whether OpenAPI ignores a header parameter with this name.
pub(crate) fn is_ignored_header(name: &str) -> bool {
    ["accept", "content-type", "authorization"].iter().any(|ignored| name.eq_ignore_ascii_case(ignored))
}

fn parse_location(reader: &mut NodeReader<'_>, location: &SpannedString) -> Option<ParameterLocation> {
    match &**location {
        "path" => Some(ParameterLocation::Path),
        "query" => Some(ParameterLocation::Query),
        "header" => Some(ParameterLocation::Header),
        "cookie" => Some(ParameterLocation::Cookie),
        other => {
            let message = format!("unknown parameter location `{other}`");
            let help = "use `path`, `query`, `header` or `cookie`";
            reader.error(Code::UnsupportedKeyword, location.span, message, help);
            None
        }
    }
}

/// Returns whether each item of a list is sent as a separate parameter. Reports an unsupported `style` or `explode`.
fn explode<'n>(
    reader: &mut NodeReader<'n>,
    cursor: &Cursor<'n>,
    location: ParameterLocation,
    shape: &Shape,
) -> bool {
    let default = match location {
        ParameterLocation::Query | ParameterLocation::Cookie => "form",
        ParameterLocation::Path | ParameterLocation::Header => "simple",
    };
    if let Some(style) = reader.string_child(cursor, "style")
        && &*style != default
    {
        let message = format!("the style `{}` is not supported for this parameter", style.text);
        let help = format!(
            "write `{default}`, or remove `style`; lists are sent with commas or as repeated parameters"
        );
        reader.error(Code::UnsupportedKeyword, style.span, message, help);
    }
    // A reference can lead to a list. References are not resolved here.
    let can_be_list = matches!(shape, Shape::Array(_) | Shape::Reference(_));
    if let Some(explode) = cursor.node.entry("explode").filter(|_| !can_be_list) {
        let help = "remove it: a single value has only one serialization";
        reader.error(Code::UnsupportedKeyword, explode.key.span, "`explode` applies only to lists", help);
    }
    let is_declared = cursor.node.get("explode").is_some();
    let explode = reader.flag(cursor, "explode");
    if location == ParameterLocation::Header && explode {
        let span = cursor.node.entry("explode").map_or(cursor.name_span, |entry| entry.key.span);
        let help = "remove it: the items of a header are separated by commas";
        reader.error(Code::UnsupportedKeyword, span, "`explode` is not supported for headers", help);
    }
    if matches!(location, ParameterLocation::Path | ParameterLocation::Cookie) && explode && can_be_list {
        let span = cursor.node.entry("explode").map_or(cursor.name_span, |entry| entry.key.span);
        let help = "remove it, and use `in: query` for a list";
        reader.error(Code::UnsupportedKeyword, span, "`explode` is supported only in the query", help);
    }
    location == ParameterLocation::Query && (explode || !is_declared)
}
