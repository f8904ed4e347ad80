//! What the tools have to say about a text: a stable code, a severity, a sentence, the place, and what to do instead.
//!
//! Owns how findings look to people, to programs and to a CI service. It never decides what is a finding.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde::Serialize;

use crate::source::{Source, Span};

/// The stable name of a kind of finding; people search for it and tests name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// The text is not YAML.
    Syntax,
    /// A version of OpenAPI, or a dialect of JSON Schema, that is not understood.
    UnsupportedVersion,
    /// A mapping says the same key twice.
    DuplicateKey,
    /// A value has another type than its keyword wants.
    WrongType,
    /// A keyword that something cannot do without is missing.
    MissingKeyword,
    /// A keyword that OpenAPI 3.1 does not know at this place.
    UnknownKeyword,
    /// A keyword or value that OpenAPI 3.1 knows and the generator does not.
    UnsupportedKeyword,
    /// A required property that no property describes.
    RequiredWithoutProperty,
    /// A union whose shapes nothing tells apart.
    DiscriminatorMapping,
    /// A `$ref` that leads nowhere, or to a thing of another kind.
    UnresolvedRef,
    /// A `$ref` into another document.
    ExternalRef,
    /// Schemas that contain themselves.
    CyclicRef,
    /// An operation without `operationId`.
    MissingOperationId,
    /// Two operations share an `operationId`.
    DuplicateOperationId,
    /// Two names of the contract become the same name in Rust.
    RustNameCollision,
    /// A name of the contract that has no like in Rust.
    NoRustName,
    /// The braces of a path and its path parameters differ.
    PathParameterMismatch,
    /// Two paths match the same request.
    AmbiguousPaths,
    /// A pattern that Rust's `regex` cannot read.
    BadPattern,
    /// An operation that does not name exactly one scope.
    OperationWithoutScope,
    /// An operation that leaves out an error status that every operation can answer.
    UndocumentedErrorStatus,
    /// A name against the spelling rule.
    Spelling,
    /// An example that its own schema refuses.
    ExampleRefused,
    /// A default that its own schema refuses.
    DefaultRefused,
}

impl Code {
    /// Every code that the reading of our own contract gives.
    #[cfg(test)]
    pub const ALL: [Self; 24] = [
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
        Self::BadPattern,
        Self::OperationWithoutScope,
        Self::UndocumentedErrorStatus,
        Self::Spelling,
        Self::ExampleRefused,
        Self::DefaultRefused,
    ];

    /// The code as it is printed: kebab-case, never changed once published.
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
            Self::BadPattern => "bad-pattern",
            Self::OperationWithoutScope => "operation-without-scope",
            Self::UndocumentedErrorStatus => "undocumented-error-status",
            Self::Spelling => "spelling",
            Self::ExampleRefused => "example-refused",
            Self::DefaultRefused => "default-refused",
        }
    }
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing is generated while it stands.
    Error,
}

/// One finding in one text.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Its kind.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What stands under the drawn line, where there is more to say than the message.
    pub label: String,
    /// A second place that belongs to it, with its own label.
    pub related: Option<(Span, String)>,
    /// What to do instead.
    pub help: String,
}

impl Diagnostic {
    /// An error without a second place.
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

    /// The same, with words under the drawn line.
    pub(crate) fn labelled(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// The same, with a second place.
    pub(crate) fn related(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related = Some((span, label.into()));
        self
    }
}

/// How findings are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people: the source line is drawn.
    Text,
    /// For programs: one JSON object a line.
    Json,
    /// For a CI service that understands GitHub's workflow commands.
    Github,
}

/// A finding as `--format json` prints it.
#[derive(Serialize)]
struct Printed<'a> {
    code: &'static str,
    severity: Severity,
    file: &'a str,
    line: usize,
    column: usize,
    message: &'a str,
    help: &'a str,
}

/// Renders findings in the order in which they stand in the text.
pub fn render(source: &Source, findings: &[Diagnostic], format: Format) -> String {
    let mut ordered: Vec<&Diagnostic> = findings.iter().collect();
    ordered.sort_by_key(|finding| (finding.span.start, finding.code));
    match format {
        Format::Text => ordered.iter().map(|finding| draw(source, finding) + "\n\n").collect(),
        Format::Json => ordered.iter().map(|finding| line(&printed(source, finding))).collect(),
        Format::Github => ordered.iter().map(|finding| annotation(source, finding)).collect(),
    }
}

/// One line of `--format json`.
pub fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain values become JSON") + "\n"
}

fn printed<'a>(source: &'a Source, finding: &'a Diagnostic) -> Printed<'a> {
    let place = source.place(finding.span);
    Printed {
        code: finding.code.as_str(),
        severity: finding.severity,
        file: &source.name,
        line: place.line,
        column: place.column,
        message: &finding.message,
        help: &finding.help,
    }
}

fn annotation(source: &Source, finding: &Diagnostic) -> String {
    let place = source.place(finding.span);
    workflow_command(
        &source.name,
        place.line,
        place.column,
        finding.code.as_str(),
        &format!("{}\nhelp: {}", finding.message, finding.help),
    )
}

/// One `::error` line of GitHub's workflow commands, escaped as they want it.
pub fn workflow_command(file: &str, line: usize, column: usize, title: &str, message: &str) -> String {
    let message = message.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    format!("::error file={file},line={line},col={column},title={title}::{message}\n")
}

fn draw(source: &Source, finding: &Diagnostic) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
    };
    let primary = AnnotationKind::Primary.span(source.on_one_line(finding.span)).label(&finding.label);
    let mut snippet = Snippet::source(source.text.as_str()).path(source.name.as_str()).annotation(primary);
    if let Some((span, label)) = &finding.related {
        snippet = snippet.annotation(AnnotationKind::Context.span(source.on_one_line(*span)).label(label));
    }
    let mut report = vec![level.primary_title(&finding.message).id(finding.code.as_str()).element(snippet)];
    if !finding.help.is_empty() {
        report.push(Group::with_title(Level::HELP.secondary_title(&finding.help)));
    }
    Renderer::plain().render(&report)
}
