//! Reads and validates OpenAPI contracts.
//!
//! The source is parsed into a tree with spans ([`yaml`]), the tree is read into a model ([`model`]), and the `rules`
//! check the model. Problems are reported as [`diagnostic`]s, as many as possible at once: after a syntax error, or when an
//! earlier rule fails, the checks that depend on it do not run. Code generation and comparison are in other crates.

pub mod diagnostic;
mod json;
mod keywords;
pub mod model;
pub mod node;
mod open;
pub mod operations;
pub mod plain_text;
mod read;
mod reader;
mod rules;
pub mod rust_name;
pub mod source;
mod tree;
pub mod type_locations;
pub mod usage;
pub mod version;
pub mod yaml;

#[cfg(feature = "testing")]
pub mod testing;

#[cfg(test)]
mod fixtures;

use std::io::Read;
use std::path::Path;

use anyhow::{Context, bail, ensure};

use self::diagnostic::{Code, Diagnostic, DiagnosticFormat};
use self::model::Document;
use self::node::Node;
use self::source::Source;
use self::version::Version;
use self::yaml::AliasPolicy;

/// A valid contract.
#[derive(Debug)]
pub struct Contract {
    /// The source.
    pub source: Source,
    /// The parsed tree. In [`Profile::Open`], it is converted to OpenAPI 3.1.
    pub root: Node,
    /// The model.
    pub document: Document,
    /// What the generated code leaves out. Empty in [`Profile::Server`], which rejects such contracts.
    pub notes: Vec<Diagnostic>,
}

impl Contract {
    /// Renders the notes in a format.
    pub fn render_notes(&self, format: DiagnosticFormat) -> String {
        diagnostic::render(&self.source, &self.notes, format)
    }
}

/// An invalid contract with its diagnostics. If the source cannot be parsed or its version is not supported, there is
/// exactly one diagnostic.
#[derive(Debug)]
pub struct InvalidContract {
    /// The source.
    pub source: Source,
    /// The problems; never empty.
    pub diagnostics: Vec<Diagnostic>,
}

impl InvalidContract {
    /// Renders the diagnostics in a format.
    pub fn render(&self, format: DiagnosticFormat) -> String {
        let mut text = diagnostic::render(&self.source, &self.diagnostics, format);
        if format == DiagnosticFormat::Text {
            let count = self.diagnostics.len();
            text += &format!("{}: {count} error{}\n", self.source.name, if count == 1 { "" } else { "s" });
        }
        text
    }

    /// Prints the diagnostics to standard output.
    ///
    /// # Errors
    /// Returns an error if the contract cannot be parsed or its version is not supported. Such a contract was not
    /// validated, so the caller must fail instead of reporting a finding.
    pub fn print(&self, format: DiagnosticFormat) -> anyhow::Result<()> {
        let is_unreadable =
            |diagnostic: &Diagnostic| matches!(diagnostic.code, Code::Syntax | Code::UnsupportedVersion);
        if self.diagnostics.iter().any(is_unreadable) {
            let rendered = diagnostic::render(&self.source, &self.diagnostics, DiagnosticFormat::Text);
            bail!("{} cannot be read\n{}", self.source.name, rendered.trim_end());
        }
        print!("{}", self.render(format));
        Ok(())
    }
}

/// Which contracts are accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Profile {
    /// Contracts that follow the rules of this server: OpenAPI 3.1, snake_case names, one tag and one scope for each
    /// operation, documented error statuses and the error envelope. Nothing of the contract is ignored.
    #[default]
    Server,
    /// Other contracts: OpenAPI 3.0 or 3.1 with any security, error bodies, media types and names. Notes list what the
    /// generated code leaves out.
    Open,
}

/// Names of v1 and its drafts that need not be in snake_case: the spelling of the original API description.
pub const SPELLING_EXCEPTIONS: &[&str] = &["studentId", "courseId", "retryAfterSeconds"];

/// The conventions of a server, which its contract must follow in addition to the general rules.
#[derive(Clone, Copy, Debug)]
pub struct Conventions<'a> {
    /// The prefix of every path, such as `/api/v1/`.
    pub path_prefix: &'a str,
    /// Names of parameters and properties that need not be in snake_case.
    pub spelling_exceptions: &'a [&'a str],
    /// Which contracts are accepted.
    pub profile: Profile,
    /// Whether requests are limited in number, so that every operation documents the status 429.
    pub has_rate_limits: bool,
}

/// Reads and validates a contract.
///
/// # Errors
/// Returns [`InvalidContract`] with the problems that were found. Some rules run only if other rules report nothing.
pub fn read(source: Source, conventions: &Conventions<'_>) -> Result<Contract, Box<InvalidContract>> {
    let mut diagnostics = Vec::new();
    let aliases = match conventions.profile {
        Profile::Server => AliasPolicy::Reject,
        Profile::Open => AliasPolicy::Expand,
    };
    let Some(root) = yaml::read_with(&source, aliases, &mut diagnostics) else {
        // Report only the syntax error: diagnostics of a partially parsed source can be misleading.
        diagnostics.retain(|diagnostic| diagnostic.code == Code::Syntax);
        return Err(Box::new(InvalidContract { source, diagnostics }));
    };
    let version = match conventions.profile {
        Profile::Server => version::ensure_v31(&root).map(|()| Version::V31),
        Profile::Open => version::of_open(&root),
    };
    let version = match version {
        Ok(version) => version,
        Err(diagnostic) => return Err(Box::new(InvalidContract { source, diagnostics: vec![*diagnostic] })),
    };
    if conventions.profile == Profile::Open && diagnostics.is_empty() {
        return open::read(source, root, version, conventions);
    }
    let document = model(&root, conventions, &mut diagnostics);
    if diagnostics.is_empty() {
        Ok(Contract { source, root, document, notes: Vec::new() })
    } else {
        Err(Box::new(InvalidContract { source, diagnostics }))
    }
}

/// Reads the model of a contract and checks the rules.
fn model(root: &Node, conventions: &Conventions<'_>, diagnostics: &mut Vec<Diagnostic>) -> Document {
    let mut reader = reader::NodeReader::new(root, conventions.profile);
    let document = read::document(&mut reader);
    diagnostics.append(&mut reader.diagnostics);
    rules::check(root, &document, conventions, diagnostics);
    document
}

/// The maximum size of a contract in bytes. The largest known contract has a quarter of this size.
pub const MAX_CONTRACT_BYTES: u64 = 32 * 1024 * 1024;

/// Reads the file at `path`, which is relative to `folder`.
///
/// # Errors
/// Returns an error if the file cannot be read, is not a regular file, is larger than 32 MiB or is not UTF-8.
pub fn read_file(folder: &Path, path: &str) -> anyhow::Result<Source> {
    // Opening a pipe waits for a writer.
    let metadata = std::fs::metadata(folder.join(path)).with_context(|| format!("cannot read {path}"))?;
    ensure!(!metadata.is_dir(), "cannot read {path}: expected a file, found a folder");
    ensure!(metadata.is_file(), "cannot read {path}: it is not a regular file");
    let file = std::fs::File::open(folder.join(path)).with_context(|| format!("cannot read {path}"))?;
    let mut bytes = Vec::new();
    file.take(MAX_CONTRACT_BYTES + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read {path}"))?;
    source_from_bytes(path, bytes)
}

/// Creates a source from the bytes of a file.
///
/// # Errors
/// Returns an error if there are more than 32 MiB or they are not UTF-8.
pub fn source_from_bytes(name: &str, bytes: Vec<u8>) -> anyhow::Result<Source> {
    let max_mib = MAX_CONTRACT_BYTES / (1024 * 1024);
    ensure!(bytes.len() as u64 <= MAX_CONTRACT_BYTES, "{name} is larger than the maximum of {max_mib} MiB");
    ensure!(
        !bytes.starts_with(&[0xff, 0xfe]) && !bytes.starts_with(&[0xfe, 0xff]),
        "{name} is encoded in UTF-16; save it as UTF-8"
    );
    let text = String::from_utf8(bytes).map_err(|error| {
        anyhow::anyhow!(
            "{name} is not valid UTF-8 at byte {}; save it as UTF-8",
            error.utf8_error().valid_up_to()
        )
    })?;
    Ok(Source::new(name, text))
}
