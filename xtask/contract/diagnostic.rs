//! Diagnostics: a stable code, a severity, a message, a source span and a remedy.
//!
//! This module renders diagnostics for people, programs and CI services. Other modules decide what to report.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde::Serialize;

use crate::plain_text::{plain_lines, plain_text};
use crate::source::{LineColumn, Source, Span};

/// The stable name of a kind of diagnostic. Users search for it and tests refer to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// The source is not valid YAML or JSON, or contains something that the parser rejects, such as an alias.
    Syntax,
    /// The OpenAPI version or JSON Schema dialect is not supported.
    UnsupportedVersion,
    /// A mapping contains the same key twice.
    DuplicateKey,
    /// A value has a different type than its keyword requires.
    WrongType,
    /// A required keyword is missing, or `paths` contains no operations.
    MissingKeyword,
    /// OpenAPI 3.1 does not define the keyword in this position.
    UnknownKeyword,
    /// The generator does not support the keyword, value or combination, even if OpenAPI 3.1 or YAML allows it.
    UnsupportedKeyword,
    /// A property is listed in `required` but not in `properties`, or a map has `required`.
    RequiredWithoutProperty,
    /// A union with an invalid discriminator, or whose members cannot be distinguished.
    DiscriminatorMapping,
    /// A `$ref`, a tag or a security scheme of an operation whose target does not exist or has the wrong kind.
    UnresolvedRef,
    /// A `$ref` into another document.
    ExternalRef,
    /// A schema that contains itself.
    CyclicRef,
    /// An operation without `operationId`.
    MissingOperationId,
    /// Two operations share an `operationId`.
    DuplicateOperationId,
    /// Two names of the contract become the same name in Rust, or a name becomes one that the generated code uses
    /// itself.
    RustNameCollision,
    /// A name of the contract that cannot become a Rust identifier.
    NoRustName,
    /// The parameters in the path template differ from the declared path parameters, or one of those is not
    /// required.
    PathParameterMismatch,
    /// Two paths match the same requests, and neither is more specific.
    AmbiguousPaths,
    /// A path with invalid syntax or without the prefix of the server's paths.
    InvalidPath,
    /// A pattern that Rust's `regex` crate cannot compile.
    BadPattern,
    /// An operation that does not name exactly one security scheme with one scope.
    OperationWithoutScope,
    /// An operation does not document an error status that it can return, or an error response has no JSON body.
    UndocumentedErrorStatus,
    /// The body of an error response is not the error envelope of the server.
    ErrorEnvelope,
    /// The name of a parameter or a property is not in snake_case.
    Spelling,
    /// An example that does not match its schema.
    ExampleRefused,
    /// A default that does not match its schema or is out of range for its format.
    DefaultRefused,
}

impl Code {
    /// Every code that [`crate::read`] reports.
    #[cfg(test)]
    pub const ALL: [Self; 26] = [
        Self::Syntax,
        Self::DuplicateKey,
        Self::WrongType,
        Self::MissingKeyword,
        Self::UnknownKeyword,
        Self::UnsupportedKeyword,
        Self::UnsupportedVersion,
        Self::RequiredWithoutProperty,
        Self::DiscriminatorMapping,
        Self::UnresolvedRef,
        Self::ExternalRef,
        Self::CyclicRef,
        Self::MissingOperationId,
        Self::DuplicateOperationId,
        Self::RustNameCollision,
        Self::NoRustName,
        Self::PathParameterMismatch,
        Self::AmbiguousPaths,
        Self::InvalidPath,
        Self::BadPattern,
        Self::OperationWithoutScope,
        Self::UndocumentedErrorStatus,
        Self::ErrorEnvelope,
        Self::Spelling,
        Self::ExampleRefused,
        Self::DefaultRefused,
    ];

    /// Returns the printed code: kebab-case, never changed once published.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::UnsupportedVersion => "unsupported-version",
            Self::DuplicateKey => "duplicate-key",
            Self::WrongType => "wrong-type",
            Self::MissingKeyword => "missing-keyword",
            Self::UnknownKeyword => "unknown-keyword",
            Self::UnsupportedKeyword => "unsupported-keyword",
            Self::RequiredWithoutProperty => "required-without-property",
            Self::DiscriminatorMapping => "discriminator-mapping",
            Self::UnresolvedRef => "unresolved-ref",
            Self::ExternalRef => "external-ref",
            Self::CyclicRef => "cyclic-ref",
            Self::MissingOperationId => "missing-operation-id",
            Self::DuplicateOperationId => "duplicate-operation-id",
            Self::RustNameCollision => "rust-name-collision",
            Self::NoRustName => "no-rust-name",
            Self::PathParameterMismatch => "path-parameter-mismatch",
            Self::AmbiguousPaths => "ambiguous-paths",
            Self::InvalidPath => "invalid-path",
            Self::BadPattern => "bad-pattern",
            Self::OperationWithoutScope => "operation-without-scope",
            Self::UndocumentedErrorStatus => "undocumented-error-status",
            Self::ErrorEnvelope => "error-envelope",
            Self::Spelling => "spelling",
            Self::ExampleRefused => "example-refused",
            Self::DefaultRefused => "default-refused",
        }
    }
}

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Explains what the generated code leaves out.
    Note,
    /// The document is processed; the value has a documented meaning or none.
    Warning,
    /// Prevents code generation and comparison.
    Error,
}

impl Severity {
    /// Returns the name of the workflow command for GitHub.
    const fn github_command(self) -> &'static str {
        match self {
            Self::Note => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A problem at one position of a source.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The kind of problem.
    pub code: Code,
    /// The severity.
    pub severity: Severity,
    /// What is wrong: one clause that starts in lower case and has no final period.
    pub message: String,
    /// Where the problem is.
    pub span: Span,
    /// The label under the source excerpt. Empty if the message says everything.
    pub label: String,
    /// A related span, with its own label.
    pub related: Option<(Span, String)>,
    /// The remedy. Empty if the message implies it.
    pub help: String,
}

impl Diagnostic {
    /// Creates an error without a related span.
    pub fn error(code: Code, span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            span,
            label: String::new(),
            related: None,
            help: help.into(),
        }
    }

    /// Creates a warning without a related span.
    pub fn warning(code: Code, span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, message, help) }
    }

    /// Creates a note without a related span.
    pub(crate) fn note(code: Code, span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { severity: Severity::Note, ..Self::error(code, span, message, help) }
    }

    /// Returns the diagnostic with the texts of the document as they appear in messages.
    fn escaped(&self) -> Self {
        let related = self.related.as_ref().map(|(span, label)| (*span, plain_text(label)));
        let (message, label) = (plain_text(&self.message), plain_text(&self.label));
        Self { message, label, related, help: plain_lines(&self.help), ..self.clone() }
    }

    /// Sets the label under the source excerpt.
    pub(crate) fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds a related span.
    pub(crate) fn with_related(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related = Some((span, label.into()));
        self
    }
}

/// The output format of diagnostics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum DiagnosticFormat {
    /// For people: the message with a source excerpt.
    Text,
    /// For programs: one JSON object per line.
    Json,
    /// For CI services that read GitHub's workflow commands.
    Github,
}

/// A diagnostic as `--format json` prints it.
#[derive(Serialize)]
struct JsonDiagnostic<'a> {
    code: &'static str,
    severity: Severity,
    file: &'a str,
    line: usize,
    column: usize,
    message: &'a str,
    help: &'a str,
}

/// Renders diagnostics in the order of their spans.
pub fn render(source: &Source, diagnostics: &[Diagnostic], format: DiagnosticFormat) -> String {
    let escaped: Vec<Diagnostic> = diagnostics.iter().map(Diagnostic::escaped).collect();
    let mut ordered: Vec<&Diagnostic> = escaped.iter().collect();
    ordered.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.code));
    match format {
        DiagnosticFormat::Text => {
            ordered.iter().map(|diagnostic| plain_lines(&render_text(source, diagnostic)) + "\n\n").collect()
        }
        DiagnosticFormat::Json => {
            ordered.iter().map(|diagnostic| json_line(&json_diagnostic(source, diagnostic))).collect()
        }
        DiagnosticFormat::Github => {
            ordered.iter().map(|diagnostic| github_annotation(source, diagnostic)).collect()
        }
    }
}

/// Returns `value` as one line of `--format json`.
pub fn json_line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain values serialize to JSON") + "\n"
}

fn json_diagnostic<'a>(source: &'a Source, diagnostic: &'a Diagnostic) -> JsonDiagnostic<'a> {
    let position = source.position(diagnostic.span);
    JsonDiagnostic {
        code: diagnostic.code.as_str(),
        severity: diagnostic.severity,
        file: source.file_name(diagnostic.span),
        line: position.line,
        column: position.column,
        message: &diagnostic.message,
        help: &diagnostic.help,
    }
}

fn github_annotation(source: &Source, diagnostic: &Diagnostic) -> String {
    let help =
        if diagnostic.help.is_empty() { String::new() } else { format!("\nhelp: {}", diagnostic.help) };
    annotation_at(
        diagnostic.severity.github_command(),
        (source, diagnostic.span),
        diagnostic.code.as_str(),
        &format!("{}{help}", diagnostic.message),
    )
}

/// Returns a workflow command for GitHub at the start of a span. If the span is in a file that is not part of the
/// working tree, the position is in the message.
pub fn annotation_at(command: &str, (source, span): (&Source, Span), title: &str, message: &str) -> String {
    let position = source.position(span);
    match source.path(span) {
        Some(path) => annotation(command, Some((&path, position)), title, message),
        None => {
            let LineColumn { line, column } = position;
            let message = format!("{}:{line}:{column}: {message}", source.file_name(span));
            annotation(command, None, title, &message)
        }
    }
}

/// Returns an `::error` workflow command for GitHub.
pub fn workflow_command(file: &str, line: usize, column: usize, title: &str, message: &str) -> String {
    annotation(Severity::Error.github_command(), Some((file, LineColumn { line, column })), title, message)
}

/// Returns a workflow command for GitHub, with a position or without. The command is `error`, `warning` or `notice`.
pub fn annotation(command: &str, position: Option<(&str, LineColumn)>, title: &str, message: &str) -> String {
    let escape = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let escape_property = |text: &str| escape(text).replace(':', "%3A").replace(',', "%2C");
    let place = position.map_or_else(String::new, |(file, position)| {
        format!("file={},line={},col={},", escape_property(file), position.line, position.column)
    });
    format!("::{command} {place}title={}::{}\n", escape_property(title), escape(message))
}

fn render_text(source: &Source, diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity {
        Severity::Note => Level::NOTE,
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    };
    let file = source.file_range(diagnostic.span.start);
    let related = diagnostic.related.as_ref().filter(|(span, _)| file.contains(&span.start));
    let spans = || std::iter::once(diagnostic.span).chain(related.map(|(span, _)| *span));
    // Only the lines of the diagnostic are passed to the renderer, which would otherwise scan the whole file.
    let first = spans().min_by_key(|span| span.start).unwrap_or(diagnostic.span);
    let last = spans().map(|span| source.first_line_range(span).end).max().unwrap_or(first.start);
    let start = source.text[file.start..first.start].rfind('\n').map_or(file.start, |at| file.start + at + 1);
    let end = source.text[last..file.end].find('\n').map_or(file.end, |at| last + at);
    let range_in_lines = |span| {
        let range = source.first_line_range(span);
        range.start - start..range.end - start
    };
    let primary = AnnotationKind::Primary.span(range_in_lines(diagnostic.span)).label(&diagnostic.label);
    let mut snippet = Snippet::source(&source.text[start..end])
        .line_start(source.position(first).line)
        .path(source.file_name(diagnostic.span))
        .annotation(primary);
    if let Some((span, label)) = related {
        snippet = snippet.annotation(AnnotationKind::Context.span(range_in_lines(*span)).label(label));
    }
    let mut report =
        vec![level.primary_title(&diagnostic.message).id(diagnostic.code.as_str()).element(snippet)];
    if !diagnostic.help.is_empty() {
        report.push(Group::with_title(Level::HELP.secondary_title(&diagnostic.help)));
    }
    Renderer::plain().render(&report)
}
