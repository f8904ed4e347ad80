//! Reads flags, environment and file, in this order of precedence.

use std::ffi::OsString;

use secrecy::zeroize::Zeroizing;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fault::{Faults, nearest};
use super::given::{Entry, Given};
use super::settings::{Name, names};
use super::value::Shape;

/// The file that is read when it stands in the working directory.
pub(super) const FILE: &str = "creator-api.toml";
/// Every variable of ours begins with this, except `DATABASE_URL`.
pub(super) const ENVIRONMENT_PREFIX: &str = "CREATOR_API_";
/// Names another file.
pub(super) const FILE_VARIABLE: &str = "CREATOR_API_CONFIG";
/// Names another file, as a flag.
pub(super) const FILE_FLAG: &str = "config";

/// The texts that one source gives.
type Layer = Vec<(Name, Entry)>;

/// Reads every source and keeps, for each setting, the text of the source that takes precedence.
///
/// # Errors
/// A configuration file that cannot be read; every other fault is kept in what is returned.
pub(super) fn gather(
    flags: Vec<(&'static str, String)>,
    environment: impl Iterator<Item = (OsString, OsString)>,
) -> Result<Given, Faults> {
    let mut given = Given::default();
    let faults = &mut given.faults;
    let flags: Vec<_> =
        flags.into_iter().map(|(key, text)| (key, format!("--{}", key.replace('_', "-")), text)).collect();
    let variables = variables(environment, faults);
    let named = flags.iter().chain(&variables).find(|(key, ..)| *key == FILE_FLAG);
    let file = read_file(named.map(|(_, _, path)| path.as_str()))?;

    let mut layers: [Layer; 3] = Default::default();
    for (layer, texts) in layers.iter_mut().zip([flags, variables]) {
        for (key, source, text) in texts {
            add(layer, key, source, text, faults);
        }
    }
    if let Some((path, content)) = file {
        add_file(&mut layers[2], &path, &content, faults);
    }
    for (name, entry) in layers.into_iter().flatten() {
        if given.entries.contains_key(name.setting.key) {
            continue;
        }
        let opened = if name.is_file { open(entry) } else { Ok(entry) };
        match opened {
            Ok(entry) => _ = given.entries.insert(name.setting.key, entry),
            Err(fault) => faults.push(fault),
        }
    }
    Ok(given)
}

/// Reads the file that an entry names.
fn open(Entry { text: path, source }: Entry) -> Result<Entry, String> {
    let path = path.as_str();
    let content = std::fs::read_to_string(path).map(Zeroizing::new);
    let content = content.map_err(|error| format!("{source}: cannot read {path}: {error}"))?;
    let text = Zeroizing::new(content.trim_end_matches(['\r', '\n']).to_owned());
    Ok(Entry { text, source: format!("{path} (named by {source})") })
}

/// The known variables that are not empty: key, name and value. An unknown one with our prefix is a fault.
fn variables(
    environment: impl Iterator<Item = (OsString, OsString)>,
    faults: &mut Vec<String>,
) -> Vec<(&'static str, String, String)> {
    let known: Vec<_> =
        names().map(|name| (name.key, name.variable)).chain([(FILE_FLAG, FILE_VARIABLE)]).collect();
    let mut own = Vec::new();
    for (variable, value) in environment {
        let Some(variable) = variable.to_str() else { continue };
        if let Some((key, variable)) = known.iter().find(|(_, known)| *known == variable) {
            match value.into_string() {
                Ok(value) if value.is_empty() => {}
                Ok(value) => own.push((*key, (*variable).to_owned(), value)),
                Err(_) => faults.push(format!("{variable}: the value is not UTF-8; write it in UTF-8")),
            }
        } else if variable.starts_with(ENVIRONMENT_PREFIX) {
            let hint = nearest(variable, known.iter().map(|(_, known)| (*known).to_owned()));
            faults.push(format!("{variable}: there is no such setting{hint}"));
        }
    }
    own.sort_by(|left, right| left.1.cmp(&right.1));
    own
}

/// The file's path and text, if there is one; a file that was named must be there.
fn read_file(named: Option<&str>) -> Result<Option<(String, String)>, Faults> {
    let path = named.unwrap_or(FILE);
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some((path.to_owned(), text))),
        Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Faults(vec![format!("cannot read the configuration file {path}: {error}")])),
    }
}

/// Adds the settings of the configuration file.
fn add_file(layer: &mut Layer, path: &str, content: &str, faults: &mut Vec<String>) {
    let place = |offset: usize| format!("{path}:{}", content[..offset].matches('\n').count() + 1);
    let mut table: Vec<_> = match DeTable::parse(content) {
        Ok(table) => table.into_inner().into_iter().collect(),
        Err(error) => {
            let source = place(error.span().map_or(0, |span| span.start));
            return faults.push(format!("{source}: not TOML: {}", error.message().replace('\n', ", ")));
        }
    };
    table.sort_by_key(|(key, _)| key.span().start);
    for (key, value) in table {
        let source = place(key.span().start);
        let Some(name) = names().find(|name| name.key == key.get_ref()) else {
            let hint = nearest(key.get_ref(), names().map(|name| name.key.to_owned()));
            faults.push(format!("{source}: there is no setting `{}`{hint}", key.get_ref()));
            continue;
        };
        let shape = if name.is_file { Shape::Text } else { name.setting.shape };
        match text_of(&value, shape) {
            Some(text) => add(layer, name.key, source, text, faults),
            None => faults.push(format!(
                "{source}: `{}` is written as {}; expected {}",
                name.key,
                value.get_ref().type_str(),
                shape.name()
            )),
        }
    }
}

/// Adds a text to a source's layer. A source gives either the value of a setting or a file that holds it, not both.
fn add(layer: &mut Layer, key: &str, source: String, text: String, faults: &mut Vec<String>) {
    let Some(name) = names().find(|name| name.key == key) else { return };
    let setting = name.setting.key;
    match layer.iter().find(|(earlier, _)| earlier.setting.key == setting) {
        Some((_, earlier)) => {
            faults
                .push(format!("{source}: `{setting}` is given by {} too; keep one of them", earlier.source));
        }
        None => layer.push((name, Entry { text: Zeroizing::new(text), source })),
    }
}

/// The value as a flag would write it; `None` when it does not have this shape.
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
