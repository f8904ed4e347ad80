//! Compares the callbacks of an operation.

use std::rc::Rc;

use contract::node::{Entry, Node};
use contract::source::Span;

use super::matching::match_by_key;
use super::operations::{OperationNode, PathItem, compare, position_of};
use super::{Comparison, OperationPath, Positions, lifecycle};
use crate::rule::Level;

pub(super) fn compare_callbacks<'n>(
    comparison: &mut Comparison<'n>,
    operation_path: &Rc<OperationPath>,
    before: OperationNode<'_, 'n>,
    after: OperationNode<'_, 'n>,
) {
    let entries = |node: &'n Node| node.get("callbacks").and_then(Node::entries).unwrap_or_default();
    let callbacks = match_by_key(entries(before.node), entries(after.node), |entry| &entry.key.text);
    for (before, after) in callbacks.common {
        let base = comparison.base.follow(&before.value);
        let revision = comparison.revision.follow(&after.value);
        compare_callback_urls(
            comparison,
            operation_path,
            (base, before.key.span),
            (revision, after.key.span),
        );
    }
    for entry in callbacks.removed {
        let positions = Positions::new(entry.key.span, position_of(after.node, "callbacks", after.span));
        let urls = comparison.base.follow(&entry.value).entries().unwrap_or_default();
        report_removed_callback(comparison, operation_path, (entry, "the callback"), urls, positions);
    }
    for entry in callbacks.added {
        let name = &entry.key.text;
        let positions = Positions::new(position_of(before.node, "callbacks", before.span), entry.key.span);
        comparison.report(
            "callback-added",
            operation_path,
            positions,
            name,
            format!("the callback `{name}` was added"),
        );
    }
}

/// Reports a removed callback, or a removed URL expression of one. It breaks no client if the removal of all its
/// operations was announced. `entry` is the removed entry with its description, `urls` are the removed URL expressions.
fn report_removed_callback<'n>(
    comparison: &mut Comparison<'n>,
    operation_path: &Rc<OperationPath>,
    (entry, description): (&'n Entry, &str),
    urls: &'n [Entry],
    positions: Positions,
) {
    let items = urls.iter().filter(is_url).map(|url| PathItem::new(&comparison.base, url, true));
    let level =
        if lifecycle::is_removal_announced(items, comparison.today) { Level::Info } else { Level::Error };
    let name = &entry.key.text;
    let message = format!("{description} `{name}` was removed");
    comparison.report_with_level(level, "callback-removed", operation_path, positions, name, message);
}

/// Whether an entry of a callback is a URL expression, not an extension.
fn is_url(entry: &&Entry) -> bool {
    !entry.key.text.starts_with("x-")
}

/// Compares the URL expressions of a callback.
fn compare_callback_urls<'n>(
    comparison: &mut Comparison<'n>,
    operation_path: &Rc<OperationPath>,
    before: (&'n Node, Span),
    after: (&'n Node, Span),
) {
    let (bases, revisions) = (before.0.entries().unwrap_or_default(), after.0.entries().unwrap_or_default());
    let urls = match_by_key(bases, revisions, |entry| &entry.key.text);
    for (base, revision) in urls.common.into_iter().filter(|(base, _)| is_url(base)) {
        let base = PathItem::new(&comparison.base, base, true);
        let revision = PathItem::new(&comparison.revision, revision, true);
        compare(comparison, Some(&base), Some(&revision), Positions::new(base.span, revision.span));
    }
    for entry in urls.removed.into_iter().filter(is_url) {
        let positions = Positions::new(entry.key.span, after.1);
        let urls = std::slice::from_ref(entry);
        report_removed_callback(comparison, operation_path, (entry, "the callback to"), urls, positions);
    }
    for entry in urls.added.into_iter().filter(is_url) {
        let name = &entry.key.text;
        let positions = Positions::new(before.1, entry.key.span);
        comparison.report(
            "callback-added",
            operation_path,
            positions,
            name,
            format!("the callback to `{name}` was added"),
        );
    }
}
