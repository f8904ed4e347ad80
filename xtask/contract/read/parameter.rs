//! Parameters, of paths and of operations.

use super::super::keywords;
use super::super::model::{Location, Parameter, Shape};
use super::super::node::Text;
use super::super::reader::{At, Reader};
use super::{header, schema, shared, sunset};
use crate::diagnostic::Code;

/// The parameters of an operation: those of its path come first, unless it has one of that name and place itself.
pub(super) fn of_operation<'n>(reader: &mut Reader<'n>, item: &At<'n>, operation: &At<'n>) -> Vec<Parameter> {
    // Those of the path were judged where they stand.
    let before = reader.findings.len();
    let mut all = list(reader, item);
    reader.findings.truncate(before);
    let own = list(reader, operation);
    all.retain(|one| {
        !own.iter().any(|other| one.name.text == other.name.text && one.location == other.location)
    });
    all.extend(own);
    all
}

/// The parameters that stand here.
pub(super) fn list<'n>(reader: &mut Reader<'n>, at: &At<'n>) -> Vec<Parameter> {
    let Some(list) = reader.child(at, "parameters") else { return Vec::new() };
    let items = reader.items(&list);
    items.into_iter().filter_map(|item| shared::once(reader, item, "parameters", parameter)).collect()
}

/// One parameter.
pub(super) fn parameter<'n>(reader: &mut Reader<'n>, at: &At<'n>) -> Option<Parameter> {
    if !reader.object(at, &keywords::PARAMETER) {
        return None;
    }
    shared::examples(reader, at);
    sunset(reader, at);
    let name = reader.needed(at, "name", "a parameter").and_then(|name| reader.text(&name))?;
    let place = reader.needed(at, "in", "a parameter").and_then(|place| reader.text(&place))?;
    let location = location(reader, &place)?;
    let ignored = ["accept", "content-type", "authorization"];
    if location == Location::Header && ignored.contains(&&*name.to_ascii_lowercase()) {
        let help = "leave it out: media types stand at bodies and responses, keys in `security`";
        let message = format!("OpenAPI ignores a header parameter called `{}`", name.text);
        reader.error(Code::UnsupportedKeyword, name.span, message, help);
    }
    if location == Location::Header {
        header::sendable(reader, &name);
    }
    let schema = reader.needed(at, "schema", "a parameter")?;
    let schema = schema::read(reader, &schema)?;
    let explode = spread(reader, at, location, &schema.shape);
    Some(Parameter {
        name,
        location,
        required: reader.flag(at, "required"),
        description: reader.text_of(at, "description").map(|text| text.text),
        deprecated: reader.flag(at, "deprecated"),
        explode,
        schema,
    })
}

fn location(reader: &mut Reader<'_>, place: &Text) -> Option<Location> {
    match &**place {
        "path" => Some(Location::Path),
        "query" => Some(Location::Query),
        "header" => Some(Location::Header),
        "cookie" => Some(Location::Cookie),
        other => {
            let message = format!("a parameter in `{other}` is not supported");
            let help = "send it in the path, the query, a header or a cookie";
            reader.error(Code::UnsupportedKeyword, place.span, message, help);
            None
        }
    }
}

/// Whether a list is sent item by item. Reports a style that is not the usual one of its place.
fn spread<'n>(reader: &mut Reader<'n>, at: &At<'n>, location: Location, shape: &Shape) -> bool {
    let usual = match location {
        Location::Query | Location::Cookie => "form",
        Location::Path | Location::Header => "simple",
    };
    if let Some(style) = reader.text_of(at, "style")
        && &*style != usual
    {
        let message = format!("the style `{}` is not supported here", style.text);
        let help = format!("write `{usual}`, or leave it out; lists are sent with commas or by repetition");
        reader.error(Code::UnsupportedKeyword, style.span, message, help);
    }
    let list = matches!(shape, Shape::Array(_) | Shape::Reference(_));
    if let Some(explode) = at.node.entry("explode").filter(|_| !list) {
        let help = "leave it out: a single value has one form only";
        reader.error(Code::UnsupportedKeyword, explode.key.span, "`explode` says nothing here", help);
    }
    let stated = at.node.get("explode").is_some();
    let explode = reader.flag(at, "explode");
    if location == Location::Header && explode {
        let entry = at.node.entry("explode").map_or(at.named, |entry| entry.key.span);
        let help = "leave it out: the items of a header are parted by commas";
        reader.error(Code::UnsupportedKeyword, entry, "`explode` says nothing of a header", help);
    }
    if matches!(location, Location::Path | Location::Cookie) && explode && list {
        let entry = at.node.entry("explode").map_or(at.named, |entry| entry.key.span);
        let help = "leave it out: here a list is sent as one value, with commas";
        reader.error(Code::UnsupportedKeyword, entry, "`explode` is supported in the query alone", help);
    }
    location == Location::Query && (explode || !stated)
}
