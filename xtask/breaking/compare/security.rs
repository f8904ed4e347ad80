//! Compares security schemes and the security requirements of operations.
//!
//! An operation requires one of several alternatives, each a set of schemes with scopes. oasdiff reports these changes
//! at level info. Here most of them are breaking, because clients depend on the keys and scopes that they have.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use contract::node::{Entry, Node};
use contract::source::Span;

use super::matching::match_by_key;
use super::operations::{OperationNode, compare_unknown_keywords, position_of};
use super::{Comparison, OperationPath, Positions};
use crate::rule::{Inverse, Level, Rule};

const SCOPE_REMOVED: &str = "Keys without the scope gain access to the operation.";
const REVIEW_ACCESS: &str = "Review who gains access, and add a waiver.";
const MISSING_CREDENTIALS_REJECTED: &str = "Requests without credentials of this scheme are rejected.";
const KEEP_SCHEME_AS_ALTERNATIVE: &str = "Keep the existing scheme as an alternative.";
const MISSING_SCOPE_REJECTED: &str = "Requests with keys that lack the scope are rejected.";
const KEEP_ACCEPTING_OLD_SCOPES: &str = "Keep accepting keys with the scopes that were required.";
const OLD_CREDENTIALS_REJECTED: &str = "Requests with credentials of the old scheme are rejected.";
const ADD_ANOTHER_SCHEME: &str = "Keep the scheme, and add one with another name.";
const REMOVED_SCOPE_REQUESTED: &str = "Clients that request the scope cannot log in.";
const KEEP_UNUSED_SCOPE: &str = "Keep the scope, even if it grants no access.";
const SECURITY_REMOVED: &str =
    "Credentials of a removed scheme are rejected. Without authentication, data may become public.";

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
    Rule::error(
        "api-security-removed",
        Inverse::Of("api-security-added"),
        SECURITY_REMOVED,
        KEEP_SCHEME_AS_ALTERNATIVE,
    ),
    Rule::error(
        "api-security-added",
        Inverse::Of("api-security-removed"),
        MISSING_CREDENTIALS_REJECTED,
        KEEP_SCHEME_AS_ALTERNATIVE,
    ),
    Rule::info("api-security-alternative-added", Inverse::Of("api-security-removed")),
    Rule::error(
        "api-security-scope-added",
        Inverse::Of("api-security-scope-removed"),
        MISSING_SCOPE_REJECTED,
        KEEP_ACCEPTING_OLD_SCOPES,
    ),
    Rule::error(
        "api-security-scope-removed",
        Inverse::Of("api-security-scope-added"),
        SCOPE_REMOVED,
        REVIEW_ACCESS,
    ),
    Rule::error(
        "api-global-security-removed",
        Inverse::Of("api-global-security-added"),
        SECURITY_REMOVED,
        KEEP_SCHEME_AS_ALTERNATIVE,
    ),
    Rule::error(
        "api-global-security-added",
        Inverse::Of("api-global-security-removed"),
        MISSING_CREDENTIALS_REJECTED,
        KEEP_SCHEME_AS_ALTERNATIVE,
    ),
    Rule::info("api-global-security-alternative-added", Inverse::Of("api-global-security-removed")),
    Rule::error(
        "api-global-security-scope-added",
        Inverse::Of("api-global-security-scope-removed"),
        MISSING_SCOPE_REJECTED,
        KEEP_ACCEPTING_OLD_SCOPES,
    ),
    Rule::error(
        "api-global-security-scope-removed",
        Inverse::Of("api-global-security-scope-added"),
        SCOPE_REMOVED,
        REVIEW_ACCESS,
    ),
];

/// One alternative of a security requirement: schemes with their required scopes.
struct SecurityAlternative<'n> {
    schemes: BTreeMap<&'n str, BTreeSet<&'n str>>,
    span: Span,
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

/// Returns the alternatives of `security`, or `None` if the operation or document lacks the keyword. An empty list is
/// one alternative that requires nothing.
fn alternatives(owner: &Node) -> Option<Vec<SecurityAlternative<'_>>> {
    let entry = owner.entry("security")?;
    let items = entry.value.items().unwrap_or_default();
    if items.is_empty() {
        return Some(vec![SecurityAlternative { schemes: BTreeMap::new(), span: entry.key.span }]);
    }
    Some(items.iter().map(parse_alternative).collect())
}

fn parse_alternative(item: &Node) -> SecurityAlternative<'_> {
    let schemes = item.entries().unwrap_or_default().iter().map(|entry| {
        let scopes = entry.value.items().unwrap_or_default().iter().filter_map(Node::as_str).collect();
        (entry.key.text.as_str(), scopes)
    });
    SecurityAlternative { schemes: schemes.collect(), span: item.span }
}

/// Compares the security requirements of an operation: those that it declares, or else those of the document. Webhooks
/// and callbacks are skipped, because their receivers define the requirements.
pub(super) fn compare(
    comparison: &mut Comparison<'_>,
    operation_path: &Rc<OperationPath>,
    before: OperationNode<'_, '_>,
    after: OperationNode<'_, '_>,
) {
    if operation_path.is_outgoing {
        return;
    }
    let (base, base_span, is_base_global) = effective_alternatives(&comparison.base.document.root, before);
    let (revision, revision_span, is_revision_global) =
        effective_alternatives(&comparison.revision.document.root, after);
    let id_prefix = if is_base_global && is_revision_global { "api-global-security" } else { "api-security" };
    compare_lists(
        comparison,
        operation_path,
        id_prefix,
        &base,
        &revision,
        Positions::new(base_span, revision_span),
    );
}

/// Returns the security requirements that apply to an operation, their position, and whether the operation declares
/// none, so that those of the document apply.
fn effective_alternatives<'n>(
    root: &'n Node,
    operation: OperationNode<'_, 'n>,
) -> (Vec<SecurityAlternative<'n>>, Span, bool) {
    let document_start = Span { start: root.span.start, end: root.span.start };
    let declared = alternatives(operation.node);
    let is_global = declared.is_none();
    let effective = declared.or_else(|| alternatives(root));
    let span = if is_global {
        position_of(root, "security", document_start)
    } else {
        position_of(operation.node, "security", operation.span)
    };
    (
        effective.unwrap_or_else(|| vec![SecurityAlternative { schemes: BTreeMap::new(), span }]),
        span,
        is_global,
    )
}

/// Matches the alternatives of base and revision, and reports the differences. `positions` are those of both lists.
fn compare_lists(
    comparison: &mut Comparison<'_>,
    operation_path: &Rc<OperationPath>,
    id_prefix: &str,
    before: &[SecurityAlternative<'_>],
    after: &[SecurityAlternative<'_>],
    positions: Positions,
) {
    let mut remaining: Vec<&SecurityAlternative<'_>> = after.iter().collect();
    let mut unmatched: Vec<&SecurityAlternative<'_>> = before.iter().collect();
    // Alternatives with equal scopes are matched first, because a scheme can occur in several alternatives.
    let matchers: [fn(&SecurityAlternative<'_>, &SecurityAlternative<'_>) -> bool; 2] =
        [|old, new| old.schemes == new.schemes, |old, new| old.names() == new.names()];
    for matches in matchers {
        unmatched.retain(|old| match remaining.iter().position(|new| matches(old, new)) {
            Some(index) => {
                compare_scopes(comparison, operation_path, id_prefix, old, remaining.remove(index));
                false
            }
            None => true,
        });
    }
    let became_public = remaining.iter().any(|new| new.schemes.is_empty());
    let became_protected = unmatched.iter().any(|old| old.schemes.is_empty());
    for old in unmatched.iter().filter(|old| !old.schemes.is_empty() && !became_public) {
        let message = format!("{} no longer grants access", old.display_name());
        comparison.report(
            &format!("{id_prefix}-removed"),
            operation_path,
            Positions::new(old.span, positions.revision),
            &old.display_name(),
            message,
        );
    }
    if became_public {
        let names: Vec<String> = before.iter().map(SecurityAlternative::display_name).collect();
        let message = format!("authentication is no longer required (was {})", names.join(" or "));
        comparison.report(&format!("{id_prefix}-removed"), operation_path, positions, "open", message);
    }
    if became_protected {
        let names: Vec<String> = after.iter().map(SecurityAlternative::display_name).collect();
        let message = format!("authentication became required: {}", names.join(" or "));
        comparison.report(&format!("{id_prefix}-added"), operation_path, positions, "closed", message);
    }
    let has_match = unmatched.len() < before.len();
    for new in remaining.iter().filter(|new| !new.schemes.is_empty() && !became_protected) {
        let positions = Positions::new(positions.base, new.span);
        let (id, message) = if has_match {
            (format!("{id_prefix}-alternative-added"), format!("{} also grants access", new.display_name()))
        } else {
            (format!("{id_prefix}-added"), format!("authentication now requires {}", new.display_name()))
        };
        comparison.report(&id, operation_path, positions, &new.display_name(), message);
    }
}

/// Compares the scopes of two alternatives with the same schemes.
fn compare_scopes(
    comparison: &mut Comparison<'_>,
    operation_path: &Rc<OperationPath>,
    id_prefix: &str,
    before: &SecurityAlternative<'_>,
    after: &SecurityAlternative<'_>,
) {
    let positions = Positions::new(before.span, after.span);
    for (scheme, old) in &before.schemes {
        let Some(new) = after.schemes.get(scheme) else { continue };
        for scope in new.difference(old) {
            let message = format!("`{scheme}` now requires the scope `{scope}`");
            comparison.report(&format!("{id_prefix}-scope-added"), operation_path, positions, scope, message);
        }
        for scope in old.difference(new) {
            let message = format!("`{scheme}` no longer requires the scope `{scope}`");
            comparison.report(
                &format!("{id_prefix}-scope-removed"),
                operation_path,
                positions,
                scope,
                message,
            );
        }
    }
}

/// Compares the security schemes. Changes of schemes that the base does not require are harmless.
pub(super) fn compare_components(comparison: &mut Comparison<'_>) {
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
    for entry in schemes.removed {
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
        if old != new {
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
    for flow in ["implicit", "password", "clientCredentials", "authorizationCode"] {
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
            comparison.report(
                id,
                operation_path,
                positions,
                &details,
                format!("`{keyword}` changed from {details}"),
            );
        }
    }
    compare_flow_scopes(comparison, operation_path, before, after);
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
