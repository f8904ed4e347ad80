//! `cargo xtask`: the development tools of the project.
//!
//! Parses the command line and runs the command. Exit codes: 0 success, 1 findings, 2 the command could not run.

// A binary exports nothing. Here `pub` marks what a module provides to the other modules.
#![allow(unreachable_pub)]

mod bench;
mod check;
mod clients;
mod dist;
mod fleet;
mod test;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use contract::diagnostic::DiagnosticFormat;

/// Development tools of the project. Exit codes: 0 success, 1 findings, 2 the command could not run.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct CommandLine {
    #[command(subcommand)]
    command: XtaskCommand,
}

#[derive(Subcommand)]
enum XtaskCommand {
    /// Generate code from the contracts in openapi, and from those of the tests.
    ///
    /// src/api/generated is generated from openapi/v1.yaml, src/api/developer/generated from openapi/developer-v1.yaml, and
    /// src/api/platform/generated and src/feed/generated from openapi/platform-v1.yaml. src/domain/contract,
    /// src/domain/developer_contract and src/domain/platform_contract contain their scopes, event types and statuses.
    ///
    /// Exits with code 1 if the contract uses a construct that is not supported, and shows the source and a remedy.
    /// Exits with code 2 if the contract cannot be read. To add a version of the API, add an entry to CONTRACTS
    /// (xtask/codegen/contracts.rs).
    ///
    /// Use --contract and --out to generate code from your own contract. By default (--profile server), it must follow
    /// the rules of this server: OpenAPI 3.1, names in snake_case, one tag, one security scheme and at most one scope for each
    /// operation, the common error statuses, and the error envelope of this project. Any other contract is rejected.
    /// Headers that this project's server sets on many responses, such as ETag and X-Request-Id, are declared but not
    /// set.
    ///
    /// --profile open accepts other contracts: OpenAPI 3.0 or 3.1 with any security, error bodies, names, media types,
    /// optional bodies, status ranges and `default` responses. Notes on standard error list what the generated code
    /// leaves out: extensions, unknown formats, and all media types of a body but one. JSON and text become Rust types,
    /// and other media types are bytes. A schema without a Rust type is a `serde_json::Value`; requests are validated
    /// against it. What has no substitute, such as an object as a parameter, is rejected.
    ///
    /// The generated code is the HTTP side of a server: one trait for each tag, with one method for each operation. It
    /// depends on the crates contract_runtime (use a path dependency on src/contract_runtime), poem_openapi, serde,
    /// serde_json and bytes. Implement the traits and `contract_runtime::service::Service`, and pass the adapter to
    /// `contract_runtime::router::Router`. `contract_runtime::endpoint::ContractEndpoint` serves the router as a poem
    /// endpoint. It evaluates the alternatives of `security`; its trait `Host` checks the credentials of one alternative
    /// with the scopes that they must have, and chooses the form of error responses. tests/open_profile is an
    /// example.
    ///
    /// In both profiles, the schema of a body of the type application/x-ndjson describes one line. The operation reads
    /// and writes such bodies as streams (`contract_runtime::payload::Lines` and `LineStream`). If a stream of a response
    /// fails, the connection is closed without the end of the body. An operation with a stream has no idempotency key.
    ///
    /// tests/it/rehearsal shows how to serve a second version beside v1. The paths of a version begin with /api/, the
    /// name of the contract and a slash. This is not checked with --contract.
    Codegen(codegen::CodegenArgs),
    /// Check that the generated files, the contract, the code, the tests and the tables agree.
    Check {
        /// Output format of findings.
        #[arg(long, value_enum, default_value = "text")]
        format: DiagnosticFormat,
        /// Print the OpenAPI document of the code and exit.
        #[arg(long)]
        print_code: bool,
    },
    /// Find breaking changes of the contract.
    ///
    /// Compares the contract with a base: the released contract, another file, or a git revision. Exits with code 1 if
    /// a change breaks clients. Each finding shows its location, the affected operations and clients, the reason, and a
    /// compatible alternative.
    ///
    /// The default contract is that of v1; --contract openapi/developer-v1.yaml is that of the Developer API, and --contract
    /// openapi/platform-v1.yaml that of the Platform API. To accept a finding, add a waiver to `openapi/released/waivers.toml`
    /// (`developer-waivers.toml` and `platform-waivers.toml` for the other two): `[[waiver]]` with `fingerprint` (or `rule`
    /// and `path`), `reason` and `expires`. A change cannot waive itself: waivers are read from the base revision or,
    /// if the base is a file, from origin/HEAD. They are not read from the working tree, unless --waivers specifies a
    /// file. So merge the waiver before the change. The exit code is 2 if a matching waiver has expired, or if a waiver
    /// of the --waivers file matches nothing.
    ///
    /// In CI, compare a change with its target branch, which the change cannot edit:
    /// `cargo xtask breaking --base origin/main`.
    Breaking(breaking::BreakingArgs),
    /// Print all changes of the contract that are visible to clients, in groups.
    Changelog(breaking::BreakingArgs),
    /// Copy a contract to openapi/released, the base of the breaking-change gate, and add its changes to openapi/CHANGELOG.md.
    ///
    /// Fails if clients would break, or if the contract changed and its version did not increase.
    ReleaseContract(breaking::ReleaseArgs),
    /// Test the API with clients from third-party generators, or lint the contract with third-party linters.
    Clients(clients::ClientsArgs),
    /// Check project rules that the compiler does not check.
    Tidy,
    /// Run everything that CI runs.
    Test(test::TestArgs),
    /// Run the benchmarks and compare the results with their goals.
    Bench(bench::BenchArgs),
    /// Run many servers and workers on PostgreSQL, stop parts of them, and check what a fleet guarantees.
    ///
    /// Starts PostgreSQL with a synchronous standby, haproxy, pgbouncer, Redis or Valkey, 3 servers and 2 workers on free
    /// local ports, puts load on them and runs the scenarios. Exits with code 1 if a guarantee is violated. The logs of the
    /// last run are in target/fleet/logs.
    Fleet(fleet::FleetArgs),
    /// Build the archive, the Debian package, the files for containers, the software bill of materials and the checksums.
    ///
    /// Needs cargo-deb (`cargo install cargo-deb --locked`). The results are in target/dist. Times in the files are
    /// SOURCE_DATE_EPOCH, or else the time of the commit.
    Dist(dist::DistArgs),
}

/// The result of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskOutcome {
    /// No findings.
    Success,
    /// There are findings or failed steps. They are printed.
    Findings,
}

impl From<breaking::Compatibility> for TaskOutcome {
    fn from(compatibility: breaking::Compatibility) -> Self {
        match compatibility {
            breaking::Compatibility::Compatible => Self::Success,
            breaking::Compatibility::Breaking => Self::Findings,
        }
    }
}

impl From<codegen::CodegenOutcome> for TaskOutcome {
    fn from(outcome: codegen::CodegenOutcome) -> Self {
        match outcome {
            codegen::CodegenOutcome::UpToDate => Self::Success,
            codegen::CodegenOutcome::Findings => Self::Findings,
        }
    }
}

fn main() -> ExitCode {
    let arguments = match CommandLine::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    match run(arguments.command) {
        Ok(TaskOutcome::Success) => ExitCode::SUCCESS,
        Ok(TaskOutcome::Findings) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(command: XtaskCommand) -> anyhow::Result<TaskOutcome> {
    let workspace = workspace();
    match command {
        XtaskCommand::Codegen(args) => codegen::run(&workspace, &args).map(TaskOutcome::from),
        XtaskCommand::Check { format, print_code } => check::run(&workspace, format, print_code),
        XtaskCommand::Breaking(args) => breaking::run(&workspace, &args).map(TaskOutcome::from),
        XtaskCommand::Changelog(args) => {
            breaking::changelog(&workspace, &args).map(|()| TaskOutcome::Success)
        }
        XtaskCommand::ReleaseContract(args) => breaking::release(&workspace, &args).map(TaskOutcome::from),
        XtaskCommand::Clients(args) => clients::run(&args, &workspace),
        XtaskCommand::Tidy => tidy::run(&workspace),
        XtaskCommand::Test(args) => test::run(&args, &workspace),
        XtaskCommand::Bench(args) => bench::run(&args, &workspace),
        XtaskCommand::Fleet(args) => fleet::run(&args, &workspace),
        XtaskCommand::Dist(args) => dist::run(&args, &workspace),
    }
}

/// Returns the root of the workspace: the parent of this crate's folder.
fn workspace() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.parent().unwrap_or(folder).to_owned()
}
