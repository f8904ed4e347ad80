//! `cargo xtask`: the project's own tools.
//!
//! Parses the command line and turns outcomes into exit codes: 0 fine, 1 findings, 2 could not run.

// A binary exports nothing: `pub` says here what a module offers to its neighbours.
#![allow(unreachable_pub)]

mod bench;
mod check;
mod clients;
mod test;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use contract::diagnostic::Format;

/// The project's own tools. Exit codes: 0 fine, 1 findings, 2 could not run.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Generate src/api/generated from openapi/v1.yaml, and tests/second/generated from tests/second/contract.yaml.
    ///
    /// A contract that cannot be generated is drawn with what to do instead, and exits 1; one that cannot be read exits 2.
    /// Another version of the API is one entry more of CONTRACTS (xtask/codegen/lib.rs).
    ///
    /// With --contract and --out, it generates from a contract of your own, by the same rules: OpenAPI 3.1, names in
    /// snake_case, one tag and one scope for each operation, the error envelope of this project. The code is the HTTP side of
    /// a server: one trait for each tag, with one method for each operation. It names the crates contract_runtime (a path
    /// dependency on src/contract_runtime), poem_openapi, serde, serde_json and bytes. Implement the traits and
    /// `contract_runtime::service::Service`, then hand the adapter to `contract_runtime::router::Router`, which finds the
    /// operation of a request, validates it (`Route::read`) and calls it (`Route::call`). Headers that this project's server
    /// sets on all responses, such as ETag and X-Request-Id, are declared and not set.
    ///
    /// tests/second shows how a second version is served beside v1: its paths begin with /api/, the contract's name and a
    /// slash. With --contract nothing checks that.
    Codegen(codegen::Args),
    /// Compare the generated files with the contract, and the contract with the code, the tests and the tables.
    Check {
        /// How findings are printed.
        #[arg(long, value_enum, default_value = "text")]
        format: Format,
        /// Print the code's own OpenAPI document and stop.
        #[arg(long)]
        print_code: bool,
    },
    /// Compare the contract with what was promised, and exit 1 when a client breaks.
    ///
    /// Prints what breaks and what may break: where, which operations reach it, who breaks and why, and how to do without.
    /// The base is a file, or a git revision of the contract. A finding that someone has judged is let pass by a waiver in
    /// `openapi/released/waivers.toml`: `[[waiver]]` with `fingerprint` (or `rule` and `path`), `reason` and `expires`.
    /// A change cannot waive itself. Waivers are read from the revision that is the base; for a file as base, from
    /// origin/HEAD, the branch that changes are merged into; never from the working tree, unless --waivers names a file. So
    /// merge the waiver first, then the change. One that has expired and still matches ends in exit code 2; so does one of a
    /// file named by --waivers that matches nothing.
    ///
    /// In CI, compare a change with the branch that it goes to, which the change cannot edit either:
    /// `cargo xtask breaking --base origin/main`.
    Breaking(breaking::Args),
    /// Print every difference between the contract and what was promised that a client can notice, grouped.
    Changelog(breaking::Args),
    /// Make the contract the released one, which the gate compares with; refused while clients would break.
    ReleaseContract,
    /// Make clients of the served contract with other people's generators; or lint it with their linters.
    Clients(clients::Args),
    /// Hold the house rules that a compiler does not know.
    Tidy,
    /// Run everything that CI runs.
    Test(test::Args),
    /// Measure what has a goal, each figure beside its limit.
    Bench(bench::Args),
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing to complain about.
    Fine,
    /// Something was found, and printed.
    Findings,
}

impl From<breaking::Verdict> for Outcome {
    fn from(verdict: breaking::Verdict) -> Self {
        match verdict {
            breaking::Verdict::Compatible => Self::Fine,
            breaking::Verdict::Breaking => Self::Findings,
        }
    }
}

impl From<codegen::Verdict> for Outcome {
    fn from(verdict: codegen::Verdict) -> Self {
        match verdict {
            codegen::Verdict::Fresh => Self::Fine,
            codegen::Verdict::Findings => Self::Findings,
        }
    }
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    match run(arguments.command) {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(command: Command) -> anyhow::Result<Outcome> {
    let workspace = workspace();
    match command {
        Command::Codegen(args) => codegen::run(&workspace, &args).map(Outcome::from),
        Command::Check { format, print_code } => check::run(&workspace, format, print_code),
        Command::Breaking(args) => breaking::run(&workspace, &args).map(Outcome::from),
        Command::Changelog(args) => breaking::changelog(&workspace, &args).map(|()| Outcome::Fine),
        Command::ReleaseContract => breaking::release(&workspace).map(Outcome::from),
        Command::Clients(args) => clients::run(&args, &workspace),
        Command::Tidy => tidy::run(&workspace),
        Command::Test(args) => test::run(&args, &workspace),
        Command::Bench(args) => bench::run(&args, &workspace),
    }
}

/// The root of the workspace: the parent of this crate's folder.
fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}
