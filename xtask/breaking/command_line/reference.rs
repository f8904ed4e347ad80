//! The reference of all rules: `openapi-gate rules`, and RULES.md.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, bail};
use contract::diagnostic::json_line;
use serde::Serialize;

use super::descriptions::describe;
use super::settings::ConfigArgs;
use crate::config::{RAISED, Settings};
use crate::policies::Policy;
use crate::rule::{Direction, Level, SchemaRule, SchemaSite};
use crate::{advice, catalog, schema};

/// Which rules to list, and how.
#[derive(Debug, clap::Args)]
pub(super) struct RulesArgs {
    /// Only these rules
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    #[command(flatten)]
    config: ConfigArgs,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: RulesFormat,
}

/// The output format of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum RulesFormat {
    /// One rule per line, and the policies; with IDs, everything about each.
    Text,
    /// One JSON object per line.
    Json,
    /// With IDs, a table; otherwise RULES.md, whose levels do not depend on the configuration.
    Markdown,
}

/// A rule as it is listed.
#[derive(Debug, Serialize)]
struct ListedRule {
    id: String,
    /// The level according to the configuration, or `off`.
    level: String,
    /// The policy to which the rule belongs, as in the configuration.
    policy: Option<String>,
    finds: String,
    #[serde(rename = "who")]
    impact: String,
    #[serde(rename = "instead")]
    remedy: String,
}

/// Renders the rules with their levels according to the configuration.
///
/// # Errors
/// Returns an error when an id is not that of a rule, or when the configuration cannot be read or is invalid.
pub(super) fn render(directory: &Path, args: &RulesArgs) -> Result<String> {
    if let Some(id) = args.ids.iter().find(|id| catalog::level(id).is_none()) {
        bail!("`{id}` is not a rule; `openapi-gate rules` lists all rules");
    }
    if args.format == RulesFormat::Markdown && args.ids.is_empty() {
        return Ok(markdown());
    }
    let (settings, config) = args.config.read(directory)?;
    let mut rules = listed_rules(&settings);
    rules.retain(|id, _| args.ids.is_empty() || args.ids.contains(id));
    let rules = rules.values();
    Ok(match args.format {
        RulesFormat::Json => rules.map(json_line).collect(),
        RulesFormat::Markdown => TABLE_HEAD.to_owned() + &rules.map(table_row).collect::<String>(),
        RulesFormat::Text if args.ids.is_empty() => {
            let listed: String = rules.map(|rule| format!("{:7} {}\n", rule.level, rule.id)).collect();
            let policies: String =
                settings.policies.lines().iter().map(|line| format!("  {line}\n")).collect();
            let config = config.as_deref().unwrap_or("none");
            format!("{listed}\npolicies:\n{policies}\nconfiguration: {config}\n")
        }
        RulesFormat::Text => rules.map(details).collect(),
    })
}

fn details(rule: &ListedRule) -> String {
    let mut text = format!("{}\n  level:  {}\n", rule.id, rule.level);
    if let Some(policy) = &rule.policy {
        text += &format!("  policy: {policy}\n");
    }
    text += &format!("  finds:  {}\n", rule.finds);
    if !rule.impact.is_empty() {
        text += &format!("  breaks: {}\n  remedy: {}\n", rule.impact, rule.remedy);
    }
    text
}

/// The first lines of a table of rules.
const TABLE_HEAD: &str = "| rule | level | finds | who breaks | instead |\n|---|---|---|---|---|\n";

fn table_row(rule: &ListedRule) -> String {
    let ListedRule { id, level, finds, impact, remedy, .. } = rule;
    let finds = finds.trim_end_matches('.');
    format!("| `{id}` | {level} | {finds} | {impact} | {remedy} |\n")
}

/// Returns all rules by id. A schema rule has an id for each site.
fn listed_rules(settings: &Settings) -> BTreeMap<String, ListedRule> {
    let mut listed = BTreeMap::new();
    let mut add = |id: String, level: Level, finds: String, (impact, remedy): (&str, &str)| {
        let level = settings.level(&id, level);
        let (impact, remedy) = match level {
            None | Some(Level::Info) => ("", ""),
            Some(_) if impact.is_empty() => RAISED,
            Some(_) => (impact, remedy),
        };
        let policy = Policy::of_rule(&id).map(|policy| policy.line(settings.policies));
        listed.entry(id.clone()).or_insert_with(|| ListedRule {
            id,
            level: level.map_or_else(|| "off".to_owned(), |level| level.to_string()),
            policy,
            finds,
            impact: impact.to_owned(),
            remedy: remedy.to_owned(),
        });
    };
    for rule in catalog::rules() {
        let finds = format!("{}.", describe(rule.id));
        add(rule.id.to_owned(), rule.level, finds, (rule.impact, rule.remedy));
    }
    for rule in schema::schema_rules() {
        for site in SchemaSite::ALL {
            let level = rule.level(site);
            let advice = match level {
                Level::Info => ("", ""),
                _ => advice::schema_rule_advice(rule.suffix, rule.topic, site.direction()),
            };
            let finds = format!("{}, in {}.", describe(rule.suffix), place(site));
            add(site.id(rule.suffix), level, finds, advice);
        }
    }
    listed
}

/// Describes a site.
const fn place(site: SchemaSite) -> &'static str {
    match site {
        SchemaSite::RequestBody => "a request body",
        SchemaSite::RequestProperty => "a property or item of a request body",
        SchemaSite::Parameter
        | SchemaSite::HeaderParameter
        | SchemaSite::ParameterContent
        | SchemaSite::HeaderContent => "a parameter",
        SchemaSite::ParameterProperty | SchemaSite::ParameterContentProperty => {
            "a property or item of a parameter"
        }
        SchemaSite::HeaderProperty | SchemaSite::HeaderContentProperty => {
            "a property or item of a header parameter"
        }
        SchemaSite::RequestReadOnly => "a read-only property of a request",
        SchemaSite::ResponseBody => "a response body",
        SchemaSite::ResponseProperty => "a property or item of a response body",
        SchemaSite::ResponseHeader | SchemaSite::ResponseHeaderContent => "a response header",
        SchemaSite::ResponseWriteOnly => "a write-only property of a response",
    }
}

/// Returns RULES.md.
fn markdown() -> String {
    let mut text = String::from(
        "# Rules\n\nGenerated by `openapi-gate rules --format markdown`; do not edit. `openapi-gate rules ID` prints the \
         same about one rule, with the level of your configuration.\n\nThe levels are those of this project. Outside of it, \
         the rules `api-security-component-*`, `api-security-loosened` and `api-global-security-loosened` have at most the level \
         warning, and `api-security-scope-removed` and `api-global-security-scope-removed` the level info, unless the policy \
         `raised-security` is on, and `api-version-*` and \
         `api-major-version-*` are off unless the policy `version-bump` is on, which makes them warnings.\n\n## \
         Documents, operations, parameters and responses\n\n",
    );
    text += TABLE_HEAD;
    let rules: BTreeMap<String, ListedRule> = listed_rules(&Settings::project());
    let is_schema_rule = |id: &str| catalog::rule(id).is_none();
    text.extend(rules.values().filter(|rule| !is_schema_rule(&rule.id)).map(table_row));
    text += "\n## Schemas\n\nThe id of a rule about a schema begins with the place of the schema:\n\n| begins with | place |\n|---|---|\n";
    let places: BTreeMap<&str, &str> =
        SchemaSite::ALL.iter().map(|site| (site.prefix(), place(*site))).collect();
    for (prefix, place) in places {
        text += &format!("| `{prefix}-` | {place} |\n");
    }
    text += "\nand continues with the change. A change of a value that is never sent (a read-only property of a request, a \
             write-only property of a response) has the level info.\n\n| change | level in requests | level in responses | finds | who \
             breaks, and what to do instead |\n|---|---|---|---|---|\n";
    let mut schema_rules: Vec<_> = schema::schema_rules().collect();
    schema_rules.sort_by_key(|rule| rule.suffix);
    for rule in schema_rules {
        let (request, response) =
            (rule.level(SchemaSite::RequestProperty), rule.level(SchemaSite::ResponseProperty));
        text += &format!(
            "| `{}` | {request} | {response} | {} | {} |\n",
            rule.suffix,
            describe(rule.suffix),
            schema_rule_advice(rule)
        );
    }
    text
}

/// Describes who breaks in each direction in which the rule is not at level info.
fn schema_rule_advice(rule: &SchemaRule) -> String {
    let directions = [
        (SchemaSite::RequestProperty, Direction::Request, "Requests"),
        (SchemaSite::ResponseProperty, Direction::Response, "Responses"),
    ];
    let advice = directions.into_iter().filter(|(site, ..)| rule.level(*site) > Level::Info);
    let texts: Vec<String> = advice
        .map(|(_, direction, name)| {
            let (impact, remedy) = advice::schema_rule_advice(rule.suffix, rule.topic, direction);
            format!("{name}: {impact} {remedy}")
        })
        .collect();
    texts.join("<br>")
}
