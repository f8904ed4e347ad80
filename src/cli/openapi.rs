//! `creator-api openapi`: prints the contract.

use std::io::{self, Write};

use super::failure::{Failure, Outcome};
use api::generated::document;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Form of the document; json-3.0 is its OpenAPI 3.0 twin, for tools that do not read 3.1
    #[arg(long, value_enum, default_value_t = Format::Yaml)]
    format: Format,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    Yaml,
    Json,
    #[value(name = "json-3.0")]
    Json30,
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let text = match args.format {
        Format::Yaml => document::YAML,
        Format::Json => document::JSON,
        Format::Json30 => document::OPENAPI_3_0_JSON,
    };
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        stdout.write_all(b"\n")?;
    }
    stdout.flush()?;
    Ok(Outcome::Done)
}
