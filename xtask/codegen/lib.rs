//! `cargo xtask codegen`: generates Rust from the OpenAPI contract.
//!
//! This module defines which files are generated, and `contracts` from which contracts. The crate `contract` rejects
//! every construct that cannot be generated. This crate does not depend on the server, so that it
//! also runs while the server cannot be compiled.

mod attributes;
mod client_document;
mod contracts;
mod downgrade;
mod emit_adapter;
mod emit_document;
mod emit_events;
mod emit_mod;
mod emit_operations;
mod emit_schemas;
mod emit_tables;
mod emit_tag;
mod emit_unions;
mod external;
mod files;
mod generate;
mod imports;
mod pretty;
pub mod stale;
mod types;

use std::path::{Path, PathBuf};

use anyhow::Context;
use contract::diagnostic::DiagnosticFormat;
use contract::{Contract, Conventions, Profile};

use self::contracts::{ENVELOPE_NAMES, MIDDLEWARE_HEADERS};
use self::external::ExternalContract;
use self::generate::{generate, generate_folders};

pub use self::contracts::{
    CONTRACTS, ContractConfig, DEVELOPER_V1, LowerTypes, PLATFORM_V1, SERVED, Tables, V1,
};

/// Arguments of `cargo xtask codegen`.
#[derive(Debug, clap::Args)]
pub struct CodegenArgs {
    /// Write nothing; report out-of-date files and exit with code 1 if there are any.
    #[arg(long)]
    check: bool,
    /// Generate from this contract instead of the project's contracts. Relative to the current folder.
    #[arg(long, value_name = "FILE", requires = "out")]
    contract: Option<PathBuf>,
    /// The rules that the contract of --contract must follow.
    #[arg(long, value_enum, default_value = "server", requires = "contract")]
    profile: Profile,
    /// The folder for the generated code. It must contain no other files.
    #[arg(long, value_name = "FOLDER", requires = "contract")]
    out: Option<PathBuf>,
    /// Output format of findings.
    #[arg(long, value_enum, default_value = "text")]
    format: DiagnosticFormat,
}

/// The result of `cargo xtask codegen`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodegenOutcome {
    /// All generated files are up to date.
    UpToDate,
    /// A contract was rejected or, with `--check`, a file is out of date. The findings are printed.
    Findings,
}

/// Generates code from all contracts, or compares the generated files with `--check`.
///
/// # Errors
/// Returns an error when a contract cannot be read, a folder cannot be read or written, `--out` contains files that
/// were not generated, or the adapter cannot be named after the file of `--contract`.
pub fn run(workspace: &Path, args: &CodegenArgs) -> anyhow::Result<CodegenOutcome> {
    if let (Some(contract), Some(out)) = (&args.contract, &args.out) {
        let current_folder = std::env::current_dir().context("cannot determine the current folder")?;
        return generate_external(&current_folder, contract, out, args);
    }
    let mut outcome = CodegenOutcome::UpToDate;
    for config in CONTRACTS {
        if generate_for_project(workspace, config, args.check, args.format)? == CodegenOutcome::Findings {
            outcome = CodegenOutcome::Findings;
        }
    }
    Ok(outcome)
}

/// Generates code from a contract outside of the project. Relative paths start at `base`.
fn generate_external(
    base: &Path,
    contract: &Path,
    out: &Path,
    args: &CodegenArgs,
) -> anyhow::Result<CodegenOutcome> {
    let profile = args.profile;
    let conventions =
        Conventions { path_prefix: "/", spelling_exceptions: ENVELOPE_NAMES, profile, has_rate_limits: true };
    // Read the contract first, so that an invalid contract does not leave an empty folder.
    let name =
        contract.to_str().with_context(|| format!("{}: the path is not valid UTF-8", contract.display()))?;
    let parsed_contract = match contract::read(contract::read_file(base, name)?, &conventions) {
        Ok(parsed_contract) => parsed_contract,
        Err(invalid) => {
            invalid.print(args.format)?;
            return Ok(CodegenOutcome::Findings);
        }
    };
    let external = ExternalContract::resolve(base, contract, out, !args.check)?;
    let config = ContractConfig {
        contract: &external.contract,
        output: &external.output,
        contract_from_output: &external.contract_from_output,
        name_in_heading: &external.contract_from_output,
        name: &external.name,
        conventions,
        middleware_headers: if profile == Profile::Open { &[] } else { MIDDLEWARE_HEADERS },
        tables: None,
        lower: None,
    };
    eprint!("{}", parsed_contract.render_notes(args.format));
    if !args.check {
        external.ensure_only_generated_files(base, &generate(&parsed_contract, &config))?;
    }
    write_or_compare(base, &parsed_contract, &config, args.check, args.format)
}

/// Generates code from a contract of the project.
fn generate_for_project(
    workspace: &Path,
    config: &ContractConfig<'_>,
    check: bool,
    format: DiagnosticFormat,
) -> anyhow::Result<CodegenOutcome> {
    match contract::read(contract::read_file(workspace, config.contract)?, &config.conventions) {
        Ok(contract) => write_or_compare(workspace, &contract, config, check, format),
        Err(invalid) => {
            invalid.print(format)?;
            Ok(CodegenOutcome::Findings)
        }
    }
}

/// Writes the generated files of a contract, or compares them if `check` is set.
fn write_or_compare(
    workspace: &Path,
    contract: &Contract,
    config: &ContractConfig<'_>,
    check: bool,
    format: DiagnosticFormat,
) -> anyhow::Result<CodegenOutcome> {
    if check {
        let stale = stale::find(workspace, contract, config)?;
        print!("{}", stale::render(&stale, format));
        return Ok(if stale.is_empty() { CodegenOutcome::UpToDate } else { CodegenOutcome::Findings });
    }
    for (folder, files) in generate_folders(contract, config) {
        files::write(workspace, folder, &files)?.iter().for_each(|line| println!("{line}"));
    }
    Ok(CodegenOutcome::UpToDate)
}

#[cfg(test)]
mod mutations;
#[cfg(test)]
mod tests;

#[cfg(test)]
mod constructs {
    use super::files::GeneratedFile;
    use super::*;

    /// Generates the files of the contract that contains every supported construct.
    fn constructs() -> Vec<GeneratedFile> {
        let config = CONTRACTS.last().expect("there are contracts");
        let source = contract::read_file(&contract::testing::workspace(), config.contract)
            .expect("the contract can be read");
        let contract = contract::read(source, &config.conventions)
            .unwrap_or_else(|invalid| panic!("{}", invalid.render(DiagnosticFormat::Text)));
        generate(&contract, config)
    }

    #[test]
    fn every_supported_construct_is_generated() {
        let names: Vec<_> = constructs().into_iter().map(|file| file.name).collect();
        let expected = [
            "mod.rs",
            "adapter.rs",
            "document.rs",
            "events.rs",
            "operations.rs",
            "schemas.rs",
            "things.rs",
            "type.rs",
            "v2.json",
            "v2.openapi-3.0.json",
            "v2.clients.json",
            "v2.clients.openapi-3.0.json",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn generation_is_deterministic_to_the_byte() {
        let pairs = constructs().into_iter().zip(constructs());
        pairs.for_each(|(first, second)| assert_eq!(first.text, second.text, "{}", first.name));
    }

    #[test]
    fn the_json_keeps_the_order_of_the_keys() {
        let files = constructs();
        let json = files.iter().find(|file| file.name == "v2.json").expect("the file is generated");
        let positions: Vec<_> =
            ["\"openapi\"", "\"servers\"", "\"paths\"", "\"webhooks\"", "\"NewThing\"", "\"LargeThing\""]
                .map(|key| json.text.find(key).expect("the key exists"))
                .into();
        assert!(positions.is_sorted(), "{positions:?}");
    }
}
