//! What operations share: entries of `components`, and examples.
//!
//! Owns that each shared thing is judged once, where it stands, whether or not somebody refers to it.

use super::super::keywords;
use super::super::node::Text;
use super::super::reader::{At, Reader};
use super::{header, parameter, response};
use crate::diagnostic::Code;

/// Judges the shared parameters, headers, responses, bodies and examples.
pub(super) fn check<'n>(reader: &mut Reader<'n>, components: &At<'n>) {
    type Check<'n> = fn(&mut Reader<'n>, At<'n>);
    let sections: [(&str, Check<'n>); 5] = [
        ("parameters", |reader, at| drop(parameter::parameter(reader, &at))),
        ("headers", |reader, at| {
            let name = Text { text: String::new(), span: at.named };
            drop(header::header(reader, &name, &at));
        }),
        ("responses", |reader, at| drop(response::parts(reader, &at))),
        ("requestBodies", |reader, at| drop(response::body_of(reader, &at))),
        ("examples", |reader, at| example(reader, &at)),
    ];
    for (section, check) in sections {
        let Some(entries) = reader.child(components, section) else { continue };
        for (_, at) in reader.children(&entries) {
            check(reader, at);
        }
    }
}

/// Reads what stands here, or what its `$ref` to a section leads to. What is shared was judged where it stands; saying it
/// again at each use helps nobody.
pub(super) fn once<'n, T>(
    reader: &mut Reader<'n>,
    at: At<'n>,
    section: &str,
    read: impl FnOnce(&mut Reader<'n>, &At<'n>) -> Option<T>,
) -> Option<T> {
    let shared = at.node.entry("$ref").is_some();
    let target = reader.followed(at, section)?;
    let before = reader.findings.len();
    let value = read(reader, &target);
    if shared {
        reader.findings.truncate(before);
    }
    value
}

/// Checks the keywords of `examples`; their values are judged by a rule of their own.
pub(super) fn examples<'n>(reader: &mut Reader<'n>, at: &At<'n>) {
    let Some(examples) = reader.child(at, "examples") else { return };
    if let Some(single) = at.node.entry("example") {
        let message = "`example` stands beside `examples`";
        reader.error(Code::UnsupportedKeyword, single.key.span, message, "keep one of the two");
    }
    for (_, one) in reader.children(&examples) {
        once(reader, one, "examples", |reader, at| {
            example(reader, at);
            Some(())
        });
    }
}

fn example<'n>(reader: &mut Reader<'n>, at: &At<'n>) {
    if reader.object(at, &keywords::EXAMPLE) {
        reader.needed(at, "value", "an example");
    }
}
