//! Reads settings from flags, environment variables, systemd credentials and the configuration file, in this order of
//! precedence.

use std::ffi::OsString;
use std::path::Path;

use secrecy::zeroize::Zeroizing;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigErrors, suggestion};
use super::raw_settings::{RawSettings, RawValue};
use super::settings::{SettingName, setting_names};
use super::value::TomlType;

/// The default configuration file, in the working directory.
pub(super) const DEFAULT_FILE: &str = "creator-api.toml";
/// The prefix of all environment variables, except `DATABASE_URL` and `DATABASE_URL_FILE`.
pub(super) const ENVIRONMENT_PREFIX: &str = "CREATOR_API_";
/// The environment variable with the API key of `creator-api listen` and of client libraries.
pub const CLIENT_KEY_VARIABLE: &str = "CREATOR_API_KEY";
/// Variables of clients, which are not settings.
const CLIENT_VARIABLES: [&str; 2] = [CLIENT_KEY_VARIABLE, "CREATOR_API_URL"];
/// The environment variable that specifies another configuration file.
pub(super) const FILE_VARIABLE: &str = "CREATOR_API_CONFIG";
/// The flag that specifies another configuration file.
pub(super) const FILE_FLAG: &str = "config";

/// The environment variable with the folder of the systemd credentials.
const CREDENTIALS_VARIABLE: &str = "CREDENTIALS_DIRECTORY";
/// The prefix of the names of credentials that are settings, before the key.
const CREDENTIAL_PREFIX: &str = "creator-api.";

/// The values from one source: the flags, the environment, the credentials, or the file.
type SourceValues = Vec<(SettingName, RawValue)>;

/// Reads all sources and returns, for each setting, the value of the source that takes precedence.
///
/// # Errors
/// Returns an error when the configuration file cannot be read. Other errors are recorded in the returned settings.
pub(super) fn read(
    flags: Vec<(&'static str, String)>,
    environment: impl Iterator<Item = (OsString, OsString)>,
) -> Result<RawSettings, ConfigErrors> {
    let mut settings = RawSettings::default();
    let errors = &mut settings.errors;
    let flags: Vec<_> =
        flags.into_iter().map(|(key, text)| (key, format!("--{}", key.replace('_', "-")), text)).collect();
    let environment: Vec<_> = environment.collect();
    let credentials = credentials(&environment, errors);
    let variables = variables(environment.into_iter(), errors);
    let file_setting = flags.iter().chain(&variables).find(|(key, ..)| *key == FILE_FLAG);
    let file = read_file(file_setting.map(|(_, _, path)| path.as_str()))?;

    let mut sources: [SourceValues; 4] = Default::default();
    for (values, texts) in sources.iter_mut().zip([flags, variables]) {
        for (key, source, text) in texts {
            add(values, key, source, text, errors);
        }
    }
    sources[2] = credentials;
    if let Some((path, content)) = file {
        add_file(&mut sources[3], &path, &content, errors);
    }
    for (name, value) in sources.into_iter().flatten() {
        if settings.values.contains_key(name.setting.key) {
            continue;
        }
        let resolved = if name.is_file { read_value_file(value) } else { Ok(value) };
        match resolved {
            Ok(value) => _ = settings.values.insert(name.setting.key, value),
            Err(error) => errors.push(error),
        }
    }
    Ok(settings)
}

/// Returns the secrets that systemd passes as credentials, such as `creator-api.database_url`.
fn credentials(environment: &[(OsString, OsString)], errors: &mut Vec<String>) -> SourceValues {
    let folder = environment.iter().find(|(variable, _)| variable == CREDENTIALS_VARIABLE);
    let Some((_, folder)) = folder.filter(|(_, folder)| !folder.is_empty()) else { return Vec::new() };
    let mut values = Vec::new();
    for name in setting_names().filter(|name| !name.is_file && name.setting.file.is_some()) {
        let path = Path::new(folder).join(format!("{CREDENTIAL_PREFIX}{}", name.key));
        // Any other error is reported: the command must not use another database instead.
        if std::fs::metadata(&path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
            continue;
        }
        let text = Zeroizing::new(path.display().to_string());
        match read_value_file(RawValue { text, source: CREDENTIALS_VARIABLE.to_owned() }) {
            Ok(value) => values.push((name, value)),
            Err(error) => errors.push(error),
        }
    }
    values
}

/// Reads the value of a setting from the file that a `_file` setting specifies.
fn read_value_file(RawValue { text: path, source }: RawValue) -> Result<RawValue, String> {
    let path = path.as_str();
    let content = std::fs::read_to_string(path).map(Zeroizing::new);
    let content = content.map_err(|error| format!("{source}: cannot read {path}: {error}"))?;
    let text = Zeroizing::new(content.trim_end_matches(['\r', '\n']).to_owned());
    Ok(RawValue { text, source: format!("{path} (from {source})") })
}

/// Returns the key of the setting, the name and the value of each known variable that is not empty. Reports known
/// variables that are not UTF-8, and unknown variables that start with [`ENVIRONMENT_PREFIX`].
fn variables(
    environment: impl Iterator<Item = (OsString, OsString)>,
    errors: &mut Vec<String>,
) -> Vec<(&'static str, String, String)> {
    let known: Vec<_> =
        setting_names().map(|name| (name.key, name.variable)).chain([(FILE_FLAG, FILE_VARIABLE)]).collect();
    let mut values = Vec::new();
    for (variable, value) in environment {
        let Some(variable) = variable.to_str() else { continue };
        if let Some((key, variable)) = known.iter().find(|(_, name)| *name == variable) {
            match value.into_string() {
                Ok(value) if value.is_empty() => {}
                Ok(value) => values.push((*key, (*variable).to_owned(), value)),
                Err(_) => errors.push(format!("{variable}: expected UTF-8")),
            }
        } else if variable.starts_with(ENVIRONMENT_PREFIX) && !CLIENT_VARIABLES.contains(&variable) {
            let hint = suggestion(variable, known.iter().map(|(_, name)| (*name).to_owned()));
            errors.push(format!("{variable}: unknown variable{hint}"));
        }
    }
    values.sort_by(|left, right| left.1.cmp(&right.1));
    values
}

/// Returns the path and content of the configuration file, or `None` if the default file does not exist.
fn read_file(specified: Option<&str>) -> Result<Option<(String, String)>, ConfigErrors> {
    let path = specified.unwrap_or(DEFAULT_FILE);
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some((path.to_owned(), text))),
        Err(error) if specified.is_none() && error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ConfigErrors(vec![format!("cannot read the configuration file {path}: {error}")])),
    }
}

/// Adds the values of the configuration file.
fn add_file(values: &mut SourceValues, path: &str, content: &str, errors: &mut Vec<String>) {
    let location = |offset: usize| format!("{path}:{}", content[..offset].matches('\n').count() + 1);
    let mut table: Vec<_> = match DeTable::parse(content) {
        Ok(table) => table.into_inner().into_iter().collect(),
        Err(error) => {
            let source = location(error.span().map_or(0, |span| span.start));
            return errors.push(format!("{source}: invalid TOML: {}", error.message().replace('\n', ", ")));
        }
    };
    table.sort_by_key(|(key, _)| key.span().start);
    for (key, value) in table {
        let source = location(key.span().start);
        let Some(name) = setting_names().find(|name| name.key == key.get_ref()) else {
            let hint = suggestion(key.get_ref(), setting_names().map(|name| name.key.to_owned()));
            errors.push(format!("{source}: unknown setting `{}`{hint}", key.get_ref()));
            continue;
        };
        let toml_type = if name.is_file { TomlType::String } else { name.setting.toml_type };
        match to_text(&value, toml_type) {
            Some(text) => add(values, name.key, source, text, errors),
            None => errors.push(format!(
                "{source}: `{}`: expected {}, got {}",
                name.key,
                toml_type.name(),
                type_name(value.get_ref())
            )),
        }
    }
}

/// Adds a value to the other values of the same source. Ignores [`FILE_FLAG`], which is not a setting. Reports a source
/// that sets both a value and a file that contains the value.
fn add(values: &mut SourceValues, key: &str, source: String, text: String, errors: &mut Vec<String>) {
    let Some(name) = setting_names().find(|name| name.key == key) else { return };
    let setting = name.setting.key;
    match values.iter().find(|(other_name, _)| other_name.setting.key == setting) {
        Some((_, earlier)) => {
            errors
                .push(format!("{source}: `{setting}` is also set by {}; remove one of them", earlier.source));
        }
        None => values.push((name, RawValue { text: Zeroizing::new(text), source })),
    }
}

/// Returns the type of a TOML value, with its article, for messages.
fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a datetime",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}

/// Converts a TOML value to the format of a flag. Returns `None` if the value does not have this type, or is an
/// integer that is not decimal.
fn to_text(value: &Spanned<DeValue<'_>>, toml_type: TomlType) -> Option<String> {
    match (value.get_ref(), toml_type) {
        (DeValue::String(text), TomlType::String) => Some(text.to_string()),
        (DeValue::Datetime(time), TomlType::String) => Some(time.to_string()),
        (DeValue::Integer(digits), TomlType::Integer) if digits.radix() == 10 => {
            Some(digits.as_str().to_owned())
        }
        (DeValue::Array(items), TomlType::Array) => {
            let texts: Option<Vec<&str>> = items.iter().map(|item| item.get_ref().as_str()).collect();
            texts.map(|texts| texts.join(","))
        }
        _ => None,
    }
}
