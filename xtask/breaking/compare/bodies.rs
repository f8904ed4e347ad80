//! Bodies and their media types, whichever way they go.

use std::rc::Rc;

use contract::node::{Entry, Node, Value};
use contract::source::Span;

use super::operations::{Operation, place, rest};
use super::{Comparison, Origin, Places, Use, encoding};
use crate::rule::{Direction, Mirror, Rule, Site};
use crate::schema::view::Parts;

const NO_SENDER: &str = "A client that sends this media type gets 415.";
const NO_READER: &str =
    "A client that asks for this media type, and reads no other, gets nothing that it understands.";
const KEEP_TYPE: &str = "Keep the media type beside the new one.";

/// The rules of this family.
pub(crate) const RULES: &[Rule] = &[
    Rule::error(
        "request-body-added-required",
        Mirror::Of("request-body-removed"),
        "A client that sends no body, as none does today, is refused.",
        "Make the body optional (`required: false`).",
    ),
    Rule::info("request-body-added-optional", Mirror::Of("request-body-removed")),
    Rule::error(
        "request-body-removed",
        Mirror::Of("request-body-added-required"),
        "What a client sends in the body is not heeded any more.",
        "Keep accepting the body.",
    ),
    Rule::info("request-body-became-optional", Mirror::Of("request-body-became-required")),
    Rule::error(
        "request-body-became-required",
        Mirror::Of("request-body-became-optional"),
        "A client that sends no body is refused.",
        "Leave the body optional.",
    ),
    Rule::info("request-body-media-type-added", Mirror::Of("request-body-media-type-removed")),
    Rule::error(
        "request-body-media-type-removed",
        Mirror::Of("request-body-media-type-added"),
        NO_SENDER,
        KEEP_TYPE,
    ),
    Rule::error(
        "request-body-media-type-schema-added",
        Mirror::Of("request-body-media-type-schema-removed"),
        "A client that sends what the new schema does not let through is refused.",
        "Let the schema accept everything that was accepted.",
    ),
    Rule::info("request-body-media-type-schema-removed", Mirror::Of("request-body-media-type-schema-added")),
    Rule::info("request-body-media-type-name-changed", Mirror::Of("request-body-media-type-name-changed")),
    Rule::info("request-body-media-type-name-generalized", Mirror::Of("request-body-media-type-removed")),
    Rule::error("response-media-type-removed", Mirror::Of("response-media-type-added"), NO_READER, KEEP_TYPE),
    Rule::info("response-media-type-added", Mirror::Of("response-media-type-removed")),
    Rule::info("response-media-type-name-changed", Mirror::Of("response-media-type-name-changed")),
    Rule::error(
        "response-media-type-name-generalized",
        Mirror::Of("response-media-type-name-specialized"),
        NO_READER,
        KEEP_TYPE,
    ),
    // Whoever reads `application/json` reads what ends with `+json`: the suffix says so (RFC 6839).
    Rule::info("response-media-type-name-specialized", Mirror::Of("response-media-type-name-generalized")),
    Rule::info(
        "response-body-media-type-schema-added",
        Mirror::Of("response-body-media-type-schema-removed"),
    ),
    Rule::warning(
        "response-body-media-type-schema-removed",
        Mirror::Of("response-body-media-type-schema-added"),
        "A client cannot tell any more what the body holds.",
        "Keep the schema.",
    ),
    Rule::info("webhook-payload-added", Mirror::Of("webhook-payload-removed")),
    Rule::error(
        "webhook-payload-removed",
        Mirror::Of("webhook-payload-added"),
        "A receiver that reads the body finds none.",
        "Go on sending the body.",
    ),
    Rule::error(
        "webhook-payload-became-optional",
        Mirror::Of("webhook-payload-became-required"),
        "A receiver that reads the body may find none.",
        "Go on sending the body each time.",
    ),
    Rule::info("webhook-payload-became-required", Mirror::Of("webhook-payload-became-optional")),
];

/// Compares what is sent with a call: the body of a request, or the payload of a webhook.
pub(super) fn compare<'n>(
    on: &mut Comparison<'n>,
    at: &Rc<Use>,
    was: Operation<'_, 'n>,
    now: Operation<'_, 'n>,
) {
    let flipped = at.flipped;
    let (base, revision) = (was.node.entry("requestBody"), now.node.entry("requestBody"));
    let required =
        |body: &Node| matches!(body.get("required").map(|flag| &flag.value), Some(Value::Bool(true)));
    let (base, revision) = match (base, revision) {
        (None, None) => return,
        (Some(base), None) => {
            let id = if flipped { "webhook-payload-removed" } else { "request-body-removed" };
            on.raise(id, at, Places::new(base.key.span, now.at), "", "the body was removed".to_owned());
            return;
        }
        (None, Some(revision)) => {
            let body = on.revision.follow(&revision.value);
            let (id, message) = match (flipped, required(body)) {
                (true, _) => ("webhook-payload-added", "a body was added"),
                (false, true) => ("request-body-added-required", "a required body was added"),
                (false, false) => ("request-body-added-optional", "an optional body was added"),
            };
            on.raise(id, at, Places::new(was.at, revision.key.span), "", message.to_owned());
            return;
        }
        (Some(base), Some(revision)) => (base, revision),
    };
    let (base, base_at) = on.base.follow_from(&base.value, base.key.span);
    let (revision, revision_at) = on.revision.follow_from(&revision.value, revision.key.span);
    let spans = (base_at, revision_at);
    let places = Places::new(place(base, "required", spans.0), place(revision, "required", spans.1));
    let stem = if flipped { "webhook-payload" } else { "request-body" };
    match (required(base), required(revision)) {
        (true, false) => {
            on.raise(
                &format!("{stem}-became-optional"),
                at,
                places,
                "",
                "the body may be left out now".to_owned(),
            );
        }
        (false, true) => {
            on.raise(
                &format!("{stem}-became-required"),
                at,
                places,
                "",
                "the body must be there now".to_owned(),
            );
        }
        _ => {}
    }
    let direction = if flipped { Direction::Response } else { Direction::Request };
    let at = at.step(if flipped { "payload" } else { "body" });
    contents(on, &at, (base, spans.0), (revision, spans.1), direction);
    rest(on, &at, base, revision, spans, |key| ["required", "content"].contains(&key));
}

/// Compares the media types of a body.
pub(super) fn contents<'n>(
    on: &mut Comparison<'n>,
    at: &Rc<Use>,
    (base, base_at): (&'n Node, Span),
    (revision, revision_at): (&'n Node, Span),
    direction: Direction,
) {
    let entries = |node: &'n Node| node.get("content").and_then(Node::entries).unwrap_or_default();
    let places = Places::new(place(base, "content", base_at), place(revision, "content", revision_at));
    let mut left: Vec<&Entry> = entries(revision).iter().collect();
    let mut gone = Vec::new();
    for was in entries(base) {
        match left.iter().position(|now| spelled(&now.key.text) == spelled(&was.key.text)) {
            Some(found) => media_type(on, at, was, left.remove(found), direction),
            None => gone.push(was),
        }
    }
    // A client may go on sending what a wider media type takes in, whatever else it was there for.
    let candidates: Vec<&Entry> = match direction {
        Direction::Request => entries(revision).iter().collect(),
        Direction::Response => left.clone(),
    };
    for was in gone {
        let name = &was.key.text;
        let is_free = |now: &&&Entry| {
            direction == Direction::Request || left.iter().any(|free| std::ptr::eq(*free, **now))
        };
        let found = candidates
            .iter()
            .filter(is_free)
            .find_map(|now| Some((*now, kin(direction, name, &now.key.text)?)));
        if let Some((now, id)) = found {
            left.retain(|free| !std::ptr::eq(*free, now));
            renamed(on, at, id, was, now);
            media_type(on, at, was, now, direction);
            continue;
        }
        let id = match direction {
            Direction::Request => "request-body-media-type-removed",
            Direction::Response => "response-media-type-removed",
        };
        let message = format!("the media type `{name}` was removed");
        on.raise(id, at, Places::new(was.key.span, places.revision), name, message);
    }
    for now in left {
        let name = &now.key.text;
        let id = match direction {
            Direction::Request => "request-body-media-type-added",
            Direction::Response => "response-media-type-added",
        };
        on.raise(
            id,
            at,
            Places::new(places.base, now.key.span),
            name,
            format!("the media type `{name}` was added"),
        );
        // A wildcard spoke for this type before: what was taken must be still, and what was sent must be read as it was.
        if let Some(was) = nearest_wildcard(entries(base), name) {
            media_type(on, at, was, now, direction);
        }
    }
}

/// The media range that speaks for a media type: that of its kind, or else the one of all.
fn nearest_wildcard<'n>(entries: &'n [Entry], name: &str) -> Option<&'n Entry> {
    let ranges = entries.iter().filter(|entry| is_within(&essence(name), &essence(&entry.key.text)));
    ranges.max_by_key(|entry| spelled(&entry.key.text) != "*/*")
}

/// A media type as it is compared: without regard to case and blanks.
fn spelled(name: &str) -> String {
    name.to_ascii_lowercase().chars().filter(|letter| !letter.is_whitespace()).collect()
}

/// The id of the rule, when one media type is another form of the other.
fn kin(direction: Direction, was: &str, now: &str) -> Option<&'static str> {
    match direction {
        Direction::Request => kin_sent(was, now),
        Direction::Response => kin_read(was, now),
    }
}

/// A media type with its parameters, in one order. Which characters a text is written in, it says itself; every other
/// parameter is part of the name.
pub(super) fn essence(name: &str) -> Vec<String> {
    let name = spelled(name);
    let (kind, parameters) = name.split_once(';').unwrap_or((&name, ""));
    let mut parameters: Vec<&str> =
        parameters.split(';').filter(|part| !part.is_empty() && !part.starts_with("charset=")).collect();
    parameters.sort_unstable();
    [kind].into_iter().chain(parameters).map(str::to_owned).collect()
}

/// Whether a media range such as `text/*` takes in a media type.
fn is_within(name: &[String], range: &[String]) -> bool {
    match range {
        [all] if all == "*/*" => true,
        [range] => {
            range.strip_suffix('*').is_some_and(|kind| kind.ends_with('/') && name[0].starts_with(kind))
        }
        _ => false,
    }
}

/// In a request: what a server took it still takes, under the wider name.
fn kin_sent(was: &str, now: &str) -> Option<&'static str> {
    let (was, now) = (essence(was), essence(now));
    if was == now {
        return Some("request-body-media-type-name-changed");
    }
    is_within(&was, &now).then_some("request-body-media-type-name-generalized")
}

/// In a response: a reader may know one as the other.
fn kin_read(was: &str, now: &str) -> Option<&'static str> {
    let (was, now) = (essence(was), essence(now));
    if was == now {
        return Some("response-media-type-name-changed");
    }
    if is_kind_of(&was, &now) {
        return Some("response-media-type-name-generalized");
    }
    is_kind_of(&now, &was).then_some("response-media-type-name-specialized")
}

/// Whether one is a kind of the other: `application/problem+json` of `application/json`, everything of `*/*`, and what has
/// more parameters of what has fewer.
fn is_kind_of(special: &[String], general: &[String]) -> bool {
    let Some(((kind, name), (general_kind, general_name))) =
        special[0].split_once('/').zip(general[0].split_once('/'))
    else {
        return false;
    };
    let kinds = general_kind == "*" || kind == general_kind;
    let suffix = || name.rsplit_once('+').is_some_and(|(_, suffix)| suffix == general_name);
    let names = general_name == "*" || name == general_name || suffix();
    kinds && names && general[1..].iter().all(|parameter| special[1..].contains(parameter))
}

fn renamed(on: &mut Comparison<'_>, at: &Rc<Use>, id: &str, was: &Entry, now: &Entry) {
    let facts = format!("`{}` to `{}`", was.key.text, now.key.text);
    let places = Places::new(was.key.span, now.key.span);
    on.raise(id, at, places, &facts, format!("the media type went from {facts}"));
}

fn media_type<'n>(
    on: &mut Comparison<'n>,
    at: &Rc<Use>,
    was: &'n Entry,
    now: &'n Entry,
    direction: Direction,
) {
    let (site, stem) = match direction {
        Direction::Request => (Site::RequestBody, "request-body"),
        Direction::Response => (Site::ResponseBody, "response-body"),
    };
    match (was.value.entry("schema"), now.value.entry("schema")) {
        (None, None) => {}
        (Some(base), Some(revision)) => {
            on.enter(Parts::under(base), Parts::under(revision), site, Origin::Use(Rc::clone(at)));
        }
        (base, revision) => {
            let (ending, name) =
                if base.is_none() { ("added", &now.key.text) } else { ("removed", &was.key.text) };
            let span = |entry: Option<&Entry>, otherwise: &Entry| {
                entry.map_or(otherwise.key.span, |entry| entry.key.span)
            };
            let places = Places::new(span(base, was), span(revision, now));
            let message = format!("the schema of `{name}` was {ending}");
            on.raise(&format!("{stem}-media-type-schema-{ending}"), at, places, name, message);
        }
    }
    encoding::compare(on, at, was, now, direction);
    let known = ["schema", "encoding"];
    rest(on, at, &was.value, &now.value, (was.key.span, now.key.span), |key| known.contains(&key));
}
