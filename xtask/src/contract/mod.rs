//! The contract, read.
//!
//! Text becomes a tree with places ([`yaml`]), the tree a model ([`read`]), the model is judged by the [`rules`]. What is
//! wrong is reported all at once. Nothing here generates or compares.

pub mod keywords;
pub mod model;
pub mod node;
pub mod read;
pub mod reader;
pub mod rules;
pub mod rust_name;
pub mod source;
pub mod yaml;

#[cfg(test)]
mod fixtures;

use std::path::Path;

use anyhow::Context;

use self::model::Document;
use self::node::Node;
use self::source::Source;
use crate::diagnostic::{self, Diagnostic, Format};

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

/// A contract that cannot be used, and why.
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
}

/// Reads and judges a contract.
///
/// # Errors
/// [`Refused`] with everything that was found.
pub fn read(source: Source) -> Result<Contract, Box<Refused>> {
    let mut findings = Vec::new();
    let Some(root) = yaml::read(&source, &mut findings) else {
        return Err(Box::new(Refused { source, findings }));
    };
    let mut reader = reader::Reader::new(&root);
    let document = read::document(&mut reader);
    findings.append(&mut reader.findings);
    rules::judge(&root, &document, &mut findings);
    if findings.is_empty() {
        Ok(Contract { source, root, document })
    } else {
        Err(Box::new(Refused { source, findings }))
    }
}

/// Takes the text of a file, named by its path relative to the workspace.
///
/// # Errors
/// When the file cannot be read.
pub fn open(workspace: &Path, path: &str) -> anyhow::Result<Source> {
    let text =
        std::fs::read_to_string(workspace.join(path)).with_context(|| format!("cannot read {path}"))?;
    Ok(Source::new(path, text))
}
