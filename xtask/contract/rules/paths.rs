//! Paths: their braces and their parameters agree, and no request matches two of them.

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Document, Location, Operation};
use crate::node::{Node, Text};

/// Judges every path, whether or not it has operations. `beginning` is that of all paths of the version, such as `/api/v1/`.
pub(super) fn judge(root: &Node, document: &Document, beginning: &str, findings: &mut Vec<Diagnostic>) {
    for entry in root.get("paths").and_then(Node::entries).unwrap_or_default() {
        form(&entry.key, beginning, findings);
    }
    let mut paths: Vec<&Text> = Vec::new();
    for operation in &document.operations {
        parameters(operation, findings);
        if !paths.iter().any(|path| path.text == operation.path.text) {
            paths.push(&operation.path);
        }
    }
    for (index, path) in paths.iter().enumerate() {
        for other in &paths[index + 1..] {
            ambiguous(path, other, findings);
        }
    }
}

/// The names in braces.
fn braces(path: &str) -> Vec<&str> {
    path.split('/').filter_map(parameter).collect()
}

/// The name, when a segment is one parameter.
fn parameter(segment: &str) -> Option<&str> {
    let name = segment.strip_prefix('{')?.strip_suffix('}')?;
    (!name.is_empty() && !name.contains(['{', '}'])).then_some(name)
}

/// A path is a `/` before each segment, and a segment is a parameter or a word that stands for itself in every URL and in
/// every router.
fn form(path: &Text, beginning: &str, findings: &mut Vec<Diagnostic>) {
    if path.starts_with("x-") {
        let message = format!("the extension `{}` of `paths` is not supported", path.text);
        let help = "leave it out: an extension that nothing reads says nothing";
        return refuse(path, message, help, findings);
    }
    let Some(segments) = path.strip_prefix('/') else {
        return refuse(
            path,
            format!("the path `{}` does not begin with `/`", path.text),
            "write `/things`",
            findings,
        );
    };
    let mut names: Vec<&str> = Vec::new();
    for segment in segments.split('/') {
        if let Some((message, help)) = fault(segment, &names) {
            return refuse(path, message, help, findings);
        }
        names.extend(parameter(segment));
    }
    if !path.starts_with(beginning) {
        let message = format!("the path `{}` does not begin with `{beginning}`", path.text);
        refuse(path, message, "the server sends nothing else to this version", findings);
    }
}

/// What is wrong with a segment, and what to do; `names` are the parameters before it.
fn fault(segment: &str, names: &[&str]) -> Option<(String, &'static str)> {
    if let Some(name) = parameter(segment) {
        let twice =
            || (format!("`{{{name}}}` stands twice in the path"), "give each parameter a name of its own");
        return names.contains(&name).then(twice);
    }
    if segment.contains(['{', '}']) {
        let message = format!("`{segment}` is a parameter and more in one segment");
        return Some((message, "give the parameter a segment of its own: `/things/{id}`"));
    }
    if segment.is_empty() {
        let message = "a segment of the path is empty".to_owned();
        return Some((message, "write one `/` between two segments, and none at the end"));
    }
    let word = |byte: u8| byte.is_ascii_alphanumeric() || b"._~-".contains(&byte);
    if [".", ".."].contains(&segment) || !segment.bytes().all(word) {
        let message = format!("`{segment}` cannot stand in a path as it is");
        let help = "write letters, digits and `-`, `.`, `_`, `~`; what varies is a parameter: `/things/{id}`";
        return Some((message, help));
    }
    None
}

fn refuse(path: &Text, message: String, help: &str, findings: &mut Vec<Diagnostic>) {
    findings.push(Diagnostic::error(Code::UnsupportedKeyword, path.span, message, help));
}

fn parameters(operation: &Operation, findings: &mut Vec<Diagnostic>) {
    let declared = || operation.parameters.iter().filter(|parameter| parameter.location == Location::Path);
    for name in braces(&operation.path) {
        if !declared().any(|parameter| &*parameter.name == name) {
            findings.push(
                Diagnostic::error(
                    Code::PathParameterMismatch,
                    operation.path.span,
                    format!("`{{{name}}}` of the path is no parameter of `{}`", operation.id.text),
                    format!(
                        "add `- {{name: {name}, in: path, required: true, schema: ...}}` to the operation"
                    ),
                )
                .related(operation.span, "this operation"),
            );
        }
    }
    for parameter in declared() {
        let name = &*parameter.name;
        if !braces(&operation.path).contains(&name) {
            findings.push(Diagnostic::error(
                Code::PathParameterMismatch,
                parameter.name.span,
                format!("the path parameter `{name}` stands nowhere in `{}`", operation.path.text),
                format!("write `{{{name}}}` into the path, or remove the parameter"),
            ));
        } else if !parameter.required {
            findings.push(Diagnostic::error(
                Code::PathParameterMismatch,
                parameter.name.span,
                format!("the path parameter `{name}` is not required"),
                "add `required: true`: a path without it is another path",
            ));
        }
    }
}

/// Two paths match the same request when they agree segment by segment, a parameter agreeing with everything. That is
/// clear as long as one of them is everywhere at least as literal as the other: the literal one wins.
fn ambiguous(path: &Text, other: &Text, findings: &mut Vec<Diagnostic>) {
    let (left, right): (Vec<_>, Vec<_>) = (path.split('/').collect(), other.split('/').collect());
    let pairs = || {
        left.iter().zip(&right).map(|(left, right)| (parameter(left).is_some(), parameter(right).is_some()))
    };
    let overlap = left.len() == right.len()
        && left
            .iter()
            .zip(&right)
            .zip(pairs())
            .all(|((left, right), (one, two))| one || two || left == right);
    let left_wins =
        pairs().all(|(left, right)| !left || right) && pairs().any(|(left, right)| !left && right);
    let right_wins =
        pairs().all(|(left, right)| left || !right) && pairs().any(|(left, right)| left && !right);
    if overlap && !left_wins && !right_wins {
        findings.push(
            Diagnostic::error(
                Code::AmbiguousPaths,
                other.span,
                format!("`{}` and `{}` match the same requests", other.text, path.text),
                "tell them apart by a literal segment, or make them one path",
            )
            .related(path.span, "the other path"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;

    fn said(path: &str) -> String {
        let mut findings = Vec::new();
        form(&Text { text: path.into(), span: Span::default() }, "/api/v2/", &mut findings);
        findings.into_iter().map(|finding| finding.message).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn a_path_is_words_and_parameters_of_its_version() {
        for sound in ["/api/v2/files", "/api/v2/files/{id}/a-b_c.d~e", "/api/v2/{kind}/{id}"] {
            assert_eq!(said(sound), "", "{sound}");
        }
        // What means something to the router, ends the path in a URL, or is cleaned away by clients.
        for word in
            [":files", "*files", "<files>", "files?x=1", "files#a", "a b", "%20", "é", ".", "..", "a;b"]
        {
            assert_eq!(said(&format!("/api/v2/{word}")), format!("`{word}` cannot stand in a path as it is"));
        }
        assert_eq!(said("api/v2/files"), "the path `api/v2/files` does not begin with `/`");
        assert_eq!(said(""), "the path `` does not begin with `/`");
        for empty in ["/", "//api/v2/files", "/api/v2//files", "/api/v2/files/"] {
            assert_eq!(said(empty), "a segment of the path is empty", "{empty}");
        }
        assert_eq!(said("/api/v2/{}"), "`{}` is a parameter and more in one segment");
        assert_eq!(said("/api/v2/{id}/{id}"), "`{id}` stands twice in the path");
        assert_eq!(said("/api/v1/files"), "the path `/api/v1/files` does not begin with `/api/v2/`");
        assert_eq!(said("/api/v2"), "the path `/api/v2` does not begin with `/api/v2/`");
    }

    fn clash(left: &str, right: &str) -> bool {
        let text = |text: &str| Text { text: text.into(), span: Span::default() };
        let mut findings = Vec::new();
        ambiguous(&text(left), &text(right), &mut findings);
        !findings.is_empty()
    }

    #[test]
    fn a_literal_segment_wins_over_a_parameter() {
        assert!(!clash("/a/{id}", "/a/summary"));
        assert!(!clash("/a/{id}", "/a/{id}/b"));
        assert!(!clash("/a/{id}/b", "/a/{id}/c"));
    }

    #[test]
    fn neither_wins_when_each_is_more_literal_somewhere() {
        assert!(clash("/a/{id}", "/a/{name}"));
        assert!(clash("/{kind}/b", "/a/{id}"));
    }
}
