//! The contract, read.
//!
//! Text becomes a tree with places ([`yaml`]), the tree a model ([`model`]), the model is judged by the `rules`. What is
//! wrong is reported all at once. Nothing here generates or compares.

pub mod diagnostic;
mod json;
mod keywords;
pub mod model;
pub mod node;
mod read;
mod reader;
mod rules;
pub mod rust_name;
pub mod sites;
pub mod source;
mod tree;
pub mod version;
pub mod yaml;

#[cfg(feature = "testing")]
pub mod testing;

#[cfg(test)]
mod fixtures;

use std::io::Read;
use std::path::Path;

use anyhow::{Context, bail, ensure};

use self::diagnostic::{Code, Diagnostic, Format};
use self::model::Document;
use self::node::Node;
use self::source::Source;

/// A contract without findings.
#[derive(Debug)]
pub struct Contract {
    /// Its text.
    pub source: Source,
    /// Its tree.
    pub root: Node,
    /// Its model.
    pub document: Document,
}

/// A contract that cannot be used, and why: a text or a version that cannot be read is one finding, and the only one.
#[derive(Debug)]
pub struct Refused {
    /// Its text.
    pub source: Source,
    /// What is wrong with it; never empty.
    pub findings: Vec<Diagnostic>,
}

impl Refused {
    /// The findings as people or programs read them.
    pub fn render(&self, format: Format) -> String {
        let mut text = diagnostic::render(&self.source, &self.findings, format);
        if format == Format::Text {
            let count = self.findings.len();
            text += &format!("{}: {count} finding{}\n", self.source.name, if count == 1 { "" } else { "s" });
        }
        text
    }

    /// Prints the findings of a contract that could be read.
    ///
    /// # Errors
    /// When it could not: there is nothing to judge then, and a program that looks for findings must not take it for judged.
    pub fn told(&self, format: Format) -> anyhow::Result<()> {
        let unreadable =
            |finding: &Diagnostic| matches!(finding.code, Code::Syntax | Code::UnsupportedVersion);
        if self.findings.iter().any(unreadable) {
            let drawn = diagnostic::render(&self.source, &self.findings, Format::Text);
            bail!("{} cannot be read\n{}", self.source.name, drawn.trim_end());
        }
        print!("{}", self.render(format));
        Ok(())
    }
}

/// What the server of a contract asks of it beyond the rules for all.
#[derive(Clone, Copy, Debug)]
pub struct Customs<'a> {
    /// How every path begins, such as `/api/v1/`.
    pub beginning: &'a str,
    /// Names of parameters and properties that are not spelled in snake_case.
    pub spelled: &'a [&'a str],
}

/// Reads and judges a contract.
///
/// # Errors
/// [`Refused`] with everything that was found.
pub fn read(source: Source, customs: &Customs<'_>) -> Result<Contract, Box<Refused>> {
    let mut findings = Vec::new();
    let Some(root) = yaml::read(&source, &mut findings) else {
        // What ended the reading counts, not what was found on the way.
        findings.retain(|finding| finding.code == Code::Syntax);
        return Err(Box::new(Refused { source, findings }));
    };
    if let Err(finding) = version::generated(&root) {
        return Err(Box::new(Refused { source, findings: vec![*finding] }));
    }
    let mut reader = reader::Reader::new(&root);
    let document = read::document(&mut reader);
    findings.append(&mut reader.findings);
    rules::judge(&root, &document, customs, &mut findings);
    if findings.is_empty() {
        Ok(Contract { source, root, document })
    } else {
        Err(Box::new(Refused { source, findings }))
    }
}

/// How large a contract may be: four times the largest that is known.
const LARGEST_BYTES: u64 = 32 * 1024 * 1024;

/// Takes the text of a file, named by its path relative to the workspace.
///
/// # Errors
/// When the file cannot be read, is larger than 32 MiB, or is not UTF-8.
pub fn open(workspace: &Path, path: &str) -> anyhow::Result<Source> {
    let file = std::fs::File::open(workspace.join(path)).with_context(|| format!("cannot read {path}"))?;
    let metadata = file.metadata().with_context(|| format!("cannot read {path}"))?;
    ensure!(!metadata.is_dir(), "cannot read {path}: it is a folder; name a file");
    let mut bytes = Vec::new();
    file.take(LARGEST_BYTES + 1).read_to_end(&mut bytes).with_context(|| format!("cannot read {path}"))?;
    take(path, bytes)
}

/// Takes the bytes of a text that is called by a name.
///
/// # Errors
/// When they are more than 32 MiB, or not UTF-8.
pub fn take(name: &str, bytes: Vec<u8>) -> anyhow::Result<Source> {
    let limit = LARGEST_BYTES / (1024 * 1024);
    ensure!(
        bytes.len() as u64 <= LARGEST_BYTES,
        "{name} is larger than {limit} MiB, which no contract needs to be"
    );
    ensure!(
        !bytes.starts_with(&[0xff, 0xfe]) && !bytes.starts_with(&[0xfe, 0xff]),
        "{name} is text in UTF-16; save it in UTF-8"
    );
    let text = String::from_utf8(bytes).map_err(|error| {
        anyhow::anyhow!("{name} is not text in UTF-8: byte {} is wrong", error.utf8_error().valid_up_to())
    })?;
    Ok(Source::new(name, text))
}
