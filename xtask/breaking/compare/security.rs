//! Compares the security requirements of operations.
//!
//! An operation requires one of several alternatives, each a set of schemes with scopes. Most changes are breaking, because
//! clients depend on the keys and scopes that they have.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use contract::node::Node;
use contract::source::Span;

use super::matching::take_matches;
use super::operations::{OperationNode, position_of};
use super::{Comparison, OperationPath, Positions, security_schemes};
use crate::rule::{Inverse, Rule};

const SCOPE_REMOVED: &str = "Keys without the scope gain access to the operation.";
const CREDENTIALS_NOT_REQUIRED: &str = "Requests without credentials of this scheme gain access to the operation. \
    Without authentication, its data is public.";
const REVIEW_ACCESS: &str = "Review who gains access, and add a waiver.";
const MISSING_CREDENTIALS_REJECTED: &str = "Requests without credentials of this scheme are rejected.";
const KEEP_SCHEME_AS_ALTERNATIVE: &str = "Keep the existing scheme as an alternative.";
const MISSING_SCOPE_REJECTED: &str = "Requests with keys that lack the scope are rejected.";
const KEEP_ACCEPTING_OLD_SCOPES: &str = "Keep accepting keys with the scopes that were required.";
const SECURITY_REMOVED: &str = "Credentials of the removed scheme are rejected.";

/// The rules of this module.
pub(crate) const RULES: &[Rule] = &[
    Rule::error(
        "api-security-removed",
        Inverse::Of("api-security-added"),
        SECURITY_REMOVED,
        KEEP_SCHEME_AS_ALTERNATIVE,
    ),
    Rule::error(
        "api-security-loosened",
        Inverse::Of("api-security-added"),
        CREDENTIALS_NOT_REQUIRED,
        REVIEW_ACCESS,
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
        "api-global-security-loosened",
        Inverse::Of("api-global-security-added"),
        CREDENTIALS_NOT_REQUIRED,
        REVIEW_ACCESS,
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
    /// Whether credentials that satisfy the other alternative also satisfy this one.
    fn is_implied_by(&self, other: &Self) -> bool {
        self.schemes.iter().all(|(scheme, scopes)| {
            other.schemes.get(scheme).is_some_and(|other_scopes| scopes.is_subset(other_scopes))
        })
    }

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
    let (mut revision, revision_span, is_revision_global) =
        effective_alternatives(&comparison.revision.document.root, after);
    let old_names = security_schemes::renamed(comparison);
    for alternative in &mut revision {
        let schemes = std::mem::take(&mut alternative.schemes).into_iter();
        alternative.schemes =
            schemes.map(|(name, scopes)| (old_names.get(name).copied().unwrap_or(name), scopes)).collect();
    }
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

/// Whether an alternative of the base and one of the revision belong together.
type Matcher = fn(&SecurityAlternative<'_>, &SecurityAlternative<'_>) -> bool;

/// Matches the alternatives that have the same schemes and compares their scopes. Also removes those of the base whose
/// credentials satisfy a matched alternative. `unmatched` and `remaining` are the alternatives of base and revision that
/// are not matched.
fn compare_matches<'a, 'n>(
    comparison: &mut Comparison<'_>,
    operation_path: &Rc<OperationPath>,
    id_prefix: &str,
    after: &'a [SecurityAlternative<'n>],
    (unmatched, remaining): (&mut Vec<&'a SecurityAlternative<'n>>, &mut Vec<&'a SecurityAlternative<'n>>),
) {
    // A scheme can occur in several alternatives, so those with equal scopes are matched first, then those with fewer
    // or more scopes.
    let loosened: [Matcher; 2] = [
        |old, new| old.schemes == new.schemes,
        |old, new| old.names() == new.names() && new.is_implied_by(old),
    ];
    let others: [Matcher; 2] = [
        |old, new| old.names() == new.names() && old.is_implied_by(new),
        |old, new| old.names() == new.names(),
    ];
    for matchers in [loosened, others] {
        for matches in matchers {
            for pair in take_matches(unmatched, remaining, matches) {
                compare_scopes(comparison, operation_path, id_prefix, pair);
            }
        }
        let is_matched =
            |new: &&SecurityAlternative<'_>| !remaining.iter().any(|other| std::ptr::eq(*other, *new));
        unmatched.retain(|old| !after.iter().filter(is_matched).any(|new| new.is_implied_by(old)));
    }
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
    compare_matches(comparison, operation_path, id_prefix, after, (&mut unmatched, &mut remaining));
    // An added alternative may only accept credentials that were accepted before.
    let matched_before: Vec<&SecurityAlternative<'_>> =
        before.iter().filter(|old| !unmatched.iter().any(|other| std::ptr::eq(*other, *old))).collect();
    let (implied, not_implied): (Vec<_>, Vec<_>) =
        remaining.into_iter().partition(|new| matched_before.iter().any(|old| old.is_implied_by(new)));
    for new in implied {
        let id = format!("{id_prefix}-alternative-added");
        let message = format!("{} also grants access", new.display_name());
        let positions = Positions::new(positions.base, new.span);
        comparison.report(&id, operation_path, positions, &new.display_name(), message);
    }
    let mut remaining = not_implied;
    unmatched.retain(|old| {
        let is_extension = |new: &&SecurityAlternative<'_>| {
            !new.schemes.is_empty()
                && !old.schemes.is_empty()
                && (new.names().is_subset(&old.names()) || old.names().is_subset(&new.names()))
        };
        match remaining.iter().position(is_extension) {
            Some(index) => {
                report_extension(comparison, operation_path, id_prefix, old, remaining.remove(index));
                false
            }
            None => true,
        }
    });
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
        comparison.report(&format!("{id_prefix}-loosened"), operation_path, positions, "open", message);
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

/// Reports the schemes that are required in only one of two alternatives, and compares the scopes of the others.
fn report_extension(
    comparison: &mut Comparison<'_>,
    operation_path: &Rc<OperationPath>,
    id_prefix: &str,
    before: &SecurityAlternative<'_>,
    after: &SecurityAlternative<'_>,
) {
    let positions = Positions::new(before.span, after.span);
    for scheme in before.names().difference(&after.names()) {
        let message = format!(
            "`{scheme}` is no longer required in addition to `{}`: access is looser",
            after.display_name()
        );
        comparison.report(&format!("{id_prefix}-loosened"), operation_path, positions, scheme, message);
    }
    for scheme in after.names().difference(&before.names()) {
        let message = format!("`{scheme}` is now required in addition to `{}`", before.display_name());
        comparison.report(&format!("{id_prefix}-added"), operation_path, positions, scheme, message);
    }
    compare_scopes(comparison, operation_path, id_prefix, (before, after));
}

/// Compares the scopes of the schemes that two alternatives have in common.
fn compare_scopes(
    comparison: &mut Comparison<'_>,
    operation_path: &Rc<OperationPath>,
    id_prefix: &str,
    (before, after): (&SecurityAlternative<'_>, &SecurityAlternative<'_>),
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
