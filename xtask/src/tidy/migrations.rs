//! Checks that servers can run while migrations are applied, and on the schema after the expand phase.

use std::sync::LazyLock;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use regex::Regex;

use super::TidyFinding;
use super::source::SourceFile;

/// The number of the initial schema. It is not checked, since no server runs while it is applied.
const INITIAL: u32 = 37;

/// Where a rule applies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// In migrations of the expand phase.
    Expand,
    /// In columns without a default that migrations of the expand phase add.
    AddedColumns,
    /// In both phases, except for the batches of a backfill.
    Rows,
}

/// A kind of statement that a migration must not contain.
struct Rule {
    /// A regular expression over one statement or column definition.
    pattern: &'static str,
    scope: Scope,
    message: &'static str,
    remedy: &'static str,
}

const TO_CONTRACT: &str = "move it to a migration of the contract phase, when no server needs the old schema";

const RULES: &[Rule] = &[
    Rule {
        pattern: r"^\s*(DROP|TRUNCATE)\b|^\s*ALTER\s+TABLE\b.*\bDROP\b",
        scope: Scope::Expand,
        message: "the expand phase drops something that servers of the previous release use",
        remedy: TO_CONTRACT,
    },
    Rule {
        pattern: r"^\s*ALTER\b.*\bRENAME\b",
        scope: Scope::Expand,
        message: "the expand phase renames something that servers of the previous release use",
        remedy: "add a column or table with the new name, fill it with a `backfill`, and drop the old one in the contract phase",
    },
    Rule {
        pattern: r"^\s*ALTER\s+TABLE\b.*\b(TYPE|SET\s+NOT\s+NULL)\b",
        scope: Scope::Expand,
        message: "the expand phase rewrites or scans a table while servers wait",
        remedy: "add a column and fill it with a `backfill`, or move it to a migration of the contract phase",
    },
    Rule {
        pattern: r"\bNOT\s+NULL\b",
        scope: Scope::AddedColumns,
        message: "servers of the previous release cannot insert rows without this column",
        remedy: "make the column nullable, or give it a default",
    },
    Rule {
        pattern: r"^\s*(WITH\b.*\b)?(UPDATE|DELETE\s+FROM|INSERT\b.*\bSELECT)\b",
        scope: Scope::Rows,
        message: "the statement locks many rows in one transaction",
        remedy: "use a `backfill`, which changes rows in batches",
    },
];

static EXPRESSIONS: LazyLock<Vec<(Regex, &'static Rule)>> =
    LazyLock::new(|| RULES.iter().map(|rule| (expression(rule.pattern), rule)).collect());

static CREATE_INDEX: LazyLock<Regex> =
    LazyLock::new(|| expression(r"^\s*CREATE\s+(UNIQUE\s+)?INDEX\b.*?\bON\s+(?<table>\w+)"));

fn expression(pattern: &str) -> Regex {
    Regex::new(&format!("(?is){pattern}")).expect("valid expression")
}

/// A string in a migration.
struct Text {
    /// The field of the migration that contains it. Empty elsewhere in the file.
    field: String,
    line: usize,
    text: String,
}

/// Returns the findings of a file. Only migrations have any.
pub(super) fn check(source: &SourceFile) -> Vec<TidyFinding> {
    let number = source.file.strip_prefix("migration/m").and_then(|name| name.get(..4)?.parse::<u32>().ok());
    if number.is_none_or(|number| number <= INITIAL) {
        return Vec::new();
    }
    let mut migration = MigrationSource::default();
    migration.read(source.tokens.clone(), None);
    let mut findings = Vec::new();
    for text in &migration.texts {
        let mut offset = 0;
        for statement in text.text.split(';') {
            let start = offset + statement.len() - statement.trim_start().len();
            let line = text.line + text.text[..start].matches('\n').count();
            let violations = migration.violations(&text.field, statement);
            findings.extend(
                violations.map(|(message, remedy)| TidyFinding::new(&source.file, line, message, remedy)),
            );
            offset += statement.len() + 1;
        }
    }
    findings
}

/// What is checked in the source of a migration.
#[derive(Default)]
struct MigrationSource {
    is_contract: bool,
    texts: Vec<Text>,
}

impl MigrationSource {
    /// Collects the strings, except for those in attributes, and reads the phase. `field` is the field of the migration that
    /// contains the tokens.
    fn read(&mut self, tokens: TokenStream, field: Option<&str>) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| tokens[before].to_string()).unwrap_or_default();
            match token {
                TokenTree::Group(_) if before == "#" || before == "!" => {}
                TokenTree::Group(group) if before == "Migration" && group.delimiter() == Delimiter::Brace => {
                    let fields: Vec<TokenTree> = group.stream().into_iter().collect();
                    for field in fields.split(|token| token.to_string() == ",") {
                        let Some((name, value)) = field.split_first() else { continue };
                        self.read(value.iter().cloned().collect(), Some(&name.to_string()));
                    }
                }
                TokenTree::Group(group) => self.read(group.stream(), field),
                TokenTree::Ident(name) => {
                    self.is_contract |= field == Some("phase") && name == "Contract";
                }
                TokenTree::Literal(literal) => self.texts.push(Text {
                    field: field.unwrap_or_default().to_owned(),
                    line: literal.span().start().line,
                    // A backslash continues the string on the next line.
                    text: literal.to_string().trim_matches(['r', '#', '"']).replace("\\\n", " \n"),
                }),
                TokenTree::Punct(_) => {}
            }
        }
    }

    /// Returns what a statement in a field must not contain, each with its remedy.
    fn violations(&self, field: &str, statement: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
        let rules = EXPRESSIONS.iter().filter(|(expression, rule)| {
            let applies = match rule.scope {
                Scope::Expand => !self.is_contract,
                Scope::AddedColumns => {
                    field == "added_columns" && !self.is_contract && !has_default(statement)
                }
                Scope::Rows => field != "backfill" || !statement.contains("{batch}"),
            };
            applies && expression.is_match(statement)
        });
        let blocks_writes = field != "concurrent_indexes"
            && CREATE_INDEX.captures(statement).is_some_and(|index| !self.creates(&index["table"]));
        let index = blocks_writes.then_some((
            "creating an index on an existing table blocks its writes",
            "list it in `concurrent_indexes` of a migration of its own",
        ));
        rules.map(|(_, rule)| (rule.message, rule.remedy)).chain(index).collect::<Vec<_>>().into_iter()
    }

    /// Returns whether the migration creates the table, as a definition or by a statement.
    fn creates(&self, table: &str) -> bool {
        let create = format!("CREATE TABLE {table} ");
        self.texts.iter().any(|text| match &*text.field {
            "tables" => text.text == table,
            "statements" => text.text.starts_with(&create),
            _ => false,
        })
    }
}

fn has_default(column: &str) -> bool {
    column.to_ascii_uppercase().contains(" DEFAULT ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the findings of a migration with these fields, as line and message.
    fn findings(file: &str, fields: &str) -> Vec<(usize, String)> {
        let text = format!(
            "//! DROP TABLE in a comment.\nconst MIGRATION: Migration = Migration {{\n{fields}\n}};\n"
        );
        let source = SourceFile::parse(file, text).unwrap();
        check(&source).into_iter().map(|finding| (finding.line, finding.message)).collect()
    }

    const NEW: &str = "migration/m0038_new.rs";

    #[test]
    fn the_expand_phase_must_not_break_servers() {
        let lines = |fields: &str| -> Vec<usize> {
            findings(NEW, fields).into_iter().map(|(line, _)| line).collect()
        };
        for (fields, expected) in [
            ("statements: &[\n\"DROP INDEX ix_a\",\n\"alter table a\n  drop column b\"],", vec![4, 5]),
            ("statements: &[\"UPDATE a SET b = 1 WHERE c;\n DROP TABLE a\"],", vec![3, 4]),
            ("statements: &[\"ALTER TABLE a RENAME COLUMN b TO c\"],", vec![3]),
            ("statements: &[\"ALTER TABLE a ALTER COLUMN b TYPE BIGINT\"],", vec![3]),
            ("statements: &[\"ALTER TABLE a ALTER b SET NOT NULL\"],", vec![3]),
            ("statements: &[\"INSERT INTO a SELECT b FROM c\"],", vec![3]),
            ("statements: &[\"INSERT INTO a VALUES (1)\"],", vec![]),
            (
                "added_columns: &[(\"a\", \"b TEXT NOT NULL\"), (\"a\", \"c INTEGER NOT NULL DEFAULT 0\")],",
                vec![3],
            ),
            ("statements: &[\"CREATE UNIQUE INDEX ix ON a (b)\"],", vec![3]),
            (
                "tables: &[TableDefinition::heap(\"a\", \"b TEXT NOT NULL\", &[\"CREATE INDEX ix ON a (b)\"])],",
                vec![],
            ),
            ("concurrent_indexes: &[\"CREATE INDEX ix ON a (b)\"],", vec![]),
            ("backfill: Some(Backfill { statement: \"UPDATE a SET b = 1 WHERE {batch}\" }),", vec![]),
            ("backfill: Some(Backfill { statement: \"UPDATE a SET b = 1\" }),", vec![3]),
        ] {
            assert_eq!(lines(fields), expected, "{fields}");
        }
        assert!(findings("migration/m0037_initial/mail.rs", "statements: &[\"DROP TABLE a\"],").is_empty());
    }

    #[test]
    fn the_contract_phase_can_drop_but_must_not_block_servers() {
        let contract = |fields: &str| findings(NEW, &format!("phase: Phase::Contract,\n{fields}"));
        assert!(contract("statements: &[\"DROP TABLE a\", \"ALTER TABLE a RENAME TO b\"],").is_empty());
        let message = |text: &str| vec![(4, text.to_owned())];
        assert_eq!(
            contract("statements: &[\"DELETE FROM a\"],"),
            message("the statement locks many rows in one transaction")
        );
        assert_eq!(
            contract("statements: &[\"CREATE INDEX ix ON a (b)\"],"),
            message("creating an index on an existing table blocks its writes")
        );
        let replaced = "statements: &[\"CREATE TABLE a (b TEXT)\", \"CREATE INDEX ix ON a (b)\"],";
        assert!(contract(replaced).is_empty());
    }
}
