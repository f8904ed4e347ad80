//! Compares security schemes and the security requirements of operations.
//!
//! An operation requires one of several alternatives, each a set of schemes with scopes. oasdiff reports these changes at level
//! info. Here they are breaking, because clients depend on the keys and scopes that they have.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use contract::node::{Entry, Node};
use contract::source::Span;

use super::matching::by_key;
use super::operations::{OperationNode, compare_unknown_keywords, position_of};
use super::{Comparison, OperationPath, Positions};
use crate::rule::{Inverse, Level, Rule};

const NO_KEY: &str = "Requests without credentials of this scheme are rejected.";
const KEEP_KEY: &str = "Keep the existing scheme as an alternative.";
const NO_SCOPE: &str = "Requests with keys that lack the scope are rejected.";
const KEEP_SCOPE: &str = "Keep accepting keys with the scopes that were required.";
const OTHER_KEY: &str = "Requests with credentials of the old scheme are rejected.";
const BESIDE: &str = "Keep the scheme, and add one with another name.";
const NO_SCOPE_LEFT: &str = "Clients that request the scope cannot log in.";
const KEEP_NAME: &str = "Keep the scope, even if it grants no access.";
const UNGUARDED: &str =
    "Data may become public. Clients that stop sending credentials fail when they are required again.";

/// The rules of this module.
pub(crate) const RULES: &[Rule] = &[
    Rule::error(
        "api-security-component-removed",
        Inverse::Of("api-security-component-added"),
        OTHER_KEY,
        KEEP_KEY,
    ),
    Rule::info("api-security-component-added", Inverse::Of("api-security-component-removed")),
    Rule::error(
        "api-security-component-type-changed",
        Inverse::Of("api-security-component-type-changed"),
        OTHER_KEY,
        BESIDE,
    ),
    Rule::error(
        "api-security-component-oauth-url-changed",
        Inverse::Of("api-security-component-oauth-url-changed"),
        "Clients log in at the old URL.",
        "Keep the old URL working, and add a flow or a scheme for the new one.",
    ),
    Rule::error(
        "api-security-component-oauth-token-url-changed",
        Inverse::Of("api-security-component-oauth-token-url-changed"),
        "Clients request tokens at the old URL.",
        "Keep the old URL working, and add a flow or a scheme for the new one.",
    ),
    Rule::info(
        "api-security-component-oauth-scope-added",
        Inverse::Of("api-security-component-oauth-scope-removed"),
    ),
    Rule::error(
        "api-security-component-oauth-scope-removed",
        Inverse::Of("api-security-component-oauth-scope-added"),
        NO_SCOPE_LEFT,
        KEEP_NAME,
    ),
    Rule::info(
        "api-security-component-oauth-scope-changed",
        Inverse::Of("api-security-component-oauth-scope-changed"),
    ),
    Rule::error("api-security-removed", Inverse::Of("api-security-added"), UNGUARDED, KEEP_KEY),
    Rule::error("api-security-added", Inverse::Of("api-security-removed"), NO_KEY, KEEP_KEY),
    Rule::info("api-security-alternative-added", Inverse::Of("api-security-removed")),
    Rule::error("api-security-scope-added", Inverse::Of("api-security-scope-removed"), NO_SCOPE, KEEP_SCOPE),
    Rule::error(
        "api-security-scope-removed",
        Inverse::Of("api-security-scope-added"),
        "Keys without the scope gain access to the operation.",
        "Review who gains access, and add a waiver.",
    ),
    Rule::error("api-global-security-removed", Inverse::Of("api-global-security-added"), UNGUARDED, KEEP_KEY),
    Rule::error("api-global-security-added", Inverse::Of("api-global-security-removed"), NO_KEY, KEEP_KEY),
    Rule::info("api-global-security-alternative-added", Inverse::Of("api-global-security-removed")),
    Rule::error(
        "api-global-security-scope-added",
        Inverse::Of("api-global-security-scope-removed"),
        NO_SCOPE,
        KEEP_SCOPE,
    ),
    Rule::error(
        "api-global-security-scope-removed",
        Inverse::Of("api-global-security-scope-added"),
        "Keys without the scope gain access to the operation.",
        "Review who gains access, and add a waiver.",
    ),
];

/// One alternative of a security requirement: schemes with their required scopes.
struct SecurityAlternative<'n> {
    schemes: BTreeMap<&'n str, BTreeSet<&'n str>>,
    at: Span,
}

impl SecurityAlternative<'_> {
    fn names(&self) -> BTreeSet<&str> {
        self.schemes.keys().copied().collect()
    }

    fn display_name(&self) -> String {
        let names: Vec<&str> = self.schemes.keys().copied().collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(" and ") }
    }
}

/// Returns the alternatives of `security`. An empty list is one alternative that requires nothing.
fn alternatives(owner: &Node) -> Option<Vec<SecurityAlternative<'_>>> {
    let entry = owner.entry("security")?;
    let items = entry.value.items().unwrap_or_default();
    if items.is_empty() {
        return Some(vec![SecurityAlternative { schemes: BTreeMap::new(), at: entry.key.span }]);
    }
    Some(items.iter().map(alternative).collect())
}

fn alternative(item: &Node) -> SecurityAlternative<'_> {
    let schemes = item.entries().unwrap_or_default().iter().map(|entry| {
        let scopes = entry.value.items().unwrap_or_default().iter().filter_map(Node::as_str).collect();
        (entry.key.text.as_str(), scopes)
    });
    SecurityAlternative { schemes: schemes.collect(), at: item.span }
}

/// Compares the security requirements of an operation: its own, or those of the document. Webhooks are skipped, because their
/// receivers define them.
pub(super) fn compare(
    comparison: &mut Comparison<'_>,
    at: &Rc<OperationPath>,
    before: OperationNode<'_, '_>,
    after: OperationNode<'_, '_>,
) {
    if at.is_outgoing {
        return;
    }
    let (base, base_at, of_base) = effective(&comparison.base.document.root, before);
    let (revision, revision_at, of_revision) = effective(&comparison.revision.document.root, after);
    let id_prefix = if of_base && of_revision { "api-global-security" } else { "api-security" };
    compare_lists(comparison, at, id_prefix, &base, &revision, Positions::new(base_at, revision_at));
}

/// Returns the security requirements of an operation, their position, and whether they are those of the document.
fn effective<'n>(
    root: &'n Node,
    operation: OperationNode<'_, 'n>,
) -> (Vec<SecurityAlternative<'n>>, Span, bool) {
    let head = Span { start: root.span.start, end: root.span.start };
    let own = alternatives(operation.node);
    let of_root = own.is_none();
    let all = own.or_else(|| alternatives(root));
    let at = if of_root {
        position_of(root, "security", head)
    } else {
        position_of(operation.node, "security", operation.at)
    };
    (all.unwrap_or_else(|| vec![SecurityAlternative { schemes: BTreeMap::new(), at }]), at, of_root)
}

fn compare_lists(
    comparison: &mut Comparison<'_>,
    at: &Rc<OperationPath>,
    id_prefix: &str,
    before: &[SecurityAlternative<'_>],
    after: &[SecurityAlternative<'_>],
    positions: Positions,
) {
    let mut left: Vec<&SecurityAlternative<'_>> = after.iter().collect();
    let mut unmatched: Vec<&SecurityAlternative<'_>> = before.iter().collect();
    // Equal scopes are matched first, because a scheme can occur in several alternatives.
    let pairings: [fn(&SecurityAlternative<'_>, &SecurityAlternative<'_>) -> bool; 2] =
        [|old, new| old.schemes == new.schemes, |old, new| old.names() == new.names()];
    for matches in pairings {
        unmatched.retain(|old| match left.iter().position(|new| matches(old, new)) {
            Some(found) => {
                scopes(comparison, at, id_prefix, old, left.remove(found));
                false
            }
            None => true,
        });
    }
    let becomes_public = left.iter().any(|new| new.schemes.is_empty());
    let was_public = unmatched.iter().any(|old| old.schemes.is_empty());
    for old in unmatched.iter().filter(|old| !old.schemes.is_empty() && !becomes_public) {
        let message = format!("{} no longer grants access", old.display_name());
        comparison.report(
            &format!("{id_prefix}-removed"),
            at,
            Positions::new(old.at, positions.revision),
            &old.display_name(),
            message,
        );
    }
    if becomes_public {
        let names: Vec<String> = before.iter().map(SecurityAlternative::display_name).collect();
        let message = format!("authentication is no longer required (was {})", names.join(" or "));
        comparison.report(&format!("{id_prefix}-removed"), at, positions, "open", message);
    }
    if was_public {
        let names: Vec<String> = after.iter().map(SecurityAlternative::display_name).collect();
        let message = format!("authentication became required: {}", names.join(" or "));
        comparison.report(&format!("{id_prefix}-added"), at, positions, "closed", message);
    }
    let has_match = unmatched.len() < before.len();
    for new in left.iter().filter(|new| !new.schemes.is_empty() && !was_public) {
        let positions = Positions::new(positions.base, new.at);
        let (id, message) = if has_match {
            (format!("{id_prefix}-alternative-added"), format!("{} also grants access", new.display_name()))
        } else {
            (format!("{id_prefix}-added"), format!("authentication now requires {}", new.display_name()))
        };
        comparison.report(&id, at, positions, &new.display_name(), message);
    }
}

fn scopes(
    comparison: &mut Comparison<'_>,
    at: &Rc<OperationPath>,
    id_prefix: &str,
    before: &SecurityAlternative<'_>,
    after: &SecurityAlternative<'_>,
) {
    let positions = Positions::new(before.at, after.at);
    for (scheme, old) in &before.schemes {
        let Some(new) = after.schemes.get(scheme) else { continue };
        for scope in new.difference(old) {
            let message = format!("`{scheme}` now requires the scope `{scope}`");
            comparison.report(&format!("{id_prefix}-scope-added"), at, positions, scope, message);
        }
        for scope in old.difference(new) {
            let message = format!("`{scheme}` no longer requires the scope `{scope}`");
            comparison.report(&format!("{id_prefix}-scope-removed"), at, positions, scope, message);
        }
    }
}

/// Compares the security schemes.
pub(super) fn compare_components(comparison: &mut Comparison<'_>) {
    let (bases, revisions) =
        (comparison.base.section("securitySchemes"), comparison.revision.section("securitySchemes"));
    let section = |root: &Node| root.span_at("/components/securitySchemes");
    let parents =
        Positions::new(section(&comparison.base.document.root), section(&comparison.revision.document.root));
    let at = OperationPath::of("security schemes");
    let required_schemes = required_schemes(&comparison.base.document.root);
    let schemes = by_key(bases, revisions, |entry| &entry.key.text);
    for (before, after) in schemes.common {
        let known = comparison.changes.len();
        scheme(comparison, &at, before, after);
        if !required_schemes.contains(before.key.text.as_str()) {
            comparison.changes[known..].iter_mut().for_each(|change| change.level = Level::Info);
        }
    }
    for entry in schemes.removed {
        let name = &entry.key.text;
        let positions = Positions::new(entry.key.span, parents.revision);
        let message = format!("the security scheme `{name}` was removed");
        let level = if required_schemes.contains(name.as_str()) { Level::Error } else { Level::Info };
        comparison.report_with_level(level, "api-security-component-removed", &at, positions, name, message);
    }
    for entry in schemes.added {
        let name = &entry.key.text;
        let positions = Positions::new(parents.base, entry.key.span);
        let message = format!("the security scheme `{name}` was added");
        comparison.report("api-security-component-added", &at, positions, name, message);
    }
}

/// Returns the schemes that any operation of a document requires. Clients do not use the other ones.
fn required_schemes(root: &Node) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let mut left = vec![root];
    while let Some(node) = left.pop() {
        for entry in node.entries().unwrap_or_default() {
            if entry.key.text == "security" {
                let required =
                    entry.value.items().unwrap_or_default().iter().filter_map(Node::entries).flatten();
                names.extend(required.map(|entry| entry.key.text.as_str()));
            } else {
                left.push(&entry.value);
            }
        }
        left.extend(node.items().unwrap_or_default());
    }
    names
}

fn scheme(comparison: &mut Comparison<'_>, at: &Rc<OperationPath>, before: &Entry, after: &Entry) {
    let (base, revision) = (comparison.base.follow(&before.value), comparison.revision.follow(&after.value));
    for keyword in ["type", "scheme", "in", "name", "openIdConnectUrl"] {
        let text = |node: &Node| {
            let text = node.get(keyword).and_then(Node::as_str)?;
            Some(if is_folded(node, keyword) { text.to_ascii_lowercase() } else { text.to_owned() })
        };
        let (old, new) = (text(base), text(revision));
        if old != new {
            let display_name = |text: Option<String>| text.unwrap_or_else(|| "none".to_owned());
            let details = format!("{keyword} {} to {}", display_name(old), display_name(new));
            let positions = Positions::new(
                position_of(base, keyword, before.key.span),
                position_of(revision, keyword, after.key.span),
            );
            let message = format!("the security scheme `{}` changed: {details}", before.key.text);
            comparison.report("api-security-component-type-changed", at, positions, &details, message);
        }
    }
    for flow in ["implicit", "password", "clientCredentials", "authorizationCode"] {
        let of = |node: &Node| node.get("flows").and_then(|flows| flows.entry(flow).cloned());
        match (of(base), of(revision)) {
            (Some(old), Some(new)) => oauth(comparison, at, &old, &new),
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
                let positions = Positions::new(span(old, before), span(new, after));
                let message = format!("the flow `{flow}` of `{}` was {what}", before.key.text);
                comparison.report(id, at, positions, flow, message);
            }
        }
    }
    let known = ["type", "scheme", "in", "name", "openIdConnectUrl", "flows", "bearerFormat"];
    compare_unknown_keywords(comparison, at, base, revision, (before.key.span, after.key.span), |key| {
        known.contains(&key)
    });
}

/// Whether the value of a keyword is case-insensitive: names of headers are, names of query parameters and cookies are not.
fn is_folded(scheme: &Node, keyword: &str) -> bool {
    let in_header = || {
        let location = scheme.get("in").and_then(Node::as_str);
        location.is_some_and(|location| location.eq_ignore_ascii_case("header"))
    };
    match keyword {
        "name" => in_header(),
        "openIdConnectUrl" => false,
        _ => true,
    }
}

fn oauth(comparison: &mut Comparison<'_>, at: &Rc<OperationPath>, before: &Entry, after: &Entry) {
    for (keyword, id) in [
        ("authorizationUrl", "api-security-component-oauth-url-changed"),
        ("tokenUrl", "api-security-component-oauth-token-url-changed"),
        ("refreshUrl", "api-security-component-oauth-token-url-changed"),
    ] {
        let text =
            |entry: &Entry| entry.value.get(keyword).and_then(Node::as_str).unwrap_or("none").to_owned();
        let (old, new) = (text(before), text(after));
        if old != new {
            let details = format!("`{old}` to `{new}`");
            let positions = Positions::new(
                position_of(&before.value, keyword, before.key.span),
                position_of(&after.value, keyword, after.key.span),
            );
            comparison.report(id, at, positions, &details, format!("`{keyword}` changed from {details}"));
        }
    }
    flow_scopes(comparison, at, before, after);
}

/// Compares the scopes of a flow.
fn flow_scopes(comparison: &mut Comparison<'_>, at: &Rc<OperationPath>, before: &Entry, after: &Entry) {
    fn offered(flow: &Entry) -> &[Entry] {
        flow.value.get("scopes").and_then(Node::entries).unwrap_or_default()
    }
    let scopes = by_key(offered(before), offered(after), |entry| &entry.key.text);
    let parents = Positions::new(
        position_of(&before.value, "scopes", before.key.span),
        position_of(&after.value, "scopes", after.key.span),
    );
    for (entry, other) in scopes.common {
        if entry.value.as_str() != other.value.as_str() {
            let name = &entry.key.text;
            let positions = Positions::new(entry.key.span, other.key.span);
            let message = format!("the description of the scope `{name}` changed");
            comparison.report("api-security-component-oauth-scope-changed", at, positions, name, message);
        }
    }
    for entry in scopes.removed {
        let name = &entry.key.text;
        let positions = Positions::new(entry.key.span, parents.revision);
        let message = format!("the scope `{name}` was removed");
        comparison.report("api-security-component-oauth-scope-removed", at, positions, name, message);
    }
    for entry in scopes.added {
        let name = &entry.key.text;
        let positions = Positions::new(parents.base, entry.key.span);
        let message = format!("the scope `{name}` was added");
        comparison.report("api-security-component-oauth-scope-added", at, positions, name, message);
    }
}
