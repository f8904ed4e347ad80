//! The top of the document: paths, webhooks, components, tags and the version.
//!
//! Owns which path of the base is which of the revision: the names in its braces do not count.

use std::rc::Rc;

use contract::node::{Entry, Node, Value};
use contract::source::Span;

use super::matched::by_key;
use super::operations::{self, Item, rest};
use super::{Comparison, Places, Use, lifecycle, security};
use crate::rule::{Level, Mirror, Rule};
use crate::schema::value;

const NEVER_MIRRORED: Mirror = Mirror::None("a version that grows is no news");

/// The rules of this family.
pub(crate) const RULES: &[Rule] = &[
    Rule::info("webhook-added", Mirror::Of("webhook-removed")),
    Rule::error(
        "webhook-removed",
        Mirror::Of("webhook-added"),
        "A receiver waits for an event that is never sent again.",
        "Go on sending the event and mark it `deprecated`, with `x-sunset`.",
    ),
    Rule::info("api-schema-removed", Mirror::None("a schema that nothing uses is no news")),
    Rule::info("api-version-not-bumped", NEVER_MIRRORED),
    Rule::info("api-version-decreased", NEVER_MIRRORED),
    Rule::info("api-major-version-not-bumped", NEVER_MIRRORED),
];

/// Compares the two documents from their top.
pub(crate) fn compare(on: &mut Comparison<'_>) {
    security::compare_components(on);
    paths(on);
    webhooks(on);
    removed_schemas(on);
    beside(on);
}

/// Keys of the top that someone compares, or that say nothing to clients.
const KNOWN: [&str; 8] = [
    "openapi",
    "info",
    "servers",
    "security",
    "paths",
    "webhooks",
    "components",
    // The names and texts of tags; which operation has which is compared there.
    "tags",
];
/// The sections of the components.
const SECTIONS: [&str; 9] = [
    "schemas",
    "responses",
    "parameters",
    "requestBodies",
    "headers",
    "securitySchemes",
    "links",
    "callbacks",
    "pathItems",
];

/// What stands at the top, or among the components, beside what OpenAPI knows.
fn beside(on: &mut Comparison<'_>) {
    let (base, revision) = (&on.base.document.root, &on.revision.document.root);
    let head = |node: &Node| Span { start: node.span.start, end: node.span.start };
    let known = |key: &str| KNOWN.contains(&key) || key == "jsonSchemaDialect";
    rest(on, &Use::of("the document"), base, revision, (head(base), head(revision)), known);
    let (was, now) = (base.entry("components"), revision.entry("components"));
    let nothing = Node::made(Value::Mapping(Vec::new()));
    let node = |entry: Option<&'_ Entry>| entry.map_or_else(|| nothing.clone(), |entry| entry.value.clone());
    let at = |entry: Option<&Entry>, root| entry.map_or_else(|| head(root), |entry| entry.key.span);
    let places = (at(was, base), at(now, revision));
    rest(on, &Use::of("components"), &node(was), &node(now), places, |key| SECTIONS.contains(&key));
}

/// The entries under a key of the top.
fn top<'n>(root: &'n Node, key: &str) -> (&'n [Entry], Span) {
    let entry = root.entry(key);
    let entries = entry.and_then(|entry| entry.value.entries()).unwrap_or_default();
    (entries, entry.map_or(Span { start: root.span.start, end: root.span.start }, |entry| entry.key.span))
}

fn paths(on: &mut Comparison<'_>) {
    let (base, base_at) = top(&on.base.document.root, "paths");
    let (revision, revision_at) = top(&on.revision.document.root, "paths");
    // Everything else is a path: the reader refuses what does not begin with `/`.
    let is_path = |entry: &&Entry| !entry.key.text.starts_with("x-");
    let mut left: Vec<&Entry> = revision.iter().filter(is_path).collect();
    let exact: Vec<&Entry> = base.iter().filter(is_path).collect();
    let mut others = Vec::new();
    let mut pairs: Vec<(&Entry, Option<&Entry>)> = Vec::new();
    for entry in exact {
        match left.iter().position(|other| other.key.text == entry.key.text) {
            Some(at) => pairs.push((entry, Some(left.remove(at)))),
            None => others.push(entry),
        }
    }
    for entry in others {
        let same = left.iter().position(|other| template(&other.key.text) == template(&entry.key.text));
        pairs.push((entry, same.map(|at| left.remove(at))));
    }
    for (was, now) in pairs {
        let was = Item::new(&on.base, was, false);
        let now = now.map(|now| Item::new(&on.revision, now, false));
        operations::compare(on, Some(&was), now.as_ref(), Places::new(was.at, revision_at));
    }
    for entry in left {
        let now = Item::new(&on.revision, entry, false);
        operations::compare(on, None, Some(&now), Places::new(base_at, now.at));
    }
}

/// A path with its names taken out: `/a/{id}/b` is `/a/{}/b`.
pub(crate) fn template(path: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for letter in path.chars() {
        match letter {
            '{' => inside = true,
            '}' => inside = false,
            _ if inside => continue,
            _ => {}
        }
        text.push(letter);
    }
    text
}

fn webhooks(on: &mut Comparison<'_>) {
    let (base, base_at) = top(&on.base.document.root, "webhooks");
    let (revision, revision_at) = top(&on.revision.document.root, "webhooks");
    let webhooks = by_key(base, revision, |entry| &entry.key.text);
    for (was, now) in webhooks.stayed {
        let (was, now) = (Item::new(&on.base, was, true), Item::new(&on.revision, now, true));
        operations::compare(on, Some(&was), Some(&now), Places::new(was.at, now.at));
    }
    for entry in webhooks.gone {
        let was = Item::new(&on.base, entry, true);
        let message = format!("the webhook `{}` was removed", entry.key.text);
        let announced = was.operations().all(|(_, operation)| {
            matches!(lifecycle::removal(&operation.value, on.today), lifecycle::Removal::Announced)
        });
        let level = if announced { Level::Info } else { Level::Error };
        let places = Places::new(was.at, revision_at);
        let at = Use::of(&entry.key.text);
        on.raise_at(level, "webhook-removed", &at, places, &entry.key.text, message);
    }
    for entry in webhooks.came {
        let message = format!("the webhook `{}` was added", entry.key.text);
        let places = Places::new(base_at, entry.key.span);
        on.raise("webhook-added", &Use::of(&entry.key.text), places, &entry.key.text, message);
    }
}

fn removed_schemas(on: &mut Comparison<'_>) {
    let base = on.base.section("schemas");
    let revision_at = top(&on.revision.document.root, "components").1;
    for entry in base {
        if on.revision.component("schemas", &entry.key.text).is_none() {
            let message = format!("the schema `{}` was removed from the components", entry.key.text);
            let places = Places::new(entry.key.span, revision_at);
            on.raise("api-schema-removed", &Use::of("components"), places, &entry.key.text, message);
        }
    }
}

/// Judges the version of the API once everything else is known.
pub(crate) fn judge_version(on: &mut Comparison<'_>) {
    let version = |root: &Node| {
        let entry = root.get("info").and_then(|info| info.entry("version"));
        entry.map(|entry| {
            let text = entry.value.as_str().map(str::to_owned);
            // Without quotes it is a number; people still mean a version.
            (text.unwrap_or_else(|| value::shown(&entry.value)), entry.key.span)
        })
    };
    let (Some((was, base)), Some((now, revision))) =
        (version(&on.base.document.root), version(&on.revision.document.root))
    else {
        return;
    };
    let places = Places::new(base, revision);
    let at: Rc<Use> = Use::of("info");
    let breaks = on.notes().iter().any(|note| note.level == Level::Error);
    let numbers = |version: &str| -> Vec<u64> {
        version.split(['.', '-', '+']).map_while(|part| part.parse().ok()).collect()
    };
    if was == now {
        if !on.notes().is_empty() {
            on.raise("api-version-not-bumped", &at, places, &now, format!("the version is still {now}"));
        }
    } else if numbers(&now) < numbers(&was) {
        on.raise(
            "api-version-decreased",
            &at,
            places,
            &now,
            format!("the version went from {was} back to {now}"),
        );
    }
    if breaks && numbers(&was).first() == numbers(&now).first() {
        let message = format!("clients break, and the major version of {now} is that of {was}");
        on.raise("api-major-version-not-bumped", &at, places, &now, message);
    }
}
