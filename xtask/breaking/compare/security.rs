//! Who may call: the schemes, and what each operation asks for.
//!
//! An operation asks for one of several alternatives; each is a set of schemes with scopes. oasdiff takes all of this for
//! news; here a change counts as breaking, since keys and scopes are what clients were given.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use contract::node::{Entry, Node};
use contract::source::Span;

use super::matched::by_key;
use super::operations::{Operation, place, rest};
use super::{Comparison, Places, Use};
use crate::rule::{Level, Mirror, Rule};

const NO_KEY: &str = "A client without this kind of key is refused.";
const KEEP_KEY: &str = "Keep the way in that clients have, as one of several.";
const NO_SCOPE: &str = "A client whose key was not given the scope is refused.";
const KEEP_SCOPE: &str = "Go on accepting keys with the scopes that were asked for.";
const OTHER_KEY: &str = "A client proves who it is in a way that is not understood any more.";
const BESIDE: &str = "Add a scheme of another name beside it.";
const NO_SCOPE_LEFT: &str = "A client asks for the scope when it logs in, and is refused.";
const KEEP_NAME: &str = "Keep the scope; it may grant nothing.";
const UNGUARDED: &str =
    "Clients stop sending a key, and fail once it is asked for again; data may be open to all.";

/// The rules of this family.
pub(crate) const RULES: &[Rule] = &[
    Rule::error(
        "api-security-component-removed",
        Mirror::Of("api-security-component-added"),
        OTHER_KEY,
        KEEP_KEY,
    ),
    Rule::info("api-security-component-added", Mirror::Of("api-security-component-removed")),
    Rule::error(
        "api-security-component-type-changed",
        Mirror::Of("api-security-component-type-changed"),
        OTHER_KEY,
        BESIDE,
    ),
    Rule::error(
        "api-security-component-oauth-url-changed",
        Mirror::Of("api-security-component-oauth-url-changed"),
        "A client logs in at the old address.",
        "Keep the old address answering, and add a flow or a scheme for the new one.",
    ),
    Rule::error(
        "api-security-component-oauth-token-url-changed",
        Mirror::Of("api-security-component-oauth-token-url-changed"),
        "A client fetches its token at the old address.",
        "Keep the old address answering, and add a flow or a scheme for the new one.",
    ),
    Rule::info(
        "api-security-component-oauth-scope-added",
        Mirror::Of("api-security-component-oauth-scope-removed"),
    ),
    Rule::error(
        "api-security-component-oauth-scope-removed",
        Mirror::Of("api-security-component-oauth-scope-added"),
        NO_SCOPE_LEFT,
        KEEP_NAME,
    ),
    Rule::info(
        "api-security-component-oauth-scope-changed",
        Mirror::Of("api-security-component-oauth-scope-changed"),
    ),
    Rule::error("api-security-removed", Mirror::Of("api-security-added"), UNGUARDED, KEEP_KEY),
    Rule::error("api-security-added", Mirror::Of("api-security-removed"), NO_KEY, KEEP_KEY),
    Rule::info("api-security-alternative-added", Mirror::Of("api-security-removed")),
    Rule::error("api-security-scope-added", Mirror::Of("api-security-scope-removed"), NO_SCOPE, KEEP_SCOPE),
    Rule::error(
        "api-security-scope-removed",
        Mirror::Of("api-security-scope-added"),
        "Keys that were refused are accepted; what the scope kept apart is open to them.",
        "Make it a decision: have it waived once someone has judged who gets in.",
    ),
    Rule::error("api-global-security-removed", Mirror::Of("api-global-security-added"), UNGUARDED, KEEP_KEY),
    Rule::error("api-global-security-added", Mirror::Of("api-global-security-removed"), NO_KEY, KEEP_KEY),
    Rule::info("api-global-security-alternative-added", Mirror::Of("api-global-security-removed")),
    Rule::error(
        "api-global-security-scope-added",
        Mirror::Of("api-global-security-scope-removed"),
        NO_SCOPE,
        KEEP_SCOPE,
    ),
    Rule::error(
        "api-global-security-scope-removed",
        Mirror::Of("api-global-security-scope-added"),
        "Keys that were refused are accepted; what the scope kept apart is open to them.",
        "Make it a decision: have it waived once someone has judged who gets in.",
    ),
];

/// One alternative: schemes with the scopes that each must have.
struct Alternative<'n> {
    schemes: BTreeMap<&'n str, BTreeSet<&'n str>>,
    at: Span,
}

impl Alternative<'_> {
    fn names(&self) -> BTreeSet<&str> {
        self.schemes.keys().copied().collect()
    }

    fn shown(&self) -> String {
        let names: Vec<&str> = self.schemes.keys().copied().collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(" and ") }
    }
}

/// The alternatives under `security`; none at all is one that asks for nothing.
fn alternatives(owner: &Node) -> Option<Vec<Alternative<'_>>> {
    let entry = owner.entry("security")?;
    let items = entry.value.items().unwrap_or_default();
    if items.is_empty() {
        return Some(vec![Alternative { schemes: BTreeMap::new(), at: entry.key.span }]);
    }
    Some(items.iter().map(alternative).collect())
}

fn alternative(item: &Node) -> Alternative<'_> {
    let schemes = item.entries().unwrap_or_default().iter().map(|entry| {
        let scopes = entry.value.items().unwrap_or_default().iter().filter_map(Node::as_str).collect();
        (entry.key.text.as_str(), scopes)
    });
    Alternative { schemes: schemes.collect(), at: item.span }
}

/// Compares what an operation asks for: its own list, or else the document's. What webhooks ask for is the receiver's affair.
pub(super) fn compare(on: &mut Comparison<'_>, at: &Rc<Use>, was: Operation<'_, '_>, now: Operation<'_, '_>) {
    if at.flipped {
        return;
    }
    let (base, base_at, of_base) = effective(&on.base.document.root, was);
    let (revision, revision_at, of_revision) = effective(&on.revision.document.root, now);
    let stem = if of_base && of_revision { "api-global-security" } else { "api-security" };
    lists(on, at, stem, &base, &revision, Places::new(base_at, revision_at));
}

/// What an operation asks for, where that is said, and whether the document says it for all.
fn effective<'n>(root: &'n Node, operation: Operation<'_, 'n>) -> (Vec<Alternative<'n>>, Span, bool) {
    let head = Span { start: root.span.start, end: root.span.start };
    let own = alternatives(operation.node);
    let of_root = own.is_none();
    let all = own.or_else(|| alternatives(root));
    let at =
        if of_root { place(root, "security", head) } else { place(operation.node, "security", operation.at) };
    (all.unwrap_or_else(|| vec![Alternative { schemes: BTreeMap::new(), at }]), at, of_root)
}

fn lists(
    on: &mut Comparison<'_>,
    at: &Rc<Use>,
    stem: &str,
    was: &[Alternative<'_>],
    now: &[Alternative<'_>],
    places: Places,
) {
    let mut left: Vec<&Alternative<'_>> = now.iter().collect();
    let mut gone: Vec<&Alternative<'_>> = was.iter().collect();
    // The ones with the same scopes first: one scheme may stand in several alternatives.
    let pairings: [fn(&Alternative<'_>, &Alternative<'_>) -> bool; 2] =
        [|old, new| old.schemes == new.schemes, |old, new| old.names() == new.names()];
    for is_it in pairings {
        gone.retain(|old| match left.iter().position(|new| is_it(old, new)) {
            Some(found) => {
                scopes(on, at, stem, old, left.remove(found));
                false
            }
            None => true,
        });
    }
    let opened = left.iter().any(|new| new.schemes.is_empty());
    let was_open = gone.iter().any(|old| old.schemes.is_empty());
    for old in gone.iter().filter(|old| !old.schemes.is_empty() && !opened) {
        let message = format!("{} does not open it any more", old.shown());
        on.raise(&format!("{stem}-removed"), at, Places::new(old.at, places.revision), &old.shown(), message);
    }
    if opened {
        let names: Vec<String> = was.iter().map(Alternative::shown).collect();
        let message = format!("it asks for nothing any more, where it asked for {}", names.join(" or "));
        on.raise(&format!("{stem}-removed"), at, places, "open", message);
    }
    if was_open {
        let names: Vec<String> = now.iter().map(Alternative::shown).collect();
        let message = format!("it asks for {} now, where it asked for nothing", names.join(" or "));
        on.raise(&format!("{stem}-added"), at, places, "closed", message);
    }
    let kept = gone.len() < was.len();
    for new in left.iter().filter(|new| !new.schemes.is_empty() && !was_open) {
        let places = Places::new(places.base, new.at);
        let (id, message) = if kept {
            (format!("{stem}-alternative-added"), format!("{} opens it as well", new.shown()))
        } else {
            (format!("{stem}-added"), format!("it asks for {} now", new.shown()))
        };
        on.raise(&id, at, places, &new.shown(), message);
    }
}

fn scopes(on: &mut Comparison<'_>, at: &Rc<Use>, stem: &str, was: &Alternative<'_>, now: &Alternative<'_>) {
    let places = Places::new(was.at, now.at);
    for (scheme, old) in &was.schemes {
        let Some(new) = now.schemes.get(scheme) else { continue };
        for scope in new.difference(old) {
            let message = format!("`{scheme}` must have the scope `{scope}` now");
            on.raise(&format!("{stem}-scope-added"), at, places, scope, message);
        }
        for scope in old.difference(new) {
            let message = format!("`{scheme}` need not have the scope `{scope}` any more");
            on.raise(&format!("{stem}-scope-removed"), at, places, scope, message);
        }
    }
}

/// Compares the schemes themselves.
pub(super) fn compare_components(on: &mut Comparison<'_>) {
    let (bases, revisions) = (on.base.section("securitySchemes"), on.revision.section("securitySchemes"));
    let section = |root: &Node| root.place_of("/components/securitySchemes");
    let lacking = Places::new(section(&on.base.document.root), section(&on.revision.document.root));
    let at = Use::of("security schemes");
    let asked_for = asked_for(&on.base.document.root);
    let schemes = by_key(bases, revisions, |entry| &entry.key.text);
    for (was, now) in schemes.stayed {
        let before = on.notes.len();
        scheme(on, &at, was, now);
        if !asked_for.contains(was.key.text.as_str()) {
            on.notes[before..].iter_mut().for_each(|note| note.level = Level::Info);
        }
    }
    for entry in schemes.gone {
        let name = &entry.key.text;
        let places = Places::new(entry.key.span, lacking.revision);
        let message = format!("the security scheme `{name}` was removed");
        let level = if asked_for.contains(name.as_str()) { Level::Error } else { Level::Info };
        on.raise_at(level, "api-security-component-removed", &at, places, name, message);
    }
    for entry in schemes.came {
        let name = &entry.key.text;
        let places = Places::new(lacking.base, entry.key.span);
        let message = format!("the security scheme `{name}` was added");
        on.raise("api-security-component-added", &at, places, name, message);
    }
}

/// The schemes that some operation of a document asks for: no client was told to use another one.
fn asked_for(root: &Node) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let mut left = vec![root];
    while let Some(node) = left.pop() {
        for entry in node.entries().unwrap_or_default() {
            if entry.key.text == "security" {
                let asked =
                    entry.value.items().unwrap_or_default().iter().filter_map(Node::entries).flatten();
                names.extend(asked.map(|entry| entry.key.text.as_str()));
            } else {
                left.push(&entry.value);
            }
        }
        left.extend(node.items().unwrap_or_default());
    }
    names
}

fn scheme(on: &mut Comparison<'_>, at: &Rc<Use>, was: &Entry, now: &Entry) {
    let (base, revision) = (on.base.follow(&was.value), on.revision.follow(&now.value));
    for keyword in ["type", "scheme", "in", "name", "openIdConnectUrl"] {
        let text = |node: &Node| {
            let text = node.get(keyword).and_then(Node::as_str)?;
            Some(if is_folded(node, keyword) { text.to_ascii_lowercase() } else { text.to_owned() })
        };
        let (old, new) = (text(base), text(revision));
        if old != new {
            let shown = |text: Option<String>| text.unwrap_or_else(|| "none".to_owned());
            let facts = format!("{keyword} {} to {}", shown(old), shown(new));
            let places =
                Places::new(place(base, keyword, was.key.span), place(revision, keyword, now.key.span));
            let message = format!("the security scheme `{}` changed: {facts}", was.key.text);
            on.raise("api-security-component-type-changed", at, places, &facts, message);
        }
    }
    for flow in ["implicit", "password", "clientCredentials", "authorizationCode"] {
        let of = |node: &Node| node.get("flows").and_then(|flows| flows.entry(flow).cloned());
        match (of(base), of(revision)) {
            (Some(old), Some(new)) => oauth(on, at, &old, &new),
            (None, None) => {}
            (old, new) => {
                let what = if old.is_none() { "added" } else { "removed" };
                let span = |entry: Option<Entry>, otherwise: &Entry| {
                    entry.map_or(otherwise.key.span, |entry| entry.key.span)
                };
                let id = if old.is_none() {
                    "api-security-component-added"
                } else {
                    "api-security-component-removed"
                };
                let places = Places::new(span(old, was), span(new, now));
                let message = format!("the flow `{flow}` of `{}` was {what}", was.key.text);
                on.raise(id, at, places, flow, message);
            }
        }
    }
    let known = ["type", "scheme", "in", "name", "openIdConnectUrl", "flows", "bearerFormat"];
    rest(on, at, base, revision, (was.key.span, now.key.span), |key| known.contains(&key));
}

/// Whether upper and lower case are one under a keyword: names of headers are so, those in a query or a cookie are not.
fn is_folded(scheme: &Node, keyword: &str) -> bool {
    let in_header = || {
        let place = scheme.get("in").and_then(Node::as_str);
        place.is_some_and(|place| place.eq_ignore_ascii_case("header"))
    };
    match keyword {
        "name" => in_header(),
        "openIdConnectUrl" => false,
        _ => true,
    }
}

fn oauth(on: &mut Comparison<'_>, at: &Rc<Use>, was: &Entry, now: &Entry) {
    for (keyword, id) in [
        ("authorizationUrl", "api-security-component-oauth-url-changed"),
        ("tokenUrl", "api-security-component-oauth-token-url-changed"),
        ("refreshUrl", "api-security-component-oauth-token-url-changed"),
    ] {
        let text =
            |entry: &Entry| entry.value.get(keyword).and_then(Node::as_str).unwrap_or("none").to_owned();
        let (old, new) = (text(was), text(now));
        if old != new {
            let facts = format!("`{old}` to `{new}`");
            let places = Places::new(
                place(&was.value, keyword, was.key.span),
                place(&now.value, keyword, now.key.span),
            );
            on.raise(id, at, places, &facts, format!("`{keyword}` went from {facts}"));
        }
    }
    flow_scopes(on, at, was, now);
}

/// The scopes that a flow offers.
fn flow_scopes(on: &mut Comparison<'_>, at: &Rc<Use>, was: &Entry, now: &Entry) {
    fn offered(flow: &Entry) -> &[Entry] {
        flow.value.get("scopes").and_then(Node::entries).unwrap_or_default()
    }
    let scopes = by_key(offered(was), offered(now), |entry| &entry.key.text);
    let lacking =
        Places::new(place(&was.value, "scopes", was.key.span), place(&now.value, "scopes", now.key.span));
    for (entry, other) in scopes.stayed {
        if entry.value.as_str() != other.value.as_str() {
            let name = &entry.key.text;
            let places = Places::new(entry.key.span, other.key.span);
            let message = format!("the scope `{name}` is explained otherwise");
            on.raise("api-security-component-oauth-scope-changed", at, places, name, message);
        }
    }
    for entry in scopes.gone {
        let name = &entry.key.text;
        let places = Places::new(entry.key.span, lacking.revision);
        let message = format!("the scope `{name}` was removed");
        on.raise("api-security-component-oauth-scope-removed", at, places, name, message);
    }
    for entry in scopes.came {
        let name = &entry.key.text;
        let places = Places::new(lacking.base, entry.key.span);
        let message = format!("the scope `{name}` was added");
        on.raise("api-security-component-oauth-scope-added", at, places, name, message);
    }
}
