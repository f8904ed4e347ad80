//! Paths: templates have valid syntax and match their parameters, and no request matches two paths ambiguously.

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Document, Operation, ParameterLocation};
use crate::node::{Node, SpannedString};

/// Checks the syntax of every path, and the parameters and the ambiguity of paths with operations. `path_prefix` is the
/// prefix of all paths of the version, such as `/api/v1/`.
pub(super) fn check(root: &Node, document: &Document, path_prefix: &str, diagnostics: &mut Vec<Diagnostic>) {
    for entry in root.get("paths").and_then(Node::entries).unwrap_or_default() {
        check_syntax(&entry.key, path_prefix, diagnostics);
    }
    let mut paths: Vec<&SpannedString> = Vec::new();
    for operation in &document.operations {
        check_parameters(operation, diagnostics);
        if !paths.iter().any(|path| path.text == operation.path.text) {
            paths.push(&operation.path);
        }
    }
    for (index, path) in paths.iter().enumerate() {
        for other in &paths[index + 1..] {
            check_ambiguity(path, other, diagnostics);
        }
    }
}

/// Returns the parameter names in a path template.
fn parameter_names(path: &str) -> Vec<&str> {
    path.split('/').filter_map(parameter).collect()
}

/// Returns the name if the segment is a parameter.
fn parameter(segment: &str) -> Option<&str> {
    let name = segment.strip_prefix('{')?.strip_suffix('}')?;
    (!name.is_empty() && !name.contains(['{', '}'])).then_some(name)
}

/// Checks the syntax of a path: it has the prefix and `/` before each segment, each segment is a parameter or contains
/// only unreserved characters, and each parameter occurs once.
fn check_syntax(path: &SpannedString, path_prefix: &str, diagnostics: &mut Vec<Diagnostic>) {
    if path.starts_with("x-") {
        let message = format!("the extension `{}` in `paths` is not supported", path.text);
        let help = "remove it: no tool reads it";
        diagnostics.push(Diagnostic::error(Code::UnsupportedKeyword, path.span, message, help));
        return;
    }
    let Some(segments) = path.strip_prefix('/') else {
        return report(
            path,
            format!("the path `{}` does not start with `/`", path.text),
            "write `/` at the start, such as `/things`",
            diagnostics,
        );
    };
    let mut parameters: Vec<&str> = Vec::new();
    for segment in segments.split('/') {
        if let Some((message, help)) = segment_error(segment, &parameters) {
            return report(path, message, help, diagnostics);
        }
        parameters.extend(parameter(segment));
    }
    if !path.starts_with(path_prefix) {
        let message = format!("the path `{}` does not start with `{path_prefix}`", path.text);
        let help = "add the prefix: the server routes only paths with the prefix to this version";
        report(path, message, help, diagnostics);
    }
}

/// Returns the error in a segment and its remedy.
fn segment_error(segment: &str, preceding_parameters: &[&str]) -> Option<(String, &'static str)> {
    if let Some(name) = parameter(segment) {
        let duplicate =
            || (format!("duplicate parameter `{{{name}}}` in the path"), "give each parameter a unique name");
        return preceding_parameters.contains(&name).then(duplicate);
    }
    if segment.contains(['{', '}']) {
        let message = format!("invalid parameter in the path segment `{segment}`");
        return Some((message, "write the parameter as a whole segment, such as `/things/{id}`"));
    }
    if segment.is_empty() {
        let message = "the path has an empty segment".to_owned();
        return Some((message, "write one `/` between two segments, and none at the end"));
    }
    let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"._~-".contains(&byte);
    if [".", ".."].contains(&segment) || !segment.bytes().all(is_unreserved) {
        let message = format!("invalid path segment `{segment}`");
        let help = "use letters, digits, `-`, `.`, `_` and `~`, or a parameter such as `/things/{id}`";
        return Some((message, help));
    }
    None
}

/// Reports an invalid path.
fn report(path: &SpannedString, message: String, help: &str, diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.push(Diagnostic::error(Code::InvalidPath, path.span, message, help));
}

/// Checks that the path template and the declared path parameters agree.
fn check_parameters(operation: &Operation, diagnostics: &mut Vec<Diagnostic>) {
    let declared =
        || operation.parameters.iter().filter(|parameter| parameter.location == ParameterLocation::Path);
    for name in parameter_names(&operation.path) {
        if !declared().any(|parameter| &*parameter.name == name) {
            diagnostics.push(
                Diagnostic::error(
                    Code::PathParameterMismatch,
                    operation.path.span,
                    format!("the path parameter `{name}` is not declared in `{}`", operation.id.text),
                    format!(
                        "add `- {{name: {name}, in: path, required: true, schema: ...}}` to the operation"
                    ),
                )
                .with_related(operation.span, "this operation"),
            );
        }
    }
    for parameter in declared() {
        let name = &*parameter.name;
        if !parameter_names(&operation.path).contains(&name) {
            diagnostics.push(Diagnostic::error(
                Code::PathParameterMismatch,
                parameter.name.span,
                format!("the path parameter `{name}` does not occur in `{}`", operation.path.text),
                format!("add `{{{name}}}` to the path, or remove the parameter"),
            ));
        } else if !parameter.required {
            diagnostics.push(Diagnostic::error(
                Code::PathParameterMismatch,
                parameter.name.span,
                format!("the path parameter `{name}` must be required"),
                "add `required: true`",
            ));
        }
    }
}

/// Reports two paths that match the same request, unless one of them is more specific: a literal segment takes
/// precedence over a parameter.
fn check_ambiguity(path: &SpannedString, other: &SpannedString, diagnostics: &mut Vec<Diagnostic>) {
    let (left, right): (Vec<_>, Vec<_>) = (path.split('/').collect(), other.split('/').collect());
    // For each pair of segments, whether the left and the right segment is a parameter.
    let pairs = || {
        left.iter().zip(&right).map(|(left, right)| (parameter(left).is_some(), parameter(right).is_some()))
    };
    let overlap = left.len() == right.len()
        && left.iter().zip(&right).zip(pairs()).all(
            |((left, right), (left_is_parameter, right_is_parameter))| {
                left_is_parameter || right_is_parameter || left == right
            },
        );
    let left_is_more_specific =
        pairs().all(|(left, right)| !left || right) && pairs().any(|(left, right)| !left && right);
    let right_is_more_specific =
        pairs().all(|(left, right)| left || !right) && pairs().any(|(left, right)| left && !right);
    if overlap && !left_is_more_specific && !right_is_more_specific {
        diagnostics.push(
            Diagnostic::error(
                Code::AmbiguousPaths,
                other.span,
                format!("`{}` and `{}` match the same requests", other.text, path.text),
                "distinguish them with a literal segment, or merge them",
            )
            .with_related(path.span, "the other path"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;

    fn messages(path: &str) -> String {
        let mut diagnostics = Vec::new();
        check_syntax(
            &SpannedString { text: path.into(), span: Span::default() },
            "/api/v2/",
            &mut diagnostics,
        );
        diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn a_path_has_the_prefix_and_valid_segments() {
        for valid in ["/api/v2/files", "/api/v2/files/{id}/a-b_c.d~e", "/api/v2/{kind}/{id}"] {
            assert_eq!(messages(valid), "", "{valid}");
        }
        // Characters that the router or a URL reserves, or that clients normalize.
        for segment in
            [":files", "*files", "<files>", "files?x=1", "files#a", "a b", "%20", "é", ".", "..", "a;b"]
        {
            assert_eq!(messages(&format!("/api/v2/{segment}")), format!("invalid path segment `{segment}`"));
        }
        assert_eq!(messages("api/v2/files"), "the path `api/v2/files` does not start with `/`");
        assert_eq!(messages(""), "the path `` does not start with `/`");
        for empty in ["/", "//api/v2/files", "/api/v2//files", "/api/v2/files/"] {
            assert_eq!(messages(empty), "the path has an empty segment", "{empty}");
        }
        assert_eq!(messages("/api/v2/{}"), "invalid parameter in the path segment `{}`");
        assert_eq!(messages("/api/v2/{id}/{id}"), "duplicate parameter `{id}` in the path");
        assert_eq!(messages("/api/v1/files"), "the path `/api/v1/files` does not start with `/api/v2/`");
        assert_eq!(messages("/api/v2"), "the path `/api/v2` does not start with `/api/v2/`");
    }

    fn is_ambiguous(left: &str, right: &str) -> bool {
        let text = |text: &str| SpannedString { text: text.into(), span: Span::default() };
        let mut diagnostics = Vec::new();
        check_ambiguity(&text(left), &text(right), &mut diagnostics);
        !diagnostics.is_empty()
    }

    #[test]
    fn a_literal_segment_takes_precedence_over_a_parameter() {
        assert!(!is_ambiguous("/a/{id}", "/a/summary"));
        assert!(!is_ambiguous("/a/{id}", "/a/{id}/b"));
        assert!(!is_ambiguous("/a/{id}/b", "/a/{id}/c"));
    }

    #[test]
    fn paths_are_ambiguous_if_neither_is_more_specific() {
        assert!(is_ambiguous("/a/{id}", "/a/{name}"));
        assert!(is_ambiguous("/{kind}/b", "/a/{id}"));
    }
}
