//! Responses: their statuses, headers, links and bodies.
//!
//! In a webhook it is the receiver who answers: there a status that is gone is an answer that is not understood any more, and
//! a header is one that the server reads.

use std::rc::Rc;

use contract::node::{Entry, Node, Value};
use contract::source::Span;

use super::matched::by_key;
use super::operations::{Operation, place, rest};
use super::{Comparison, Origin, Places, Use, bodies, content, lifecycle, parameters};
use crate::document::Side;
use crate::rule::{Direction, Level, Mirror, Rule, Site};
use crate::schema::{is_annotation, value};

const NO_HEADER: &str = "A client that reads the header finds none.";
const KEEP_HEADER: &str = "Go on sending the header.";

/// The rules of this family.
pub(crate) const RULES: &[Rule] = &[
    Rule::error(
        "response-success-status-removed",
        Mirror::Of("response-success-status-added"),
        "A client that waits for this status takes another one for a failure.",
        "Keep answering with the status.",
    ),
    Rule::info("response-success-status-added", Mirror::Of("response-success-status-removed")),
    Rule::info("response-non-success-status-removed", Mirror::Of("response-non-success-status-added")),
    Rule::info("response-non-success-status-added", Mirror::Of("response-non-success-status-removed")),
    Rule::error(
        "webhook-response-status-removed",
        Mirror::Of("webhook-response-status-added"),
        "A receiver that answers with this status is not understood.",
        "Go on accepting the status.",
    ),
    Rule::info("webhook-response-status-added", Mirror::Of("webhook-response-status-removed")),
    Rule::error(
        "required-response-header-removed",
        Mirror::Of("response-header-added"),
        NO_HEADER,
        KEEP_HEADER,
    ),
    Rule::warning(
        "optional-response-header-removed",
        Mirror::Of("response-header-added"),
        "A client that reads the header where it is there finds it nowhere.",
        KEEP_HEADER,
    ),
    Rule::info("response-header-added", Mirror::Of("optional-response-header-removed")),
    Rule::error(
        "response-header-explode-changed",
        Mirror::Of("response-header-explode-changed"),
        "A client reads the header as it was written, and misunderstands it.",
        "Keep how it is written; send the new form under another name.",
    ),
    Rule::error(
        "response-header-serialization-changed",
        Mirror::Of("response-header-serialization-changed"),
        "A client reads the header as it was written, and misunderstands it.",
        "Keep how it is written; send the new form under another name.",
    ),
    Rule::warning(
        "response-link-removed",
        Mirror::Of("response-link-added"),
        "A client that follows the link finds none.",
        "Keep the link.",
    ),
    Rule::info("response-link-added", Mirror::Of("response-link-removed")),
    Rule::warning(
        "response-link-changed",
        Mirror::Of("response-link-changed"),
        "A client that follows the link comes to another place.",
        "Keep the link, and add another one.",
    ),
];

/// Compares the responses of an operation.
pub(super) fn compare<'n>(
    on: &mut Comparison<'n>,
    at: &Rc<Use>,
    was: Operation<'_, 'n>,
    now: Operation<'_, 'n>,
) {
    let entries = |node: &'n Node| node.get("responses").and_then(Node::entries).unwrap_or_default();
    let (bases, revisions) = (entries(was.node), entries(now.node));
    let lacking = Places::new(place(was.node, "responses", was.at), place(now.node, "responses", now.at));
    let statuses = |entry: &&Entry| !entry.key.text.starts_with("x-");
    for entry in bases.iter().filter(statuses) {
        let status = &entry.key.text;
        // What is left of a range is compared below, each status by itself; the default never spoke for it.
        if let Some(left) = narrowed(revisions, status).filter(|_| !at.flipped && is_success(status)) {
            let places = Places::new(entry.key.span, left.key.span);
            let message = format!("of all {status} only those that are named are left");
            on.raise_at(Level::Info, "response-success-status-removed", at, places, status, message);
            continue;
        }
        if let Some(other) = covering(revisions, status) {
            response(on, at, entry, other);
        }
        if exact(revisions, status).is_none() {
            let id = match (at.flipped, is_success(status)) {
                (true, _) => "webhook-response-status-removed",
                (false, true) => "response-success-status-removed",
                (false, false) => "response-non-success-status-removed",
            };
            // The default speaks for failures; a success is one by its own status or that of its class.
            let covered = covering(revisions, status)
                .is_some_and(|entry| !is_success(status) || entry.key.text != "default");
            // That a failure is gone is news to whoever reads it; whoever answers with it may go on.
            if !covered || !(at.flipped || is_success(status)) {
                let places = Places::new(entry.key.span, lacking.revision);
                on.raise(id, at, places, status, format!("the status {status} was removed"));
            }
        }
    }
    for entry in revisions.iter().filter(statuses).filter(|entry| exact(bases, &entry.key.text).is_none()) {
        let status = &entry.key.text;
        // A class or `default` spoke for it before.
        if let Some(other) = covering(bases, status) {
            response(on, at, other, entry);
        }
        let id = match (at.flipped, is_success(status)) {
            (true, _) => "webhook-response-status-added",
            (false, true) => "response-success-status-added",
            (false, false) => "response-non-success-status-added",
        };
        let places = Places::new(lacking.base, entry.key.span);
        on.raise(id, at, places, status, format!("the status {status} was added"));
    }
}

fn exact<'n>(entries: &'n [Entry], status: &str) -> Option<&'n Entry> {
    entries.iter().find(|entry| entry.key.text.eq_ignore_ascii_case(status))
}

/// The response that speaks for a status: its own, that of its class, or the default.
fn covering<'n>(entries: &'n [Entry], status: &str) -> Option<&'n Entry> {
    let class = format!("{}XX", status.get(..1).unwrap_or_default());
    let class = || if status == "default" { None } else { exact(entries, &class) };
    exact(entries, status).or_else(class).or_else(|| exact(entries, "default"))
}

/// The first status of a class that is gone as a whole.
fn narrowed<'n>(entries: &'n [Entry], status: &str) -> Option<&'n Entry> {
    let class = status.get(..1).filter(|_| status[1..].eq_ignore_ascii_case("XX"))?;
    let of_class = |entry: &&Entry| entry.key.text.starts_with(class);
    if exact(entries, status).is_some() { None } else { entries.iter().find(of_class) }
}

fn is_success(status: &str) -> bool {
    status.starts_with('2') || status.starts_with('3')
}

fn response<'n>(on: &mut Comparison<'n>, at: &Rc<Use>, was: &'n Entry, now: &'n Entry) {
    let (base, base_at) = on.base.follow_from(&was.value, was.key.span);
    let (revision, revision_at) = on.revision.follow_from(&now.value, now.key.span);
    if on.same().nodes(base, revision) {
        return;
    }
    let at = &at.step(&was.key.text);
    let direction = if at.flipped { Direction::Request } else { Direction::Response };
    let spans = (base_at, revision_at);
    bodies::contents(on, at, (base, spans.0), (revision, spans.1), direction);
    headers(on, at, (base, spans.0), (revision, spans.1));
    links(on, at, (base, spans.0), (revision, spans.1));
    rest(on, at, base, revision, spans, |key| ["content", "headers", "links"].contains(&key));
}

fn headers<'n>(on: &mut Comparison<'n>, at: &Rc<Use>, base: (&'n Node, Span), revision: (&'n Node, Span)) {
    let entries = |node: &'n Node| node.get("headers").and_then(Node::entries).unwrap_or_default();
    // OpenAPI ignores it here: the media types of the body say it.
    let is_heeded = |entry: &&Entry| !entry.key.text.eq_ignore_ascii_case("Content-Type");
    let lacking = Places::new(place(base.0, "headers", base.1), place(revision.0, "headers", revision.1));
    let headers = by_key(entries(base.0), entries(revision.0), |entry| entry.key.text.to_ascii_lowercase());
    let header = if at.flipped { parameters::answered } else { header };
    for (entry, other) in headers.stayed.into_iter().filter(|(entry, _)| is_heeded(entry)) {
        let was = Header::of(&on.base, &entry.value, entry.key.span);
        let now = Header::of(&on.revision, &other.value, other.key.span);
        header(on, at, &entry.key.text, Some(was), Some(now), lacking);
    }
    for entry in headers.gone.into_iter().filter(is_heeded) {
        let was = Header::of(&on.base, &entry.value, entry.key.span);
        header(on, at, &entry.key.text, Some(was), None, lacking);
    }
    for entry in headers.came.into_iter().filter(is_heeded) {
        let now = Header::of(&on.revision, &entry.value, entry.key.span);
        header(on, at, &entry.key.text, None, Some(now), lacking);
    }
}

/// A header of a response.
#[derive(Clone, Copy)]
pub(super) struct Header<'n> {
    /// What it says.
    pub node: &'n Node,
    /// Where it is used.
    pub used: Span,
    /// Where it is named.
    pub named: Span,
}

impl<'n> Header<'n> {
    fn of(side: &Side<'n>, node: &'n Node, used: Span) -> Self {
        let (node, named) = side.follow_from(node, used);
        Self { node, used, named }
    }
}

/// Compares a header that the server sends.
pub(super) fn header<'n>(
    on: &mut Comparison<'n>,
    at: &Rc<Use>,
    name: &'n str,
    was: Option<Header<'n>>,
    now: Option<Header<'n>>,
    lacking: Places,
) {
    let (was, now) = match (was, now) {
        (None, None) => return,
        (None, Some(now)) => {
            let places = Places::new(lacking.base, now.used);
            on.raise("response-header-added", at, places, name, format!("the header `{name}` was added"));
            return;
        }
        (Some(was), None) => {
            let id = if is(was.node, "required") { "required" } else { "optional" };
            let places = Places::new(was.used, lacking.revision);
            let id = format!("{id}-response-header-removed");
            let message = format!("the header `{name}` was removed");
            match lifecycle::removal(was.node, on.today) {
                lifecycle::Removal::Announced => on.raise_at(Level::Info, &id, at, places, name, message),
                _ => on.raise(&id, at, places, name, message),
            }
            return;
        }
        (Some(was), Some(now)) => (was, now),
    };
    both(on, at, name, was, now);
}

/// What a header may say that someone compares; the style is one of them while it is the same.
const KNOWN: [&str; 8] = ["required", "schema", "content", "explode", "name", "in", "deprecated", "x-sunset"];

fn both<'n>(on: &mut Comparison<'n>, at: &Rc<Use>, name: &str, was: Header<'n>, now: Header<'n>) {
    if on.same().nodes(was.node, now.node) {
        return;
    }
    let at = &at.step(&format!("header {name}"));
    let places =
        |keyword| Places::new(place(was.node, keyword, was.named), place(now.node, keyword, now.named));
    match (is(was.node, "required"), is(now.node, "required")) {
        (true, false) => {
            let message = format!("the header `{name}` may be missing now");
            on.note_use(Site::ResponseHeader, "became-optional", at, places("required"), "", message);
        }
        (false, true) => {
            let message = format!("the header `{name}` is always there now");
            on.note_use(Site::ResponseHeader, "became-required", at, places("required"), "", message);
        }
        _ => {}
    }
    if is(was.node, "explode") != is(now.node, "explode") {
        let message = format!("`explode` of the header `{name}` changed");
        on.raise("response-header-explode-changed", at, places("explode"), name, message);
    }
    let (base, revision) = ((was.node, was.named), (now.node, now.named));
    if let Some((facts, places)) = content::serialization(base, revision) {
        let message = format!("the header `{name}` is written otherwise: from {facts}");
        on.raise("response-header-serialization-changed", at, places, &facts, message);
    }
    lifecycle::judge_header(on, at, base, revision);
    on.enter(
        content::schema(base),
        content::schema(revision),
        Site::ResponseHeader,
        Origin::Use(Rc::clone(at)),
    );
    let unchanged = |key: &str| match key {
        "style" => style(was.node) == style(now.node),
        "allowReserved" | "allowEmptyValue" => is(was.node, key) == is(now.node, key),
        _ => false,
    };
    rest(on, at, was.node, now.node, (was.named, now.named), |key| KNOWN.contains(&key) || unchanged(key));
}

fn is(node: &Node, keyword: &str) -> bool {
    matches!(node.get(keyword).map(|flag| &flag.value), Some(Value::Bool(true)))
}

/// How a header is written; a webhook may also send something in its query.
fn style(node: &Node) -> &str {
    let in_query = matches!(node.get("in").and_then(Node::as_str), Some("query" | "cookie"));
    let usual = if in_query { "form" } else { "simple" };
    node.get("style").and_then(Node::as_str).unwrap_or(usual)
}

fn links(on: &mut Comparison<'_>, at: &Rc<Use>, base: (&Node, Span), revision: (&Node, Span)) {
    let places = Places::new(place(base.0, "links", base.1), place(revision.0, "links", revision.1));
    let bases = base.0.get("links").and_then(Node::entries).unwrap_or_default();
    let revisions = revision.0.get("links").and_then(Node::entries).unwrap_or_default();
    let links = by_key(bases, revisions, |entry| &entry.key.text);
    for (entry, other) in links.stayed {
        let (was, was_at) = on.base.follow_from(&entry.value, entry.key.span);
        let (now, now_at) = on.revision.follow_from(&other.value, other.key.span);
        if !leads_alike(was, now) {
            let name = &entry.key.text;
            let places = Places::new(was_at, now_at);
            on.raise("response-link-changed", at, places, name, format!("the link `{name}` changed"));
        }
    }
    for entry in links.gone {
        let name = &entry.key.text;
        let places = Places::new(entry.key.span, places.revision);
        on.raise("response-link-removed", at, places, name, format!("the link `{name}` was removed"));
    }
    for entry in links.came {
        let name = &entry.key.text;
        let places = Places::new(places.base, entry.key.span);
        on.raise("response-link-added", at, places, name, format!("the link `{name}` was added"));
    }
}

/// Whether two links lead to the same place, whatever they say to readers.
fn leads_alike(was: &Node, now: &Node) -> bool {
    let told = |node: &Node| {
        let entries = node.entries().unwrap_or_default().iter();
        let told = entries.filter(|entry| !is_annotation(&entry.key.text)).cloned();
        Node::made(Value::Mapping(told.collect()))
    };
    value::same(&told(was), &told(now))
}
