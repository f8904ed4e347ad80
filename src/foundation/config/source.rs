//! Reads flags, environment and file, and lets the first of them that speaks win.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use secrecy::zeroize::Zeroizing;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::fault::{Fault, Faults, nearest};
use super::given::{Entry, Given};
use super::value::Shape;
use super::{Setting, settings};

/// The file that is read when it stands in the working directory.
pub const FILE: &str = "creator-api.toml";
/// Every variable of ours begins with this, except `DATABASE_URL`.
pub const ENVIRONMENT_PREFIX: &str = "CREATOR_API_";
/// Names another file.
pub(super) const FILE_VARIABLE: &str = "CREATOR_API_CONFIG";
/// Names another file, as a flag.
pub(super) const FILE_FLAG: &str = "config";

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Nothing was given.
    Default,
    /// A flag, with its dashes.
    Flag(String),
    /// An environment variable.
    Variable(String),
    /// A line of the configuration file.
    Line(PathBuf, usize),
    /// A file of its own, and what named it.
    Secret(PathBuf, Box<Source>),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Flag(name) | Self::Variable(name) => f.write_str(name),
            Self::Line(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Secret(path, by) => write!(f, "{} (named by {by})", path.display()),
        }
    }
}

/// What one source gave for one setting.
struct Candidate {
    text: Zeroizing<String>,
    source: Source,
    /// True when the text is the path of the file that holds the value.
    names_file: bool,
}

type Layer = HashMap<&'static str, Candidate>;

/// Reads every source and keeps, for each setting, what the strongest of them says.
///
/// # Errors
/// A configuration file that cannot be read; every other fault is kept in what is returned.
pub fn gather(
    flags: Vec<(&'static str, String)>,
    environment: impl Iterator<Item = (OsString, OsString)>,
) -> Result<Given, Faults> {
    let mut given = Given::default();
    let environment = own_variables(environment, &mut given.faults);
    let named = flags
        .iter()
        .find(|(name, _)| *name == FILE_FLAG)
        .map(|(_, path)| path)
        .or_else(|| environment.iter().find(|(name, _)| name == FILE_VARIABLE).map(|(_, path)| path));
    let file = read_file(named.map(Path::new))?;
    let layers = [
        flag_layer(&flags, &mut given.faults),
        variable_layer(&environment, &mut given.faults),
        file.map_or_else(Layer::new, |(path, text)| file_layer(&path, &text, &mut given.faults)),
    ];
    for layer in layers {
        for (key, candidate) in layer {
            if !given.entries.contains_key(key)
                && let Some(entry) = settle(candidate, &mut given.faults)
            {
                given.entries.insert(key, entry);
            }
        }
    }
    Ok(given)
}

/// Opens the file that a candidate names, if it names one.
fn settle(candidate: Candidate, faults: &mut Vec<Fault>) -> Option<Entry> {
    let Candidate { text, source, names_file } = candidate;
    if !names_file {
        return Some(Entry { text, source });
    }
    let path = PathBuf::from(text.as_str());
    match std::fs::read_to_string(&path) {
        Ok(content) => {
            let content = Zeroizing::new(content);
            let text = Zeroizing::new(content.trim_end_matches(['\r', '\n']).to_owned());
            Some(Entry { text, source: Source::Secret(path, Box::new(source)) })
        }
        Err(error) => {
            faults.push(Fault(format!("{source}: cannot read {}: {error}", path.display())));
            None
        }
    }
}

/// The variables that are ours and not empty; an unknown one is a fault.
fn own_variables(
    environment: impl Iterator<Item = (OsString, OsString)>,
    faults: &mut Vec<Fault>,
) -> Vec<(String, String)> {
    let known: Vec<String> = settings()
        .flat_map(|setting| [Some(setting.variable.to_owned()), setting.file_variable()])
        .flatten()
        .chain([FILE_VARIABLE.to_owned()])
        .collect();
    let mut own = Vec::new();
    for (name, value) in environment {
        let Some(name) = name.to_str().map(str::to_owned) else { continue };
        if known.contains(&name) {
            match value.into_string() {
                Ok(value) if value.is_empty() => {}
                Ok(value) => own.push((name, value)),
                Err(_) => faults.push(Fault(format!("{name}: the value is not UTF-8; write it in UTF-8"))),
            }
        } else if name.starts_with(ENVIRONMENT_PREFIX) {
            let hint = nearest(&name, known.iter().cloned());
            faults.push(Fault(format!("{name}: there is no such setting{hint}")));
        }
    }
    own.sort();
    own
}

/// The file's text, if there is one; a file that was named must be there.
fn read_file(named: Option<&Path>) -> Result<Option<(PathBuf, String)>, Faults> {
    let path = named.unwrap_or(Path::new(FILE));
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some((path.to_owned(), text))),
        Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            Err(Fault(format!("cannot read the configuration file {}: {error}", path.display())).into())
        }
    }
}

fn flag_layer(flags: &[(&'static str, String)], faults: &mut Vec<Fault>) -> Layer {
    let mut layer = Layer::new();
    for (name, text) in flags.iter().filter(|(name, _)| *name != FILE_FLAG) {
        let source = Source::Flag(format!("--{}", name.replace('_', "-")));
        for setting in settings() {
            let names_file = setting.file_key == Some(*name);
            if names_file || setting.key == *name {
                add(&mut layer, setting, names_file, text.clone(), source.clone(), faults);
            }
        }
    }
    layer
}

fn variable_layer(environment: &[(String, String)], faults: &mut Vec<Fault>) -> Layer {
    let mut layer = Layer::new();
    for (name, text) in environment {
        for setting in settings() {
            let names_file = setting.file_variable().as_ref() == Some(name);
            if names_file || setting.variable == name {
                let source = Source::Variable(name.clone());
                add(&mut layer, setting, names_file, text.clone(), source, faults);
            }
        }
    }
    layer
}

fn file_layer(path: &Path, content: &str, faults: &mut Vec<Fault>) -> Layer {
    let mut layer = Layer::new();
    let line_of = |offset: usize| content[..offset].bytes().filter(|byte| *byte == b'\n').count() + 1;
    let table = match DeTable::parse(content) {
        Ok(table) => in_order(table.into_inner()),
        Err(error) => {
            let source = Source::Line(path.to_owned(), line_of(error.span().map_or(0, |span| span.start)));
            faults.push(Fault(format!("{source}: not TOML: {}", error.message().replace('\n', ", "))));
            return layer;
        }
    };
    for (key, value) in table {
        let source = Source::Line(path.to_owned(), line_of(key.span().start));
        let key = key.into_inner();
        let setting = settings().find_map(|setting| {
            let names_file = setting.file_key.is_some_and(|name| name == key);
            (names_file || setting.key == key).then_some((setting, names_file))
        });
        let Some((setting, names_file)) = setting else {
            let known = settings()
                .flat_map(|setting| [Some(setting.key), setting.file_key])
                .flatten()
                .map(str::to_owned);
            let hint = nearest(&key, known);
            faults.push(Fault(format!("{source}: there is no setting `{key}`{hint}")));
            continue;
        };
        let shape = if names_file { Shape::Text } else { setting.shape };
        match text_of(&value, shape) {
            Some(text) => add(&mut layer, setting, names_file, text, source, faults),
            None => faults.push(Fault(format!(
                "{source}: `{key}` is written as {}; expected {}",
                value.get_ref().type_str(),
                shape_name(shape)
            ))),
        }
    }
    layer
}

/// The entries as they stand in the file.
fn in_order<'a>(table: DeTable<'a>) -> Vec<(Spanned<DeString<'a>>, Spanned<DeValue<'a>>)> {
    let mut entries: Vec<_> = table.into_iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// Adds what a source gives; a value and a file of it in one source contradict each other.
fn add(
    layer: &mut Layer,
    setting: &'static Setting,
    names_file: bool,
    text: String,
    source: Source,
    faults: &mut Vec<Fault>,
) {
    let candidate = Candidate { text: Zeroizing::new(text), source, names_file };
    if let Some(earlier) = layer.get(setting.key) {
        faults.push(Fault(format!(
            "{}: `{}` is given by {} too; keep one of them",
            candidate.source, setting.key, earlier.source
        )));
        return;
    }
    layer.insert(setting.key, candidate);
}

/// The value as a flag would write it; `None` when it has not the wanted shape.
fn text_of(value: &Spanned<DeValue<'_>>, shape: Shape) -> Option<String> {
    match (value.get_ref(), shape) {
        (DeValue::String(text), Shape::Text) => Some(text.to_string()),
        (DeValue::Datetime(time), Shape::Text) => Some(time.to_string()),
        (DeValue::Integer(digits), Shape::Integer) if digits.radix() == 10 => {
            Some(digits.as_str().to_owned())
        }
        (DeValue::Array(items), Shape::List) => {
            let texts: Option<Vec<&str>> = items.iter().map(|item| item.get_ref().as_str()).collect();
            texts.map(|texts| texts.join(","))
        }
        _ => None,
    }
}

fn shape_name(shape: Shape) -> &'static str {
    match shape {
        Shape::Text => "a string",
        Shape::Integer => "a whole number without quotes",
        Shape::List => "an array of strings",
    }
}
