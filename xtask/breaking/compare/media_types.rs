//! Names of media types: which of them are the same, and which media ranges cover others.

use std::mem;

use contract::node::{Entry, Node};

use crate::rule::Direction;

/// Returns the most specific media range (such as `text/*`) that covers a media type, or `None` if no range covers it.
pub(super) fn narrowest_covering_range<'n>(entries: &'n [Entry], name: &str) -> Option<&'n Entry> {
    let ranges = entries
        .iter()
        .filter(|entry| is_covered_by(&normalized_media_type(name), &normalized_media_type(&entry.key.text)));
    ranges.max_by_key(|entry| normalized_name(&entry.key.text) != ["*/*"])
}

/// Returns a media type, followed by its parameters, in lower case and without whitespace. Quoted values (RFC 9110, section
/// 5.6.4) are unquoted, and keep their whitespace.
pub(super) fn normalized_name(name: &str) -> Vec<String> {
    let name = name.to_ascii_lowercase();
    let (mut parts, mut part) = (Vec::new(), String::new());
    let mut is_quoted = false;
    let mut letters = name.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '\\' if is_quoted => part.extend(letters.next()),
            ';' if !is_quoted => parts.push(mem::take(&mut part)),
            _ if is_quoted || !letter.is_whitespace() => part.push(letter),
            _ => {}
        }
    }
    parts.push(part);
    parts
}

/// Returns the rule for a renamed media type, or `None` if the types are unrelated.
pub(super) fn renamed_media_type(direction: Direction, before: &str, after: &str) -> Option<&'static str> {
    match direction {
        Direction::Request => renamed_request_type(before, after),
        Direction::Response => renamed_response_type(before, after),
    }
}

/// Returns a media type, followed by its parameters in sorted order. `charset` is left out, because it changes only the
/// encoding of the text; all other parameters are part of the name.
pub(super) fn normalized_media_type(name: &str) -> Vec<String> {
    let mut parts = normalized_name(name);
    let mut parameters = parts.split_off(1);
    parameters.retain(|part| !part.is_empty() && !part.starts_with("charset="));
    parameters.sort_unstable();
    parts.append(&mut parameters);
    parts
}

/// Whether values of a media type, or a part of them, may be sent as XML. `entry` is the media type with its keywords.
pub(super) fn is_xml(entry: &Entry) -> bool {
    let is_xml_name =
        |name: &str| ["/xml", "+xml", "/*"].iter().any(|ending| normalized_name(name)[0].ends_with(ending));
    let encodings = entry.value.get("encoding").and_then(Node::entries).unwrap_or_default();
    let mut content_types =
        encodings.iter().filter_map(|encoding| encoding.value.get("contentType")?.as_str());
    is_xml_name(&entry.key.text) || content_types.any(|names| names.split(',').any(is_xml_name))
}

/// Whether a media range such as `text/*` covers a media type. Both are normalized.
pub(super) fn is_covered_by(media_type: &[String], range: &[String]) -> bool {
    match range {
        [any] if any == "*/*" => true,
        [range] => {
            range.strip_suffix('*').is_some_and(|kind| kind.ends_with('/') && media_type[0].starts_with(kind))
        }
        _ => false,
    }
}

/// Returns the rule for a renamed request media type: the same type in another notation, or a range that covers the old
/// type. Returns `None` for other types.
fn renamed_request_type(before: &str, after: &str) -> Option<&'static str> {
    let (before, after) = (normalized_media_type(before), normalized_media_type(after));
    if before == after {
        return Some("request-body-media-type-name-changed");
    }
    is_covered_by(&before, &after).then_some("request-body-media-type-name-generalized")
}

/// Returns the rule for a renamed response media type: the same type in another notation, a more general type or a more
/// specific one. Returns `None` for other types.
fn renamed_response_type(before: &str, after: &str) -> Option<&'static str> {
    let (before, after) = (normalized_media_type(before), normalized_media_type(after));
    if before == after {
        return Some("response-media-type-name-changed");
    }
    if is_specialization_of(&before, &after) {
        return Some("response-media-type-name-generalized");
    }
    is_specialization_of(&after, &before).then_some("response-media-type-name-specialized")
}

/// Whether a media type is a special case of another one: `application/problem+json` of `application/json`, every type
/// of `*/*`, and a type with more parameters of one with fewer.
fn is_specialization_of(special: &[String], general: &[String]) -> bool {
    let Some(((kind, name), (general_kind, general_name))) =
        special[0].split_once('/').zip(general[0].split_once('/'))
    else {
        return false;
    };
    let kind_matches = general_kind == "*" || kind == general_kind;
    let suffix_matches = || name.rsplit_once('+').is_some_and(|(_, suffix)| suffix == general_name);
    let name_matches = general_name == "*" || name == general_name || suffix_matches();
    kind_matches && name_matches && general[1..].iter().all(|parameter| special[1..].contains(parameter))
}
