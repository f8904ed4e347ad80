//! `creator-api openapi`: prints the OpenAPI contract.

use std::io::{self, Write};

use super::outcome::{CommandError, CommandOutcome};
use api::generated::document;

#[derive(Debug, clap::Args)]
pub(super) struct OpenapiArgs {
    /// Format of the document; json-3.0 is OpenAPI 3.0, for tools that do not support 3.1
    #[arg(long, value_enum, default_value_t = DocumentFormat::Yaml)]
    format: DocumentFormat,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum DocumentFormat {
    Yaml,
    Json,
    #[value(name = "json-3.0")]
    Json30,
}

pub(super) fn run(args: &OpenapiArgs) -> Result<CommandOutcome, CommandError> {
    let text = match args.format {
        DocumentFormat::Yaml => document::YAML,
        DocumentFormat::Json => document::JSON,
        DocumentFormat::Json30 => document::OPENAPI_3_0_JSON,
    };
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        stdout.write_all(b"\n")?;
    }
    stdout.flush()?;
    Ok(CommandOutcome::Done)
}
