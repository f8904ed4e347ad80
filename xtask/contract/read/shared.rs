//! Reads shared entries of `components`, and examples.
//!
//! Errors in a shared entry are reported once, at the entry, even if nothing references it.

use super::super::keywords;
use super::super::node::SpannedString;
use super::super::reader::{Cursor, NodeReader};
use super::{header, parameter, response};
use crate::diagnostic::Code;

/// Checks the shared parameters, headers, responses, request bodies and examples.
pub(super) fn check<'n>(reader: &mut NodeReader<'n>, components: &Cursor<'n>) {
    type SectionCheck<'n> = fn(&mut NodeReader<'n>, Cursor<'n>);
    let sections: [(&str, SectionCheck<'n>); 5] = [
        ("parameters", |reader, cursor| drop(parameter::parameter(reader, &cursor))),
        ("headers", |reader, cursor| {
            let name = SpannedString { text: String::new(), span: cursor.name_span };
            drop(header::header(reader, &name, &cursor));
        }),
        ("responses", |reader, cursor| drop(response::response_contents(reader, &cursor))),
        ("requestBodies", |reader, cursor| drop(response::request_body(reader, &cursor))),
        ("examples", |reader, cursor| example(reader, &cursor)),
    ];
    for (section, check) in sections {
        let Some(entries) = reader.child(components, section) else { continue };
        for (_, cursor) in reader.children(&entries) {
            check(reader, cursor);
        }
    }
}

/// Reads an inline object, or the shared entry that its `$ref` targets. Errors in a shared entry are reported at the
/// entry only, not at each reference.
pub(super) fn inline_or_shared<'n, T>(
    reader: &mut NodeReader<'n>,
    cursor: Cursor<'n>,
    section: &str,
    read: impl FnOnce(&mut NodeReader<'n>, &Cursor<'n>) -> Option<T>,
) -> Option<T> {
    let is_shared = cursor.node.entry("$ref").is_some();
    let target = reader.resolve(cursor, section)?;
    let reported = reader.diagnostics.len();
    let value = read(reader, &target);
    if is_shared {
        reader.diagnostics.truncate(reported);
    }
    value
}

/// Checks the keywords of `examples`. A rule validates their values.
pub(super) fn examples<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>) {
    let Some(examples) = reader.child(cursor, "examples") else { return };
    if let Some(single) = cursor.node.entry("example") {
        let message = "`example` cannot be used with `examples`";
        reader.error(Code::UnsupportedKeyword, single.key.span, message, "remove one of them");
    }
    for (_, entry) in reader.children(&examples) {
        inline_or_shared(reader, entry, "examples", |reader, cursor| {
            example(reader, cursor);
            Some(())
        });
    }
}

fn example<'n>(reader: &mut NodeReader<'n>, cursor: &Cursor<'n>) {
    if reader.check_keywords(cursor, &keywords::EXAMPLE) {
        reader.required_child(cursor, "value", "an example");
    }
}
