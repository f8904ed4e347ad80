//! Compares the security schemes. Schemes that are only renamed are the same.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use contract::node::{Entry, Node, Value};

use super::matching::match_by_key;
use super::operations::{compare_unknown_keywords, position_of};
use super::urls::normalized_url;
use super::{Comparison, OperationPath, Positions};
use crate::rule::{Inverse, Level, Rule};
use crate::schema::is_same_object;

const OLD_CREDENTIALS_REJECTED: &str = "Requests with credentials of the old scheme are rejected.";
const ADD_ANOTHER_SCHEME: &str = "Keep the scheme, and add one with another name.";
const REMOVED_SCOPE_REQUESTED: &str = "Clients that request the scope cannot log in.";
const KEEP_UNUSED_SCOPE: &str = "Keep the scope, even if it grants no access.";
const KEEP_SCHEME_AS_ALTERNATIVE: &str = "Keep the existing scheme as an alternative.";

/// The rules of this module.
pub(crate) const RULES: &[Rule] = &[
    Rule::error(
        "api-security-component-removed",
        Inverse::Of("api-security-component-added"),
        OLD_CREDENTIALS_REJECTED,
        KEEP_SCHEME_AS_ALTERNATIVE,
    ),
    Rule::info("api-security-component-added", Inverse::Of("api-security-component-removed")),
    Rule::error(
        "api-security-component-type-changed",
        Inverse::Of("api-security-component-type-changed"),
        OLD_CREDENTIALS_REJECTED,
        ADD_ANOTHER_SCHEME,
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
        REMOVED_SCOPE_REQUESTED,
        KEEP_UNUSED_SCOPE,
    ),
    Rule::info(
        "api-security-component-oauth-scope-changed",
        Inverse::Of("api-security-component-oauth-scope-changed"),
    ),
    Rule::info("api-security-component-renamed", Inverse::Of("api-security-component-renamed")),
];

/// Returns the renamed schemes: the old name by the new one. A scheme is renamed if its definition is under another name
/// in the revision, and each document has only one of both names.
pub(super) fn renamed<'n>(comparison: &Comparison<'n>) -> BTreeMap<&'n str, &'n str> {
    let (bases, revisions) =
        (comparison.base.section("securitySchemes"), comparison.revision.section("securitySchemes"));
    let schemes = match_by_key(bases, revisions, |entry| &entry.key.text);
    let mut removed = schemes.removed;
    let mut names = BTreeMap::new();
    for after in schemes.added {
        let definition = comparison.revision.follow(&after.value);
        let is_same = |before: &&&Entry| is_same_object(comparison.base.follow(&before.value), definition);
        if let Some(index) = removed.iter().position(|before| is_same(&before)) {
            names.insert(after.key.text.as_str(), removed.remove(index).key.text.as_str());
        }
    }
    names
}

/// Compares the security schemes. Changes of schemes that the base does not require are harmless.
pub(super) fn compare(comparison: &mut Comparison<'_>) {
    let (bases, revisions) =
        (comparison.base.section("securitySchemes"), comparison.revision.section("securitySchemes"));
    let section_span = |root: &Node| root.span_at("/components/securitySchemes");
    let parent_positions = Positions::new(
        section_span(&comparison.base.document.root),
        section_span(&comparison.revision.document.root),
    );
    let operation_path = OperationPath::of("security schemes");
    let required_schemes = required_schemes(&comparison.base.document.root);
    let schemes = match_by_key(bases, revisions, |entry| &entry.key.text);
    for (before, after) in schemes.common {
        let first_change = comparison.changes.len();
        compare_scheme(comparison, &operation_path, before, after);
        if !required_schemes.contains(before.key.text.as_str()) {
            comparison.changes[first_change..].iter_mut().for_each(|change| change.level = Level::Info);
        }
    }
    let old_names = renamed(comparison);
    for entry in
        schemes.removed.into_iter().filter(|entry| !old_names.values().any(|old| *old == entry.key.text))
    {
        let name = &entry.key.text;
        let positions = Positions::new(entry.key.span, parent_positions.revision);
        let message = format!("the security scheme `{name}` was removed");
        let level = if required_schemes.contains(name.as_str()) { Level::Error } else { Level::Info };
        comparison.report_with_level(
            level,
            "api-security-component-removed",
            &operation_path,
            positions,
            name,
            message,
        );
    }
    for entry in schemes.added {
        let name = &entry.key.text;
        let positions = Positions::new(parent_positions.base, entry.key.span);
        if let Some(old_name) = old_names.get(name.as_str()) {
            let message = format!("the security scheme `{old_name}` was renamed to `{name}`");
            comparison.report("api-security-component-renamed", &operation_path, positions, name, message);
            continue;
        }
        let message = format!("the security scheme `{name}` was added");
        comparison.report("api-security-component-added", &operation_path, positions, name, message);
    }
}

/// Returns the names of the schemes that a document or any of its operations requires. Clients do not use the other
/// schemes.
fn required_schemes(root: &Node) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let mut pending = vec![root];
    while let Some(node) = pending.pop() {
        for entry in node.entries().unwrap_or_default() {
            if entry.key.text == "security" {
                let required =
                    entry.value.items().unwrap_or_default().iter().filter_map(Node::entries).flatten();
                names.extend(required.map(|entry| entry.key.text.as_str()));
            } else {
                pending.push(&entry.value);
            }
        }
        pending.extend(node.items().unwrap_or_default());
    }
    names
}

/// The OAuth flows; the last one is part of OpenAPI 3.2.
const FLOWS: [&str; 5] =
    ["implicit", "password", "clientCredentials", "authorizationCode", "deviceAuthorization"];

/// The URLs of an OAuth flow and the rules about them; the last one is part of OpenAPI 3.2.
const FLOW_URLS: [(&str, &str); 4] = [
    ("authorizationUrl", "api-security-component-oauth-url-changed"),
    ("tokenUrl", "api-security-component-oauth-token-url-changed"),
    ("refreshUrl", "api-security-component-oauth-token-url-changed"),
    ("deviceAuthorizationUrl", "api-security-component-oauth-url-changed"),
];

fn compare_scheme(
    comparison: &mut Comparison<'_>,
    operation_path: &Rc<OperationPath>,
    before: &Entry,
    after: &Entry,
) {
    let (base, revision) = (comparison.base.follow(&before.value), comparison.revision.follow(&after.value));
    for keyword in ["type", "scheme", "in", "name", "openIdConnectUrl"] {
        let text = |node: &Node| {
            let text = node.get(keyword).and_then(Node::as_str)?;
            Some(if is_case_insensitive(node, keyword) { text.to_ascii_lowercase() } else { text.to_owned() })
        };
        let (old, new) = (text(base), text(revision));
        let is_same = match (&old, &new) {
            (Some(old), Some(new)) if keyword == "openIdConnectUrl" => {
                normalized_url(old) == normalized_url(new)
            }
            _ => old == new,
        };
        if !is_same {
            let display_name = |text: Option<String>| text.unwrap_or_else(|| "none".to_owned());
            let details = format!("{keyword} {} to {}", display_name(old), display_name(new));
            let positions = Positions::new(
                position_of(base, keyword, before.key.span),
                position_of(revision, keyword, after.key.span),
            );
            let message = format!("the security scheme `{}` changed: {details}", before.key.text);
            comparison.report(
                "api-security-component-type-changed",
                operation_path,
                positions,
                &details,
                message,
            );
        }
    }
    for flow in FLOWS {
        let find_flow = |node: &Node| node.get("flows").and_then(|flows| flows.entry(flow).cloned());
        match (find_flow(base), find_flow(revision)) {
            (Some(old), Some(new)) => compare_flow(comparison, operation_path, &old, &new),
            (None, None) => {}
            (old, new) => {
                let change = if old.is_none() { "added" } else { "removed" };
                let span = |entry: Option<Entry>, scheme: &Entry| {
                    entry.map_or(scheme.key.span, |entry| entry.key.span)
                };
                let id = if old.is_none() {
                    "api-security-component-added"
                } else {
                    "api-security-component-removed"
                };
                let positions = Positions::new(span(old, before), span(new, after));
                let message = format!("the flow `{flow}` of `{}` was {change}", before.key.text);
                comparison.report(id, operation_path, positions, flow, message);
            }
        }
    }
    let flows = |node: &Node| {
        node.get("flows").cloned().unwrap_or_else(|| Node::without_span(Value::Mapping(Vec::new())))
    };
    compare_unknown_keywords(
        comparison,
        operation_path,
        &flows(base),
        &flows(revision),
        (position_of(base, "flows", before.key.span), position_of(revision, "flows", after.key.span)),
        |key| FLOWS.contains(&key),
    );
    let known_keywords = ["type", "scheme", "in", "name", "openIdConnectUrl", "flows", "bearerFormat"];
    compare_unknown_keywords(
        comparison,
        operation_path,
        base,
        revision,
        (before.key.span, after.key.span),
        |key| known_keywords.contains(&key),
    );
}

/// Whether the value of a keyword of a scheme is case-insensitive. Header names and the values of `type`, `scheme` and
/// `in` are; URLs and the names of query parameters and cookies are not.
fn is_case_insensitive(scheme: &Node, keyword: &str) -> bool {
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

fn compare_flow(
    comparison: &mut Comparison<'_>,
    operation_path: &Rc<OperationPath>,
    before: &Entry,
    after: &Entry,
) {
    for (keyword, id) in FLOW_URLS {
        let text = |entry: &Entry| entry.value.get(keyword).and_then(Node::as_str).map(str::to_owned);
        let (old, new) = (text(before), text(after));
        if old.as_deref().map(normalized_url) == new.as_deref().map(normalized_url) {
            continue;
        }
        // Clients that do not know the URL renew tokens as before.
        let is_harmless = keyword == "refreshUrl" && old.is_none();
        let display_name = |text: Option<String>| text.unwrap_or_else(|| "none".to_owned());
        let (old, new) = (display_name(old), display_name(new));
        let details = format!("`{old}` to `{new}`");
        let positions = Positions::new(
            position_of(&before.value, keyword, before.key.span),
            position_of(&after.value, keyword, after.key.span),
        );
        if is_harmless {
            let message = format!("`{keyword}` `{new}` was added");
            comparison.report_with_level(Level::Info, id, operation_path, positions, &details, message);
        } else {
            let message = format!("`{keyword}` changed from {details}");
            comparison.report(id, operation_path, positions, &details, message);
        }
    }
    compare_flow_scopes(comparison, operation_path, before, after);
    compare_unknown_keywords(
        comparison,
        operation_path,
        &before.value,
        &after.value,
        (before.key.span, after.key.span),
        |key| key == "scopes" || FLOW_URLS.iter().any(|(keyword, _)| *keyword == key),
    );
}

/// Compares the scopes of a flow.
fn compare_flow_scopes(
    comparison: &mut Comparison<'_>,
    operation_path: &Rc<OperationPath>,
    before: &Entry,
    after: &Entry,
) {
    fn scopes_of(flow: &Entry) -> &[Entry] {
        flow.value.get("scopes").and_then(Node::entries).unwrap_or_default()
    }
    let scopes = match_by_key(scopes_of(before), scopes_of(after), |entry| &entry.key.text);
    let parent_positions = Positions::new(
        position_of(&before.value, "scopes", before.key.span),
        position_of(&after.value, "scopes", after.key.span),
    );
    for (before, after) in scopes.common {
        if before.value.as_str() != after.value.as_str() {
            let name = &before.key.text;
            let positions = Positions::new(before.key.span, after.key.span);
            let message = format!("the description of the scope `{name}` changed");
            comparison.report(
                "api-security-component-oauth-scope-changed",
                operation_path,
                positions,
                name,
                message,
            );
        }
    }
    for entry in scopes.removed {
        let name = &entry.key.text;
        let positions = Positions::new(entry.key.span, parent_positions.revision);
        let message = format!("the scope `{name}` was removed");
        comparison.report(
            "api-security-component-oauth-scope-removed",
            operation_path,
            positions,
            name,
            message,
        );
    }
    for entry in scopes.added {
        let name = &entry.key.text;
        let positions = Positions::new(parent_positions.base, entry.key.span);
        let message = format!("the scope `{name}` was added");
        comparison.report(
            "api-security-component-oauth-scope-added",
            operation_path,
            positions,
            name,
            message,
        );
    }
}
